/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Reads the JSON form. It may come from another program or another machine, so nothing in it is believed: types, ranges and
 * sizes are checked, and strings can't hold what would steer a terminal.
 */
#include <string.h>

#include "json-depth.h"
#include "report-parse.h"

#define LENGTH_MAX (8u << 20)
#define DEPTH_MAX 16u
#define PATHS_MAX 64
#define TARGETS_MAX 64
#define HOOKS_MAX 256
#define GROUPS_MAX 4096
#define WARNINGS_MAX 1024
#define COMPONENTS_MAX 64

static void read_hook(NpJsonReader *r, JsonObject *o, gpointer hooks)
{
        g_autofree char *boundary = np_json_get_string(r, o, "boundary");
        g_autofree char *mechanism = np_json_get_fact(r, o, "mechanism"), *symbol = np_json_get_fact(r, o, "symbol");

        g_ptr_array_add(hooks, np_report_hook_new(boundary, mechanism, symbol));
}

static void read_hooks(NpJsonReader *r, JsonObject *o, GPtrArray *hooks)
{
        np_json_each(r, o, "hooks", HOOKS_MAX, read_hook, hooks);
}

static void read_session(NpJsonReader *r, JsonObject *root, NpReportFacts *facts)
{
        JsonObject *o = np_json_get_object(r, root, "session");
        gsize before = np_json_enter(r, "session");

        facts->session_id = np_json_get_fact(r, o, "id");
        facts->started_realtime_us = np_json_get_int(r, o, "started_realtime_us", 0, G_MAXINT64);
        facts->duration_ns = np_json_get_count(r, o, "duration_ns");
        facts->seed = np_json_get_int(r, o, "seed", 0, G_MAXUINT32);
        facts->threshold = np_json_get_int(r, o, "threshold", 0, G_MAXUINT32);
        facts->threshold_fixed = np_json_get_bool(r, o, "threshold_fixed");
        facts->detail = np_json_has(o, "detail") && np_json_get_bool(r, o, "detail");
        facts->commands = np_json_get_count(r, o, "commands");
        facts->sampled = np_json_get_count(r, o, "sampled");
        if (np_json_has(o, "cut_short"))
                facts->ended_reason = np_json_get_fact(r, o, "cut_short");
        np_json_leave(r, before);
}

static void read_host(NpJsonReader *r, JsonObject *root, NpReportFacts *facts)
{
        JsonObject *o = np_json_get_object(r, root, "host");
        gsize before = np_json_enter(r, "host");

        facts->host_name = np_json_get_fact(r, o, "name");
        facts->host_kernel = np_json_get_fact(r, o, "kernel");
        facts->host_nqn = np_json_get_fact(r, o, "nqn");
        read_hooks(r, o, facts->host_hooks);
        np_json_leave(r, before);
}

static void read_clock_offset(NpJsonReader *r, JsonObject *o, NpReportTarget *target)
{
        JsonObject *offset;
        gsize before;

        if (np_json_is_null(o, "clock_offset"))
                return;

        offset = np_json_get_object(r, o, "clock_offset");
        before = np_json_enter(r, "clock_offset");
        target->offset_known = TRUE;
        target->offset_min_ns = np_json_get_int(r, offset, "min_ns", G_MININT64, G_MAXINT64);
        target->offset_max_ns = np_json_get_int(r, offset, "max_ns", target->offset_min_ns, G_MAXINT64);
        np_json_leave(r, before);
}

static void read_target(NpJsonReader *r, JsonObject *o, gpointer targets)
{
        g_autofree char *name = np_json_get_fact(r, o, "name"), *kernel = np_json_get_fact(r, o, "kernel");
        g_autofree char *version = np_json_get_fact(r, o, "ntprof_version"), *peer = np_json_get_fact(r, o, "peer");
        NpReportTarget *target = np_report_target_new(name, kernel, version, peer);

        g_ptr_array_add(targets, target);
        target->recorded_ns = np_json_get_count(r, o, "recorded_ns");
        if (np_json_has(o, "drive_hidden"))
                target->drive_hidden = np_json_get_fact(r, o, "drive_hidden");
        target->ended_reason = np_json_get_fact(r, o, "ended_early");
        read_clock_offset(r, o, target);
        read_hooks(r, o, target->hooks);
}

static void read_path(NpJsonReader *r, JsonObject *o, gpointer data)
{
        NpReportFacts *facts = data;
        g_autofree char *namespace_name = np_json_get_fact(r, o, "namespace");
        g_autofree char *device = np_json_get_fact(r, o, "device");
        g_autofree char *controller = np_json_get_fact(r, o, "controller");
        g_autofree char *transport = np_json_get_fact(r, o, "transport");
        g_autofree char *traddr = np_json_get_fact(r, o, "traddr");
        guint32 block_size = np_json_get_int(r, o, "block_size_bytes", 0, G_MAXUINT32);
        NpReportPath *path = np_report_path_new(namespace_name, device, controller, transport, traddr, block_size);

        g_ptr_array_add(facts->paths, path);
        if (np_json_is_null(o, "target"))
                path->no_target_reason = np_json_get_reason(r, o, "target");
        else
                path->target = np_json_get_int(r, o, "target", 0, (gint64) facts->targets->len - 1);
}

