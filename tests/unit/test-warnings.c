/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "warnings.h"

#include <string.h>

#include "sample-report.h"

static NpReportGroup *add_group(NpReport *report, const char *op, gboolean with_target, guint64 commands, guint64 sampled)
{
        NpReportGroup *group = np_report_group_new(op, "nvme6n1");

        group->with_target = with_target;
        group->size_bytes = 4096;
        group->commands = commands;
        group->sampled = sampled;
        group->joined = with_target ? sampled : 0;
        g_ptr_array_add(report->groups, group);
        return group;
}

/* A report with nothing to warn of. */
static NpReport *clean(void)
{
        g_autoptr(NpReportFacts) facts = sample_facts(TRUE);
        NpReport *report = np_report_new(facts);

        report->facts->commands = 160000;
        report->facts->sampled = 10050;
        report->facts->threshold = 1u << 28;
        report->facts->threshold_fixed = TRUE;
        report->qd_from_stages = 0.99;
        add_group(report, "read", TRUE, 160000, 10000);
        return report;
}

static const NpReportGroup *first(NpReport *report)
{
        return report->groups->pdata[0];
}

/* Exactly one warning, with that in it; NULL: none. Whole sentences all of them. */
static void expect(NpReport *report, const char *part)
{
        g_ptr_array_set_size(report->warnings, 0);
        np_report_add_warnings(report);
        for (guint i = 0; i < report->warnings->len; i++) {
                const char *text = report->warnings->pdata[i];

                g_test_message("%s", text);
                g_assert_true(g_str_has_suffix(text, "."));
                g_assert_false(g_ascii_islower(text[0]) && text[0] != 'p');
        }
        g_assert_cmpuint(report->warnings->len, ==, part ? 1 : 0);
        if (part)
                g_assert_nonnull(strstr(report->warnings->pdata[0], part));
}

static void test_clean(void)
{
        g_autoptr(NpReport) report = clean();

        expect(report, NULL);
}

static void test_nothing(void)
{
        g_autoptr(NpReport) report = clean();

        g_ptr_array_set_size(report->groups, 0);
        report->qd_from_stages = report->facts->diskstats.avg_qd = 0;
        expect(report, "None of the 160000 commands has a usable record");
        /* and no word of queue depths that were not measured */
        report->facts->diskstats.avg_qd = 1;
        report->facts->sampled = 0;
        report->facts->threshold_fixed = FALSE;
        expect(report, "None of the 160000 commands was sampled");
        report->facts->commands = report->facts->sampled = 0;
        expect(report, "No command was seen");
}

static void test_sampling(void)
{
        g_autoptr(NpReport) report = clean();

        /* 1 in 16 */
        report->facts->sampled = 12500;
        expect(report, "12500 commands were sampled where 1 in 16 of 160000 would be 10000");
        report->facts->sampled = 7500;
        expect(report, "7500 commands were sampled");
        report->facts->sampled = 0;
        expect(report, "0 commands were sampled");
        report->facts->sampled = 10900;
        expect(report, NULL);
        report->facts->sampled = 12500;
        report->facts->threshold_fixed = FALSE;
        expect(report, NULL);
}

/* Ten commands where six were expected are nothing. */
static void test_sampling_by_chance(void)
{
        g_autoptr(NpReport) report = clean();

        report->facts->commands = 96;
        report->facts->sampled = 10;
        g_ptr_array_set_size(report->groups, 0);
        add_group(report, "read", TRUE, 96, 2000);
        expect(report, NULL);
}

static void test_sampling_all(void)
{
        g_autoptr(NpReport) report = clean();

        report->facts->threshold = G_MAXUINT32;
        report->facts->sampled = 160000;
        expect(report, NULL);
        report->facts->sampled = 159000;
        expect(report, "159000 of 160000 were");
        report->facts->sampled = 159900;
        expect(report, NULL);
}

static void test_losses(void)
{
        g_autoptr(NpReport) report = clean();

        report->facts->losses[NP_LOSS_HOST_RING_FULL] = 10;
        expect(report, NULL);
        report->facts->losses[NP_LOSS_HOST_RING_FULL] = 201;
        expect(report, "2.0 % of the sampled commands have no complete record: no room in the host's ring buffer (2.0 %).");
        report->facts->losses[NP_LOSS_NO_TARGET] = 1005;
        expect(report, "12 % of the sampled commands have no complete record: no room in the host's ring buffer (2.0 %); no record "
                       "of the target (10 %).");
}

/* What ends a session, what a threshold explains, and what is told beside the sampled ones. */
static void test_no_losses(void)
{
        g_autoptr(NpReport) report = clean();

        report->facts->losses[NP_LOSS_IN_FLIGHT] = 500;
        report->facts->losses[NP_LOSS_THRESHOLD] = 500;
        report->facts->losses[NP_LOSS_TARGET_WITHOUT_HOST] = 500;
        expect(report, NULL);
}

