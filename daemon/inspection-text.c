/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "inspection.h"

#include "transport.h"

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

static JsonArray *array_member(JsonNode *node, const char *name)
{
        JsonNode *value = member(node, name);

        return value && JSON_NODE_HOLDS_ARRAY(value) ? json_node_get_array(value) : NULL;
}

static void add_lacks(GString *text, JsonArray *lacks)
{
        if (lacks)
                g_string_append_printf(text, "\na report will lack%s\n", json_array_get_length(lacks) > 0 ? ":" : " nothing");
        for (guint i = 0; lacks && i < json_array_get_length(lacks); i++) {
                JsonNode *lack = json_array_get_element(lacks, i);
                const char *merged = string_member(lack, "merged_into");

                g_string_append_printf(text, "%s%s%s: %s\n", string_member(lack, "what") ?: "?", merged ? ", merged into " : "",
                                       merged ?: "", string_member(lack, "reason") ?: "?");
        }
}

static void add_notes(GString *text, JsonArray *notes)
{
        for (guint i = 0; notes && i < json_array_get_length(notes); i++) {
                JsonNode *note = json_array_get_element(notes, i);

                if (JSON_NODE_HOLDS_VALUE(note) && json_node_get_value_type(note) == G_TYPE_STRING)
                        g_string_append_printf(text, "note: %s\n", json_node_get_string(note));
        }
}

char *inspection_to_text(JsonNode *inspection)
{
        static const char *const sides[] = { "host", "target" };
        JsonNode *plan = member(inspection, "plan"), *usable = member(inspection, "usable");
        const char *label = string_member(inspection, "label");
        GString *text = g_string_new(NULL);

        g_string_append_printf(text, "kernel %s%s%s\n", string_member(inspection, "kernel") ?: "unknown", label ? ": " : "",
                               label ?: "");
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
        add_lacks(text, array_member(inspection, "lacks"));
        add_notes(text, array_member(inspection, "notes"));
        return g_string_free(text, false);
}
