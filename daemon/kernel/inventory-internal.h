/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "inventory.h"

typedef struct KernelModule {
        char *name;
        bool loaded;
        bool btf;
        GHashTable *functions;          /* set of char* */
        GHashTable *tracepoints;        /* set of char* */
        GHashTable *fields;             /* set of "structure.field" */
} KernelModule;

struct KernelInventory {
        char *release;
        GPtrArray *modules;             /* of KernelModule; the first is vmlinux */
};

/* The modules an inventory is about, vmlinux first; NULL ends it. */
extern const char *const kernel_module_names[];

KernelInventory *kernel_inventory_new(const char *release);
KernelModule *kernel_inventory_add(KernelInventory *inventory, const char *name);
