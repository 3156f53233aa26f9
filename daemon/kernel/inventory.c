/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "inventory-internal.h"

#include <string.h>

#include "types.h"

const char *const kernel_module_names[] = {
        "vmlinux", "nvme_core", "nvme_fabrics", "nvme_tcp", "nvme_rdma", "nvmet", "nvmet_tcp", "nvmet_rdma", "ib_core", NULL,
};

static GHashTable *set_new(void)
{
        return g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
}

static void module_free(gpointer data)
{
        KernelModule *module = data;

        g_free(module->name);
        g_free(module->version);
        g_free(module->srcversion);
        g_free(module->types);
        g_free(module->types_from);
        g_free(module->types_why_not);
        g_hash_table_unref(module->functions);
        g_hash_table_unref(module->tracepoints);
        g_hash_table_unref(module->arguments);
        g_hash_table_unref(module->fields);
        g_hash_table_unref(module->symbols);
        g_free(module);
}

KernelInventory *kernel_inventory_new(const char *release)
{
        KernelInventory *inventory = g_new0(KernelInventory, 1);

        inventory->release = g_strdup(release);
        inventory->settings = (KernelSettings) {
                .unprivileged_bpf_disabled = -1, .bpf_jit_enable = -1, .kprobes_enabled = -1,
        };
        inventory->blacklist = set_new();
        inventory->modules = g_ptr_array_new_with_free_func(module_free);
        return inventory;
}

void kernel_inventory_free(KernelInventory *inventory)
{
        if (!inventory)
                return;
        g_free(inventory->release);
        g_free(inventory->label);
        g_free(inventory->symbols_unreadable);
        g_free(inventory->settings.lockdown);
        g_free(inventory->settings.kprobes_unreadable);
        g_hash_table_unref(inventory->blacklist);
        g_ptr_array_unref(inventory->modules);
        g_free(inventory);
}

KernelModule *kernel_inventory_add(KernelInventory *inventory, const char *name)
{
        KernelModule *module = g_new0(KernelModule, 1);

        module->name = g_strdup(name);
        module->functions = set_new();
        module->tracepoints = set_new();
        module->arguments = set_new();
        module->fields = set_new();
        module->symbols = set_new();
        g_ptr_array_add(inventory->modules, module);
        return module;
}

KernelModule *kernel_inventory_find(const KernelInventory *inventory, const char *name)
{
        for (guint i = 0; i < inventory->modules->len; i++) {
                KernelModule *module = inventory->modules->pdata[i];

                if (strcmp(module->name, name) == 0)
                        return module;
        }
        return NULL;
}

const char *module_origin_name(ModuleOrigin origin)
{
        return origin == MODULE_IN_TREE ? "in-tree" : origin == MODULE_OUT_OF_TREE ? "out-of-tree" : NULL;
}

const char *kernel_inventory_release(const KernelInventory *inventory)
{
        return inventory->release;
}

const char *kernel_inventory_label(const KernelInventory *inventory)
{
        return inventory->label;
}

const char *kernel_inventory_symbols_unreadable(const KernelInventory *inventory)
{
        return inventory->symbols_unreadable;
}

const KernelSettings *kernel_inventory_settings(const KernelInventory *inventory)
{
        return &inventory->settings;
}

bool kernel_inventory_module_loaded(const KernelInventory *inventory, const char *name)
{
        const KernelModule *module = kernel_inventory_find(inventory, name);

        return module && module->loaded;
}

bool kernel_inventory_module_unloadable(const KernelInventory *inventory, const char *name)
{
        const KernelModule *module = kernel_inventory_find(inventory, name);

        return module && module->loaded && !module->built_in && !g_str_equal(name, kernel_module_names[0]);
}

ModuleOrigin kernel_inventory_module_origin(const KernelInventory *inventory, const char *name)
{
        const KernelModule *module = kernel_inventory_find(inventory, name);

        return module ? module->origin : MODULE_ORIGIN_UNKNOWN;
}

bool kernel_inventory_module_has_btf(const KernelInventory *inventory, const char *name)
{
        const KernelModule *module = kernel_inventory_find(inventory, name);

        return module && module->btf;
}

bool kernel_inventory_module_has_types(const KernelInventory *inventory, const char *name)
{
        const KernelModule *module = kernel_inventory_find(inventory, name);

        return module && module->types && !g_str_equal(module->types, types_source_name(TYPES_NONE));
}

