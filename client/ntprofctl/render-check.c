/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "render-check.h"

#include <ntprof.h>
#include <string.h>

#include "json-depth.h"
#include "render-check-document.h"
#include "render-check-rows.h"

#define SCHEMA "org.ntprof.inspection/1"
#define DEPTH_MAX 64u

#define INDENT RENDER_CHECK_INDENT

static const char *const sides[] = { "host", "target" };

static void add_line(GString *text, const char *format, ...) G_GNUC_PRINTF(2, 3);

static void add_line(GString *text, const char *format, ...)
{
        g_autofree char *line = NULL;
        va_list args;

        va_start(args, format);
        line = g_strdup_vprintf(format, args);
        va_end(args);
        g_string_append_printf(text, "%*s", INDENT, "");
        render_check_wrapped(text, INDENT + 4, line);
}

static void add_heading(GString *text, const char *format, ...) G_GNUC_PRINTF(2, 3);

static void add_heading(GString *text, const char *format, ...)
{
        va_list args;

        render_check_style(text, STYLE_BOLD);
        va_start(args, format);
        g_string_append_vprintf(text, format, args);
        va_end(args);
        render_check_style(text, STYLE_NONE);
}

/* "can be recorded over rdma, tcp": of a session of a namespace the transports are its paths'. */
static char *verdict(const char *side, JsonObject *usable, JsonObject *transports)
{
        g_autoptr(GList) names = transports ? g_list_sort(json_object_get_members(transports), (GCompareFunc) strcmp) : NULL;
        const char *why = check_string(usable, side), *between = " over ";
        GString *text = g_string_new(NULL);

        if (!check_boolean(usable, side)) {
                g_string_append_printf(text, "can't be recorded: %s", why ? why : "no reason given");
                return g_string_free(text, FALSE);
        }
        g_string_append(text, "can be recorded");
        for (GList *name = names; name; name = name->next)
                if (check_boolean(check_object(transports, name->data), side)) {
                        g_string_append_printf(text, "%s%s", between, (const char *) name->data);
                        between = ", ";
                }
        return g_string_free(text, FALSE);
}

/* usable: {"host": true or why not, "target": ...}, and that of each transport; transports may be NULL. */
static void add_side(GString *text, const char *side, JsonObject *document)
{
        JsonObject *usable = check_object(document, "usable"), *transports = check_object(document, "transports"),
                   *programs = check_object(check_object(document, "programs"), side);
        g_autoptr(GList) names = transports ? json_object_get_members(transports) : NULL;
        g_autofree char *line = verdict(side, usable, transports);
        const char *family = check_string(programs, "family"), *why_not_typed = check_string(programs, "why_not_typed");

        add_heading(text, "%s side: ", side);
        render_check_wrapped(text, INDENT, line);
        if (!check_boolean(usable, side))
                return;
        if (g_strcmp0(family, "probes") == 0)
                add_line(text, "by probes (raw_tp, kprobe, kretprobe): %s", check_text(why_not_typed));
        for (GList *name = names; name; name = name->next) {
                const char *why = check_string(check_object(transports, name->data), side);
                if (why)
                        add_line(text, "not over %s: %s", (const char *) name->data, why);
        }
}

static void add_namespace(GString *text, JsonObject *namespace)
{
        JsonArray *paths = check_array(namespace, "paths");

        if (!namespace)
                return;
        add_heading(text, "namespace: ");
        g_string_append_printf(text, "%s, %u path%s\n", check_text(check_string(namespace, "name")), check_length(paths),
                               check_length(paths) == 1 ? "" : "s");
        for (guint i = 0; i < check_length(paths); i++) {
                JsonObject *path = check_element(paths, i);
                add_line(text, "%s: %s to %s, %s%s", check_text(check_string(path, "disk")),
                         check_text(check_string(path, "transport")), check_text(check_string(path, "traddr")),
                         check_text(check_string(path, "state")), check_boolean(path, "local") ? ", this machine" : "");
        }
}

