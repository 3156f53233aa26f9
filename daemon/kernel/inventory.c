/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "inventory-internal.h"

#include <errno.h>
#include <string.h>

#define SCHEMA "org.ntprof.kernel-inventory/1"

const char *const kernel_module_names[] = {
        "vmlinux", "nvme_core", "nvme_fabrics", "nvme_tcp", "nvme_rdma", "nvmet", "nvmet_tcp", "nvmet_rdma", "ib_core", NULL,
};

static void module_free(gpointer data)
{
        KernelModule *module = data;

        g_free(module->name);
        g_hash_table_unref(module->functions);
        g_hash_table_unref(module->tracepoints);
        g_hash_table_unref(module->fields);
        g_free(module);
}

KernelInventory *kernel_inventory_new(const char *release)
{
        KernelInventory *inventory = g_new0(KernelInventory, 1);

        inventory->release = g_strdup(release);
        inventory->modules = g_ptr_array_new_with_free_func(module_free);
        return inventory;
}

void kernel_inventory_free(KernelInventory *inventory)
{
        if (!inventory)
                return;
        g_free(inventory->release);
        g_ptr_array_unref(inventory->modules);
        g_free(inventory);
}

KernelModule *kernel_inventory_add(KernelInventory *inventory, const char *name)
{
        KernelModule *module = g_new0(KernelModule, 1);

        module->name = g_strdup(name);
        module->functions = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
        module->tracepoints = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
        module->fields = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
        g_ptr_array_add(inventory->modules, module);
        return module;
}

static const KernelModule *find(const KernelInventory *inventory, const char *name)
{
        for (guint i = 0; i < inventory->modules->len; i++) {
                const KernelModule *module = inventory->modules->pdata[i];

                if (strcmp(module->name, name) == 0)
                        return module;
        }
        return NULL;
}

const char *kernel_inventory_release(const KernelInventory *inventory)
{
        return inventory->release;
}

bool kernel_inventory_module_loaded(const KernelInventory *inventory, const char *name)
{
        const KernelModule *module = find(inventory, name);

        return module && module->loaded;
}

bool kernel_inventory_module_has_btf(const KernelInventory *inventory, const char *name)
{
        const KernelModule *module = find(inventory, name);

        return module && module->btf;
}

/* What a module has when it is built in is in the kernel's own BTF. */
static bool has(const KernelInventory *inventory, const char *name, size_t set, const char *key)
{
        const char *where[] = { name, "vmlinux" };

        for (unsigned i = 0; i < G_N_ELEMENTS(where); i++) {
                const KernelModule *module = find(inventory, where[i]);

                if (module && g_hash_table_contains(G_STRUCT_MEMBER(GHashTable *, module, set), key))
                        return true;
        }
        return false;
}

bool kernel_inventory_has_btf_function(const KernelInventory *inventory, const char *module, const char *function)
{
        return has(inventory, module, G_STRUCT_OFFSET(KernelModule, functions), function);
}

bool kernel_inventory_has_tracepoint(const KernelInventory *inventory, const char *module, const char *tracepoint)
{
        return has(inventory, module, G_STRUCT_OFFSET(KernelModule, tracepoints), tracepoint);
}

bool kernel_inventory_has_field(const KernelInventory *inventory, const char *module, const char *structure, const char *field)
{
        g_autofree char *key = g_strdup_printf("%s.%s", structure, field);

        return has(inventory, module, G_STRUCT_OFFSET(KernelModule, fields), key);
}

static void add_set(JsonBuilder *builder, const char *name, GHashTable *set)
{
        g_autoptr(GList) keys = g_list_sort(g_hash_table_get_keys(set), (GCompareFunc) strcmp);

        json_builder_set_member_name(builder, name);
        json_builder_begin_array(builder);
        for (GList *l = keys; l; l = l->next)
                json_builder_add_string_value(builder, l->data);
        json_builder_end_array(builder);
}

