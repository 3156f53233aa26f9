/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "inventory.h"

typedef struct KernelModule {
        char *name;
        bool loaded;
        bool built_in;
        bool btf;
        ModuleOrigin origin;
        char *version, *srcversion;     /* as in /sys/module; NULL: it has none */
        char *types;                    /* types_source_name() of what fields are from; NULL: not told */
        char *types_from;               /* where that is: "/sys/kernel/btf/nvme_tcp" */
        char *types_why_not;            /* and why better sources are out */
        GHashTable *functions;          /* set of char* */
        GHashTable *tracepoints;        /* set of char* */
        GHashTable *arguments;          /* char* to number: of tracepoints whose prototype is known */
        GHashTable *fields;             /* set of "structure.field" */
        GHashTable *symbols;            /* set of char* */
} KernelModule;

struct KernelInventory {
        char *release;
        char *label;
        char *symbols_unreadable;       /* why there are no symbols; NULL: there are */
        KernelSettings settings;
        GHashTable *blacklist;          /* set of char*: functions that kprobes cannot be put on */
        GPtrArray *modules;             /* of KernelModule; the first is vmlinux */
};

/* Each tracepoint X has a symbol __tracepoint_X, which is data (CONFIG_KALLSYMS_ALL), and since 5.10 a function
 * __traceiter_X. */
#define TRACEPOINT_SYMBOL_PREFIXES "__tracepoint_", "__traceiter_"

/* What is looked for where there is much else: what the hook table names. Sets of char*. */
typedef struct KernelWanted {
        GHashTable *functions, *tracepoints, *structures;
} KernelWanted;

KernelInventory *kernel_inventory_new(const char *release);
KernelModule *kernel_inventory_add(KernelInventory *inventory, const char *name);
KernelModule *kernel_inventory_find(const KernelInventory *inventory, const char *name);

const char *module_origin_name(ModuleOrigin origin);

/* The type of a tracepoint X is btf_trace_X. */
#define TRACEPOINT_PREFIX "btf_trace_"

struct btf;
struct btf_type;

/* All members of a structure, those of anonymous ones inside as its own. */
void kernel_module_add_fields(KernelModule *module, const struct btf *btf, const struct btf_type *type);
/* By its type: the name when the module's BTF is the kernel's, and how many arguments it has. */
void kernel_module_add_tracepoint(KernelModule *module, const struct btf *btf, const struct btf_type *type);

/* Parts of kernel_inventory_read(). */
void kernel_wanted_init(KernelWanted *wanted);
void kernel_wanted_done(KernelWanted *wanted);
/* Functions and symbols that are NVMe's own are all of interest. */
static inline bool is_nvme(const char *name)
{
        return g_str_has_prefix(name, "nvme");
}
/* Modules that are built in and show it by their functions only, in as much as these have been read. */
void kernel_inventory_find_built_in(KernelInventory *inventory);
void kernel_inventory_read_settings(KernelInventory *inventory, const KernelRoots *roots, const KernelWanted *wanted);
void kernel_inventory_read_origin(KernelModule *module, const KernelRoots *roots);
