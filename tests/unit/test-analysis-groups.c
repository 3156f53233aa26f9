/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * How the analysis groups commands; test-analysis.c has what it says of a group.
 */
#include <string.h>

#include "sample-session.h"

/* One command of each size. */
static void add_records(NpAnalysis *a, guint filter, guint from, guint n)
{
        for (guint i = from; i < from + n; i++) {
                TestCommand c = sample_command(TEST_READ, i, 0);

                c.host.header.id.nlb = i;
                c.host.header.filter = filter;
                test_rehash(&c);
                np_analysis_add_host(a, &c.host);
        }
}

static void add_sizes(NpAnalysis *a, guint filter, guint from, guint n)
{
        add_records(a, filter, from, n);
        for (guint i = from; i < from + n; i++)
                np_analysis_set_commands(a, filter, READ, FALSE, i, 100);
}

static guint64 sum_of_commands(const NpReport *report)
{
        guint64 sum = 0;

        for (guint i = 0; i < report->groups->len; i++)
                if (!sample_group(report, i)->part_of_other)
                        sum += sample_group(report, i)->commands;
        return sum;
}

static void test_twelve_sizes(void)
{
        g_autoptr(NpAnalysis) a = sample_analysis(FALSE);
        g_autoptr(NpReport) report = NULL;

        add_sizes(a, 0, 0, 12);
        report = sample_report_of(a, FALSE);
        g_assert_cmpuint(report->groups->len, ==, 12);
        for (guint i = 0; i < 12; i++) {
                g_assert_cmpuint(sample_group(report, i)->size_bytes, ==, 512 * (i + 1));
                g_assert_false(sample_group(report, i)->bucketed);
        }
        g_assert_cmpuint(sum_of_commands(report), ==, 1200);
}

/* Some CPU had no slot left for a kind, or none had: what was sampled tells how many there were, never more than there were. */
static void test_kinds_without_a_slot(void)
{
        for (guint overflow = 0; overflow <= 20; overflow += 10) {
                g_autoptr(NpAnalysis) a = sample_analysis(FALSE);
                g_autoptr(NpReportFacts) facts = sample_session_facts(FALSE);
                g_autoptr(NpReport) report = NULL;

                for (guint i = 0; i < 10; i++) {
                        add_records(a, 0, 0, 1);
                        add_records(a, 0, 7, 2);
                }
                np_analysis_set_commands(a, 0, READ, FALSE, 0, 10);
                np_analysis_set_commands(a, 0, READ, FALSE, 7, 5);
                np_analysis_set_commands(a, 0, READ, FALSE, 8, 5);
                facts->commands = 20 + overflow;
                facts->losses[NP_LOSS_KIND_OVERFLOW] = overflow;
                np_analysis_finish(a);
                report = np_analysis_report(a, facts);
                g_assert_cmpuint(report->groups->len, ==, 3);
                g_assert_cmpuint(sum_of_commands(report), ==, 20 + MIN(overflow, 10));
                for (guint i = 0; i < 3; i++)
                        g_assert_cmpuint(sample_group(report, i)->commands, ==,
                                         overflow > 0 || sample_group(report, i)->size_bytes == 512 ? 10 : 5);
        }
}

/* Sizes of 1 to 13 blocks: buckets 1, 2, 4, 8 and 16. */
static void check_thirteen(const NpReport *report)
{
        static const guint counts[] = { 1, 1, 2, 4, 5 };
        guint seen = 0;

        g_assert_cmpuint(report->groups->len, ==, 5);
        for (guint i = 0; i < 5; i++) {
                const NpReportGroup *group = sample_group(report, i);
                guint log = 0;

                while (512u << log < group->size_bytes)
                        log++;
                g_assert_cmpuint(512u << log, ==, group->size_bytes);
                g_assert_cmpuint(log, <, 5);
                g_assert_cmpuint(group->sampled, ==, counts[log]);
                g_assert_cmpuint(group->commands, ==, 100 * counts[log]);
                /* one block is one size only */
                g_assert_cmpint(group->bucketed, ==, log > 0);
                seen |= 1u << log;
        }
        g_assert_cmpuint(seen, ==, 0x1f);
        g_assert_cmpuint(sum_of_commands(report), ==, 1300);
}

