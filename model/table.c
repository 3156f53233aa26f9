/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "table.h"

/* A component is not told when more of the records do not tell it: what they had of it is in another row. */
#define UNTOLD_SHARE 0.01

static guint n_stages(const NpTable *table)
{
        return table->with_target ? NP_STAGE_COUNT : NP_STAGE_NETWORK + 1;
}

NpTable *np_table_new(gboolean with_target)
{
        NpTable *table = g_new0(NpTable, 1);

        table->with_target = with_target;
        table->latencies = np_histogram_new();
        for (guint i = 0; i < n_stages(table); i++)
                table->stage_times[i] = np_histogram_new();
        return table;
}

void np_table_free(NpTable *table)
{
        if (!table)
                return;

        np_histogram_free(table->latencies);
        for (guint i = 0; i < NP_STAGE_COUNT; i++)
                np_histogram_free(table->stage_times[i]);
        g_free(table);
}

void np_table_add(NpTable *table, const NpStageTimes *times, double weight)
{
        table->records++;
        table->weight += weight;
        table->latency += weight * times->latency_ns;
        table->tag_wait += weight * times->tag_wait_ns;
        table->uncounted += weight * times->uncounted_ns;
        table->margin += weight * times->margin_ns;
        np_histogram_add(table->latencies, times->latency_ns, weight);

        if (table->with_target && times->stage_ns[NP_STAGE_NETWORK] < 0)
                table->network_negative++;
        for (guint i = 0; i < n_stages(table); i++) {
                table->stages[i] += weight * times->stage_ns[i];
                np_histogram_add(table->stage_times[i], MAX(times->stage_ns[i], 0), weight);
        }

        for (guint i = 0; i < NP_COMPONENT_COUNT; i++) {
                table->components[i] += weight * times->component_ns[i];
                if (!(times->components_known & 1u << i))
                        table->without_component[i]++;
        }
}

void np_table_merge(NpTable *table, const NpTable *other, const char *transport)
{
        table->records += other->records;
        table->weight += other->weight;
        table->network_negative += other->network_negative;
        table->failed += other->failed;
        table->latency += other->latency;
        table->tag_wait += other->tag_wait;
        table->uncounted += other->uncounted;
        table->margin += other->margin;
        np_histogram_merge(table->latencies, other->latencies);

        for (guint i = 0; i < n_stages(table); i++) {
                table->stages[i] += other->stages[i];
                np_histogram_merge(table->stage_times[i], other->stage_times[i]);
        }
        for (guint i = 0; i < NP_COMPONENT_COUNT; i++) {
                const char *only = np_component_info(i)->transport;

                table->components[i] += other->components[i];
                /* What the transport does not have took no time. */
                if (!only || !transport || g_str_equal(only, transport))
                        table->without_component[i] += other->without_component[i];
        }
}

static const NpReportHook *merged_hook(const GPtrArray *hooks, const char *const *boundaries)
{
        for (guint i = 0; i < hooks->len; i++) {
                const NpReportHook *hook = hooks->pdata[i];

                if (g_strcmp0(hook->mechanism, "merged") == 0 && g_strv_contains(boundaries, hook->boundary))
                        return hook;
        }
        return NULL;
}

/* That records the group's path, or one of its paths; NULL. */
static const NpReportTarget *target_of_path(const NpReportFacts *facts, guint i, const NpReportGroup *group)
{
        const NpReportPath *path = facts->paths->pdata[i];

        return path->target >= 0 && (guint) path->target < facts->targets->len && np_report_path_is_of_group(facts, i, group) ?
               facts->targets->pdata[path->target] : NULL;
}

static const NpReportHook *find_merged(const NpReportFacts *facts, const NpReportGroup *group, const NpComponentInfo *info)
{
        g_auto(GStrv) boundaries = g_strsplit(info->boundaries, " ", -1);
        const NpReportHook *merged = merged_hook(facts->host_hooks, (const char *const *) boundaries);

        for (guint i = 0; !merged && i < facts->paths->len; i++) {
                const NpReportTarget *target = target_of_path(facts, i, group);

                if (target)
                        merged = merged_hook(target->hooks, (const char *const *) boundaries);
        }
        return merged;
}

static const char *drive_hidden(const NpReportFacts *facts, const NpReportGroup *group)
{
        for (guint i = 0; i < facts->paths->len; i++) {
                const NpReportTarget *target = target_of_path(facts, i, group);

                if (target && target->drive_hidden)
                        return target->drive_hidden;
        }
        return NULL;
}

/* All of the group's paths have it, and there is one. */
static gboolean is_over(const NpReportFacts *facts, const NpReportGroup *group, const char *transport)
{
        gboolean any = FALSE;

        for (guint i = 0; i < facts->paths->len; i++) {
                const NpReportPath *path = facts->paths->pdata[i];

                if (!np_report_path_is_of_group(facts, i, group))
                        continue;
                if (g_strcmp0(path->transport, transport) != 0)
                        return FALSE;
                any = TRUE;
        }
        return any;
}

