/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <math.h>

#include "sample-session.h"

static const NpReportComponent *component(const NpReportGroup *group, NpComponent id)
{
        const NpReportStage *stage = group->stages->pdata[np_component_info(id)->stage];

        for (guint i = 0; i < stage->components->len; i++) {
                const NpReportComponent *c = stage->components->pdata[i];

                if (c->component == id)
                        return c;
        }
        g_assert_not_reached();
}

static TestCommand command_of(guint path, guint i, gint64 clock_ns)
{
        TestCommand c = sample_command(TEST_READ, i, 0);

        c.host.header.filter = path;
        for (guint t = NP_T1; t < NP_T_COUNT; t++)
                if (c.target.t[t])
                        c.target.t[t] += clock_ns;
        return c;
}

/* Two machines, whose clocks are an hour apart, and a path that none records. */
static void test_several(void)
{
        g_autoptr(NpAnalysis) a = np_analysis_new(2);
        g_autoptr(NpReportFacts) facts = sample_session_facts(TRUE);
        g_autoptr(NpReport) report = NULL;
        const NpReportTarget *first, *second;

        g_ptr_array_add(facts->targets, np_report_target_new("gamma", "6.12.0", "0.1.0", "stor-b"));
        ((NpReportPath *) facts->paths->pdata[1])->target = 1;
        ((NpReportPath *) facts->paths->pdata[2])->target = -1;
        np_analysis_set_target(a, 0, 0);
        np_analysis_set_target(a, 1, 1);
        np_analysis_host_began(a, SECOND / 2);

        for (guint i = 0; i < 300; i++) {
                guint path = i % 3;
                TestCommand c = command_of(path, i, path == 1 ? 3600 * SECOND : 0);

                np_analysis_add_host(a, &c.host);
                if (path < 2)
                        np_analysis_add_target(a, path, &c.target);
                if (i % 50 == 0)
                        np_analysis_advance(a, c.host.h[NP_H0]);
        }
        np_analysis_finish(a);
        g_assert_cmpuint(np_analysis_joined(a), ==, 200);

        report = np_analysis_report(a, facts);
        g_assert_cmpuint(report->groups->len, ==, 2);
        g_assert_cmpstr(sample_group(report, 0)->namespace_name, ==, "nvme6n1");
        g_assert_cmpuint(sample_group(report, 0)->joined, ==, 200);
        g_assert_cmpstr(sample_group(report, 1)->namespace_name, ==, "nvme7n1");
        g_assert_false(sample_group(report, 1)->with_target);
        g_assert_cmpuint(report->facts->losses[NP_LOSS_NO_TARGET], ==, 0);
        g_assert_cmpuint(report->facts->losses[NP_LOSS_TARGET_WITHOUT_HOST], ==, 0);

        first = report->facts->targets->pdata[0];
        second = report->facts->targets->pdata[1];
        g_assert_true(first->offset_known && second->offset_known);
        g_assert_cmpint(first->offset_min_ns, <=, TEST_OFFSET_NS);
        g_assert_cmpint(first->offset_max_ns, >=, TEST_OFFSET_NS);
        g_assert_cmpint(second->offset_min_ns, <=, TEST_OFFSET_NS + 3600 * (gint64) SECOND);
        g_assert_cmpint(second->offset_max_ns, >=, TEST_OFFSET_NS + 3600 * (gint64) SECOND);
        g_assert_cmpint(second->offset_max_ns - second->offset_min_ns, <, 100000);
}

/* A record of a machine is none of another's commands. */
static void test_wrong_machine(void)
{
        g_autoptr(NpAnalysis) a = np_analysis_new(2);
        g_autoptr(NpReport) report = NULL;

        np_analysis_set_target(a, 0, 0);
        np_analysis_set_target(a, 1, 1);
        for (guint i = 0; i < 100; i++) {
                TestCommand c = command_of(0, i, 0);

                np_analysis_add_host(a, &c.host);
                np_analysis_add_target(a, 1, &c.target);
        }
        report = sample_report_of(a, TRUE);
        g_assert_cmpuint(report->facts->losses[NP_LOSS_NO_TARGET], ==, 100);
        g_assert_cmpuint(report->facts->losses[NP_LOSS_TARGET_WITHOUT_HOST], ==, 100);
        g_assert_false(((NpReportTarget *) report->facts->targets->pdata[0])->offset_known);
}