JsonNode *kernel_inventory_to_json(const KernelInventory *inventory)
{
        g_autoptr(JsonBuilder) builder = json_builder_new();

        json_builder_begin_object(builder);
        json_builder_set_member_name(builder, "schema");
        json_builder_add_string_value(builder, SCHEMA);
        json_builder_set_member_name(builder, "release");
        json_builder_add_string_value(builder, inventory->release);
        json_builder_set_member_name(builder, "modules");
        json_builder_begin_array(builder);
        for (guint i = 0; i < inventory->modules->len; i++) {
                const KernelModule *module = inventory->modules->pdata[i];

                json_builder_begin_object(builder);
                json_builder_set_member_name(builder, "name");
                json_builder_add_string_value(builder, module->name);
                json_builder_set_member_name(builder, "loaded");
                json_builder_add_boolean_value(builder, module->loaded);
                json_builder_set_member_name(builder, "btf");
                json_builder_add_boolean_value(builder, module->btf);
                add_set(builder, "functions", module->functions);
                add_set(builder, "tracepoints", module->tracepoints);
                add_set(builder, "fields", module->fields);
                json_builder_end_object(builder);
        }
        json_builder_end_array(builder);
        json_builder_end_object(builder);
        return json_builder_get_root(builder);
}

static const char *string_member(JsonObject *object, const char *name)
{
        JsonNode *node = json_object_get_member(object, name);

        return node && JSON_NODE_HOLDS_VALUE(node) && json_node_get_value_type(node) == G_TYPE_STRING ?
                json_node_get_string(node) : NULL;
}

static bool read_set(JsonObject *object, const char *name, GHashTable *set)
{
        JsonNode *node = json_object_get_member(object, name);
        JsonArray *array;

        if (!node || !JSON_NODE_HOLDS_ARRAY(node))
                return false;
        array = json_node_get_array(node);
        for (guint i = 0; i < json_array_get_length(array); i++) {
                JsonNode *element = json_array_get_element(array, i);

                if (!JSON_NODE_HOLDS_VALUE(element) || json_node_get_value_type(element) != G_TYPE_STRING)
                        return false;
                g_hash_table_add(set, g_strdup(json_node_get_string(element)));
        }
        return true;
}

static bool read_boolean(JsonObject *object, const char *name, bool *ret)
{
        JsonNode *node = json_object_get_member(object, name);

        if (!node || !JSON_NODE_HOLDS_VALUE(node) || json_node_get_value_type(node) != G_TYPE_BOOLEAN)
                return false;
        *ret = json_node_get_boolean(node);
        return true;
}

static bool read_module(KernelInventory *inventory, JsonNode *node)
{
        const char *name;
        KernelModule *module;
        JsonObject *object;

        if (!JSON_NODE_HOLDS_OBJECT(node))
                return false;
        object = json_node_get_object(node);
        name = string_member(object, "name");
        if (!name)
                return false;
        module = kernel_inventory_add(inventory, name);
        return read_boolean(object, "loaded", &module->loaded) && read_boolean(object, "btf", &module->btf) &&
                read_set(object, "functions", module->functions) && read_set(object, "tracepoints", module->tracepoints) &&
                read_set(object, "fields", module->fields);
}

int kernel_inventory_from_json(JsonNode *node, KernelInventory **ret, char **ret_error)
{
        const char *schema, *release;
        KernelInventory *inventory;
        JsonObject *object;
        JsonNode *modules;
        JsonArray *array;

        if (!node || !JSON_NODE_HOLDS_OBJECT(node)) {
                *ret_error = g_strdup("a kernel inventory is a JSON object");
                return -EINVAL;
        }
        object = json_node_get_object(node);
        schema = string_member(object, "schema");
        release = string_member(object, "release");
        modules = json_object_get_member(object, "modules");
        if (g_strcmp0(schema, SCHEMA) != 0 || !release || !modules || !JSON_NODE_HOLDS_ARRAY(modules)) {
                *ret_error = g_strdup("not a kernel inventory: schema " SCHEMA ", release and modules are needed");
                return -EINVAL;
        }

        inventory = kernel_inventory_new(release);
        array = json_node_get_array(modules);
        for (guint i = 0; i < json_array_get_length(array); i++)
                if (!read_module(inventory, json_array_get_element(array, i))) {
                        *ret_error = g_strdup_printf("kernel inventory: modules[%u] needs name, loaded, btf, functions, "
                                                     "tracepoints and fields", i);
                        kernel_inventory_free(inventory);
                        return -EINVAL;
                }
        *ret = inventory;
        return 0;
}
