/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <math.h>

#include "analysis.h"
#include "opcode.h"
#include "operation.h"
#include "views.h"
#include "warnings.h"

/* Type and code in the status field; the bits above say what the host may do about it. */
#define NVME_STATUS_CODE 0x07ff

typedef struct {
        NpOperationKey operation;
        guint16 nlb;
        guint64 count;
} KindCount;

/* A machine that records the target's side. */
typedef struct {
        NpAnalysis *analysis;
        NpJoin *join;
        gboolean same_clock;            /* as the host's */
} Target;

struct _NpAnalysis {
        Target *targets;
        guint n_targets;
        gint target_of_path[NP_FILTERS_MAX];    /* -1: none records it */
        guint64 joined;
        guint64 losses[NP_LOSS_COUNT];
        guint64 preflushes;             /* records of flushes that a write waited for */
        GPtrArray *operations;          /* of NpOperation */
        GHashTable *counts;             /* of KindCount, by key */
        NpViews *views;
};

static NpOperation *get_operation(NpAnalysis *a, NpOperationKey key)
{
        NpOperation *op;

        for (guint i = 0; i < a->operations->len; i++) {
                op = a->operations->pdata[i];
                if (op->key.filter == key.filter && op->key.opcode == key.opcode && op->key.fua == key.fua)
                        return op;
        }

        op = np_operation_new(key);
        g_ptr_array_add(a->operations, op);
        return op;
}

static void add_command(NpAnalysis *a, const struct np_host_record *host, const struct np_target_record *target,
                        guint32 threshold, NpInterval offset)
{
        const struct np_identity *id = &host->header.id;
        const NpOperationKey key = { host->header.filter, id->opcode, (host->header.flags & NP_F_FUA) != 0 };
        NpOperation *op = get_operation(a, key);
        NpCell *cell = np_operation_cell(op, np_opcode_blocks(id->opcode, id->nlb));
        NpTable *table = target ? cell->joined : cell->rest;
        NpStageTimes times;

        np_stage_times(host, target, &times);
        if (target)
                np_stage_one_way(host, target, offset, &times);
        np_table_add(table, &times, np_threshold_weight(threshold));
        if (host->header.status & NVME_STATUS_CODE)
                table->failed++;
        np_operation_bucket_when_many(op);
        if (host->header.flags & NP_F_PREFLUSH)
                a->preflushes++;
        np_views_add(a->views, host, target, &times, np_threshold_weight(threshold));
}

static const NpLoss loss_of_defect[NP_DEFECT_COUNT] = {
        [NP_DEFECT_CANCELLED] = NP_LOSS_CANCELLED,
        [NP_DEFECT_RETRIED] = NP_LOSS_RETRIED,
        [NP_DEFECT_BOUNDARY_MISSING] = NP_LOSS_HOST_BOUNDARY_MISSING,
        [NP_DEFECT_OUT_OF_ORDER] = NP_LOSS_HOST_OUT_OF_ORDER,
};

static const NpLoss loss_of_unjoined[NP_UNJOINED_COUNT] = {
        [NP_UNJOINED_NO_TARGET] = NP_LOSS_NO_TARGET,
        [NP_UNJOINED_AMBIGUOUS] = NP_LOSS_AMBIGUOUS,
        [NP_UNJOINED_THRESHOLD] = NP_LOSS_THRESHOLD,
        [NP_UNJOINED_TARGET_GONE] = NP_LOSS_TARGET_GONE,
};

static void take_command(const struct np_host_record *host, const struct np_target_record *target, NpUnjoined why,
                         guint32 threshold, NpInterval offset, gpointer data)
{
        const Target *machine = data;
        NpAnalysis *a = machine->analysis;
        NpDefect defect = np_host_record_defect(host);

        if (defect != NP_DEFECT_NONE) {
                a->losses[loss_of_defect[defect]]++;
                return;
        }

        if (!target)
                a->losses[loss_of_unjoined[why]]++;
        else if (np_target_record_defect(target) != NP_DEFECT_NONE) {
                a->losses[NP_LOSS_TARGET_DEFECT]++;
                target = NULL;
        } else
                a->joined++;

        /* The commands that the target did sample stand for this one too, with the weight of its lower threshold. */
        if (!target && why == NP_UNJOINED_THRESHOLD)
                return;
        add_command(a, host, target, threshold, machine->same_clock ? (NpInterval) { 0, 0 } : offset);
}

