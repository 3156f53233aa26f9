/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Writes the JSON form; report-parse.c reads it, docs/report.md describes it.
 */
#include <math.h>
#include <string.h>

#include "report.h"

static void add_string(JsonBuilder *b, const char *key, const char *value)
{
        json_builder_set_member_name(b, key);
        json_builder_add_string_value(b, value);
}

static void add_bool(JsonBuilder *b, const char *key, gboolean value)
{
        json_builder_set_member_name(b, key);
        json_builder_add_boolean_value(b, value);
}

/* json-glib (1.6) puts ".0" behind a number without a point, be it "1e-08": no JSON, and it does not read that itself. The
 * number next to such a one has 17 digits. */
static double with_point(double value)
{
        char text[G_ASCII_DTOSTR_BUF_SIZE];

        g_ascii_dtostr(text, sizeof(text), value);
        return strchr(text, 'e') && !strchr(text, '.') ? nextafter(value, 0) : value;
}

static void add_double(JsonBuilder *b, const char *key, double value)
{
        json_builder_set_member_name(b, key);
        json_builder_add_double_value(b, with_point(value));
}

/* JSON's readers take integers as signed 64-bit ones, at best. */
static void add_count(JsonBuilder *b, const char *key, guint64 value)
{
        json_builder_set_member_name(b, key);
        json_builder_add_int_value(b, (gint64) MIN(value, (guint64) G_MAXINT64));
}

static void add_int(JsonBuilder *b, const char *key, gint64 value)
{
        json_builder_set_member_name(b, key);
        json_builder_add_int_value(b, value);
}

static void add_absent(JsonBuilder *b, const char *key, const char *reason)
{
        g_autofree char *reason_key = g_strconcat(key, "_reason", NULL);

        json_builder_set_member_name(b, key);
        json_builder_add_null_value(b);
        add_string(b, reason_key, reason);
}

static void add_fact(JsonBuilder *b, const char *key, const char *value)
{
        if (value)
                add_string(b, key, value);
        else
                add_absent(b, key, "not known");
}

static void add_hooks(JsonBuilder *b, const GPtrArray *hooks)
{
        json_builder_set_member_name(b, "hooks");
        json_builder_begin_array(b);
        for (guint i = 0; i < hooks->len; i++) {
                const NpReportHook *hook = hooks->pdata[i];

                json_builder_begin_object(b);
                add_fact(b, "boundary", hook->boundary);
                add_fact(b, "mechanism", hook->mechanism);
                add_fact(b, "symbol", hook->symbol);
                json_builder_end_object(b);
        }
        json_builder_end_array(b);
}

static void add_session(JsonBuilder *b, const NpReportFacts *facts)
{
        json_builder_set_member_name(b, "session");
        json_builder_begin_object(b);
        add_fact(b, "id", facts->session_id);
        add_int(b, "started_realtime_us", facts->started_realtime_us);
        add_count(b, "duration_ns", facts->duration_ns);
        add_count(b, "seed", facts->seed);
        add_count(b, "threshold", facts->threshold);
        add_bool(b, "threshold_fixed", facts->threshold_fixed);
        add_bool(b, "detail", facts->detail);
        add_count(b, "commands", facts->commands);
        add_count(b, "sampled", facts->sampled);
        if (facts->ended_reason)
                add_string(b, "cut_short", facts->ended_reason);
        json_builder_end_object(b);
}

static void add_host(JsonBuilder *b, const NpReportFacts *facts)
{
        json_builder_set_member_name(b, "host");
        json_builder_begin_object(b);
        add_fact(b, "name", facts->host_name);
        add_fact(b, "kernel", facts->host_kernel);
        add_fact(b, "nqn", facts->host_nqn);
        add_hooks(b, facts->host_hooks);
        json_builder_end_object(b);
}