const char *kernel_inventory_module_types(const KernelInventory *inventory, const char *name)
{
        const KernelModule *module = kernel_inventory_find(inventory, name);

        return module ? module->types : NULL;
}

const char *kernel_inventory_module_types_why_not(const KernelInventory *inventory, const char *name)
{
        const KernelModule *module = kernel_inventory_find(inventory, name);

        return module ? module->types_why_not : NULL;
}

/* What a module has when it is built in is in the kernel's own BTF, and has no module's name in the symbol table. */
static const KernelModule *having(const KernelInventory *inventory, const char *name, size_t set, const char *key)
{
        const char *where[] = { name, "vmlinux" };

        for (unsigned i = 0; i < G_N_ELEMENTS(where); i++) {
                const KernelModule *module = kernel_inventory_find(inventory, where[i]);

                if (module && g_hash_table_contains(G_STRUCT_MEMBER(GHashTable *, module, set), key))
                        return module;
        }
        return NULL;
}

bool kernel_inventory_has_btf_function(const KernelInventory *inventory, const char *module, const char *function)
{
        return having(inventory, module, G_STRUCT_OFFSET(KernelModule, functions), function);
}

bool kernel_inventory_has_tracepoint(const KernelInventory *inventory, const char *module, const char *tracepoint)
{
        return having(inventory, module, G_STRUCT_OFFSET(KernelModule, tracepoints), tracepoint);
}

int kernel_inventory_tracepoint_arguments(const KernelInventory *inventory, const char *name, const char *tracepoint)
{
        const KernelModule *module = having(inventory, name, G_STRUCT_OFFSET(KernelModule, arguments), tracepoint);

        return module ? GPOINTER_TO_INT(g_hash_table_lookup(module->arguments, tracepoint)) : -1;
}

static bool has_structure(const KernelModule *module, const char *structure)
{
        g_autofree char *prefix = g_strconcat(structure, ".", NULL);
        GHashTableIter iter;
        gpointer field;

        g_hash_table_iter_init(&iter, module->fields);
        while (g_hash_table_iter_next(&iter, &field, NULL))
                if (g_str_has_prefix(field, prefix))
                        return true;
        return false;
}

/* Of an out-of-tree module. A structure that is the same as the kernel's is not repeated in BTF that is split on vmlinux's; one
 * that is there is another one, as one is of which nothing is known. */
static bool has_own(const KernelModule *module, const char *structure)
{
        return module->origin == MODULE_OUT_OF_TREE &&
                (has_structure(module, structure) || g_strcmp0(module->types, types_source_name(TYPES_NONE)) == 0);
}

bool kernel_inventory_structure_differs(const KernelInventory *inventory, const char *module, const char *structure)
{
        const KernelModule *owner = kernel_inventory_find(inventory, module), *kernel = kernel_inventory_find(inventory, "vmlinux");

        return owner && kernel && has_own(owner, structure) && has_structure(kernel, structure);
}

bool kernel_inventory_has_field(const KernelInventory *inventory, const char *module, const char *structure, const char *field)
{
        g_autofree char *key = g_strdup_printf("%s.%s", structure, field);
        const KernelModule *owner = kernel_inventory_find(inventory, module);

        if (owner && has_own(owner, structure))
                return g_hash_table_contains(owner->fields, key);
        return having(inventory, module, G_STRUCT_OFFSET(KernelModule, fields), key);
}

bool kernel_inventory_has_symbol(const KernelInventory *inventory, const char *module, const char *symbol)
{
        return having(inventory, module, G_STRUCT_OFFSET(KernelModule, symbols), symbol);
}

bool kernel_inventory_has_raw_tracepoint(const KernelInventory *inventory, const char *module, const char *tracepoint)
{
        static const char *const prefixes[] = { TRACEPOINT_SYMBOL_PREFIXES };

        for (size_t i = 0; i < G_N_ELEMENTS(prefixes); i++) {
                g_autofree char *symbol = g_strconcat(prefixes[i], tracepoint, NULL);

                if (kernel_inventory_has_symbol(inventory, module, symbol))
                        return true;
        }
        return kernel_inventory_has_tracepoint(inventory, module, tracepoint);
}

bool kernel_inventory_kprobe_blacklisted(const KernelInventory *inventory, const char *function)
{
        return g_hash_table_contains(inventory->blacklist, function);
}
