/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <math.h>
#include <string.h>

#include "sample-session.h"

static void assert_close(double a, double b)
{
        if (fabs(a - b) > 1e-9 * MAX(fabs(a), fabs(b)))
                g_test_message("%.12g is not %.12g", a, b);
        g_assert_true(fabs(a - b) <= 1e-9 * MAX(fabs(a), fabs(b)));
}

static void add(NpAnalysis *a, const TestCommand *c)
{
        np_analysis_add_target(a, 0, &c->target);
        np_analysis_add_host(a, &c->host);
}

static const NpReportStage *stage_at(const NpReportGroup *group, guint i)
{
        g_assert_cmpuint(i, <, group->stages->len);
        return group->stages->pdata[i];
}

static const NpReportComponent *component_of(const NpReportGroup *group, NpComponent id)
{
        for (guint i = 0; i < group->stages->len; i++)
                for (guint j = 0; j < stage_at(group, i)->components->len; j++) {
                        const NpReportComponent *c = stage_at(group, i)->components->pdata[j];

                        if (c->component == id)
                                return c;
                }
        return NULL;
}

static void test_host_only(void)
{
        g_autoptr(NpAnalysis) a = sample_analysis(FALSE);
        g_autoptr(NpReport) report = NULL;
        const NpReportGroup *group;

        for (guint i = 0; i < 100; i++) {
                TestCommand c = sample_command(TEST_READ, i, i * 1000);

                np_analysis_add_host(a, &c.host);
        }
        np_analysis_set_commands(a, 0, READ, FALSE, 7, 5000);
        report = sample_report_of(a, FALSE);

        g_assert_cmpuint(report->groups->len, ==, 1);
        group = sample_group(report, 0);
        g_assert_cmpstr(group->op, ==, "read");
        g_assert_cmpstr(group->namespace_name, ==, "nvme6n1");
        g_assert_cmpuint(group->size_bytes, ==, 4096);
        g_assert_false(group->bucketed || group->with_target || group->part_of_other);
        g_assert_cmpuint(group->commands, ==, 5000);
        assert_close(group->rate_per_s, 500);
        g_assert_cmpuint(group->sampled, ==, 100);
        g_assert_cmpuint(group->joined, ==, 0);
        assert_close(group->mean_ns, 72000 + 49500);
        g_assert_cmpuint(ABS((gint64) group->p50_ns - (72000 + 49000)), <, 1210);
        g_assert_cmpuint(ABS((gint64) group->p99_ns - (72000 + 98000)), <, 1700);
        g_assert_cmpuint(group->max_ns, ==, 72000 + 99000);
        assert_close(group->tag_wait_ns, 100);

        g_assert_cmpuint(group->stages->len, ==, 3);
        g_assert_cmpint(stage_at(group, 2)->stage, ==, NP_STAGE_NETWORK_TARGET);
        assert_close(stage_at(group, 0)->mean_ns, 700);
        assert_close(stage_at(group, 1)->mean_ns, 1300);
        assert_close(stage_at(group, 2)->mean_ns, 70000 + 49500);
        g_assert_cmpint(group->largest, ==, NP_STAGE_NETWORK_TARGET);
        assert_close(report->qd_from_stages, 500 * (72000 + 49500 - 100) / 1e9);
}

static void test_quantiles(void)
{
        g_autoptr(NpAnalysis) a = sample_analysis(FALSE);
        g_autoptr(NpReport) report = NULL;

        for (guint i = 0; i < 1000; i++) {
                TestCommand c = sample_command(TEST_READ, i, i < 985 ? 0 : i < 995 ? 1000000 : 10000000 + i);

                np_analysis_add_host(a, &c.host);
        }
        report = sample_report_of(a, FALSE);
        g_assert_cmpuint(ABS((gint64) sample_group(report, 0)->p50_ns - 72000), <, 720);
        g_assert_cmpuint(ABS((gint64) sample_group(report, 0)->p99_ns - 1072000), <, 10720);
        g_assert_cmpuint(ABS((gint64) sample_group(report, 0)->p999_ns - 10072000), <, 100720);
        g_assert_cmpuint(sample_group(report, 0)->max_ns, ==, 10072999);
}