static void add_target(JsonBuilder *b, const NpReportTarget *target)
{
        json_builder_begin_object(b);
        add_fact(b, "name", target->name);
        add_fact(b, "kernel", target->kernel);
        add_fact(b, "ntprof_version", target->version);
        if (target->peer)
                add_string(b, "peer", target->peer);
        else
                add_absent(b, "peer", "it is the host itself");
        add_count(b, "recorded_ns", target->recorded_ns);
        if (target->drive_hidden)
                add_string(b, "drive_hidden", target->drive_hidden);
        else
                add_absent(b, "drive_hidden", "nothing is known to hide it");
        if (target->ended_reason)
                add_string(b, "ended_early", target->ended_reason);
        else
                add_absent(b, "ended_early", "it recorded to the end");
        if (target->offset_known) {
                json_builder_set_member_name(b, "clock_offset");
                json_builder_begin_object(b);
                add_int(b, "min_ns", target->offset_min_ns);
                add_int(b, "max_ns", target->offset_max_ns);
                json_builder_end_object(b);
        } else
                add_absent(b, "clock_offset", "no commands tell it");
        add_hooks(b, target->hooks);
        json_builder_end_object(b);
}

static void add_targets(JsonBuilder *b, const GPtrArray *targets)
{
        json_builder_set_member_name(b, "targets");
        json_builder_begin_array(b);
        for (guint i = 0; i < targets->len; i++)
                add_target(b, targets->pdata[i]);
        json_builder_end_array(b);
}

static void add_paths(JsonBuilder *b, const GPtrArray *paths)
{
        json_builder_set_member_name(b, "paths");
        json_builder_begin_array(b);
        for (guint i = 0; i < paths->len; i++) {
                const NpReportPath *path = paths->pdata[i];

                json_builder_begin_object(b);
                add_fact(b, "namespace", path->namespace_name);
                add_fact(b, "device", path->path_name);
                add_fact(b, "controller", path->controller);
                add_fact(b, "transport", path->transport);
                add_fact(b, "traddr", path->traddr);
                add_count(b, "block_size_bytes", path->block_size);
                if (path->target >= 0)
                        add_count(b, "target", path->target);
                else
                        add_absent(b, "target", path->no_target_reason ? path->no_target_reason : "not known");
                json_builder_end_object(b);
        }
        json_builder_end_array(b);
}

static void add_queue_depth(JsonBuilder *b, const NpReport *report)
{
        const NpReportDiskstats *disk = &report->facts->diskstats;

        json_builder_set_member_name(b, "queue_depth");
        json_builder_begin_object(b);
        add_double(b, "from_stages", report->qd_from_stages);
        if (disk->valid) {
                json_builder_set_member_name(b, "diskstats");
                json_builder_begin_object(b);
                add_double(b, "avg_qd", disk->avg_qd);
                add_count(b, "ios", disk->ios);
                json_builder_end_object(b);
        } else
                add_absent(b, "diskstats", disk->reason ? disk->reason : "not known");
        json_builder_end_object(b);
}

static void add_losses(JsonBuilder *b, const guint64 *losses)
{
        json_builder_set_member_name(b, "losses");
        json_builder_begin_object(b);
        for (guint i = 0; i < NP_LOSS_COUNT; i++)
                add_count(b, np_loss_info(i)->key, losses[i]);
        json_builder_end_object(b);
}

static void add_component(JsonBuilder *b, const NpReportComponent *c, const char *transport)
{
        const NpComponentInfo *info = np_component_info(c->component);

        json_builder_begin_object(b);
        add_string(b, "id", info->id);
        add_string(b, "name", np_component_name(c->component, transport));
        if (info->parent != NP_COMPONENT_NONE)
                add_string(b, "part_of", np_component_info(info->parent)->id);
        if (info->information)
                add_bool(b, "information", TRUE);
        if (c->reason)
                add_absent(b, "mean_ns", c->reason);
        else
                add_double(b, "mean_ns", c->mean_ns);
        if (!c->reason && info->one_way)
                add_double(b, "margin_ns", c->margin_ns);
        json_builder_end_object(b);
}

