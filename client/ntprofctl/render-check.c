/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "render-check.h"

#include <json-glib/json-glib.h>
#include <ntprof.h>
#include <string.h>
#include <unistd.h>

#include "json-depth.h"
#include "output.h"

#define SCHEMA "org.ntprof.inspection/1"
#define DEPTH_MAX 64u

/* Text is wrapped to what people have at least, not to what they may have. */
#define WIDTH 79

static const char *const sides[] = { "host", "target" };

/* NULL when there is none of that name and kind: the document may be of another version. */
static JsonObject *object_member(JsonObject *object, const char *name)
{
        JsonNode *node = object ? json_object_get_member(object, name) : NULL;

        return node && JSON_NODE_HOLDS_OBJECT(node) ? json_node_get_object(node) : NULL;
}

static JsonArray *array_member(JsonObject *object, const char *name)
{
        JsonNode *node = object ? json_object_get_member(object, name) : NULL;

        return node && JSON_NODE_HOLDS_ARRAY(node) ? json_node_get_array(node) : NULL;
}

static const char *string_member(JsonObject *object, const char *name)
{
        JsonNode *node = object ? json_object_get_member(object, name) : NULL;

        return node && JSON_NODE_HOLDS_VALUE(node) ? json_node_get_string(node) : NULL;
}

static gboolean boolean_member(JsonObject *object, const char *name)
{
        JsonNode *node = object ? json_object_get_member(object, name) : NULL;

        return node && JSON_NODE_HOLDS_VALUE(node) && json_node_get_value_type(node) == G_TYPE_BOOLEAN && json_node_get_boolean(node);
}

static JsonObject *object_element(JsonArray *array, guint index)
{
        JsonNode *node = json_array_get_element(array, index);

        return JSON_NODE_HOLDS_OBJECT(node) ? json_node_get_object(node) : NULL;
}

static const char *or_empty(const char *text)
{
        return text ? text : "";
}

/* Adds words to the last line of text, and goes on in new ones behind indent. */
static void add_wrapped(GString *text, unsigned indent, const char *words)
{
        g_auto(GStrv) list = g_strsplit(words, " ", -1);
        const char *newline = strrchr(text->str, '\n');
        gsize column = text->len - (newline ? (gsize) (newline + 1 - text->str) : 0);

        for (char **word = list; *word; word++) {
                const gsize length = strlen(*word);
                if (word != list && column + 1 + length > WIDTH) {
                        g_string_append_printf(text, "\n%*s", (int) indent, "");
                        column = indent;
                } else if (word != list) {
                        g_string_append_c(text, ' ');
                        column++;
                }
                g_string_append(text, *word);
                column += length;
        }
        g_string_append_c(text, '\n');
}

#define INDENT 4

static void add_style(GString *text, Style style)
{
        g_string_append(text, output_style(STDOUT_FILENO, style));
}

/* "command fully handed to the transport (tcp; writes sent after an R2T; detail)" */
static char *title_of(JsonObject *row)
{
        const char *of[] = { string_member(row, "transport"), string_member(row, "covers"),
                             boolean_member(row, "detail") ? "detail" : NULL };
        GString *title = g_string_new(or_empty(string_member(row, "description")));
        const char *between = " (";

        for (gsize i = 0; i < G_N_ELEMENTS(of); i++) {
                if (!of[i])
                        continue;
                g_string_append_printf(title, "%s%s", between, of[i]);
                between = "; ";
        }
        if (g_str_equal(between, "; "))
                g_string_append_c(title, ')');
        return g_string_free(title, FALSE);
}

/* H3  command fully handed to the transport (tcp; writes sent after an R2T)
 *     fexit nvme_tcp_try_send
 *     not fentry nvme_tcp_try_send_cmd_pdu: why */
