/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Reads the JSON form. It may come from another program or another machine, so nothing in it is believed: types, ranges and
 * sizes are checked, and strings can't hold what would steer a terminal.
 */
#include <math.h>
#include <string.h>

#include "json-depth.h"
#include "report.h"

#define LENGTH_MAX (8u << 20)
#define DEPTH_MAX 16u
#define STRING_MAX 4096
#define PATHS_MAX 64
#define TARGETS_MAX 64
#define HOOKS_MAX 256
#define GROUPS_MAX 4096
#define WARNINGS_MAX 1024
#define COMPONENTS_MAX 64
#define NUMBER_MAX 1e18

/* Keeps the first error; after it every reader returns nothing at once. */
typedef struct {
        GString *where;                 /* "groups[2].stages[0]" */
        GError *error;
} Reader;

G_GNUC_PRINTF(3, 4)
static void fail(Reader *r, const char *key, const char *format, ...)
{
        g_autofree char *what = NULL;
        va_list args;

        if (r->error)
                return;

        va_start(args, format);
        what = g_strdup_vprintf(format, args);
        va_end(args);
        g_set_error(&r->error, NP_REPORT_ERROR, NP_REPORT_ERROR_INVALID, "not a valid report: %s%s%s: %s", r->where->str,
                    r->where->len > 0 && key[0] && key[0] != '[' ? "." : "", key, what);
}

static gsize enter(Reader *r, const char *key)
{
        gsize before = r->where->len;

        g_string_append_printf(r->where, "%s%s", before > 0 ? "." : "", key);
        return before;
}

static gsize enter_element(Reader *r, guint i)
{
        gsize before = r->where->len;

        g_string_append_printf(r->where, "[%u]", i);
        return before;
}

static void leave(Reader *r, gsize before)
{
        g_string_truncate(r->where, before);
}

static JsonNode *get(Reader *r, JsonObject *o, const char *key)
{
        JsonNode *node;

        if (r->error || !o)
                return NULL;
        node = json_object_get_member(o, key);
        if (!node)
                fail(r, key, "missing");
        return node;
}

static JsonObject *object_of(Reader *r, JsonNode *node, const char *key)
{
        if (!node || r->error)
                return NULL;
        if (!JSON_NODE_HOLDS_OBJECT(node)) {
                fail(r, key, "must be an object");
                return NULL;
        }
        return json_node_get_object(node);
}

static JsonObject *get_object(Reader *r, JsonObject *o, const char *key)
{
        return object_of(r, get(r, o, key), key);
}

/* NULL, as after an error, when there are none. */
static JsonArray *get_array(Reader *r, JsonObject *o, const char *key, guint max)
{
        JsonNode *node = get(r, o, key);
        JsonArray *array;

        if (!node)
                return NULL;
        if (!JSON_NODE_HOLDS_ARRAY(node)) {
                fail(r, key, "must be an array");
                return NULL;
        }

        array = json_node_get_array(node);
        if (json_array_get_length(array) > max) {
                fail(r, key, "has %u elements, more than %u", json_array_get_length(array), max);
                return NULL;
        }
        return array;
}

static guint length(JsonArray *array)
{
        return array ? json_array_get_length(array) : 0;
}

static gboolean printable(const char *s)
{
        for (; *s; s = g_utf8_next_char(s))
                if (g_unichar_iscntrl(g_utf8_get_char(s)))
                        return FALSE;
        return TRUE;
}

static char *string_of(Reader *r, JsonNode *node, const char *key)
{
        const char *s;

        if (!node || r->error)
                return NULL;
        if (!JSON_NODE_HOLDS_VALUE(node) || json_node_get_value_type(node) != G_TYPE_STRING) {
                fail(r, key, "must be a string");
                return NULL;
        }

        s = json_node_get_string(node);
        if (strlen(s) > STRING_MAX)
                fail(r, key, "longer than %d bytes", STRING_MAX);
        else if (!g_utf8_validate(s, -1, NULL))
                fail(r, key, "is not UTF-8");
        else if (!printable(s))
                fail(r, key, "holds control characters");
        return r->error ? NULL : g_strdup(s);
}

static char *get_string(Reader *r, JsonObject *o, const char *key)
{
        return string_of(r, get(r, o, key), key);
}

static char *get_fact(Reader *r, JsonObject *o, const char *key)
{
        JsonNode *node = get(r, o, key);

        return node && JSON_NODE_HOLDS_NULL(node) ? NULL : string_of(r, node, key);
}