static void add_stage(JsonBuilder *b, const NpReportStage *stage, const char *transport)
{
        g_autofree char *name = np_stage_name(stage->stage, transport);

        json_builder_begin_object(b);
        add_string(b, "id", np_stage_info(stage->stage)->id);
        add_string(b, "name", name);
        add_double(b, "mean_ns", stage->mean_ns);
        add_count(b, "p50_ns", stage->p50_ns);
        add_count(b, "p99_ns", stage->p99_ns);
        add_double(b, "share", stage->share);
        add_double(b, "avg_qd", stage->avg_qd);

        json_builder_set_member_name(b, "components");
        json_builder_begin_array(b);
        for (guint i = 0; i < stage->components->len; i++)
                add_component(b, stage->components->pdata[i], transport);
        json_builder_end_array(b);
        json_builder_end_object(b);
}

static void add_group(JsonBuilder *b, const NpReport *report, const NpReportGroup *group)
{
        const char *transport = np_report_transport(report, group);

        json_builder_begin_object(b);
        add_string(b, "op", group->op);
        if (group->size_bytes > 0)
                add_count(b, "size_bytes", group->size_bytes);
        else
                add_absent(b, "size_bytes", "the operation has no length");
        add_bool(b, "fua", group->fua);
        add_bool(b, "bucketed", group->bucketed);
        add_string(b, "namespace", group->namespace_name);
        if (group->path >= 0)
                add_count(b, "path", group->path);
        add_bool(b, "with_target", group->with_target);
        add_bool(b, "part_of_other", group->part_of_other);
        add_count(b, "commands", group->commands);
        add_double(b, "rate_per_s", group->rate_per_s);
        add_count(b, "sampled", group->sampled);
        add_count(b, "joined", group->joined);
        add_count(b, "failed", group->failed);
        if (group->with_target)
                add_count(b, "network_negative", group->network_negative);
        else
                add_absent(b, "network_negative", "no target side");

        json_builder_set_member_name(b, "latency");
        json_builder_begin_object(b);
        add_double(b, "mean_ns", group->mean_ns);
        add_count(b, "p50_ns", group->p50_ns);
        add_count(b, "p99_ns", group->p99_ns);
        add_count(b, "p999_ns", group->p999_ns);
        add_count(b, "max_ns", group->max_ns);
        json_builder_end_object(b);
        add_double(b, "tag_wait_ns", group->tag_wait_ns);

        json_builder_set_member_name(b, "stages");
        json_builder_begin_array(b);
        for (guint i = 0; i < group->stages->len; i++)
                add_stage(b, group->stages->pdata[i], transport);
        json_builder_end_array(b);
        add_string(b, "largest", np_stage_info(group->largest)->id);
        json_builder_end_object(b);
}

static void add_groups(JsonBuilder *b, const char *key, const NpReport *report, const GPtrArray *groups)
{
        json_builder_set_member_name(b, key);
        json_builder_begin_array(b);
        for (guint i = 0; i < groups->len; i++)
                add_group(b, report, groups->pdata[i]);
        json_builder_end_array(b);
}

static void add_cores(JsonBuilder *b, const char *key, const NpReportCores *cores, const char *reason)
{
        if (!cores->list) {
                add_absent(b, key, reason);
                return;
        }
        json_builder_set_member_name(b, key);
        json_builder_begin_object(b);
        add_string(b, "list", cores->list);
        add_count(b, "busiest", cores->busiest);
        add_double(b, "busiest_share", cores->busiest_share);
        add_double(b, "others_share", cores->others_share);
        json_builder_end_object(b);
}