/* The link breaks after 60 of 100 commands. */
static void test_gone(void)
{
        g_autoptr(NpAnalysis) a = np_analysis_new(1);
        g_autoptr(NpReport) report = NULL;

        np_analysis_set_target(a, 0, 0);
        np_analysis_target_synced(a, 0, 0, SECOND);
        for (guint i = 0; i < 100; i++) {
                TestCommand c = command_of(0, i * 10, 0);

                np_analysis_add_host(a, &c.host);
                if (i < 60)
                        np_analysis_add_target(a, 0, &c.target);
                if (i == 55)
                        np_analysis_target_synced(a, 0, c.target.t[NP_T9], c.host.h[NP_H8] + SECOND / 100);
                if (i == 70)
                        np_analysis_target_ended(a, 0);
        }
        np_analysis_set_commands(a, 0, READ, FALSE, 7, 100);
        report = sample_report_of(a, TRUE);
        g_assert_cmpuint(np_analysis_joined(a), ==, 60);
        g_assert_cmpuint(report->facts->losses[NP_LOSS_TARGET_GONE], ==, 40);
        g_assert_cmpuint(report->facts->losses[NP_LOSS_NO_TARGET], ==, 0);
        g_assert_cmpuint(report->groups->len, ==, 2);
        g_assert_cmpuint(sample_group(report, 0)->sampled, ==, 100);
        g_assert_cmpuint(sample_group(report, 1)->sampled, ==, 40);
}

/* 5000 there and 12600 back (records.c), of which the clocks say only that each takes some time. */
static void test_one_way(void)
{
        g_autoptr(NpAnalysis) a = sample_analysis(TRUE);
        g_autoptr(NpReport) report = NULL;
        const NpReportComponent *request, *response, *transfer;

        for (guint i = 0; i < 100; i++) {
                TestCommand c = command_of(0, i, 0);

                np_analysis_add_host(a, &c.host);
                np_analysis_add_target(a, 0, &c.target);
        }
        report = sample_report_of(a, TRUE);
        request = component(sample_group(report, 0), NP_COMPONENT_REQUEST_WAY);
        response = component(sample_group(report, 0), NP_COMPONENT_RESPONSE_WAY);
        transfer = component(sample_group(report, 0), NP_COMPONENT_TRANSFER);
        g_assert_cmpfloat(fabs(request->mean_ns + response->mean_ns - 17600), <, 1e-6);
        g_assert_cmpfloat(fabs(transfer->mean_ns), <, 1e-6);
        g_assert_cmpfloat(request->margin_ns, >, 1000);
        g_assert_cmpfloat(request->margin_ns, <, 10000);
        g_assert_cmpfloat(request->margin_ns, ==, response->margin_ns);
        g_assert_cmpfloat(fabs(request->mean_ns - 5000), <=, request->margin_ns);
}

static void test_same_clock(void)
{
        g_autoptr(NpAnalysis) a = sample_analysis(TRUE);
        g_autoptr(NpReport) report = NULL;
        const NpReportTarget *target;

        np_analysis_target_same_clock(a, 0);
        for (guint i = 0; i < 100; i++) {
                TestCommand c = command_of(0, i, -TEST_OFFSET_NS);

                np_analysis_add_host(a, &c.host);
                np_analysis_add_target(a, 0, &c.target);
        }
        report = sample_report_of(a, TRUE);
        g_assert_cmpfloat(component(sample_group(report, 0), NP_COMPONENT_REQUEST_WAY)->mean_ns, ==, 5000);
        g_assert_cmpfloat(component(sample_group(report, 0), NP_COMPONENT_RESPONSE_WAY)->mean_ns, ==, 12600);
        g_assert_cmpfloat(component(sample_group(report, 0), NP_COMPONENT_REQUEST_WAY)->margin_ns, ==, 0);
        target = report->facts->targets->pdata[0];
        g_assert_true(target->offset_known && target->offset_min_ns == 0 && target->offset_max_ns == 0);
}