static void test_thirteen_sizes(void)
{
        g_autoptr(NpAnalysis) a = sample_analysis(FALSE);
        g_autoptr(NpReport) report = NULL;

        add_sizes(a, 0, 0, 13);
        report = sample_report_of(a, FALSE);
        check_thirteen(report);
}

/* Seven sizes by one path and six by the other. */
static void test_thirteen_sizes_of_two_paths(void)
{
        g_autoptr(NpAnalysis) a = sample_analysis(FALSE);
        g_autoptr(NpReport) report = NULL;

        add_sizes(a, 0, 0, 7);
        add_sizes(a, 1, 7, 6);
        report = sample_report_of(a, FALSE);
        check_thirteen(report);
}

/* One path has too many sizes, the other few: those go into the same buckets. */
static void test_bucketed_and_exact_paths(void)
{
        g_autoptr(NpAnalysis) a = sample_analysis(FALSE);
        g_autoptr(NpReport) report = NULL;

        add_records(a, 1, 0, 1);
        add_records(a, 1, 4, 1);
        add_records(a, 0, 0, 13);
        report = sample_report_of(a, FALSE);
        g_assert_cmpuint(report->groups->len, ==, 5);
        g_assert_cmpuint(sum_of_commands(report), ==, 15);
}

/* Not one command of most sizes was sampled, yet they count: or the groups would change with the rate of sampling. */
static void test_sizes_not_sampled(void)
{
        g_autoptr(NpAnalysis) a = sample_analysis(FALSE);
        g_autoptr(NpReport) report = NULL;

        add_sizes(a, 0, 7, 1);
        for (guint nlb = 20; nlb < 35; nlb++)
                np_analysis_set_commands(a, 0, READ, FALSE, nlb, 1);
        report = sample_report_of(a, FALSE);
        g_assert_cmpuint(report->groups->len, ==, 1);
        g_assert_true(sample_group(report, 0)->bucketed);
        g_assert_cmpuint(sample_group(report, 0)->size_bytes, ==, 4096);
        g_assert_cmpuint(sample_group(report, 0)->commands, ==, 100);
}

static void test_many_sizes(void)
{
        g_autoptr(NpAnalysis) a = sample_analysis(FALSE);
        g_autoptr(NpReport) report = NULL;

        add_sizes(a, 0, 0, 65536);
        report = sample_report_of(a, FALSE);
        g_assert_cmpuint(report->groups->len, ==, 17);
        g_assert_cmpuint(sample_group(report, 0)->size_bytes, ==, 65536 * 512);
        g_assert_cmpuint(sample_group(report, 0)->sampled, ==, 32768);
        g_assert_cmpuint(sum_of_commands(report), ==, 6553600);
}

static void test_operations_and_namespaces(void)
{
        g_autoptr(NpAnalysis) a = sample_analysis(FALSE);
        g_autoptr(NpReport) report = NULL;

        for (guint i = 0; i < 40; i++) {
                TestCommand c = sample_command(i % 2 ? TEST_FLUSH : TEST_READ, i, 0);

                c.host.header.filter = i % 4 < 2 ? i % 2 : 2;
                if (i % 2)
                        c.host.header.id.nlb = i;       /* means nothing in a flush */
                test_rehash(&c);
                np_analysis_add_host(a, &c.host);
        }
        np_analysis_set_commands(a, 0, READ, FALSE, 7, 10);
        np_analysis_set_commands(a, 1, READ, FALSE, 7, 30);
        np_analysis_set_commands(a, 2, READ, FALSE, 7, 20);
        np_analysis_set_commands(a, 1, FLUSH, FALSE, 7, 3);
        np_analysis_set_commands(a, 1, FLUSH, FALSE, 8, 4);
        np_analysis_set_commands(a, 2, FLUSH, FALSE, 7, 5);
        report = sample_report_of(a, FALSE);

        g_assert_cmpuint(report->groups->len, ==, 4);
        g_assert_cmpstr(sample_group(report, 0)->namespace_name, ==, "nvme6n1");
        g_assert_cmpuint(sample_group(report, 0)->commands, ==, 40);
        g_assert_cmpstr(sample_group(report, 1)->namespace_name, ==, "nvme7n1");
        g_assert_cmpuint(sample_group(report, 1)->commands, ==, 20);
        g_assert_cmpstr(sample_group(report, 2)->op, ==, "flush");
        g_assert_cmpuint(sample_group(report, 2)->commands, ==, 7);
        g_assert_cmpuint(sample_group(report, 2)->size_bytes, ==, 0);
        g_assert_cmpuint(sample_group(report, 2)->sampled, ==, 10);
        g_assert_cmpuint(sample_group(report, 3)->commands, ==, 5);
}