static void add_row_key(JsonBuilder *b, NpView view, const NpReportViewRow *row)
{
        const char *key = np_view_info(view)->key;

        if (row->path >= 0)
                add_count(b, "path", row->path);
        if (row->key == 0 && view == NP_VIEW_SIZE)
                add_absent(b, key, "the operation has no length");
        else if (row->key == 0 && view == NP_VIEW_PROCESS)
                add_absent(b, key, "not known");
        else
                add_count(b, key, row->key);
        if (view == NP_VIEW_PROCESS)
                add_fact(b, "comm", row->comm);
}

static void add_row(JsonBuilder *b, NpView view, const NpReportViewRow *row)
{
        json_builder_begin_object(b);
        add_string(b, "namespace", row->namespace_name);
        add_bool(b, "others", row->others);
        if (!row->others)
                add_row_key(b, view, row);
        add_count(b, "commands", row->commands);
        add_double(b, "rate_per_s", row->rate_per_s);
        add_double(b, "avg_qd", row->avg_qd);
        add_count(b, "sampled", row->sampled);
        add_count(b, "joined", row->joined);
        add_bool(b, "with_target", row->with_target);

        json_builder_set_member_name(b, "latency");
        json_builder_begin_object(b);
        add_double(b, "mean_ns", row->mean_ns);
        add_count(b, "p50_ns", row->p50_ns);
        add_count(b, "p99_ns", row->p99_ns);
        add_count(b, "max_ns", row->max_ns);
        json_builder_end_object(b);

        json_builder_set_member_name(b, "stages");
        json_builder_begin_array(b);
        for (guint i = 0; i < row->n_stages; i++) {
                json_builder_begin_object(b);
                add_string(b, "id", np_stage_info(row->stages[i].stage)->id);
                add_double(b, "mean_ns", row->stages[i].mean_ns);
                add_double(b, "share", row->stages[i].share);
                add_double(b, "avg_qd", row->stages[i].avg_qd);
                json_builder_end_object(b);
        }
        json_builder_end_array(b);
        add_string(b, "largest", np_stage_info(row->largest)->id);

        add_cores(b, "host_cores", &row->host_cores, "not known");
        add_cores(b, "response_cores", &row->response_cores, "not known");
        add_cores(b, "target_cores", &row->target_cores, "no target side");
        json_builder_end_object(b);
}

static void add_views(JsonBuilder *b, const NpReport *report)
{
        json_builder_set_member_name(b, "views");
        json_builder_begin_object(b);
        for (guint i = 0; i < NP_VIEW_COUNT; i++) {
                json_builder_set_member_name(b, np_view_info(i)->id);
                json_builder_begin_array(b);
                for (guint j = 0; j < report->views[i]->len; j++)
                        add_row(b, i, report->views[i]->pdata[j]);
                json_builder_end_array(b);
        }
        json_builder_end_object(b);
}

char *np_report_to_json(const NpReport *report)
{
        g_autoptr(JsonBuilder) b = json_builder_new();
        g_autoptr(JsonNode) root = NULL;
        g_autofree char *text = NULL;

        json_builder_begin_object(b);
        add_string(b, "schema", NP_REPORT_SCHEMA);
        add_fact(b, "ntprof_version", report->facts->ntprof_version);
        add_session(b, report->facts);
        add_host(b, report->facts);
        add_targets(b, report->facts->targets);
        add_fact(b, "subsystem_nqn", report->facts->subsystem_nqn);
        add_paths(b, report->facts->paths);
        add_queue_depth(b, report);
        add_losses(b, report->facts->losses);
        add_groups(b, "groups", report, report->groups);
        add_groups(b, "groups_by_path", report, report->groups_by_path);
        add_views(b, report);

        json_builder_set_member_name(b, "warnings");
        json_builder_begin_array(b);
        for (guint i = 0; i < report->warnings->len; i++)
                json_builder_add_string_value(b, report->warnings->pdata[i]);
        json_builder_end_array(b);
        json_builder_end_object(b);

        root = json_builder_get_root(b);
        text = json_to_string(root, TRUE);
        return g_strconcat(text, "\n", NULL);
}