/* Two paths of one namespace, one behind a slower network. */
static void test_by_path(void)
{
        g_autoptr(NpAnalysis) a = np_analysis_new(1);
        g_autoptr(NpReport) report = NULL;
        const NpReportGroup *fast, *slow, *rest;

        np_analysis_set_target(a, 0, 0);
        np_analysis_set_target(a, 1, 0);
        for (guint i = 0; i < 200; i++) {
                TestCommand c = command_of(i % 2, i, 0);

                if (i % 2 == 1)
                        for (guint h = NP_H6; h < NP_H_COUNT; h++)
                                c.host.h[h] += 30000;
                np_analysis_add_host(a, &c.host);
                if (i % 20 != 1)
                        np_analysis_add_target(a, 0, &c.target);
        }
        np_analysis_set_commands(a, 0, READ, FALSE, 7, 5000);
        np_analysis_set_commands(a, 1, READ, FALSE, 7, 5000);
        report = sample_report_of(a, TRUE);

        g_assert_cmpuint(report->groups->len, ==, 2);
        g_assert_cmpint(sample_group(report, 0)->path, ==, -1);
        g_assert_cmpuint(sample_group(report, 0)->commands, ==, 10000);
        g_assert_cmpuint(sample_group(report, 0)->joined, ==, 190);

        g_assert_cmpuint(report->groups_by_path->len, ==, 3);
        fast = report->groups_by_path->pdata[0];
        slow = report->groups_by_path->pdata[1];
        rest = report->groups_by_path->pdata[2];
        g_assert_true(fast->path == 0 && slow->path == 1 && rest->path == 1);
        g_assert_true(fast->with_target && slow->with_target && !rest->with_target && rest->part_of_other);
        g_assert_cmpuint(fast->commands, ==, 5000);
        g_assert_cmpuint(fast->joined, ==, 100);
        g_assert_cmpuint(slow->commands, ==, 5000);
        g_assert_cmpuint(slow->joined, ==, 90);
        g_assert_cmpuint(rest->commands, ==, 500);
        g_assert_cmpfloat(fabs(fast->mean_ns - 72000), <, 1e-6);
        g_assert_cmpfloat(fabs(slow->mean_ns - 102000), <, 1e-6);
        /* Each command counts once. */
        g_assert_cmpfloat(fabs(report->qd_from_stages - (500 * 71900 + 500 * 101900) / 1e9), <, 1e-6);
}

/* One path: the groups are already those of the path. */
static void test_one_path(void)
{
        g_autoptr(NpAnalysis) a = sample_analysis(FALSE);
        g_autoptr(NpReportFacts) facts = sample_session_facts(FALSE);
        g_autoptr(NpReport) report = NULL;
        TestCommand c = command_of(0, 0, 0);

        g_ptr_array_set_size(facts->paths, 1);
        np_analysis_add_host(a, &c.host);
        report = np_analysis_report(a, facts);
        g_assert_cmpuint(report->groups->len, ==, 1);
        g_assert_cmpuint(report->groups_by_path->len, ==, 0);
}

int main(int argc, char **argv)
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/analysis-targets/several", test_several);
        g_test_add_func("/analysis-targets/wrong-machine", test_wrong_machine);
        g_test_add_func("/analysis-targets/gone", test_gone);
        g_test_add_func("/analysis-targets/one-way", test_one_way);
        g_test_add_func("/analysis-targets/same-clock", test_same_clock);
        g_test_add_func("/analysis-targets/by-path", test_by_path);
        g_test_add_func("/analysis-targets/one-path", test_one_path);
        return g_test_run();
}