static gboolean is_null(JsonObject *o, const char *key)
{
        return o && json_object_has_member(o, key) && json_object_get_null_member(o, key);
}

/* Of a value that is null: why. */
static char *get_reason(Reader *r, JsonObject *o, const char *key)
{
        g_autofree char *reason_key = g_strconcat(key, "_reason", NULL);

        return get_string(r, o, reason_key);
}

static gint64 get_int(Reader *r, JsonObject *o, const char *key, gint64 min, gint64 max)
{
        JsonNode *node = get(r, o, key);
        gint64 value;

        if (!node)
                return 0;
        if (!JSON_NODE_HOLDS_VALUE(node) || json_node_get_value_type(node) != G_TYPE_INT64) {
                fail(r, key, "must be a whole number");
                return 0;
        }

        value = json_node_get_int(node);
        if (value < min || value > max) {
                fail(r, key, "must be from %" G_GINT64_FORMAT " to %" G_GINT64_FORMAT, min, max);
                return 0;
        }
        return value;
}

static guint64 get_count(Reader *r, JsonObject *o, const char *key)
{
        return get_int(r, o, key, 0, G_MAXINT64);
}

static double get_double(Reader *r, JsonObject *o, const char *key, double min)
{
        JsonNode *node = get(r, o, key);
        double value;

        if (!node)
                return 0;
        if (!JSON_NODE_HOLDS_VALUE(node) ||
            (json_node_get_value_type(node) != G_TYPE_DOUBLE && json_node_get_value_type(node) != G_TYPE_INT64)) {
                fail(r, key, "must be a number");
                return 0;
        }

        value = json_node_get_double(node);
        if (!isfinite(value) || value < min || value > NUMBER_MAX) {
                fail(r, key, "must be from %g to %g", min, NUMBER_MAX);
                return 0;
        }
        return value;
}

static gboolean get_bool(Reader *r, JsonObject *o, const char *key)
{
        JsonNode *node = get(r, o, key);

        if (!node)
                return FALSE;
        if (!JSON_NODE_HOLDS_VALUE(node) || json_node_get_value_type(node) != G_TYPE_BOOLEAN) {
                fail(r, key, "must be true or false");
                return FALSE;
        }
        return json_node_get_boolean(node);
}

static void read_hooks(Reader *r, JsonObject *o, GPtrArray *hooks)
{
        JsonArray *array = get_array(r, o, "hooks", HOOKS_MAX);
        gsize outer = enter(r, "hooks");

        for (guint i = 0; i < length(array) && !r->error; i++) {
                gsize before = enter_element(r, i);
                JsonObject *item = object_of(r, json_array_get_element(array, i), "");
                g_autofree char *boundary = get_string(r, item, "boundary");
                g_autofree char *mechanism = get_fact(r, item, "mechanism");
                g_autofree char *symbol = get_fact(r, item, "symbol");

                g_ptr_array_add(hooks, np_report_hook_new(boundary, mechanism, symbol));
                leave(r, before);
        }
        leave(r, outer);
}

static void read_session(Reader *r, JsonObject *root, NpReportFacts *facts)
{
        JsonObject *o = get_object(r, root, "session");
        gsize before = enter(r, "session");

        facts->session_id = get_fact(r, o, "id");
        facts->started_realtime_us = get_int(r, o, "started_realtime_us", 0, G_MAXINT64);
        facts->duration_ns = get_count(r, o, "duration_ns");
        facts->seed = get_int(r, o, "seed", 0, G_MAXUINT32);
        facts->threshold = get_int(r, o, "threshold", 0, G_MAXUINT32);
        facts->threshold_fixed = get_bool(r, o, "threshold_fixed");
        facts->commands = get_count(r, o, "commands");
        facts->sampled = get_count(r, o, "sampled");
        leave(r, before);
}

static void read_host(Reader *r, JsonObject *root, NpReportFacts *facts)
{
        JsonObject *o = get_object(r, root, "host");
        gsize before = enter(r, "host");

        facts->host_name = get_fact(r, o, "name");
        facts->host_kernel = get_fact(r, o, "kernel");
        facts->host_nqn = get_fact(r, o, "nqn");
        read_hooks(r, o, facts->host_hooks);
        leave(r, before);
}