static void read_queue_depth(NpJsonReader *r, JsonObject *root, NpReport *report)
{
        NpReportDiskstats *disk = &report->facts->diskstats;
        JsonObject *o = np_json_get_object(r, root, "queue_depth");
        gsize before = np_json_enter(r, "queue_depth");
        JsonNode *node = np_json_get(r, o, "diskstats");

        report->qd_from_stages = np_json_get_double(r, o, "from_stages", 0);
        if (node && JSON_NODE_HOLDS_NULL(node))
                disk->reason = np_json_get_reason(r, o, "diskstats");
        else {
                JsonObject *d = np_json_object_of(r, node, "diskstats");
                gsize inner = np_json_enter(r, "diskstats");

                disk->valid = TRUE;
                disk->avg_qd = np_json_get_double(r, d, "avg_qd", 0);
                disk->ios = np_json_get_count(r, d, "ios");
                np_json_leave(r, inner);
        }
        np_json_leave(r, before);
}

/* A cause that this report does not name did not exist when it was made. */
static void read_losses(NpJsonReader *r, JsonObject *root, guint64 *losses)
{
        JsonObject *o = np_json_get_object(r, root, "losses");
        gsize before = np_json_enter(r, "losses");

        for (guint i = 0; i < NP_LOSS_COUNT && !r->error; i++)
                if (json_object_has_member(o, np_loss_info(i)->key))
                        losses[i] = np_json_get_count(r, o, np_loss_info(i)->key);
        np_json_leave(r, before);
}

/* Of one that this version does not know only the form is checked. */
static void read_component(NpJsonReader *r, JsonObject *o, gpointer data)
{
        NpReportStage *stage = data;
        g_autofree char *id = np_json_get_string(r, o, "id"), *reason = NULL, *part_of = NULL;
        NpComponent component = id ? np_component_by_id(stage->stage, id) : NP_COMPONENT_NONE;
        const NpComponentInfo *info;
        NpReportComponent *c;
        double mean_ns = 0;

        if (np_json_is_null(o, "mean_ns"))
                reason = np_json_get_reason(r, o, "mean_ns");
        else
                mean_ns = np_json_get_double(r, o, "mean_ns", -NP_JSON_NUMBER_MAX);
        if (np_json_has(o, "part_of"))
                part_of = np_json_get_string(r, o, "part_of");
        if (component == NP_COMPONENT_NONE || r->error)
                return;

        info = np_component_info(component);
        if (part_of && (info->parent == NP_COMPONENT_NONE || !g_str_equal(part_of, np_component_info(info->parent)->id)))
                np_json_fail(r, "part_of", "%s is no part of that", info->id);
        if (np_json_has(o, "information") && np_json_get_bool(r, o, "information") != info->information)
                np_json_fail(r, "information", "%s is %sone of those that add up", info->id, info->information ? "not " : "");
        for (guint i = 0; i < stage->components->len; i++)
                if (((const NpReportComponent *) stage->components->pdata[i])->component == component)
                        np_json_fail(r, "id", "%s is there twice", info->id);

        c = np_report_component_new(component, mean_ns, reason);
        g_ptr_array_add(stage->components, c);
        if (info->one_way && !reason)
                c->margin_ns = np_json_get_double(r, o, "margin_ns", 0);
}

NpStage np_report_parse_stages(NpJsonReader *r, JsonObject *o, gboolean with_target, const char *of_what, NpTakeStage take,
                               gpointer whose)
{
        guint wanted = with_target ? NP_STAGE_COUNT : NP_STAGE_NETWORK + 1;
        JsonArray *array = np_json_get_array(r, o, "stages", NP_STAGE_COUNT);
        g_autofree char *largest = np_json_get_string(r, o, "largest");
        NpStage ret = NP_STAGE_HOST_BLOCK;
        gboolean found = FALSE;
        gsize outer;

        if (!r->error && np_json_length(array) != wanted)
                np_json_fail(r, "stages", "has %u elements, must have %u", np_json_length(array), wanted);

        outer = np_json_enter(r, "stages");
        for (guint i = 0; i < wanted && !r->error; i++) {
                gsize before = np_json_enter_element(r, i);
                JsonObject *item = np_json_object_of(r, json_array_get_element(array, i), "");
                const NpStageInfo *info = np_stage_info(np_view_stage(with_target, i));
                g_autofree char *id = np_json_get_string(r, item, "id");

                if (id && !g_str_equal(id, info->id))
                        np_json_fail(r, "id", "must be \"%s\" at this place", info->id);
                take(r, item, info->stage, whose);
                if (largest && g_str_equal(largest, info->id)) {
                        ret = info->stage;
                        found = TRUE;
                }
                np_json_leave(r, before);
        }
        np_json_leave(r, outer);
        if (!found)
                np_json_fail(r, "largest", "is not one of %s stages", of_what);
        return ret;
}

