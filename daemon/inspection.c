/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "inspection.h"

#include "kernel/plan.h"

static const char *side_name(HookSides side)
{
        return side == HOOK_SIDE_HOST ? "host" : "target";
}

/* true, or the reason why not */
static void add_usable(JsonBuilder *b, const char *name, bool usable, const char *why)
{
        json_builder_set_member_name(b, name);
        if (usable)
                json_builder_add_boolean_value(b, true);
        else
                json_builder_add_string_value(b, why);
}

static void add_transports(JsonBuilder *b, const HookPlan *plan)
{
        json_builder_set_member_name(b, "transports");
        json_builder_begin_object(b);
        for (unsigned i = 0; i < n_transports; i++) {
                json_builder_set_member_name(b, transports[i].name);
                json_builder_begin_object(b);
                for (HookSides side = HOOK_SIDE_HOST; side <= HOOK_SIDE_TARGET; side <<= 1) {
                        const char *why = NULL;
                        bool usable = hook_plan_transport_usable(plan, side, transports[i].transport, &why);

                        add_usable(b, side_name(side), usable, why);
                }
                json_builder_end_object(b);
        }
        json_builder_end_object(b);
}

/* A side is usable when one of the transports is: sessions are of those that their paths have. */
static void add_sides(JsonBuilder *b, const HookPlan *plan)
{
        json_builder_set_member_name(b, "usable");
        json_builder_begin_object(b);
        for (HookSides side = HOOK_SIDE_HOST; side <= HOOK_SIDE_TARGET; side <<= 1) {
                const char *why = NULL;
                bool usable = hook_plan_usable(plan, side, &why);

                for (unsigned i = 0; !usable && i < n_transports; i++)
                        usable = hook_plan_transport_usable(plan, side, transports[i].transport, NULL);
                add_usable(b, side_name(side), usable, why);
        }
        json_builder_end_object(b);
}

int inspection_make(JsonNode **ret)
{
        g_autoptr(JsonBuilder) b = json_builder_new();
        const HookScope everything = { HOOK_SIDE_HOST | HOOK_SIDE_TARGET, TRANSPORTS_ALL, .detail = true };
        KernelInventory *inventory;
        HookPlan *plan;
        int r;

        r = kernel_inventory_read(&inventory);
        if (r < 0)
                return r;
        r = hook_plan_make(inventory, &everything, &plan);
        if (r < 0) {
                kernel_inventory_free(inventory);
                return r;
        }

        json_builder_begin_object(b);
        json_builder_set_member_name(b, "schema");
        json_builder_add_string_value(b, "org.ntprof.inspection/1");
        json_builder_set_member_name(b, "ntprof_version");
        json_builder_add_string_value(b, NTPROF_VERSION);
        json_builder_set_member_name(b, "kernel");
        json_builder_add_string_value(b, kernel_inventory_release(inventory));
        add_sides(b, plan);
        add_transports(b, plan);
        json_builder_set_member_name(b, "plan");
        json_builder_add_value(b, hook_plan_to_json(plan));
        json_builder_set_member_name(b, "inventory");
        json_builder_add_value(b, kernel_inventory_to_json(inventory));
        json_builder_end_object(b);

        hook_plan_free(plan);
        kernel_inventory_free(inventory);
        *ret = json_builder_get_root(b);
        return 0;
}

static JsonNode *member(JsonNode *node, const char *name)
{
        return node && JSON_NODE_HOLDS_OBJECT(node) ? json_object_get_member(json_node_get_object(node), name) : NULL;
}

static const char *string_member(JsonNode *node, const char *name)
{
        JsonNode *value = member(node, name);

        return value && JSON_NODE_HOLDS_VALUE(value) && json_node_get_value_type(value) == G_TYPE_STRING ?
                json_node_get_string(value) : NULL;
}

static void add_boundary(GString *text, JsonNode *row)
{
        JsonNode *chosen = member(row, "chosen");
        const char *boundary = string_member(row, "boundary"), *covers = string_member(row, "covers"),
                   *transport = string_member(row, "transport"), *merged = string_member(row, "merged_into"),
                   *symbol = string_member(chosen, "symbol"), *mechanism = string_member(chosen, "mechanism");

        if (!boundary)
                return;
        g_string_append_printf(text, "%-3s ", boundary);
        if (mechanism && symbol)
                g_string_append_printf(text, "%-12s %s", mechanism, symbol);
        else if (merged)
                g_string_append_printf(text, "no hook: taken as %s", merged);
        else
                g_string_append(text, "no hook");
        g_string_append_printf(text, "  -- %s%s%s%s%s%s\n", transport ?: "", transport ? ": " : "",
                               string_member(row, "description") ?: "", covers ? " (" : "", covers ?: "", covers ? ")" : "");
}

char *inspection_to_text(JsonNode *inspection)
{
        static const char *const sides[] = { "host", "target" };
        JsonNode *plan = member(inspection, "plan"), *usable = member(inspection, "usable");
        GString *text = g_string_new(NULL);

        g_string_append_printf(text, "kernel %s\n", string_member(inspection, "kernel") ?: "unknown");
        for (size_t i = 0; i < G_N_ELEMENTS(sides); i++) {
                const char *why = string_member(usable, sides[i]);

                g_string_append_printf(text, "\n%s side: %s\n", sides[i], why ?: "can be recorded");
                for (unsigned k = 0; !why && k < n_transports; k++) {
                        JsonNode *transport = member(member(inspection, "transports"), transports[k].name);

                        if (string_member(transport, sides[i]))
                                g_string_append_printf(text, "not over %s: %s\n", transports[k].name,
                                                       string_member(transport, sides[i]));
                }
                if (!plan || !JSON_NODE_HOLDS_ARRAY(plan))
                        continue;
                for (guint k = 0; k < json_array_get_length(json_node_get_array(plan)); k++) {
                        JsonNode *row = json_array_get_element(json_node_get_array(plan), k);

                        if (g_strcmp0(string_member(row, "side"), sides[i]) == 0)
                                add_boundary(text, row);
                }
        }

        return g_string_free(text, false);
}