/* Writes that are to be on the medium before they are answered are of another kind, in the counts as well. */
static void test_fua(void)
{
        g_autoptr(NpAnalysis) a = sample_analysis(TRUE);
        g_autoptr(NpReport) report = NULL;
        g_autofree char *text = NULL;

        for (guint i = 0; i < 30; i++) {
                TestCommand c = sample_command(TEST_WRITE, i, i % 3 == 0 ? 500000 : 0);

                if (i % 3 == 0)
                        c.host.header.flags |= NP_F_FUA;
                np_analysis_add_host(a, &c.host);
                np_analysis_add_target(a, 0, &c.target);
        }
        np_analysis_set_commands(a, 0, 0x01, FALSE, 7, 4000);
        np_analysis_set_commands(a, 0, 0x01, TRUE, 7, 1000);
        report = sample_report_of(a, TRUE);
        g_assert_cmpuint(report->groups->len, ==, 2);
        g_assert_false(sample_group(report, 0)->fua);
        g_assert_cmpuint(sample_group(report, 0)->commands, ==, 4000);
        g_assert_cmpfloat_with_epsilon(sample_group(report, 0)->mean_ns, 72000, 1);
        g_assert_true(sample_group(report, 1)->fua);
        g_assert_cmpuint(sample_group(report, 1)->commands, ==, 1000);
        g_assert_cmpfloat_with_epsilon(sample_group(report, 1)->mean_ns, 572000, 1);
        /* each kind by its own count, without the wait for a tag of 100 */
        g_assert_cmpfloat_with_epsilon(report->qd_from_stages, (4000 * 71900.0 + 1000 * 571900.0) / (10 * SECOND), 1e-9);
        text = np_report_to_text(report, NP_REPORT_TEXT_DEFAULT);
        g_assert_nonnull(strstr(text, "== write 4KiB FUA nvme6n1: 10 commands"));
}

/* Without a count of the kind, the weights tell how many there were. */
static void test_no_count(void)
{
        g_autoptr(NpAnalysis) a = sample_analysis(FALSE);
        g_autoptr(NpReport) report = NULL;

        for (guint i = 0; i < 10; i++) {
                TestCommand c = sample_command(TEST_READ, i, 0);

                c.host.header.threshold = 1u << 29;
                np_analysis_add_host(a, &c.host);
        }
        report = sample_report_of(a, FALSE);
        g_assert_cmpuint(sample_group(report, 0)->commands, ==, 80);
        g_assert_cmpfloat_with_epsilon(sample_group(report, 0)->rate_per_s, 8, 1e-9);
}

int main(int argc, char **argv)
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/analysis-groups/twelve-sizes", test_twelve_sizes);
        g_test_add_func("/analysis-groups/kinds-without-a-slot", test_kinds_without_a_slot);
        g_test_add_func("/analysis-groups/thirteen-sizes", test_thirteen_sizes);
        g_test_add_func("/analysis-groups/thirteen-sizes-of-two-paths", test_thirteen_sizes_of_two_paths);
        g_test_add_func("/analysis-groups/bucketed-and-exact-paths", test_bucketed_and_exact_paths);
        g_test_add_func("/analysis-groups/sizes-not-sampled", test_sizes_not_sampled);
        g_test_add_func("/analysis-groups/many-sizes", test_many_sizes);
        g_test_add_func("/analysis-groups/operations-and-namespaces", test_operations_and_namespaces);
        g_test_add_func("/analysis-groups/fua", test_fua);
        g_test_add_func("/analysis-groups/no-count", test_no_count);
        return g_test_run();
}