static void test_joined(void)
{
        g_autoptr(NpAnalysis) a = sample_analysis(TRUE);
        g_autoptr(NpReport) report = NULL;
        const NpReportGroup *group;
        double shares = 0, means = 0, depths = 0;
        static const double expected[] = { 700, 1300, 17600, 1000, 51400 + 49500 };

        for (guint i = 0; i < 100; i++) {
                TestCommand c = sample_command(TEST_READ, i, i * 1000);

                if (i < 3)
                        c.host.header.status = 0x4281;  /* unrecovered read error, do not retry */
                else if (i < 7)
                        c.host.header.status = 0x4000;  /* success */
                add(a, &c);
                np_analysis_advance(a, c.host.h[NP_H0]);
        }
        np_analysis_set_commands(a, 0, READ, FALSE, 7, 5000);
        report = sample_report_of(a, TRUE);
        g_assert_cmpuint(np_analysis_joined(a), ==, 100);

        g_assert_cmpuint(report->groups->len, ==, 1);
        group = sample_group(report, 0);
        g_assert_true(group->with_target);
        g_assert_cmpuint(group->sampled, ==, 100);
        g_assert_cmpuint(group->joined, ==, 100);
        g_assert_cmpuint(group->failed, ==, 3);
        g_assert_cmpuint(group->network_negative, ==, 0);
        g_assert_cmpuint(group->stages->len, ==, NP_STAGE_COUNT);
        for (guint i = 0; i < NP_STAGE_COUNT; i++) {
                assert_close(stage_at(group, i)->mean_ns, expected[i]);
                assert_close(stage_at(group, i)->avg_qd, 500 * expected[i] / 1e9);
                means += stage_at(group, i)->mean_ns;
                shares += stage_at(group, i)->share;
                depths += stage_at(group, i)->avg_qd;
        }
        assert_close(means, group->mean_ns);
        assert_close(shares, 1);
        assert_close(depths, report->qd_from_stages + 500 * 100 / 1e9);
        g_assert_cmpint(group->largest, ==, NP_STAGE_STORAGE);
        g_assert_cmpuint(ABS((gint64) stage_at(group, 4)->p99_ns - (51400 + 98000)), <, 1500);
        assert_close(component_of(group, NP_COMPONENT_DRIVE)->mean_ns, 50000 + 49500);
        g_assert_null(component_of(group, NP_COMPONENT_DRIVE)->reason);
        g_assert_cmpstr(component_of(group, NP_COMPONENT_RESPONSE_WIRE)->reason, ==, NP_REPORT_NOT_IN_DETAIL);
}

/* A quarter has no target record and is slower: two tables, one count of all commands, one queue depth of all. */
static void test_leftovers(void)
{
        g_autoptr(NpAnalysis) a = sample_analysis(TRUE);
        g_autoptr(NpReport) report = NULL;
        const NpReportGroup *joined, *rest;
        double depths = 0;

        for (guint i = 0; i < 100; i++) {
                TestCommand c = sample_command(TEST_READ, i, i % 4 == 0 ? 100000 : 0);

                if (i % 4 != 0)
                        np_analysis_add_target(a, 0, &c.target);
                np_analysis_add_host(a, &c.host);
        }
        np_analysis_set_commands(a, 0, READ, FALSE, 7, 5000);
        report = sample_report_of(a, TRUE);

        g_assert_cmpuint(report->groups->len, ==, 2);
        joined = sample_group(report, 0);
        rest = sample_group(report, 1);
        g_assert_true(joined->with_target && !joined->part_of_other);
        g_assert_true(!rest->with_target && rest->part_of_other);
        g_assert_cmpuint(joined->commands, ==, 5000);
        g_assert_cmpuint(joined->sampled, ==, 100);
        g_assert_cmpuint(joined->joined, ==, 75);
        g_assert_cmpuint(rest->commands, ==, 1250);
        assert_close(rest->rate_per_s, 125);
        g_assert_cmpuint(rest->sampled, ==, 25);
        g_assert_cmpuint(rest->joined, ==, 0);
        assert_close(joined->mean_ns, 72000);
        assert_close(rest->mean_ns, 172000);
        assert_close(report->qd_from_stages, 500 * (71900 * 0.75 + 171900 * 0.25) / 1e9);
        /* Each table has its part of the depth, with the wait for a tag. */
        for (guint i = 0; i < 5; i++)
                depths += stage_at(joined, i)->avg_qd;
        assert_close(depths, 500 * 72000 * 0.75 / 1e9);
        for (guint i = 0; i < rest->stages->len; i++)
                depths += stage_at(rest, i)->avg_qd;
        assert_close(depths, report->qd_from_stages + 500 * 100 / 1e9);
        g_assert_cmpuint(report->facts->losses[NP_LOSS_NO_TARGET], ==, 25);
}