static void test_merged(void)
{
        g_autoptr(NpReport) report = clean();

        g_ptr_array_add(report->facts->host_hooks, np_report_hook_new("H2", "tp_btf", "nvme_setup_cmd"));
        expect(report, NULL);
        g_ptr_array_add(report->facts->host_hooks, np_report_hook_new("H4", "merged", "it is inlined"));
        expect(report, "The host's kernel has no hook for H4 (R2T being processed), so it is merged into its neighbour: it is "
                       "inlined.");
        g_ptr_array_set_size(report->facts->host_hooks, 0);
        g_ptr_array_add(((NpReportTarget *) report->facts->targets->pdata[0])->hooks, np_report_hook_new("T5", "merged", NULL));
        expect(report, "The target's kernel has no hook for T5 (request issued to the drive)");
}

static void test_ended_early(void)
{
        g_autoptr(NpReport) report = clean();
        NpReportTarget *target = report->facts->targets->pdata[0];

        target->ended_reason = g_strdup("the link broke");
        target->recorded_ns = G_GUINT64_CONSTANT(4210000000);
        expect(report, "The target ended after 4.2 of 10.0 s, so later commands have no target's side: the link broke.");
        g_ptr_array_add(report->facts->targets, np_report_target_new("gamma", NULL, NULL, NULL));
        expect(report, "The target stor-a ended after 4.2 of 10.0 s");
}

static void test_recording_ended_early(void)
{
        g_autoptr(NpReport) report = clean();

        report->facts->ended_reason = g_strdup("nvme_tcp was unloaded");
        expect(report, "The recording ended after 10.0 s, before it was to: nvme_tcp was unloaded.");
}

static void test_negative_network(void)
{
        g_autoptr(NpReport) report = clean();

        ((NpReportGroup *) first(report))->network_negative = 10;
        expect(report, NULL);
        ((NpReportGroup *) first(report))->network_negative = 11;
        expect(report, "The network time of 11 commands (0.11 % of read 4KiB nvme6n1) came out below zero");
}

static void test_queue_depth(void)
{
        g_autoptr(NpReport) report = clean();

        report->facts->diskstats.avg_qd = 1;
        report->qd_from_stages = 1.049;
        expect(report, NULL);
        report->qd_from_stages = 1.051;
        expect(report, "By the stages the average queue depth is 1.05, by the kernel's disk statistics 1.00: 5.1 % apart");
        report->qd_from_stages = 0.5;
        expect(report, "50 % apart");
        report->facts->diskstats.avg_qd = 0;
        expect(report, "disk statistics it is 0");
        report->facts->diskstats.avg_qd = 0.001;
        report->qd_from_stages = 0.005;
        expect(report, NULL);
        report->qd_from_stages = 5;
        report->facts->diskstats.valid = FALSE;
        expect(report, NULL);
}

static void test_untold(void)
{
        g_autoptr(NpReport) report = clean();

        ((NpReportGroup *) first(report))->commands = 159000;
        expect(report, NULL);
        ((NpReportGroup *) first(report))->commands = 120000;
        expect(report, "25 % of the commands are of an operation and size of which none was sampled");
        /* what is counted in another group already does not fill the gap */
        add_group(report, "read", FALSE, 40000, 2000)->part_of_other = TRUE;
        expect(report, "25 % of the commands");
}

static void test_preflushes(void)
{
        g_autoptr(NpReport) report = clean();

        report->preflushes = 128;
        expect(report, "128 of the sampled flushes are the first step of a write");
}

static void test_few(void)
{
        g_autoptr(NpReport) report = clean();

        add_group(report, "write", TRUE, 0, 1000);
        expect(report, NULL);
        add_group(report, "flush", TRUE, 0, 999);
        expect(report, "p99.9 is just the slowest of fewer than 1000 commands in flush 4KiB nvme6n1.");
        g_ptr_array_set_size(report->groups, 1);
        add_group(report, "flush", FALSE, 0, 99);
        expect(report, "p99 and p99.9 are just the slowest of fewer than 100 commands in flush 4KiB nvme6n1.");
        for (guint i = 0; i < 4; i++)
                add_group(report, "compare", FALSE, 0, 5);
        expect(report, "in flush 4KiB nvme6n1, compare 4KiB nvme6n1, compare 4KiB nvme6n1 and 2 more.");
}

int main(int argc, char **argv)
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/warnings/clean", test_clean);
        g_test_add_func("/warnings/nothing", test_nothing);
        g_test_add_func("/warnings/sampling", test_sampling);
        g_test_add_func("/warnings/sampling-by-chance", test_sampling_by_chance);
        g_test_add_func("/warnings/sampling-all", test_sampling_all);
        g_test_add_func("/warnings/losses", test_losses);
        g_test_add_func("/warnings/no-losses", test_no_losses);
        g_test_add_func("/warnings/merged", test_merged);
        g_test_add_func("/warnings/ended-early", test_ended_early);
        g_test_add_func("/warnings/recording-ended-early", test_recording_ended_early);
        g_test_add_func("/warnings/negative-network", test_negative_network);
        g_test_add_func("/warnings/queue-depth", test_queue_depth);
        g_test_add_func("/warnings/untold", test_untold);
        g_test_add_func("/warnings/preflushes", test_preflushes);
        g_test_add_func("/warnings/few", test_few);
        return g_test_run();
}