static char *describe_module(JsonObject *module)
{
        const char *origin = check_string(module, "origin"), *version = check_string(module, "version"),
                   *types = check_string(module, "types"), *from = check_string(module, "types_from");

        /* Where the kernel's own are is no news. */
        if (g_strcmp0(types, "kernel") == 0)
                from = NULL;
        return g_strdup_printf("%s%s%s; types: %s%s%s%s", origin ? origin : "of unknown origin", version ? ", version " : "",
                               check_text(version), types ? types : "not told", from ? " (" : "", check_text(from),
                               from ? ")" : "");
}

/* Modules of the same kind in one line, unless each is asked for. */
static void add_modules(GString *text, JsonArray *modules, gboolean each)
{
        g_autoptr(GPtrArray) kinds = g_ptr_array_new_with_free_func(g_free);
        g_autoptr(GHashTable) names = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);

        for (guint i = 0; i < check_length(modules); i++) {
                JsonObject *module = check_element(modules, i);
                const char *name = check_string(module, "name"), *before;
                g_autofree char *kind = NULL;

                if (!name || !check_boolean(module, "loaded") || g_str_equal(name, "vmlinux"))
                        continue;
                kind = describe_module(module);
                before = g_hash_table_lookup(names, kind);
                if (!before)
                        g_ptr_array_add(kinds, g_strdup(kind));
                if (before && each)
                        g_hash_table_insert(names, g_strdup(kind), g_strdup_printf("%s\n%s", before, name));
                else
                        g_hash_table_insert(names, g_strdup(kind),
                                            before ? g_strdup_printf("%s, %s", before, name) : g_strdup(name));
        }
        if (kinds->len == 0)
                return;
        add_heading(text, "modules:\n");
        for (guint i = 0; i < kinds->len; i++) {
                g_auto(GStrv) lines = g_strsplit(g_hash_table_lookup(names, kinds->pdata[i]), "\n", -1);
                for (char **line = lines; *line; line++)
                        add_line(text, "%s: %s", *line, (const char *) kinds->pdata[i]);
        }
}

static char *join(JsonArray *array)
{
        GString *text = g_string_new(NULL);

        for (guint i = 0; i < check_length(array); i++) {
                JsonNode *node = json_array_get_element(array, i);
                if (JSON_NODE_HOLDS_VALUE(node) && json_node_get_string(node))
                        g_string_append_printf(text, "%s%s", text->len > 0 ? ", " : "", json_node_get_string(node));
        }
        return g_string_free(text, FALSE);
}

static void add_privileges(GString *text, JsonObject *privileges)
{
        g_autofree char *needed = join(check_array(privileges, "needed")), *lacking = join(check_array(privileges, "lacking"));
        const char *advice = check_string(privileges, "advice");

        if (!privileges)
                return;
        add_heading(text, "privileges: ");
        if (*lacking) {
                g_autofree char *line = g_strdup_printf("needs %s, lacks %s: %s", needed, lacking, check_text(advice));
                render_check_wrapped(text, INDENT, line);
        } else
                g_string_append_printf(text, "needs %s, and has them\n", needed);
}

/* Of those that are loose it says nothing: unloading them ends the session, which then says so. */
static void add_holds(GString *text, JsonArray *modules)
{
        g_autofree char *names = join(modules), *line = NULL;

        if (!*names)
                return;
        add_heading(text, "holds: ");
        line = g_strdup_printf("%s cannot be unloaded while a session lasts", names);
        render_check_wrapped(text, INDENT, line);
}

static void add_setting(GString *text, JsonObject *settings, const char *name)
{
        JsonNode *node = settings ? json_object_get_member(settings, name) : NULL;

        if (!node || !JSON_NODE_HOLDS_VALUE(node))
                return;
        if (json_node_get_value_type(node) == G_TYPE_STRING)
                add_line(text, "%s: %s", name, json_node_get_string(node));
        else
                add_line(text, "%s: %" G_GINT64_FORMAT, name, json_node_get_int(node));
}