NpAnalysis *np_analysis_new(guint n_targets)
{
        NpAnalysis *a = g_new0(NpAnalysis, 1);

        a->operations = g_ptr_array_new_with_free_func(np_operation_free);
        a->counts = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, g_free);
        a->views = np_views_new();
        a->targets = g_new0(Target, n_targets);
        a->n_targets = n_targets;
        for (guint i = 0; i < n_targets; i++) {
                a->targets[i].analysis = a;
                a->targets[i].join = np_join_new(take_command, a->targets + i);
        }
        for (guint i = 0; i < NP_FILTERS_MAX; i++)
                a->target_of_path[i] = -1;
        return a;
}

void np_analysis_free(NpAnalysis *a)
{
        if (!a)
                return;

        for (guint i = 0; i < a->n_targets; i++)
                np_join_free(a->targets[i].join);
        g_free(a->targets);
        g_ptr_array_unref(a->operations);
        g_hash_table_unref(a->counts);
        np_views_free(a->views);
        g_free(a);
}

void np_analysis_set_target(NpAnalysis *a, guint path, gint target)
{
        g_return_if_fail(path < NP_FILTERS_MAX && target < (gint) a->n_targets);

        a->target_of_path[path] = target;
}

void np_analysis_add_host(NpAnalysis *a, const struct np_host_record *host)
{
        NpDefect defect;
        gint target;

        if (!np_host_record_valid(host)) {
                a->losses[NP_LOSS_MALFORMED]++;
                return;
        }
        target = a->target_of_path[host->header.filter];
        if (target >= 0) {
                np_join_add_host(a->targets[target].join, host);
                return;
        }

        defect = np_host_record_defect(host);
        if (defect != NP_DEFECT_NONE)
                a->losses[loss_of_defect[defect]]++;
        else
                add_command(a, host, NULL, host->header.threshold, (NpInterval) { 0, 0 });
}

void np_analysis_add_target(NpAnalysis *a, guint target, const struct np_target_record *record)
{
        g_return_if_fail(target < a->n_targets);

        if (!np_target_record_valid(record))
                a->losses[NP_LOSS_MALFORMED]++;
        else
                np_join_add_target(a->targets[target].join, record);
}

void np_analysis_target_threshold(NpAnalysis *a, guint target, guint64 target_ns, guint32 threshold)
{
        g_return_if_fail(target < a->n_targets);

        np_join_target_threshold(a->targets[target].join, target_ns, threshold);
}

void np_analysis_target_synced(NpAnalysis *a, guint target, guint64 target_ns, guint64 host_ns)
{
        g_return_if_fail(target < a->n_targets);

        np_join_target_synced(a->targets[target].join, target_ns, host_ns);
}

void np_analysis_target_same_clock(NpAnalysis *a, guint target)
{
        g_return_if_fail(target < a->n_targets);

        a->targets[target].same_clock = TRUE;
}

void np_analysis_target_ended(NpAnalysis *a, guint target)
{
        g_return_if_fail(target < a->n_targets);

        np_join_target_ended(a->targets[target].join);
}

void np_analysis_host_began(NpAnalysis *a, guint64 host_ns)
{
        for (guint i = 0; i < a->n_targets; i++)
                np_join_host_began(a->targets[i].join, host_ns);
}

void np_analysis_host_ended(NpAnalysis *a, guint64 host_ns)
{
        for (guint i = 0; i < a->n_targets; i++)
                np_join_host_ended(a->targets[i].join, host_ns);
}

void np_analysis_advance(NpAnalysis *a, guint64 host_ns)
{
        for (guint i = 0; i < a->n_targets; i++)
                np_join_advance(a->targets[i].join, host_ns);
}

void np_analysis_finish(NpAnalysis *a)
{
        for (guint i = 0; i < a->n_targets; i++)
                np_join_finish(a->targets[i].join);
}

guint64 np_analysis_joined(NpAnalysis *a)
{
        return a->joined;
}

void np_analysis_set_commands(NpAnalysis *a, guint filter, guint8 opcode, gboolean fua, guint16 nlb, guint64 count)
{
        gint64 key = (gint64) filter << 32 | (fua ? 1 : 0) << 24 | opcode << 16 | nlb;
        KindCount kind = { { filter, opcode, fua }, nlb, count };

        g_hash_table_insert(a->counts, g_memdup2(&key, sizeof(key)), g_memdup2(&kind, sizeof(kind)));
}

