/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a kernel offers: its release and settings, the modules ntprof cares for, and of each where it is from, what its
 * structures are known from, and the functions, tracepoints and symbols it has. Read from the running kernel or from a JSON
 * file recorded on another (tests/fixtures/kernels).
 */
#pragma once

#include <json-glib/json-glib.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

typedef struct KernelInventory KernelInventory;

/* Where the kernel's file systems are: elsewhere in tests. */
typedef struct KernelRoots {
        const char *sys;                /* "/sys" */
        const char *proc;               /* "/proc" */
        const char *files;              /* "/etc/ntprof/btf": BTF of modules that have none, by release */
        uid_t owner;                    /* of these: root */
} KernelRoots;

extern const KernelRoots kernel_roots_default;

typedef enum ModuleOrigin {
        MODULE_ORIGIN_UNKNOWN,          /* not loaded, or of an inventory that does not tell */
        MODULE_IN_TREE,
        MODULE_OUT_OF_TREE,             /* its structures are its own, whatever the kernel's version */
} ModuleOrigin;

/* What of the machine's settings decides which programs the kernel takes. -1, NULL: not known. */
typedef struct KernelSettings {
        char *lockdown;                 /* "none", "integrity", "confidentiality" */
        int perf_event_paranoid;        /* -1 is a level, too: see has_perf_event_paranoid */
        bool has_perf_event_paranoid;
        int unprivileged_bpf_disabled;
        int bpf_jit_enable;
        int kprobes_enabled;            /* 0: somebody has switched them off */
        char *kprobes_unreadable;       /* why enabled and blacklist are not known; NULL: they are */
} KernelSettings;

/* The modules an inventory is about, vmlinux first; NULL ends it. */
extern const char *const kernel_module_names[];

int kernel_inventory_read(const KernelRoots *roots, KernelInventory **ret);
/* The same in two parts: all but the kernel's symbol table, which is a hundred thousand lines and more, and that. */
int kernel_inventory_read_types(const KernelRoots *roots, KernelInventory **ret);
void kernel_inventory_read_symbols(KernelInventory *inventory, const KernelRoots *roots);
/* -EINVAL, and *ret_error (to be freed) says where, when it is not an inventory. */
int kernel_inventory_from_json(JsonNode *node, KernelInventory **ret, char **ret_error);
JsonNode *kernel_inventory_to_json(const KernelInventory *inventory);
void kernel_inventory_free(KernelInventory *inventory);

const char *kernel_inventory_release(const KernelInventory *inventory);
/* NULL: a real kernel's. Else what it is instead ("planned, not run"), to be told wherever it is shown. */
const char *kernel_inventory_label(const KernelInventory *inventory);
/* NULL: the symbol table was read. Else why not: then it has no symbol. */
const char *kernel_inventory_symbols_unreadable(const KernelInventory *inventory);
const KernelSettings *kernel_inventory_settings(const KernelInventory *inventory);

/* Of modules; "vmlinux" is the kernel itself. What a module has when it is built in is looked for there, too. */
bool kernel_inventory_module_loaded(const KernelInventory *inventory, const char *module);
/* It is no part of the kernel itself, and so can be unloaded when nobody uses it. */
bool kernel_inventory_module_unloadable(const KernelInventory *inventory, const char *module);
ModuleOrigin kernel_inventory_module_origin(const KernelInventory *inventory, const char *module);
/* The kernel has its BTF. */
bool kernel_inventory_module_has_btf(const KernelInventory *inventory, const char *module);
/* Its structures are known, from there or from elsewhere (types.h). */
bool kernel_inventory_module_has_types(const KernelInventory *inventory, const char *module);
/* types_source_name() of where from; NULL: not loaded. */
const char *kernel_inventory_module_types(const KernelInventory *inventory, const char *module);
/* Why they are not, or not from the best source; NULL: it is the best, or not told. */
const char *kernel_inventory_module_types_why_not(const KernelInventory *inventory, const char *module);
/* A FUNC of the module's BTF: what fentry and fexit need. */
bool kernel_inventory_has_btf_function(const KernelInventory *inventory, const char *module, const char *function);
/* By its prototype in BTF: what tp_btf needs. */
bool kernel_inventory_has_tracepoint(const KernelInventory *inventory, const char *module, const char *tracepoint);
/* How many arguments a tracepoint has; -1: there is no prototype of it. */
int kernel_inventory_tracepoint_arguments(const KernelInventory *inventory, const char *module, const char *tracepoint);
bool kernel_inventory_has_field(const KernelInventory *inventory, const char *module, const char *structure, const char *field);
/* The kernel has one of that name, too, and this out-of-tree module's is another. */
bool kernel_inventory_structure_differs(const KernelInventory *inventory, const char *module, const char *structure);
/* In the kernel's symbol table, once: what kprobes need. */
bool kernel_inventory_has_symbol(const KernelInventory *inventory, const char *module, const char *symbol);
/* By its symbol or its prototype: what raw_tp needs. */
bool kernel_inventory_has_raw_tracepoint(const KernelInventory *inventory, const char *module, const char *tracepoint);
bool kernel_inventory_kprobe_blacklisted(const KernelInventory *inventory, const char *function);
