/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a kernel offers: its release, the modules ntprof cares for, and of each the functions and tracepoints its BTF and
 * symbol table name. Read from the running kernel or from a JSON file recorded on another (tests/fixtures/kernels).
 */
#pragma once

#include <json-glib/json-glib.h>
#include <stdbool.h>

typedef struct KernelInventory KernelInventory;

int kernel_inventory_read(KernelInventory **ret);
/* -EINVAL, and *ret_error (to be freed) says where, when it is not an inventory. */
int kernel_inventory_from_json(JsonNode *node, KernelInventory **ret, char **ret_error);
JsonNode *kernel_inventory_to_json(const KernelInventory *inventory);
void kernel_inventory_free(KernelInventory *inventory);

const char *kernel_inventory_release(const KernelInventory *inventory);
bool kernel_inventory_module_loaded(const KernelInventory *inventory, const char *module);
bool kernel_inventory_module_has_btf(const KernelInventory *inventory, const char *module);
/* A FUNC of the module's BTF: what fentry and fexit need. module "vmlinux" is the kernel itself. */
bool kernel_inventory_has_btf_function(const KernelInventory *inventory, const char *module, const char *function);
bool kernel_inventory_has_tracepoint(const KernelInventory *inventory, const char *module, const char *tracepoint);
bool kernel_inventory_has_field(const KernelInventory *inventory, const char *module, const char *structure, const char *field);
