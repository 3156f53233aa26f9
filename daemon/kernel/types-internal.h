/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <glib.h>

#include "types.h"

#define VMLINUX "vmlinux"

typedef struct ModuleTypes {
        struct btf *btf;                /* of a module that is built in: vmlinux's */
        unsigned first;                 /* its own types; before them are those of the BTF it is split from */
        TypesSource source;
        bool loaded, built_in, out_of_tree;
        char *where, *why_not;
} ModuleTypes;

struct KernelTypes {
        KernelTypesRoots roots;
        char *release;
        GHashTable *modules;            /* of ModuleTypes, by name; vmlinux always */
        GHashTable *origins;            /* char*: module, by structure */
};

/* Never NULL: what is known of a module, read when first asked for. */
const ModuleTypes *kernel_types_get(KernelTypes *types, const char *module);

/*
 * A user's file. When it cannot be used *ret_reason (to be freed) says why: there is none, others may write it, it is no BTF,
 * or of another kernel. vmlinux NULL: the file is vmlinux's own.
 */
int types_file_read(const KernelTypesRoots *roots, const char *release, const char *module, struct btf *vmlinux,
                    struct btf **ret, unsigned *ret_first, char **ret_reason);
