/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <math.h>

#include "boundary.h"
#include "report-text.h"
#include "warnings.h"

/* Shares above which a reader must be told. */
#define NEGATIVE_SHARE 0.001
#define LOSS_SHARE 0.001
#define UNTOLD_SHARE 0.01
#define QD_SHARE 0.05
#define SAMPLE_SHARE 0.2
/* Below it the two queue depths are mostly the rounding of the kernel's milliseconds. */
#define QD_MIN 0.01
/* A share is compared with 1/N when chance alone would not explain the difference. */
#define SIGMAS 5
/* With fewer the quantile is the maximum. */
#define P99_RECORDS 100
#define P999_RECORDS 1000
#define NAMES_MAX 3

G_GNUC_PRINTF(2, 3)
static void warn(NpReport *report, const char *format, ...)
{
        va_list args;

        va_start(args, format);
        g_ptr_array_add(report->warnings, g_strdup_vprintf(format, args));
        va_end(args);
}

static void warn_nothing(NpReport *report)
{
        if (report->facts->commands == 0)
                warn(report, "No command was seen: nothing was read or written while the session recorded.");
        else if (report->groups->len == 0 && report->facts->sampled == 0)
                warn(report, "None of the %" G_GUINT64_FORMAT " commands was sampled, so there is no table.",
                     report->facts->commands);
        else if (report->groups->len == 0)
                warn(report, "None of the %" G_GUINT64_FORMAT " commands has a usable record, so there is no table.",
                     report->facts->commands);
}

static void warn_ended(NpReport *report)
{
        const NpReportFacts *facts = report->facts;

        if (facts->ended_reason)
                warn(report, "The recording ended after %.1f s, before it was to: %s.", facts->duration_ns / 1e9,
                     facts->ended_reason);
}

static void warn_sampling(NpReport *report)
{
        const NpReportFacts *facts = report->facts;
        double share = 1 / np_threshold_weight(facts->threshold);
        double expected = facts->commands * share, deviation = fabs(facts->sampled - expected);

        if (!facts->threshold_fixed || expected == 0)
                return;

        if (facts->threshold == G_MAXUINT32) {
                if (deviation > LOSS_SHARE * expected)
                        warn(report, "Every command was to be sampled, but %" G_GUINT64_FORMAT " of %" G_GUINT64_FORMAT
                             " were.", facts->sampled, facts->commands);
        } else if (deviation > SAMPLE_SHARE * expected && deviation > SIGMAS * sqrt(expected * (1 - share)))
                warn(report, "%" G_GUINT64_FORMAT " commands were sampled where 1 in %.0f of %" G_GUINT64_FORMAT
                     " would be %.0f: the load has few distinct commands, and the sampled ones may not be typical of it.",
                     facts->sampled, 1 / share, facts->commands, expected);
}

/* "read 4KiB nvme6n1, flush nvme6n1 and 4 more" */
static char *join_names(GPtrArray *names)
{
        GString *text = g_string_new(NULL);

        for (guint i = 0; i < MIN(names->len, NAMES_MAX); i++)
                g_string_append_printf(text, "%s%s", i > 0 ? ", " : "", (char *) names->pdata[i]);
        if (names->len > NAMES_MAX)
                g_string_append_printf(text, " and %u more", names->len - NAMES_MAX);
        return g_string_free(text, FALSE);
}

static void warn_negative_network(NpReport *report)
{
        g_autoptr(GPtrArray) names = g_ptr_array_new_with_free_func(g_free);
        guint64 negative = 0, joined = 0;
        g_autofree char *list = NULL, *percent = NULL;

        for (guint i = 0; i < report->groups->len; i++) {
                const NpReportGroup *group = report->groups->pdata[i];

                if (group->network_negative <= NEGATIVE_SHARE * group->joined)
                        continue;
                negative += group->network_negative;
                joined += group->joined;
                g_ptr_array_add(names, np_text_group(group));
        }
        if (names->len == 0)
                return;

        list = join_names(names);
        percent = np_text_percent((double) negative / joined);
        warn(report, "The network time of %" G_GUINT64_FORMAT " commands (%s of %s) came out below zero: the receiver had the data before "
             "the sender's call returned, as over loopback or where a virtual machine had to wait for its CPU. The sums are right, but "
             "what such a call took too long is the host driver's or target driver's here and should be the network's.",
             negative, percent, list);
}

static void warn_merged(NpReport *report, const GPtrArray *hooks, const char *side)
{
        for (guint i = 0; i < hooks->len; i++) {
                const NpReportHook *hook = hooks->pdata[i];
                const NpBoundaryInfo *info;

                if (g_strcmp0(hook->mechanism, "merged") != 0)
                        continue;
                info = hook->boundary ? np_boundary_by_id(hook->boundary) : NULL;
                warn(report, "The %s's kernel has no hook for %s (%s), so it is merged into its neighbour: %s.", side,
                     hook->boundary ? hook->boundary : "a boundary", info ? info->what : "unknown boundary",
                     hook->symbol ? hook->symbol : "not known why");
        }
}

