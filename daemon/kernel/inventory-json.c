/* SPDX-License-Identifier: GPL-2.0-or-later */
/* docs/inspection.md describes the document. */
#include "inventory-internal.h"

#include <errno.h>
#include <string.h>

#include "../text.h"
#include "types.h"

#define SCHEMA "org.ntprof.kernel-inventory/2"
/* Without origins, symbols, arguments and settings. */
#define SCHEMA_1 "org.ntprof.kernel-inventory/1"

#define RELEASE_MAX 64                  /* as struct utsname */

static void add_string(JsonBuilder *b, const char *name, const char *value)
{
        json_builder_set_member_name(b, name);
        if (value)
                json_builder_add_string_value(b, value);
        else
                json_builder_add_null_value(b);
}

static void add_boolean(JsonBuilder *b, const char *name, bool value)
{
        json_builder_set_member_name(b, name);
        json_builder_add_boolean_value(b, value);
}

static void add_number(JsonBuilder *b, const char *name, bool known, int value)
{
        json_builder_set_member_name(b, name);
        if (known)
                json_builder_add_int_value(b, value);
        else
                json_builder_add_null_value(b);
}

static void add_set(JsonBuilder *b, const char *name, GHashTable *set)
{
        g_autoptr(GList) keys = g_list_sort(g_hash_table_get_keys(set), (GCompareFunc) strcmp);

        json_builder_set_member_name(b, name);
        json_builder_begin_array(b);
        for (GList *l = keys; l; l = l->next)
                json_builder_add_string_value(b, l->data);
        json_builder_end_array(b);
}

static void add_arguments(JsonBuilder *b, GHashTable *arguments)
{
        g_autoptr(GList) keys = g_list_sort(g_hash_table_get_keys(arguments), (GCompareFunc) strcmp);

        json_builder_set_member_name(b, "arguments");
        json_builder_begin_object(b);
        for (GList *l = keys; l; l = l->next)
                add_number(b, l->data, true, GPOINTER_TO_INT(g_hash_table_lookup(arguments, l->data)));
        json_builder_end_object(b);
}

static void add_settings(JsonBuilder *b, const KernelInventory *inventory)
{
        const KernelSettings *s = &inventory->settings;

        json_builder_set_member_name(b, "settings");
        json_builder_begin_object(b);
        add_string(b, "lockdown", s->lockdown);
        add_number(b, "perf_event_paranoid", s->has_perf_event_paranoid, s->perf_event_paranoid);
        add_number(b, "unprivileged_bpf_disabled", s->unprivileged_bpf_disabled >= 0, s->unprivileged_bpf_disabled);
        add_number(b, "bpf_jit_enable", s->bpf_jit_enable >= 0, s->bpf_jit_enable);
        add_number(b, "kprobes_enabled", s->kprobes_enabled >= 0, s->kprobes_enabled);
        add_set(b, "kprobes_blacklisted", inventory->blacklist);
        add_string(b, "kprobes_unreadable", s->kprobes_unreadable);
        json_builder_end_object(b);
}

static void add_module(JsonBuilder *b, const KernelModule *module)
{
        json_builder_begin_object(b);
        add_string(b, "name", module->name);
        add_boolean(b, "loaded", module->loaded);
        if (module->built_in)
                add_boolean(b, "built_in", true);
        add_string(b, "origin", module_origin_name(module->origin));
        add_string(b, "version", module->version);
        add_string(b, "srcversion", module->srcversion);
        add_boolean(b, "btf", module->btf);
        add_string(b, "types", module->types);
        add_string(b, "types_from", module->types_from);
        add_string(b, "types_why_not", module->types_why_not);
        add_set(b, "functions", module->functions);
        add_set(b, "tracepoints", module->tracepoints);
        add_arguments(b, module->arguments);
        add_set(b, "symbols", module->symbols);
        add_set(b, "fields", module->fields);
        json_builder_end_object(b);
}

JsonNode *kernel_inventory_to_json(const KernelInventory *inventory)
{
        g_autoptr(JsonBuilder) b = json_builder_new();

        json_builder_begin_object(b);
        add_string(b, "schema", SCHEMA);
        add_string(b, "release", inventory->release);
        if (inventory->label)
                add_string(b, "label", inventory->label);
        add_settings(b, inventory);
        add_string(b, "symbols_unreadable", inventory->symbols_unreadable);
        json_builder_set_member_name(b, "modules");
        json_builder_begin_array(b);
        for (guint i = 0; i < inventory->modules->len; i++)
                add_module(b, inventory->modules->pdata[i]);
        json_builder_end_array(b);
        json_builder_end_object(b);
        return json_builder_get_root(b);
}

/* NULL when there is none of that type; a member that is absent or null is not told. */
static JsonNode *value_member(JsonObject *object, const char *name, GType type)
{
        JsonNode *node = json_object_get_member(object, name);

        return node && JSON_NODE_HOLDS_VALUE(node) && json_node_get_value_type(node) == type ? node : NULL;
}

static const char *string_member(JsonObject *object, const char *name)
{
        JsonNode *node = value_member(object, name, G_TYPE_STRING);

        return node ? json_node_get_string(node) : NULL;
}

/* What is shown: whoever recorded the inventory wrote it. */
static char *text_member(JsonObject *object, const char *name)
{
        const char *text = string_member(object, name);

        return text ? text_printable(text, 0) : NULL;
}

/* As uname -r. It becomes a part of commands that root is advised to run, so there is nothing in it that a shell reads. */
static bool is_release(const char *release)
{
        return g_ascii_isalnum(*release) && strlen(release) <= RELEASE_MAX &&
                release[strspn(release, G_CSET_A_2_Z G_CSET_a_2_z G_CSET_DIGITS "._+~:-")] == '\0';
}