static void test_target_defect(void)
{
        g_autoptr(NpAnalysis) a = sample_analysis(TRUE);
        g_autoptr(NpReport) report = NULL;

        for (guint i = 0; i < 10; i++) {
                TestCommand c = sample_command(TEST_READ, i, 0);

                if (i == 3)
                        c.target.t[NP_T4] = 0;
                if (i == 4)
                        c.target.t[NP_T7] = c.target.t[NP_T8] + 1;
                add(a, &c);
        }
        report = sample_report_of(a, TRUE);
        g_assert_cmpuint(report->facts->losses[NP_LOSS_TARGET_DEFECT], ==, 2);
        g_assert_cmpuint(np_analysis_joined(a), ==, 8);
        g_assert_cmpuint(report->groups->len, ==, 2);
        g_assert_cmpuint(sample_group(report, 0)->joined, ==, 8);
        g_assert_cmpuint(sample_group(report, 1)->sampled, ==, 2);
}

static void test_host_losses(gconstpointer data)
{
        gboolean with_target = GPOINTER_TO_INT(data);
        g_autoptr(NpAnalysis) a = sample_analysis(with_target);
        g_autoptr(NpReport) report = NULL;

        for (guint i = 0; i < 30; i++) {
                TestCommand c = sample_command(TEST_READ, i, 0);

                switch (i) {
                case 1:
                        c.host.header.flags |= NP_F_CANCELLED;
                        break;
                case 2:
                case 3:
                        c.host.header.flags |= NP_F_RETRIED;
                        break;
                case 4:
                        c.host.h[NP_H7] = 0;
                        break;
                case 5:
                        c.host.h[NP_H3] = c.host.h[NP_H2] - 1;
                        break;
                case 6:
                        c.host.header.version = 99;
                        break;
                case 7:
                        c.host.header.filter = NP_FILTERS_MAX;
                        break;
                default:
                        break;
                }
                if (with_target)
                        np_analysis_add_target(a, 0, &c.target);
                np_analysis_add_host(a, &c.host);
        }
        report = sample_report_of(a, with_target);
        g_assert_cmpuint(report->facts->losses[NP_LOSS_CANCELLED], ==, 1);
        g_assert_cmpuint(report->facts->losses[NP_LOSS_RETRIED], ==, 2);
        g_assert_cmpuint(report->facts->losses[NP_LOSS_HOST_BOUNDARY_MISSING], ==, 1);
        g_assert_cmpuint(report->facts->losses[NP_LOSS_HOST_OUT_OF_ORDER], ==, 1);
        g_assert_cmpuint(report->facts->losses[NP_LOSS_MALFORMED], ==, 2);
        g_assert_cmpuint(report->facts->losses[NP_LOSS_NO_TARGET], ==, 0);
        g_assert_cmpuint(report->facts->losses[NP_LOSS_TARGET_WITHOUT_HOST], ==, with_target ? 2 : 0);
        g_assert_cmpuint(sample_group(report, 0)->sampled, ==, 23);
        g_assert_cmpuint(report->groups->len, ==, 1);
}

/* What the daemon counted comes first, what the analysis found is added. */
static void test_losses_add_up(void)
{
        g_autoptr(NpAnalysis) a = sample_analysis(FALSE);
        g_autoptr(NpReportFacts) facts = sample_session_facts(FALSE);
        g_autoptr(NpReport) report = NULL;
        TestCommand c = sample_command(TEST_READ, 1, 0);

        facts->losses[NP_LOSS_RETRIED] = 5;
        c.host.header.flags |= NP_F_RETRIED;
        np_analysis_add_host(a, &c.host);
        report = np_analysis_report(a, facts);
        g_assert_cmpuint(report->facts->losses[NP_LOSS_RETRIED], ==, 6);
        g_assert_cmpuint(facts->losses[NP_LOSS_RETRIED], ==, 5);
}