static void warn_targets(NpReport *report)
{
        const GPtrArray *targets = report->facts->targets;

        for (guint i = 0; i < targets->len; i++) {
                const NpReportTarget *target = targets->pdata[i];
                const char *name = np_report_target_name(target);
                g_autofree char *which = targets->len == 1 || !name ? g_strdup("target") : g_strdup_printf("target %s", name);

                warn_merged(report, target->hooks, which);
                if (target->ended_reason)
                        warn(report, "The %s ended after %.1f of %.1f s, so later commands have no target's side: %s.", which,
                             target->recorded_ns / 1e9, report->facts->duration_ns / 1e9, target->ended_reason);
        }
}

static void warn_losses(NpReport *report)
{
        const NpReportFacts *facts = report->facts;
        g_autoptr(GString) causes = g_string_new(NULL);
        g_autofree char *total = NULL;
        guint64 lost = 0;

        if (facts->sampled == 0)
                return;

        for (guint i = 0; i < NP_LOSS_COUNT; i++) {
                double share = (double) facts->losses[i] / facts->sampled;
                g_autofree char *percent = np_text_percent(share);

                /* What ends a session, and what another threshold explains, is no defect of the data. */
                if (!np_loss_info(i)->of_sampled || i == NP_LOSS_IN_FLIGHT || i == NP_LOSS_THRESHOLD)
                        continue;
                lost += facts->losses[i];
                if (share > LOSS_SHARE)
                        g_string_append_printf(causes, "%s%s (%s)", causes->len > 0 ? "; " : "", np_loss_info(i)->text, percent);
        }
        if (causes->len == 0)
                return;

        total = np_text_percent((double) lost / facts->sampled);
        warn(report, "%s of the sampled commands have no complete record: %s.", total, causes->str);
}

static void warn_few(NpReport *report, guint64 records, guint64 at_least, const char *quantile)
{
        g_autoptr(GPtrArray) names = g_ptr_array_new_with_free_func(g_free);
        g_autofree char *list = NULL;

        for (guint i = 0; i < report->groups->len; i++) {
                const NpReportGroup *group = report->groups->pdata[i];
                guint64 n = group->with_target ? group->joined : group->sampled;

                if (n < records && n >= at_least)
                        g_ptr_array_add(names, np_text_group(group));
        }
        if (names->len == 0)
                return;

        list = join_names(names);
        warn(report, "%s just the slowest of fewer than %" G_GUINT64_FORMAT " commands in %s.", quantile, records, list);
}

/* Else it is the host's block layer that looks slow. */
static void warn_preflushes(NpReport *report)
{
        if (report->preflushes > 0)
                warn(report, "%" G_GUINT64_FORMAT " of the sampled flushes are the first step of a write, as a journal's commit: that "
                     "write has waited for its flush in the host block layer (dispatch), so where this time went is what the flush's "
                     "table tells.", report->preflushes);
}

static void warn_queue_depth(NpReport *report)
{
        const NpReportDiskstats *disk = &report->facts->diskstats;
        double stages = report->qd_from_stages;
        g_autofree char *percent = NULL;

        if (report->groups->len == 0 || !disk->valid || MAX(disk->avg_qd, stages) < QD_MIN || fabs(stages - disk->avg_qd) <= QD_SHARE * disk->avg_qd)
                return;

        if (disk->avg_qd == 0) {
                warn(report, "By the stages the average queue depth is %.2f, by the kernel's disk statistics it is 0.", stages);
                return;
        }
        percent = np_text_percent(fabs(stages - disk->avg_qd) / disk->avg_qd);
        warn(report, "By the stages the average queue depth is %.2f, by the kernel's disk statistics %.2f: %s apart, so the "
             "sampled commands are not typical of all, or some are not measured.", stages, disk->avg_qd, percent);
}

static void warn_untold(NpReport *report)
{
        const NpReportFacts *facts = report->facts;
        guint64 told = 0;

        for (guint i = 0; i < report->groups->len; i++) {
                const NpReportGroup *group = report->groups->pdata[i];

                if (!group->part_of_other)
                        told += group->commands;
        }
        if (report->groups->len > 0 && facts->commands > told && facts->commands - told > UNTOLD_SHARE * facts->commands) {
                g_autofree char *percent = np_text_percent((double) (facts->commands - told) / facts->commands);

                warn(report, "%s of the commands are of an operation and size of which none was sampled, so they are in no table.",
                     percent);
        }
}

void np_report_add_warnings(NpReport *report)
{
        locale_t before = np_text_begin();

        warn_nothing(report);
        warn_ended(report);
        warn_sampling(report);
        warn_losses(report);
        warn_untold(report);
        warn_merged(report, report->facts->host_hooks, "host");
        warn_targets(report);
        warn_negative_network(report);
        warn_preflushes(report);
        warn_queue_depth(report);
        warn_few(report, P99_RECORDS, 0, "p99 and p99.9 are");
        warn_few(report, P999_RECORDS, P99_RECORDS, "p99.9 is");

        np_text_end(before);
}