static void add_boundary(GString *text, JsonObject *row)
{
        JsonObject *chosen = object_member(row, "chosen");
        JsonArray *rejected = array_member(row, "rejected");
        const char *merged = string_member(row, "merged_into");
        g_autofree char *title = title_of(row);

        add_style(text, STYLE_BOLD);
        g_string_append_printf(text, "%-3s ", or_empty(string_member(row, "boundary")));
        add_style(text, STYLE_NONE);
        add_wrapped(text, INDENT, title);

        g_string_append_printf(text, "%*s", INDENT, "");
        if (chosen) {
                add_style(text, STYLE_GOOD);
                g_string_append_printf(text, "%s %s", or_empty(string_member(chosen, "mechanism")), or_empty(string_member(chosen, "symbol")));
                add_style(text, STYLE_NONE);
                g_string_append_c(text, '\n');
        } else {
                g_autofree char *none = merged ? g_strdup_printf("no hook: merged into %s", merged)
                                        : boolean_member(row, "essential") ? g_strdup("no hook: without it there are no stages")
                                                                           : g_strdup("no hook");
                add_style(text, boolean_member(row, "essential") ? STYLE_BAD : STYLE_DIM);
                g_string_append(text, none);
                add_style(text, STYLE_NONE);
                g_string_append_c(text, '\n');
        }

        for (guint i = 0; rejected && i < json_array_get_length(rejected); i++) {
                JsonObject *candidate = object_element(rejected, i);
                g_autofree char *line = g_strdup_printf("not %s %s: %s", or_empty(string_member(candidate, "mechanism")),
                                                        or_empty(string_member(candidate, "symbol")),
                                                        or_empty(string_member(candidate, "reason")));
                g_string_append_printf(text, "%*s", INDENT, "");
                add_wrapped(text, INDENT + 4, line);
        }
}

/* Those that a side which can be recorded cannot be recorded over. */
static void add_transports(GString *text, const char *side, JsonObject *transports)
{
        g_autoptr(GList) names = transports ? json_object_get_members(transports) : NULL;

        for (GList *name = names; name; name = name->next) {
                const char *why = string_member(object_member(transports, name->data), side);
                if (why) {
                        g_autofree char *line = g_strdup_printf("not over %s: %s", (const char *) name->data, why);
                        g_string_append_printf(text, "%*s", INDENT, "");
                        add_wrapped(text, INDENT + 4, line);
                }
        }
}

/* usable: {"host": true or why not, "target": ...}, and that of each transport; transports may be NULL. */
static void add_side(GString *text, const char *side, JsonObject *usable, JsonObject *transports, JsonArray *plan)
{
        const char *why = string_member(usable, side);
        g_autofree char *verdict = boolean_member(usable, side) ? g_strdup("can be recorded")
                                                                : g_strdup_printf("can't be recorded: %s", why ? why : "no reason given");

        g_string_append_c(text, '\n');
        add_style(text, STYLE_BOLD);
        g_string_append_printf(text, "%s side: ", side);
        add_style(text, STYLE_NONE);
        add_wrapped(text, INDENT, verdict);
        if (boolean_member(usable, side))
                add_transports(text, side, transports);
        for (guint i = 0; i < json_array_get_length(plan); i++) {
                JsonObject *row = object_element(plan, i);
                if (g_strcmp0(string_member(row, "side"), side) == 0)
                        add_boundary(text, row);
        }
}

char *render_check(const char *inspection, gboolean *ret_usable, GError **error)
{
        g_autoptr(JsonParser) parser = json_parser_new_immutable();
        g_autoptr(GError) local_error = NULL;

        if (!np_json_nests_at_most(inspection, strlen(inspection), DEPTH_MAX)) {
                g_set_error(error, NTPROF_ERROR, NTPROF_ERROR_INVALID_DOCUMENT,
                            "ntprofd's inspection isn't JSON, or nested deeper than %u levels", DEPTH_MAX);
                return NULL;
        }
        if (!json_parser_load_from_data(parser, inspection, -1, &local_error)) {
                g_set_error(error, NTPROF_ERROR, NTPROF_ERROR_INVALID_DOCUMENT, "ntprofd's inspection isn't JSON: %s",
                            local_error->message);
                return NULL;
        }

        JsonNode *root = json_parser_get_root(parser);
        JsonObject *document = root && JSON_NODE_HOLDS_OBJECT(root) ? json_node_get_object(root) : NULL;
        JsonObject *usable = object_member(document, "usable");
        JsonArray *plan = array_member(document, "plan");
        if (g_strcmp0(string_member(document, "schema"), SCHEMA) != 0 || !usable || !plan) {
                g_set_error(error, NTPROF_ERROR, NTPROF_ERROR_INVALID_DOCUMENT,
                            "ntprofd's inspection isn't of the schema %s; is it another version?", SCHEMA);
                return NULL;
        }

        /* A session needs the host's side; without the target's, the report says so. */
        *ret_usable = boolean_member(usable, "host");

        g_autoptr(GString) text = g_string_new(NULL);
        const char *version = string_member(document, "ntprof_version");
        g_string_append_printf(text, "kernel %s%s%s\n", or_empty(string_member(document, "kernel")), version ? ", ntprofd " : "",
                               or_empty(version));
        for (gsize i = 0; i < G_N_ELEMENTS(sides); i++)
                add_side(text, sides[i], usable, object_member(document, "transports"), plan);
        return g_strdup(text->str);
}