static void read_clock_offset(Reader *r, JsonObject *o, NpReportTarget *target)
{
        JsonObject *offset;
        gsize before;

        if (is_null(o, "clock_offset"))
                return;

        offset = get_object(r, o, "clock_offset");
        before = enter(r, "clock_offset");
        target->offset_known = TRUE;
        target->offset_min_ns = get_int(r, offset, "min_ns", G_MININT64, G_MAXINT64);
        target->offset_max_ns = get_int(r, offset, "max_ns", target->offset_min_ns, G_MAXINT64);
        leave(r, before);
}

static void read_targets(Reader *r, JsonObject *root, NpReportFacts *facts)
{
        JsonArray *array = get_array(r, root, "targets", TARGETS_MAX);
        gsize outer = enter(r, "targets");

        for (guint i = 0; i < length(array) && !r->error; i++) {
                gsize before = enter_element(r, i);
                JsonObject *o = object_of(r, json_array_get_element(array, i), "");
                g_autofree char *name = get_fact(r, o, "name"), *kernel = get_fact(r, o, "kernel");
                g_autofree char *version = get_fact(r, o, "ntprof_version"), *peer = get_fact(r, o, "peer");
                NpReportTarget *target = np_report_target_new(name, kernel, version, peer);

                g_ptr_array_add(facts->targets, target);
                target->recorded_ns = get_count(r, o, "recorded_ns");
                target->ended_reason = get_fact(r, o, "ended_early");
                read_clock_offset(r, o, target);
                read_hooks(r, o, target->hooks);
                leave(r, before);
        }
        leave(r, outer);
}

static void read_paths(Reader *r, JsonObject *root, NpReportFacts *facts)
{
        JsonArray *array = get_array(r, root, "paths", PATHS_MAX);
        gsize outer = enter(r, "paths");

        for (guint i = 0; i < length(array) && !r->error; i++) {
                gsize before = enter_element(r, i);
                JsonObject *o = object_of(r, json_array_get_element(array, i), "");
                g_autofree char *namespace_name = get_fact(r, o, "namespace"), *device = get_fact(r, o, "device");
                g_autofree char *controller = get_fact(r, o, "controller"), *transport = get_fact(r, o, "transport");
                g_autofree char *traddr = get_fact(r, o, "traddr");
                guint32 block_size = get_int(r, o, "block_size_bytes", 0, G_MAXUINT32);
                NpReportPath *path = np_report_path_new(namespace_name, device, controller, transport, traddr, block_size);

                g_ptr_array_add(facts->paths, path);
                if (is_null(o, "target"))
                        path->no_target_reason = get_reason(r, o, "target");
                else
                        path->target = get_int(r, o, "target", 0, (gint64) facts->targets->len - 1);
                leave(r, before);
        }
        leave(r, outer);
}

static void read_queue_depth(Reader *r, JsonObject *root, NpReport *report)
{
        NpReportDiskstats *disk = &report->facts->diskstats;
        JsonObject *o = get_object(r, root, "queue_depth");
        gsize before = enter(r, "queue_depth");
        JsonNode *node = get(r, o, "diskstats");

        report->qd_from_stages = get_double(r, o, "from_stages", 0);
        if (node && JSON_NODE_HOLDS_NULL(node))
                disk->reason = get_reason(r, o, "diskstats");
        else {
                JsonObject *d = object_of(r, node, "diskstats");
                gsize inner = enter(r, "diskstats");

                disk->valid = TRUE;
                disk->avg_qd = get_double(r, d, "avg_qd", 0);
                disk->ios = get_count(r, d, "ios");
                leave(r, inner);
        }
        leave(r, before);
}

/* A cause that this report does not name did not exist when it was made. */
static void read_losses(Reader *r, JsonObject *root, guint64 *losses)
{
        JsonObject *o = get_object(r, root, "losses");
        gsize before = enter(r, "losses");

        for (guint i = 0; i < NP_LOSS_COUNT && !r->error; i++)
                if (json_object_has_member(o, np_loss_info(i)->key))
                        losses[i] = get_count(r, o, np_loss_info(i)->key);
        leave(r, before);
}

/* Of one that this version does not know only the form is checked. */
static void read_component(Reader *r, JsonObject *o, NpReportStage *stage)
{
        g_autofree char *id = get_string(r, o, "id"), *reason = NULL;
        double mean_ns = 0;

        if (is_null(o, "mean_ns"))
                reason = get_reason(r, o, "mean_ns");
        else
                mean_ns = get_double(r, o, "mean_ns", -NUMBER_MAX);

        for (guint i = 0; i < NP_COMPONENT_COUNT && !r->error; i++) {
                const NpComponentInfo *info = np_component_info(i);
                NpReportComponent *c;

                if (info->stage != stage->stage || !g_str_equal(info->id, id))
                        continue;
                c = np_report_component_new(i, mean_ns, reason);
                g_ptr_array_add(stage->components, c);
                if (info->one_way && !reason)
                        c->margin_ns = get_double(r, o, "margin_ns", 0);
        }
}

