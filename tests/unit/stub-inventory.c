/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * An inventory of a kernel that nobody here has run, from stubs (tests/fixtures/btf-stubs/functions.h, daemon/kernel/layouts):
 *
 *     stub-inventory RELEASE STUB.o... [--out-of-tree STUB.o...]
 *
 * Its own modules have BTF. Those out of tree replace them; they have none, and a user's file has their types. It is
 * labelled as what it is: planned, not run.
 */
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <stdio.h>
#include <string.h>

#include "daemon/kernel/inventory-internal.h"
#include "daemon/kernel/types.h"

#define LABEL "planned, not run"
#define MODULE_TAG "module:"
#define DATA_PREFIX ".data."

typedef struct Stub {
        struct btf *btf;
        KernelInventory *inventory;
} Stub;

static const char *name_of(const struct btf *btf, const struct btf_type *type)
{
        return btf__name_by_offset(btf, type->name_off);
}

static KernelModule *module_of(const Stub *stub, const char *name)
{
        KernelModule *module = kernel_inventory_find(stub->inventory, name);

        if (!module)
                g_error("no module %s", name);
        return module;
}

static void add_tagged(KernelModule *module, const struct btf *btf, const struct btf_type *type)
{
        const char *name = name_of(btf, type);

        if (btf_is_typedef(type)) {
                kernel_module_add_tracepoint(module, btf, type);
                g_hash_table_add(module->symbols, g_strconcat("__tracepoint_", name + strlen(TRACEPOINT_PREFIX), NULL));
        } else if (btf_is_func(type)) {
                g_hash_table_add(module->symbols, g_strdup(name));
                if (module->btf)
                        g_hash_table_add(module->functions, g_strdup(name));
        }
}

/* Pointers to the structures of a module. */
static void add_section(KernelModule *module, const struct btf *btf, const struct btf_type *section)
{
        for (unsigned i = 0; i < btf_vlen(section); i++) {
                const struct btf_type *variable = btf__type_by_id(btf, btf_var_secinfos(section)[i].type),
                                      *pointer = btf__type_by_id(btf, variable->type);

                kernel_module_add_fields(module, btf, btf__type_by_id(btf, pointer->type));
        }
}

static void add_stub(const Stub *stub)
{
        for (unsigned id = 1; id < btf__type_cnt(stub->btf); id++) {
                const struct btf_type *type = btf__type_by_id(stub->btf, id);
                const char *name = name_of(stub->btf, type);

                if (btf_is_decl_tag(type) && g_str_has_prefix(name, MODULE_TAG))
                        add_tagged(module_of(stub, name + strlen(MODULE_TAG)), stub->btf,
                                   btf__type_by_id(stub->btf, type->type));
                if (btf_is_datasec(type) && g_str_has_prefix(name, DATA_PREFIX))
                        add_section(module_of(stub, name + strlen(DATA_PREFIX)), stub->btf, type);
        }
}

static void add_modules(KernelInventory *inventory, bool out_of_tree)
{
        for (unsigned i = out_of_tree; kernel_module_names[i]; i++) {
                const char *name = kernel_module_names[i];
                KernelModule *module = kernel_inventory_add(inventory, name);

                module->loaded = true;
                module->origin = out_of_tree ? MODULE_OUT_OF_TREE : MODULE_IN_TREE;
                module->btf = !out_of_tree;
                module->types = g_strdup(types_source_name(out_of_tree ? TYPES_FILE : TYPES_KERNEL));
                module->types_from = out_of_tree ? g_strdup_printf("/etc/ntprof/btf/%s/%s.btf", inventory->release, name) :
                        g_strdup_printf("/sys/kernel/btf/%s", name);
        }
}

int main(int argc, char **argv)
{
        KernelInventory *inventory;
        g_autoptr(JsonNode) document = NULL;
        g_autofree char *text = NULL;

        if (argc < 3)
                g_error("stub-inventory RELEASE STUB.o... [--out-of-tree STUB.o...]");
        inventory = kernel_inventory_new(argv[1]);
        inventory->label = g_strdup(LABEL);
        inventory->settings.kprobes_unreadable = g_strdup(LABEL);
        add_modules(inventory, false);
        for (int i = 2; i < argc; i++) {
                Stub stub = { NULL, inventory };

                if (g_str_equal(argv[i], "--out-of-tree")) {
                        g_ptr_array_set_size(inventory->modules, 1);
                        add_modules(inventory, true);
                        continue;
                }
                stub.btf = btf__parse_elf(argv[i], NULL);
                if (!stub.btf)
                        g_error("%s has no BTF", argv[i]);
                add_stub(&stub);
                btf__free(stub.btf);
        }
        document = kernel_inventory_to_json(inventory);
        kernel_inventory_free(inventory);
        text = json_to_string(document, true);
        printf("%s\n", text);
        return 0;
}