/* First everything is sampled, 300 commands, then a quarter of 400 slower ones: those are more. */
static void test_weights(gconstpointer data)
{
        gboolean with_target = GPOINTER_TO_INT(data);
        g_autoptr(NpAnalysis) a = sample_analysis(with_target);
        g_autoptr(NpReport) report = NULL;
        const NpReportGroup *group;

        for (guint i = 0; i < 400; i++) {
                gboolean quarter = i >= 300;
                TestCommand c = sample_command(TEST_READ, i, quarter ? 100000 : 0);

                c.host.header.threshold = quarter && i % 2 ? 1u << 30 : G_MAXUINT32;
                c.target.header.threshold = quarter && !(i % 2) ? 1u << 30 : G_MAXUINT32;
                if (!with_target && quarter)
                        c.host.header.threshold = 1u << 30;
                if (with_target)
                        np_analysis_add_target(a, 0, &c.target);
                np_analysis_add_host(a, &c.host);
        }
        np_analysis_set_commands(a, 0, READ, FALSE, 7, 700);
        report = sample_report_of(a, with_target);
        group = sample_group(report, 0);
        g_assert_cmpuint(group->sampled, ==, 400);
        assert_close(group->mean_ns, 72000 + 100000 * 4 / 7.0);
        g_assert_cmpuint(ABS((gint64) group->p50_ns - 172000), <, 1720);
        g_assert_cmpuint(group->max_ns, ==, 172000);
        assert_close(stage_at(group, group->stages->len - 1)->mean_ns, (with_target ? 51400 : 70000) + 100000 * 4 / 7.0);
}

/* The target sampled a tenth, the host all: the tenth stands for the rest. */
static void test_threshold_leaves_out(void)
{
        g_autoptr(NpAnalysis) a = sample_analysis(TRUE);
        g_autoptr(NpReport) report = NULL;
        const guint32 tenth = 0x19999999;
        guint both = 0;

        np_analysis_target_threshold(a, 0, 1, tenth);
        for (guint i = 0; i < 1000; i++) {
                TestCommand c = sample_command(TEST_READ, i, 0);

                c.target.header.threshold = tenth;
                if (c.host.header.hash < tenth) {
                        np_analysis_add_target(a, 0, &c.target);
                        both++;
                }
                np_analysis_add_host(a, &c.host);
        }
        np_analysis_set_commands(a, 0, READ, FALSE, 7, 1000);
        report = sample_report_of(a, TRUE);
        g_assert_cmpuint(both, >, 50);
        g_assert_cmpuint(report->groups->len, ==, 1);
        g_assert_cmpuint(sample_group(report, 0)->joined, ==, both);
        g_assert_cmpuint(sample_group(report, 0)->sampled, ==, both);
        g_assert_cmpuint(sample_group(report, 0)->commands, ==, 1000);
        g_assert_cmpuint(report->facts->losses[NP_LOSS_THRESHOLD], ==, 1000 - both);
        g_assert_cmpuint(report->facts->losses[NP_LOSS_NO_TARGET], ==, 0);
}

static void test_negative_network(void)
{
        g_autoptr(NpAnalysis) a = sample_analysis(TRUE);
        g_autoptr(NpReport) report = NULL;

        for (guint i = 0; i < 10; i++) {
                TestCommand c = sample_command(TEST_READ, i, 0);

                if (i < 3)
                        c.host.h[NP_H3] = c.host.h[NP_H6] - 52000;
                add(a, &c);
        }
        report = sample_report_of(a, TRUE);
        g_assert_cmpuint(sample_group(report, 0)->network_negative, ==, 3);
        assert_close(stage_at(sample_group(report, 0), NP_STAGE_NETWORK)->mean_ns, (3 * -400 + 7 * 17600) / 10.0);
        g_assert_cmpuint(stage_at(sample_group(report, 0), NP_STAGE_NETWORK)->p99_ns, <=, 17600);
}

static void test_absent_components(void)
{
        g_autoptr(NpAnalysis) a = sample_analysis(TRUE);
        g_autoptr(NpReportFacts) facts = sample_session_facts(TRUE);
        g_autoptr(NpReport) report = NULL;
        const NpReportGroup *group;

        g_ptr_array_add(facts->host_hooks, np_report_hook_new("H1", "merged", "no such field"));
        for (guint i = 0; i < 10; i++) {
                TestCommand c = sample_command(TEST_READ, i, 0);

                if (i == 5)
                        c.target.t[NP_T5] = c.target.t[NP_T6] = 0;
                add(a, &c);
        }
        np_analysis_finish(a);
        report = np_analysis_report(a, facts);
        group = sample_group(report, 0);
        g_assert_cmpstr(component_of(group, NP_COMPONENT_DRIVE)->reason, ==, NP_REPORT_NOT_IN_DETAIL);
        g_assert_cmpstr(component_of(group, NP_COMPONENT_TAG_WAIT)->reason, ==, "this kernel has no hook for H1: no such field");
        g_assert_cmpstr(component_of(group, NP_COMPONENT_DISPATCH)->reason, ==, "this kernel has no hook for H1: no such field");
        g_assert_null(component_of(group, NP_COMPONENT_BLOCK_COMPLETION)->reason);
        g_assert_null(component_of(group, NP_COMPONENT_TO_STORAGE)->reason);
}