static void add_settings(GString *text, JsonObject *settings)
{
        static const char *const names[] = {
                "lockdown", "perf_event_paranoid", "unprivileged_bpf_disabled", "bpf_jit_enable", "kprobes_enabled",
                "kprobes_unreadable",
        };
        g_autofree char *blacklist = join(check_array(settings, "kprobes_blacklisted"));

        if (!settings)
                return;
        add_heading(text, "settings:\n");
        for (gsize i = 0; i < G_N_ELEMENTS(names); i++)
                add_setting(text, settings, names[i]);
        if (*blacklist)
                add_line(text, "kprobes_blacklisted: %s", blacklist);
}

static void add_lacks(GString *text, JsonObject *document)
{
        JsonArray *lacks = check_array(document, "lacks");

        if (!lacks || !check_boolean(check_object(document, "usable"), "host"))
                return;
        add_heading(text, check_length(lacks) > 0 ? "a report will lack:\n" : "a report will lack nothing\n");
        for (guint i = 0; i < check_length(lacks); i++) {
                JsonObject *lack = check_element(lacks, i);
                const char *merged = check_string(lack, "merged_into");
                add_line(text, "%s%s%s: %s", check_text(check_string(lack, "what")), merged ? ", merged into " : "",
                         check_text(merged), check_text(check_string(lack, "reason")));
        }
}

static void add_notes(GString *text, JsonArray *notes)
{
        for (guint i = 0; i < check_length(notes); i++) {
                JsonNode *node = json_array_get_element(notes, i);
                g_autofree char *line = NULL;

                if (!JSON_NODE_HOLDS_VALUE(node) || !json_node_get_string(node))
                        continue;
                add_heading(text, "note: ");
                line = g_strdup(json_node_get_string(node));
                render_check_wrapped(text, INDENT, line);
        }
}

static void add_rows(GString *text, const char *side, JsonObject *document)
{
        JsonArray *plan = check_array(document, "plan");

        add_heading(text, "\n%s side\n", side);
        for (guint i = 0; i < check_length(plan); i++) {
                JsonObject *row = check_element(plan, i);
                if (g_strcmp0(check_string(row, "side"), side) == 0)
                        render_check_boundary(text, row);
        }
}

static JsonParser *parse(const char *inspection, JsonObject **ret_document, GError **error)
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
        if (g_strcmp0(check_string(document, "schema"), SCHEMA) != 0 || !check_object(document, "usable") ||
            !check_array(document, "plan")) {
                g_set_error(error, NTPROF_ERROR, NTPROF_ERROR_INVALID_DOCUMENT,
                            "ntprofd's inspection isn't of the schema %s; is it another version?", SCHEMA);
                return NULL;
        }
        *ret_document = document;
        return g_steal_pointer(&parser);
}

char *render_check(const char *inspection, gboolean verbose, gboolean *ret_usable, GError **error)
{
        JsonObject *document;
        g_autoptr(JsonParser) parser = parse(inspection, &document, error);

        if (!parser)
                return NULL;

        /* A session needs the host's side; without the target's, the report says so. */
        *ret_usable = check_boolean(check_object(document, "usable"), "host");

        JsonObject *inventory = check_object(document, "inventory");
        GString *text = g_string_new(NULL);
        const char *version = check_string(document, "ntprof_version"), *label = check_string(document, "label");
        g_string_append_printf(text, "kernel %s%s%s%s%s\n", check_text(check_string(document, "kernel")), label ? ": " : "",
                               check_text(label), version ? ", ntprofd " : "", check_text(version));
        add_namespace(text, check_object(document, "namespace"));
        for (gsize i = 0; i < G_N_ELEMENTS(sides); i++)
                add_side(text, sides[i], document);
        add_modules(text, check_array(inventory, "modules"), verbose);
        add_privileges(text, check_object(document, "privileges"));
        add_holds(text, check_array(document, "holds"));
        if (verbose)
                add_settings(text, check_object(inventory, "settings"));
        add_lacks(text, document);
        add_notes(text, check_array(document, "notes"));
        for (gsize i = 0; verbose && i < G_N_ELEMENTS(sides); i++)
                add_rows(text, sides[i], document);
        return g_string_free(text, FALSE);
}