static void take_group_stage(NpJsonReader *r, JsonObject *o, NpStage which, gpointer whose)
{
        NpReportStage *stage = np_report_stage_new(which);
        NpReportGroup *group = whose;

        g_ptr_array_add(group->stages, stage);
        stage->mean_ns = np_json_get_double(r, o, "mean_ns", -NP_JSON_NUMBER_MAX);
        stage->p50_ns = np_json_get_count(r, o, "p50_ns");
        stage->p99_ns = np_json_get_count(r, o, "p99_ns");
        stage->share = np_json_get_double(r, o, "share", -NP_JSON_NUMBER_MAX);
        stage->avg_qd = np_json_get_double(r, o, "avg_qd", -NP_JSON_NUMBER_MAX);
        np_json_each(r, o, "components", COMPONENTS_MAX, read_component, stage);
}

static void read_latency(NpJsonReader *r, JsonObject *o, NpReportGroup *group)
{
        JsonObject *latency = np_json_get_object(r, o, "latency");
        gsize before = np_json_enter(r, "latency");

        group->mean_ns = np_json_get_double(r, latency, "mean_ns", 0);
        group->p50_ns = np_json_get_count(r, latency, "p50_ns");
        group->p99_ns = np_json_get_count(r, latency, "p99_ns");
        group->p999_ns = np_json_get_count(r, latency, "p999_ns");
        group->max_ns = np_json_get_count(r, latency, "max_ns");
        np_json_leave(r, before);
}

typedef struct {
        const NpReportFacts *facts;
        gboolean by_path;
        GPtrArray *groups;
} GroupsReader;

static void read_group(NpJsonReader *r, JsonObject *o, gpointer data)
{
        const GroupsReader *reader = data;
        g_autofree char *op = np_json_get_string(r, o, "op"), *namespace_name = np_json_get_string(r, o, "namespace");
        NpReportGroup *group = np_report_group_new(op, namespace_name);

        g_ptr_array_add(reader->groups, group);
        if (reader->by_path)
                group->path = np_json_get_int(r, o, "path", 0, (gint64) reader->facts->paths->len - 1);
        if (!np_json_is_null(o, "size_bytes"))
                group->size_bytes = np_json_get_count(r, o, "size_bytes");
        group->fua = np_json_has(o, "fua") && np_json_get_bool(r, o, "fua");
        group->bucketed = np_json_get_bool(r, o, "bucketed");
        group->with_target = np_json_get_bool(r, o, "with_target");
        group->part_of_other = np_json_get_bool(r, o, "part_of_other");
        group->commands = np_json_get_count(r, o, "commands");
        group->rate_per_s = np_json_get_double(r, o, "rate_per_s", 0);
        group->sampled = np_json_get_count(r, o, "sampled");
        group->joined = np_json_get_count(r, o, "joined");
        if (np_json_has(o, "failed"))
                group->failed = np_json_get_count(r, o, "failed");
        if (!np_json_is_null(o, "network_negative"))
                group->network_negative = np_json_get_count(r, o, "network_negative");
        read_latency(r, o, group);
        group->tag_wait_ns = np_json_get_double(r, o, "tag_wait_ns", 0);
        group->largest = np_report_parse_stages(r, o, group->with_target, "the group's", take_group_stage, group);
}

static void read_report(NpJsonReader *r, JsonObject *root, NpReport *report)
{
        JsonArray *array;
        gsize outer;

        report->facts->ntprof_version = np_json_get_fact(r, root, "ntprof_version");
        read_session(r, root, report->facts);
        read_host(r, root, report->facts);
        np_json_each(r, root, "targets", TARGETS_MAX, read_target, report->facts->targets);
        report->facts->subsystem_nqn = np_json_get_fact(r, root, "subsystem_nqn");
        np_json_each(r, root, "paths", PATHS_MAX, read_path, report->facts);
        read_queue_depth(r, root, report);
        read_losses(r, root, report->facts->losses);

        np_json_each(r, root, "groups", GROUPS_MAX, read_group, &(GroupsReader) { report->facts, FALSE, report->groups });
        np_json_each(r, root, "groups_by_path", GROUPS_MAX, read_group,
                     &(GroupsReader) { report->facts, TRUE, report->groups_by_path });
        np_report_parse_views(r, root, report);

        array = np_json_get_array(r, root, "warnings", WARNINGS_MAX);
        outer = np_json_enter(r, "warnings");
        for (guint i = 0; i < np_json_length(array) && !r->error; i++) {
                gsize before = np_json_enter_element(r, i);
                char *text = np_json_string_of(r, json_array_get_element(array, i), "");

                if (text)
                        g_ptr_array_add(report->warnings, text);
                np_json_leave(r, before);
        }
        np_json_leave(r, outer);
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
        NpJsonReader r = { 0 };

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