/* What is known to hide every arrival, docs/hooks.md. */
static const char *arrival_hint(const NpReportFacts *facts, const NpReportGroup *group, const NpComponentInfo *info)
{
        if (is_over(facts, group, "tcp"))
                return ", as with TLS";
        if (is_over(facts, group, "rdma") &&
            (info->component == NP_COMPONENT_HOST_RECEIVE || info->component == NP_COMPONENT_RESPONSE_WIRE))
                return ", as on a polled queue";
        return "";
}

/* NULL when the component is known. */
static char *reason_of(const NpTable *table, const NpReportFacts *facts, const NpReportGroup *group,
                       const NpComponentInfo *info)
{
        guint64 without = table->without_component[info->component];
        const NpReportHook *merged = find_merged(facts, group, info);
        const char *hidden = info->stage == NP_STAGE_STORAGE ? drive_hidden(facts, group) : NULL;

        if (merged)
                return g_strdup_printf("this kernel has no hook for %s: %s", merged->boundary,
                                       merged->symbol ? merged->symbol : "not known why");
        if (without <= UNTOLD_SHARE * table->records)
                return NULL;
        if (info->detail && !facts->detail)
                return g_strdup(NP_REPORT_NOT_IN_DETAIL);
        if (hidden)
                return g_strdup(hidden);
        if (info->stage == NP_STAGE_STORAGE)
                return g_strdup_printf("drive not seen at work on %" G_GUINT64_FORMAT " of %" G_GUINT64_FORMAT " commands%s", without,
                                       table->records, g_str_equal(group->op, "flush") && without == table->records ?
                                       ", as without a volatile cache" : "");
        if (info->stage != NP_STAGE_NETWORK)
                return g_strdup_printf("not told of %" G_GUINT64_FORMAT " of %" G_GUINT64_FORMAT " commands", without,
                                       table->records);
        return g_strdup_printf("arrival not seen of %" G_GUINT64_FORMAT " of %" G_GUINT64_FORMAT " commands%s", without,
                               table->records, without == table->records ? arrival_hint(facts, group, info) : "");
}

static NpReportComponent *component_of(const NpTable *table, const NpReportFacts *facts, const NpReportGroup *group,
                                       const NpComponentInfo *info)
{
        g_autofree char *reason = reason_of(table, facts, group, info);
        double mean_ns = table->components[info->component] / table->weight;
        NpReportComponent *c = np_report_component_new(info->component, mean_ns, reason);

        if (info->one_way && !reason)
                c->margin_ns = table->margin / table->weight;
        return c;
}

/* With paths of several transports all rows are there. */
static gboolean has_component(const NpReportFacts *facts, const NpReportGroup *group, const NpComponentInfo *info)
{
        gboolean any = FALSE;

        for (guint i = 0; info->transport && i < facts->paths->len; i++) {
                const NpReportPath *path = facts->paths->pdata[i];

                if (!np_report_path_is_of_group(facts, i, group))
                        continue;
                if (!path->transport || g_str_equal(path->transport, info->transport))
                        return TRUE;
                any = TRUE;
        }
        return !any;
}

static NpReportStage *stage_of(const NpTable *table, const NpReportFacts *facts, guint i, double rate_per_s,
                               const NpReportGroup *group)
{
        NpReportStage *s = np_report_stage_new(!table->with_target && i == NP_STAGE_NETWORK ? NP_STAGE_NETWORK_TARGET : i);

        s->mean_ns = table->stages[i] / table->weight;
        s->p50_ns = np_histogram_quantile(table->stage_times[i], 0.5);
        s->p99_ns = np_histogram_quantile(table->stage_times[i], 0.99);
        s->share = table->latency > 0 ? table->stages[i] / table->latency : 0;
        s->avg_qd = rate_per_s * s->mean_ns / 1e9;
        for (guint c = 0; c < NP_COMPONENT_COUNT; c++)
                if (np_component_info(c)->stage == s->stage && has_component(facts, group, np_component_info(c)))
                        g_ptr_array_add(s->components, component_of(table, facts, group, np_component_info(c)));
        return s;
}

void np_table_fill_group(const NpTable *table, const NpReportFacts *facts, double rate_per_s, NpReportGroup *group)
{
        double largest = 0;

        g_return_if_fail(table->records > 0);

        group->with_target = table->with_target;
        group->network_negative = table->network_negative;
        group->mean_ns = table->latency / table->weight;
        group->tag_wait_ns = table->tag_wait / table->weight;
        group->p50_ns = np_histogram_quantile(table->latencies, 0.5);
        group->p99_ns = np_histogram_quantile(table->latencies, 0.99);
        group->p999_ns = np_histogram_quantile(table->latencies, 0.999);
        group->max_ns = np_histogram_quantile(table->latencies, 1);

        for (guint i = 0; i < n_stages(table); i++) {
                NpReportStage *s = stage_of(table, facts, i, rate_per_s, group);

                g_ptr_array_add(group->stages, s);
                if (i == 0 || s->mean_ns > largest) {
                        largest = s->mean_ns;
                        group->largest = s->stage;
                }
        }
}