static void read_components(Reader *r, JsonObject *o, NpReportStage *stage)
{
        JsonArray *array = get_array(r, o, "components", COMPONENTS_MAX);
        gsize outer = enter(r, "components");

        for (guint i = 0; i < length(array) && !r->error; i++) {
                gsize before = enter_element(r, i);

                read_component(r, object_of(r, json_array_get_element(array, i), ""), stage);
                leave(r, before);
        }
        leave(r, outer);
}

static NpReportStage *read_stage(Reader *r, JsonObject *o, NpStage expected)
{
        NpReportStage *stage = np_report_stage_new(expected);
        g_autofree char *id = get_string(r, o, "id");

        if (id && !g_str_equal(id, np_stage_info(expected)->id))
                fail(r, "id", "must be \"%s\" at this place", np_stage_info(expected)->id);
        stage->mean_ns = get_double(r, o, "mean_ns", -NUMBER_MAX);
        stage->p50_ns = get_count(r, o, "p50_ns");
        stage->p99_ns = get_count(r, o, "p99_ns");
        stage->share = get_double(r, o, "share", -NUMBER_MAX);
        stage->avg_qd = get_double(r, o, "avg_qd", -NUMBER_MAX);
        read_components(r, o, stage);
        return stage;
}

static void read_stages(Reader *r, JsonObject *o, NpReportGroup *group)
{
        static const NpStage host_only[] = { NP_STAGE_HOST_BLOCK, NP_STAGE_HOST_DRIVER, NP_STAGE_NETWORK_TARGET };
        guint wanted = group->with_target ? NP_STAGE_COUNT : G_N_ELEMENTS(host_only);
        JsonArray *array = get_array(r, o, "stages", NP_STAGE_COUNT);
        g_autofree char *largest = get_string(r, o, "largest");
        const NpStageInfo *info = largest ? np_stage_by_id(largest) : NULL;
        gboolean found = FALSE;
        gsize outer;

        if (!r->error && length(array) != wanted)
                fail(r, "stages", "has %u elements, must have %u", length(array), wanted);

        outer = enter(r, "stages");
        for (guint i = 0; i < wanted && !r->error; i++) {
                gsize before = enter_element(r, i);
                NpStage expected = group->with_target ? i : host_only[i];

                g_ptr_array_add(group->stages, read_stage(r, object_of(r, json_array_get_element(array, i), ""), expected));
                found = found || (info && info->stage == expected);
                leave(r, before);
        }
        leave(r, outer);

        if (!found)
                fail(r, "largest", "is not one of the group's stages");
        else
                group->largest = info->stage;
}

static void read_latency(Reader *r, JsonObject *o, NpReportGroup *group)
{
        JsonObject *latency = get_object(r, o, "latency");
        gsize before = enter(r, "latency");

        group->mean_ns = get_double(r, latency, "mean_ns", 0);
        group->p50_ns = get_count(r, latency, "p50_ns");
        group->p99_ns = get_count(r, latency, "p99_ns");
        group->p999_ns = get_count(r, latency, "p999_ns");
        group->max_ns = get_count(r, latency, "max_ns");
        leave(r, before);
}

static void read_group(Reader *r, JsonObject *o, const NpReportFacts *facts, gboolean by_path, GPtrArray *groups)
{
        g_autofree char *op = get_string(r, o, "op"), *namespace_name = get_string(r, o, "namespace");
        NpReportGroup *group = np_report_group_new(op, namespace_name);

        g_ptr_array_add(groups, group);
        if (by_path)
                group->path = get_int(r, o, "path", 0, (gint64) facts->paths->len - 1);
        if (!is_null(o, "size_bytes"))
                group->size_bytes = get_count(r, o, "size_bytes");
        group->bucketed = get_bool(r, o, "bucketed");
        group->with_target = get_bool(r, o, "with_target");
        group->part_of_other = get_bool(r, o, "part_of_other");
        group->commands = get_count(r, o, "commands");
        group->rate_per_s = get_double(r, o, "rate_per_s", 0);
        group->sampled = get_count(r, o, "sampled");
        group->joined = get_count(r, o, "joined");
        if (!is_null(o, "network_negative"))
                group->network_negative = get_count(r, o, "network_negative");
        read_latency(r, o, group);
        group->tag_wait_ns = get_double(r, o, "tag_wait_ns", 0);
        read_stages(r, o, group);
}