/* The operation of a namespace, of all its paths, or of the path alone. */
static NpOperation *get_reported(GPtrArray *reported, const NpReportFacts *facts, gboolean by_path, NpOperationKey key)
{
        const NpReportPath *path = key.filter < facts->paths->len ? facts->paths->pdata[key.filter] : NULL;
        const char *name = path && path->namespace_name ? path->namespace_name : "unknown namespace";
        NpOperation *op;

        for (guint i = 0; i < reported->len; i++) {
                op = reported->pdata[i];
                if (op->key.opcode == key.opcode && op->key.fua == key.fua &&
                    (by_path ? op->key.filter == key.filter : g_str_equal(op->namespace_name, name)))
                        return op;
        }

        op = np_operation_new(key);
        op->namespace_name = name;
        op->block_size = path ? path->block_size : 0;
        g_ptr_array_add(reported, op);
        return op;
}

/* The operations by namespace or by path, with the counts of all commands. */
static GPtrArray *collect(NpAnalysis *a, const NpReportFacts *facts, gboolean by_path)
{
        GPtrArray *reported = g_ptr_array_new_with_free_func(np_operation_free);
        GHashTableIter iter;
        gpointer value;

        /* Bucketed ones first, so that what is added to them later is bucketed too. */
        for (guint pass = 0; pass < 2; pass++)
                for (guint i = 0; i < a->operations->len; i++) {
                        NpOperation *from = a->operations->pdata[i], *op;
                        guint filter = from->key.filter;
                        const NpReportPath *path = filter < facts->paths->len ? facts->paths->pdata[filter] : NULL;

                        if (from->bucketed == (pass == 1))
                                continue;
                        op = get_reported(reported, facts, by_path, from->key);
                        if (from->bucketed)
                                op->bucketed = TRUE;
                        g_hash_table_iter_init(&iter, from->cells);
                        while (g_hash_table_iter_next(&iter, NULL, &value)) {
                                np_operation_add_cell(op, value, path ? path->transport : NULL);
                                np_operation_bucket_when_many(op);
                        }
                }

        g_hash_table_iter_init(&iter, a->counts);
        while (g_hash_table_iter_next(&iter, NULL, &value)) {
                const KindCount *kind = value;
                NpOperation *op = get_reported(reported, facts, by_path, kind->operation);

                if (kind->count == 0)
                        continue;
                np_operation_cell(op, np_opcode_blocks(kind->operation.opcode, kind->nlb))->commands += kind->count;
                np_operation_bucket_when_many(op);
        }
        return reported;
}

/* Where a report's tables go. */
typedef struct {
        NpReport *report;
        GPtrArray *groups;
        gboolean by_path;
        double overflow;                /* see overflow_share() */
} Tables;

static void add_group(const Tables *to, const NpOperation *op, const NpCell *cell, const NpTable *table, guint64 commands)
{
        NpReportGroup *group = np_report_group_new(np_opcode_name(op->key.opcode), op->namespace_name);
        const NpReportFacts *facts = to->report->facts;
        /* Of two tables each has its part of the queue depth. */
        double share = table->with_target ? table->weight / np_cell_weight(cell) : 1;

        group->fua = op->key.fua;
        group->path = to->by_path ? (gint) op->key.filter : -1;
        group->size_bytes = (guint64) cell->blocks * op->block_size;
        group->bucketed = op->bucketed && cell->blocks > 1;
        group->commands = commands;
        if (facts->duration_ns > 0)
                group->rate_per_s = commands * 1e9 / facts->duration_ns;
        group->sampled = table->records;
        group->failed = table->failed;
        if (table->with_target) {
                group->joined = table->records;
                group->sampled += cell->rest->records;
                group->failed += cell->rest->failed;
        } else
                group->part_of_other = cell->joined->records > 0;

        np_table_fill_group(table, facts, group->rate_per_s * share, group);
        g_ptr_array_add(to->groups, group);
}

/* Commands for which the kernel's programs had no slot are counted, but not by kind. The part that they are of what the samples
 * say is missing. */
static double overflow_share(GPtrArray *operations, const NpReportFacts *facts)
{
        double overflow = facts->losses[NP_LOSS_KIND_OVERFLOW], sum = 0;

        for (guint i = 0; overflow > 0 && i < operations->len; i++) {
                const NpOperation *op = operations->pdata[i];
                GHashTableIter iter;
                gpointer cell;

                g_hash_table_iter_init(&iter, op->cells);
                while (g_hash_table_iter_next(&iter, NULL, &cell))
                        sum += np_cell_uncounted(cell);
        }
        return sum > overflow ? overflow / sum : overflow > 0;
}