static bool read_number(JsonObject *object, const char *name, int *ret)
{
        JsonNode *node = value_member(object, name, G_TYPE_INT64);

        if (!node || json_node_get_int(node) != (int) json_node_get_int(node))
                return false;
        *ret = (int) json_node_get_int(node);
        return true;
}

static bool read_boolean(JsonObject *object, const char *name, bool *ret)
{
        JsonNode *node = value_member(object, name, G_TYPE_BOOLEAN);

        if (!node)
                return false;
        *ret = json_node_get_boolean(node);
        return true;
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

static bool read_arguments(JsonObject *object, GHashTable *arguments)
{
        JsonNode *node = json_object_get_member(object, "arguments");
        g_autoptr(GList) names = NULL;

        if (!node || !JSON_NODE_HOLDS_OBJECT(node))
                return false;
        names = json_object_get_members(json_node_get_object(node));
        for (GList *l = names; l; l = l->next) {
                int n;

                if (!read_number(json_node_get_object(node), l->data, &n) || n < 0)
                        return false;
                g_hash_table_insert(arguments, g_strdup(l->data), GINT_TO_POINTER(n));
        }
        return true;
}

static bool read_origin(JsonObject *object, ModuleOrigin *ret)
{
        const char *name = string_member(object, "origin");

        for (ModuleOrigin origin = MODULE_IN_TREE; name && origin <= MODULE_OUT_OF_TREE; origin++)
                if (g_str_equal(name, module_origin_name(origin))) {
                        *ret = origin;
                        return true;
                }
        return !name;
}

static bool read_module(KernelInventory *inventory, JsonNode *node, bool old)
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
        module->version = text_member(object, "version");
        module->srcversion = text_member(object, "srcversion");
        module->types_from = text_member(object, "types_from");
        module->types_why_not = text_member(object, "types_why_not");
        if (!read_boolean(object, "loaded", &module->loaded) || !read_boolean(object, "btf", &module->btf) ||
            !read_set(object, "functions", module->functions) || !read_set(object, "tracepoints", module->tracepoints) ||
            !read_set(object, "fields", module->fields))
                return false;
        if (old) {
                module->types = module->btf ? g_strdup(types_source_name(TYPES_KERNEL)) : NULL;
                return true;
        }
        module->types = text_member(object, "types");
        (void) read_boolean(object, "built_in", &module->built_in);
        return read_origin(object, &module->origin) && read_arguments(object, module->arguments) &&
                read_set(object, "symbols", module->symbols);
}

static bool read_settings(KernelInventory *inventory, JsonObject *object)
{
        KernelSettings *s = &inventory->settings;
        JsonNode *node = json_object_get_member(object, "settings");

        if (!node || !JSON_NODE_HOLDS_OBJECT(node))
                return false;
        object = json_node_get_object(node);
        s->lockdown = text_member(object, "lockdown");
        s->has_perf_event_paranoid = read_number(object, "perf_event_paranoid", &s->perf_event_paranoid);
        read_number(object, "unprivileged_bpf_disabled", &s->unprivileged_bpf_disabled);
        read_number(object, "bpf_jit_enable", &s->bpf_jit_enable);
        read_number(object, "kprobes_enabled", &s->kprobes_enabled);
        s->kprobes_unreadable = text_member(object, "kprobes_unreadable");
        return read_set(object, "kprobes_blacklisted", inventory->blacklist);
}

static KernelInventory *read_inventory(JsonObject *object, JsonArray *modules, bool old, char **ret_error)
{
        KernelInventory *inventory = kernel_inventory_new(string_member(object, "release"));

        inventory->label = text_member(object, "label");
        inventory->symbols_unreadable = old ? g_strdup("not recorded in an inventory of schema " SCHEMA_1) :
                text_member(object, "symbols_unreadable");
        if (!old && !read_settings(inventory, object))
                *ret_error = g_strdup("kernel inventory: settings need kprobes_blacklisted");
        for (guint i = 0; !*ret_error && i < json_array_get_length(modules); i++)
                if (!read_module(inventory, json_array_get_element(modules, i), old))
                        *ret_error = g_strdup_printf("kernel inventory: modules[%u] needs name, loaded, btf, functions, "
                                                     "tracepoints%s and fields", i, old ? "" : ", arguments, symbols");
        if (*ret_error)
                g_clear_pointer(&inventory, kernel_inventory_free);
        return inventory;
}

int kernel_inventory_from_json(JsonNode *node, KernelInventory **ret, char **ret_error)
{
        const char *schema;
        JsonObject *object;
        JsonNode *modules;
        bool old;

        *ret_error = NULL;
        if (!node || !JSON_NODE_HOLDS_OBJECT(node)) {
                *ret_error = g_strdup("a kernel inventory is a JSON object");
                return -EINVAL;
        }
        object = json_node_get_object(node);
        schema = string_member(object, "schema");
        modules = json_object_get_member(object, "modules");
        old = g_strcmp0(schema, SCHEMA_1) == 0;
        if ((!old && g_strcmp0(schema, SCHEMA) != 0) || !string_member(object, "release") || !modules ||
            !JSON_NODE_HOLDS_ARRAY(modules)) {
                *ret_error = g_strdup("not a kernel inventory: schema " SCHEMA " or " SCHEMA_1
                                      ", release and modules are needed");
                return -EINVAL;
        }

        if (!is_release(string_member(object, "release"))) {
                *ret_error = g_strdup("kernel inventory: release is no kernel's (as uname -r prints it)");
                return -EINVAL;
        }

        *ret = read_inventory(object, json_node_get_array(modules), old, ret_error);
        return *ret ? 0 : -EINVAL;
}
