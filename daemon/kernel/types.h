/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The kernel's structures: for each module, where its types are known from, best first:
 *
 *   - the kernel itself: /sys/kernel/btf/MODULE;
 *   - a file of this machine's administrator: /etc/ntprof/btf/RELEASE/MODULE.btf, made by pahole from debug symbols
 *     (docs/btf.md);
 *   - a built-in layout (layouts.h), for modules that came with the kernel only. What a program reads by one must be
 *     verified against what is known otherwise, before it is believed.
 *
 * No privilege is needed, nothing is loaded into the kernel.
 */
#pragma once

#include <bpf/btf.h>
#include <sys/types.h>

#include "../error.h"

typedef enum TypesSource {
        TYPES_NONE,
        TYPES_KERNEL,
        TYPES_FILE,
        TYPES_LAYOUT,
        TYPES_SOURCE_COUNT,
} TypesSource;

typedef struct KernelTypesRoots {
        const char *btf;                /* "/sys/kernel/btf" */
        const char *files;              /* "/etc/ntprof/btf" */
        const char *modules;            /* "/sys/module" */
        uid_t owner;                    /* whose files are taken, and nobody else may write: root */
} KernelTypesRoots;

typedef struct KernelTypes KernelTypes;

/* roots NULL: this machine's; release NULL: the running kernel's. Fails only when no type of the kernel itself is known, from
 * its BTF or from a file vmlinux.btf. */
int kernel_types_open(const KernelTypesRoots *roots, const char *release, KernelTypes **ret, Error *error);
void kernel_types_close(KernelTypes *types);
DEFINE_CLEANUP_FUNC(KernelTypes *, kernel_types_close);

/* Of a loaded module, or "vmlinux". NULL when nothing is known. Split on vmlinux's, or a plain one, or vmlinux's own, when the
 * module is built in: its types begin at *ret_first. It lives as long as types; pointers into it (btf__type_by_id()) until
 * another module is asked for. */
const struct btf *kernel_types_module(KernelTypes *types, const char *module, unsigned *ret_first);
TypesSource kernel_types_source(KernelTypes *types, const char *module);
/* "kernel", "file", "layout", "none" */
const char *types_source_name(TypesSource source);
/* The file, or what the layout is of; NULL without a source. */
const char *kernel_types_where(KernelTypes *types, const char *module);
/* Why the better sources are out, and without a source the others too; NULL for the best. */
const char *kernel_types_why_not(KernelTypes *types, const char *module);

/*
 * One BTF with the structures, unions and enums that a program names in its own (flavours, "request___old", by the name before
 * "___"): what CO-RE needs to know to load it, as a custom BTF. It is plain, not split, whatever its parts are from.
 *
 * A structure has the size and the offsets of the kernel's, and of its members those whose names occur in the program. What is
 * inside of it is copied without its name, so that no name stands for two of different modules; a pointer is a void *; typedefs
 * and qualifiers are left out. Where one source has several structures of one name all are copied, and CO-RE demands that they
 * agree. A name that nobody knows is left out: CO-RE replaces what needs it by what the verifier refuses if it gets there.
 *
 * A structure is looked for where it is at home: an nvme_tcp_queue in nvme_tcp. When it is not known there, then in the BTF of
 * other modules of the same origin, which repeats what they use, in vmlinux, which has what is built in, and in layouts last.
 */
int kernel_types_compose(KernelTypes *types, const struct btf *program, struct btf **ret, Error *error);
/* To a memfd or a file, from its beginning: libbpf reads it by name, as /proc/self/fd/N, not before a skeleton is loaded. */
int kernel_types_write(const struct btf *composed, int fd);
/* The module whose types were taken for a structure (or enum) when composing: who to blame when it is wrong. NULL: nobody's. */
const char *kernel_types_origin(const KernelTypes *types, const char *structure);

/* The command that makes a module's (or vmlinux's) BTF file, and what has to be installed for it. To be freed. */
char *kernel_types_advice(const char *release, const char *module, bool out_of_tree);