static void read_groups(Reader *r, JsonObject *root, const char *key, const NpReportFacts *facts, gboolean by_path,
                        GPtrArray *groups)
{
        JsonArray *array = get_array(r, root, key, GROUPS_MAX);
        gsize outer = enter(r, key);

        for (guint i = 0; i < length(array) && !r->error; i++) {
                gsize before = enter_element(r, i);

                read_group(r, object_of(r, json_array_get_element(array, i), ""), facts, by_path, groups);
                leave(r, before);
        }
        leave(r, outer);
}

static void read_report(Reader *r, JsonObject *root, NpReport *report)
{
        JsonArray *array;
        gsize outer;

        report->facts->ntprof_version = get_fact(r, root, "ntprof_version");
        read_session(r, root, report->facts);
        read_host(r, root, report->facts);
        read_targets(r, root, report->facts);
        report->facts->subsystem_nqn = get_fact(r, root, "subsystem_nqn");
        read_paths(r, root, report->facts);
        read_queue_depth(r, root, report);
        read_losses(r, root, report->facts->losses);

        read_groups(r, root, "groups", report->facts, FALSE, report->groups);
        read_groups(r, root, "groups_by_path", report->facts, TRUE, report->groups_by_path);

        array = get_array(r, root, "warnings", WARNINGS_MAX);
        outer = enter(r, "warnings");
        for (guint i = 0; i < length(array) && !r->error; i++) {
                gsize before = enter_element(r, i);
                char *text = string_of(r, json_array_get_element(array, i), "");

                if (text)
                        g_ptr_array_add(report->warnings, text);
                leave(r, before);
        }
        leave(r, outer);
}

static gboolean check_schema(JsonNode *root, GError **error)
{
        JsonNode *schema = root && JSON_NODE_HOLDS_OBJECT(root) ?
                           json_object_get_member(json_node_get_object(root), "schema") : NULL;

        if (!schema || !JSON_NODE_HOLDS_VALUE(schema) || json_node_get_value_type(schema) != G_TYPE_STRING) {
                g_set_error(error, NP_REPORT_ERROR, NP_REPORT_ERROR_SCHEMA, "not a report: it names no schema");
                return FALSE;
        }
        if (g_strcmp0(json_node_get_string(schema), NP_REPORT_SCHEMA) != 0) {
                g_autofree char *escaped = g_strescape(json_node_get_string(schema), NULL);

                g_set_error(error, NP_REPORT_ERROR, NP_REPORT_ERROR_SCHEMA, "schema is \"%.64s\", this version reads \"%s\"",
                            escaped, NP_REPORT_SCHEMA);
                return FALSE;
        }
        return TRUE;
}

NpReport *np_report_from_json(const char *json, gssize len, GError **error)
{
        gsize n = len < 0 ? strlen(json) : (gsize) len;
        g_autoptr(JsonParser) parser = json_parser_new_immutable();
        g_autoptr(NpReportFacts) facts = np_report_facts_new();
        g_autoptr(NpReport) report = np_report_new(facts);
        g_autoptr(GError) syntax = NULL;
        Reader r = { 0 };

        if (n > LENGTH_MAX || !np_json_nests_at_most(json, n, DEPTH_MAX)) {
                g_set_error(error, NP_REPORT_ERROR, NP_REPORT_ERROR_SYNTAX,
                            "not a report: longer than %u bytes or nested deeper than %u levels", LENGTH_MAX, DEPTH_MAX);
                return NULL;
        }
        if (!g_utf8_validate(json, n, NULL)) {
                g_set_error(error, NP_REPORT_ERROR, NP_REPORT_ERROR_SYNTAX, "not a report: not UTF-8 text");
                return NULL;
        }
        if (!json_parser_load_from_data(parser, json, n, &syntax)) {
                g_set_error(error, NP_REPORT_ERROR, NP_REPORT_ERROR_SYNTAX, "not a report: not JSON: %s", syntax->message);
                return NULL;
        }
        if (!check_schema(json_parser_get_root(parser), error))
                return NULL;

        r.where = g_string_new(NULL);
        read_report(&r, json_node_get_object(json_parser_get_root(parser)), report);
        g_string_free(r.where, TRUE);
        if (r.error) {
                g_propagate_error(error, r.error);
                return NULL;
        }
        return g_steal_pointer(&report);
}