/* Returns how many of these commands are under way on average, without the wait for a tag. */
static double report_cell(const Tables *to, const NpOperation *op, const NpCell *cell)
{
        double weight = np_cell_weight(cell);
        guint64 commands = np_cell_commands(cell, to->overflow);
        double busy;

        if (weight == 0)
                return 0;

        if (cell->joined->records > 0)
                add_group(to, op, cell, cell->joined, commands);
        if (cell->rest->records > 0)
                add_group(to, op, cell, cell->rest,
                          cell->joined->records > 0 ? (guint64) llround(commands * cell->rest->weight / weight) : commands);

        busy = cell->joined->latency + cell->rest->latency - cell->joined->uncounted - cell->rest->uncounted;
        return to->report->facts->duration_ns > 0 ? commands * (busy / weight) / to->report->facts->duration_ns : 0;
}

static int compare_groups(gconstpointer a, gconstpointer b)
{
        const NpReportGroup *x = *(NpReportGroup *const *) a, *y = *(NpReportGroup *const *) b;
        int order;

        if (x->commands != y->commands)
                return x->commands > y->commands ? -1 : 1;
        if ((order = g_strcmp0(x->namespace_name, y->namespace_name)) != 0 || (order = g_strcmp0(x->op, y->op)) != 0)
                return order;
        if (x->path != y->path)
                return x->path < y->path ? -1 : 1;
        if (x->fua != y->fua)
                return x->fua - y->fua;
        if (x->size_bytes != y->size_bytes)
                return x->size_bytes < y->size_bytes ? -1 : 1;
        return y->with_target - x->with_target;
}

static void set_offset(const Target *machine, const NpJoinStats *stats, NpReportTarget *target)
{
        target->offset_known = machine->same_clock || stats->offset_known;
        target->offset_min_ns = machine->same_clock ? 0 : stats->offset_min_ns;
        target->offset_max_ns = machine->same_clock ? 0 : stats->offset_max_ns;
}

static void add_what_joins_tell(NpAnalysis *a, NpReportFacts *facts)
{
        for (guint i = 0; i < NP_LOSS_COUNT; i++)
                facts->losses[i] += a->losses[i];

        for (guint i = 0; i < a->n_targets; i++) {
                NpJoinStats stats;

                np_join_stats(a->targets[i].join, &stats);
                facts->losses[NP_LOSS_TARGET_WITHOUT_HOST] += stats.target_without_host;
                if (i < facts->targets->len)
                        set_offset(a->targets + i, &stats, facts->targets->pdata[i]);
        }
}

/* Returns the average queue depth of all of them. */
static double report_groups(NpAnalysis *a, NpReport *report, gboolean by_path, GPtrArray *groups)
{
        g_autoptr(GPtrArray) operations = collect(a, report->facts, by_path);
        Tables to = { report, groups, by_path, overflow_share(operations, report->facts) };
        double depth = 0;

        for (guint i = 0; i < operations->len; i++) {
                const NpOperation *op = operations->pdata[i];
                GHashTableIter iter;
                gpointer cell;

                if (by_path && op->key.filter >= report->facts->paths->len)
                        continue;
                g_hash_table_iter_init(&iter, op->cells);
                while (g_hash_table_iter_next(&iter, NULL, &cell))
                        depth += report_cell(&to, op, cell);
        }
        g_ptr_array_sort(groups, compare_groups);
        return depth;
}

typedef struct {
        GPtrArray *operations;          /* by path */
        double overflow;
} Scales;

static double scale_of_kind(const NpOperationKey *key, guint32 blocks, gboolean bucketed, gpointer data)
{
        const Scales *scales = data;

        for (guint i = 0; i < scales->operations->len; i++) {
                const NpOperation *op = scales->operations->pdata[i];

                if (op->key.filter == key->filter && op->key.opcode == key->opcode && op->key.fua == key->fua)
                        return np_operation_scale(op, blocks, bucketed, scales->overflow);
        }
        return 1;
}

static void report_views(NpAnalysis *a, NpReport *report)
{
        g_autoptr(GPtrArray) operations = collect(a, report->facts, TRUE);
        Scales scales = { operations, overflow_share(operations, report->facts) };

        np_views_report(a->views, scale_of_kind, &scales, report);
}

NpReport *np_analysis_report(NpAnalysis *a, const NpReportFacts *facts)
{
        NpReport *report = np_report_new(facts);

        add_what_joins_tell(a, report->facts);
        report->preflushes = a->preflushes;
        report->qd_from_stages = report_groups(a, report, FALSE, report->groups);
        if (facts->paths->len > 1)
                (void) report_groups(a, report, TRUE, report->groups_by_path);
        report_views(a, report);
        np_report_add_warnings(report);
        return report;
}