/* While the session records, and again at its end. */
static void test_report_so_far(void)
{
        g_autoptr(NpAnalysis) a = sample_analysis(TRUE);
        g_autoptr(NpReportFacts) facts = sample_session_facts(TRUE);
        g_autoptr(NpReport) first = NULL, last = NULL;

        for (guint i = 0; i < 100; i++) {
                TestCommand c = sample_command(TEST_READ, i, 0);

                add(a, &c);
                if (i == 49) {
                        np_analysis_advance(a, c.host.h[NP_H8] + 1);
                        np_analysis_set_commands(a, 0, READ, FALSE, 7, 50);
                        first = np_analysis_report(a, facts);
                }
        }
        np_analysis_set_commands(a, 0, READ, FALSE, 7, 100);
        last = sample_report_of(a, TRUE);
        g_assert_cmpuint(sample_group(first, 0)->joined, ==, 50);
        g_assert_cmpuint(sample_group(first, 0)->commands, ==, 50);
        g_assert_cmpuint(sample_group(last, 0)->joined, ==, 100);
        g_assert_cmpuint(sample_group(last, 0)->commands, ==, 100);
}

static void test_nothing(void)
{
        g_autoptr(NpAnalysis) a = sample_analysis(TRUE);
        g_autoptr(NpReport) report = sample_report_of(a, TRUE);
        g_autofree char *text = np_report_to_text(report, NP_REPORT_TEXT_DEFAULT);

        g_assert_cmpuint(report->groups->len, ==, 0);
        g_assert_nonnull(strstr(text, "nothing lost"));
}

/* A report that was made can be read. */
static void test_round_trip(void)
{
        g_autoptr(NpAnalysis) a = sample_analysis(TRUE);
        g_autoptr(NpReport) report = NULL, again = NULL;
        g_autofree char *json = NULL, *text = NULL, *text_again = NULL;
        g_autoptr(GError) error = NULL;

        for (guint i = 0; i < 120; i++) {
                TestCommand c = sample_command(i % TEST_KIND_COUNT, i, i * 77);

                if (i % 11 != 0)
                        np_analysis_add_target(a, 0, &c.target);
                np_analysis_add_host(a, &c.host);
        }
        report = sample_report_of(a, TRUE);
        g_assert_cmpuint(report->groups->len, >, 5);
        json = np_report_to_json(report);
        again = np_report_from_json(json, -1, &error);
        g_assert_no_error(error);
        text = np_report_to_text(report, NP_REPORT_TEXT_DEFAULT);
        text_again = np_report_to_text(again, NP_REPORT_TEXT_DEFAULT);
        g_assert_cmpstr(text_again, ==, text);
}

int main(int argc, char **argv)
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/analysis/host-only", test_host_only);
        g_test_add_func("/analysis/quantiles", test_quantiles);
        g_test_add_func("/analysis/joined", test_joined);
        g_test_add_func("/analysis/leftovers", test_leftovers);
        g_test_add_func("/analysis/target-defect", test_target_defect);
        g_test_add_data_func("/analysis/host-losses/host-only", GINT_TO_POINTER(FALSE), test_host_losses);
        g_test_add_data_func("/analysis/host-losses/with-target", GINT_TO_POINTER(TRUE), test_host_losses);
        g_test_add_func("/analysis/losses-add-up", test_losses_add_up);
        g_test_add_data_func("/analysis/weights/host-only", GINT_TO_POINTER(FALSE), test_weights);
        g_test_add_data_func("/analysis/weights/with-target", GINT_TO_POINTER(TRUE), test_weights);
        g_test_add_func("/analysis/threshold-leaves-out", test_threshold_leaves_out);
        g_test_add_func("/analysis/negative-network", test_negative_network);
        g_test_add_func("/analysis/absent-components", test_absent_components);
        g_test_add_func("/analysis/report-so-far", test_report_so_far);
        g_test_add_func("/analysis/nothing", test_nothing);
        g_test_add_func("/analysis/round-trip", test_round_trip);
        return g_test_run();
}
