/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "kernel-fixture.h"

const char *const recorded_kernels[] = { "5.10", "6.1", "6.12", "7.2", "7.3", NULL };
const char *const planned_kernels[] = { "5.15", "6.8", "6.11", "ofed-5.8", "ofed-24.10", "ofed-25.10", NULL };

JsonNode *kernel_fixture_load(const char *name)
{
        g_autofree char *recorded = g_strdup_printf("%s/../fixtures/kernels/%s.json", g_getenv("G_TEST_SRCDIR"), name),
                        *planned = g_strdup_printf("%s/%s.json", g_getenv("G_TEST_BUILDDIR"), name),
                        *path = g_strdup(g_file_test(recorded, G_FILE_TEST_EXISTS) ? recorded : planned);
        g_autoptr(JsonParser) parser = json_parser_new();
        g_autoptr(GError) error = NULL;

        json_parser_load_from_file(parser, path, &error);
        g_assert_no_error(error);
        return json_parser_steal_root(parser);
}

KernelInventory *kernel_fixture_inventory(JsonNode *node)
{
        g_autofree char *error = NULL;
        KernelInventory *inventory = NULL;
        int r;

        r = kernel_inventory_from_json(node, &inventory, &error);
        g_assert_cmpstr(error, ==, NULL);
        g_assert_cmpint(r, ==, 0);
        return inventory;
}

HookPlan *kernel_fixture_plan(JsonNode *node, HookScope scope)
{
        KernelInventory *inventory = kernel_fixture_inventory(node);
        HookPlan *plan = NULL;

        if (!scope.capabilities)
                scope.capabilities = CAPABILITIES_ALL;
        g_assert_cmpint(hook_plan_make(inventory, &scope, &plan), ==, 0);
        kernel_inventory_free(inventory);
        return plan;
}

JsonObject *kernel_fixture_module(JsonNode *node, const char *module)
{
        JsonArray *modules = json_object_get_array_member(json_node_get_object(node), "modules");

        for (guint i = 0; i < json_array_get_length(modules); i++) {
                JsonObject *object = json_array_get_object_element(modules, i);

                if (g_str_equal(json_object_get_string_member(object, "name"), module))
                        return object;
        }
        g_error("no module %s", module);
}

void kernel_fixture_take_away(JsonNode *node, const char *module, const char *set, const char *value)
{
        JsonArray *array = json_object_get_array_member(kernel_fixture_module(node, module), set);
        bool found = false;

        for (guint i = json_array_get_length(array); i-- > 0;)
                if (!value || g_str_equal(json_array_get_string_element(array, i), value)) {
                        json_array_remove_element(array, i);
                        found = true;
                }
        g_assert_true(found);
}

void kernel_fixture_set_boolean(JsonNode *node, const char *module, const char *name, gboolean value)
{
        json_object_set_boolean_member(kernel_fixture_module(node, module), name, value);
}

void kernel_fixture_set_string(JsonNode *node, const char *module, const char *name, const char *value)
{
        json_object_set_string_member(kernel_fixture_module(node, module), name, value);
}

JsonObject *kernel_fixture_settings(JsonNode *node)
{
        return json_object_get_object_member(json_node_get_object(node), "settings");
}

void kernel_fixture_take_btf(JsonNode *node, const char *module)
{
        JsonObject *object = kernel_fixture_module(node, module);
        static const char *const sets[] = { "functions", "tracepoints", "fields" };

        for (unsigned i = 0; i < G_N_ELEMENTS(sets); i++)
                json_object_set_array_member(object, sets[i], json_array_new());
        json_object_set_object_member(object, "arguments", json_object_new());
        json_object_set_boolean_member(object, "btf", FALSE);
        json_object_set_string_member(object, "types", "none");
        json_object_set_null_member(object, "types_from");
        json_object_set_string_member(object, "types_why_not", "it is a test");
}

const HookChoice *kernel_fixture_choice(const HookPlan *plan, const char *boundary, const char *covers)
{
        for (guint i = 0; i < plan->choices->len; i++) {
                const HookChoice *choice = plan->choices->pdata[i];

                if (g_str_equal(choice->row->boundary, boundary) && g_strcmp0(choice->row->covers, covers) == 0)
                        return choice;
        }
        g_error("no row for %s", boundary);
}

void kernel_fixture_assert_chosen(const HookPlan *plan, const char *boundary, const char *covers, const char *mechanism,
                                  const char *symbol)
{
        const HookChoice *choice = kernel_fixture_choice(plan, boundary, covers);

        g_assert_nonnull(choice->chosen);
        g_assert_cmpstr(choice->mechanism, ==, mechanism);
        g_assert_cmpstr(choice->chosen->symbol, ==, symbol);
}

void kernel_fixture_assert_family(const HookPlan *plan, HookSides sides, HookFamily family)
{
        for (HookSides side = HOOK_SIDE_HOST; side <= HOOK_SIDE_TARGET; side <<= 1) {
                const char *why = NULL;

                if (!(sides & side))
                        continue;
                if (!hook_plan_usable(plan, side, &why))
                        g_error("%s", why);
                g_assert_cmpint(hook_plan_family(plan, side), ==, family);
        }
}

const char *kernel_fixture_why_not(const HookPlan *plan, const char *boundary, const char *covers, unsigned n)
{
        const HookChoice *choice = kernel_fixture_choice(plan, boundary, covers);

        g_assert_cmpuint(choice->rejected->len, >, n);
        return ((HookRejection *) choice->rejected->pdata[n])->reason;
}
