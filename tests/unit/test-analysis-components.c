/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the analysis says of the components of a group's stages, and why it does not.
 */
#include <string.h>

#include "sample-session.h"

#define COMMANDS 1000

static const NpReportComponent *find(const NpReport *report, NpComponent component)
{
        const NpReportStage *stage = sample_group(report, 0)->stages->pdata[np_component_info(component)->stage];

        for (guint i = 0; i < stage->components->len; i++) {
                const NpReportComponent *c = stage->components->pdata[i];

                if (c->component == component)
                        return c;
        }
        return NULL;
}

static void set_transport(NpReportFacts *facts, guint index, const char *transport)
{
        NpReportPath *path = facts->paths->pdata[index];

        g_free(path->transport);
        path->transport = g_strdup(transport);
}

/* A session of commands of one kind in detail; of the first without_arrival nothing but the stages is known. */
static NpReport *make(TestKind kind, const char *transport, NpReportFacts *facts, guint without_arrival)
{
        g_autoptr(NpAnalysis) a = sample_analysis(TRUE);

        for (guint i = 0; i < facts->paths->len; i++)
                set_transport(facts, i, transport);
        for (guint i = 0; i < COMMANDS; i++) {
                TestCommand c = sample_command(kind, i, 0);

                if (i >= without_arrival)
                        test_detail(&c);
                else
                        c.target.t[NP_T5] = c.target.t[NP_T6] = 0;
                np_analysis_add_host(a, &c.host);
                np_analysis_add_target(a, 0, &c.target);
        }
        np_analysis_finish(a);
        return np_analysis_report(a, facts);
}

static NpReportFacts *facts_of_detail(gboolean detail)
{
        NpReportFacts *facts = sample_session_facts(TRUE);

        facts->detail = detail;
        return facts;
}

/* Each level adds up to the one above, where all of it is told. */
static void check_sums(const NpReport *report)
{
        const NpReportGroup *group = sample_group(report, 0);

        for (guint i = 0; i < group->stages->len; i++) {
                const NpReportStage *stage = group->stages->pdata[i];
                double sum = 0, parts[NP_COMPONENT_COUNT] = { 0 };

                for (guint j = 0; j < stage->components->len; j++) {
                        const NpReportComponent *c = stage->components->pdata[j];
                        const NpComponentInfo *info = np_component_info(c->component);

                        g_assert_null(c->reason);
                        if (info->information)
                                continue;
                        *(info->parent == NP_COMPONENT_NONE ? &sum : &parts[info->parent]) += c->mean_ns;
                }
                g_assert_cmpfloat_with_epsilon(sum, stage->mean_ns, 1e-6);
                for (guint j = 0; j < NP_COMPONENT_COUNT; j++)
                        if (parts[j] != 0)
                                g_assert_cmpfloat_with_epsilon(parts[j], find(report, j)->mean_ns, 1e-6);
        }
}

static void test_all_told(void)
{
        for (guint kind = 0; kind < TEST_KIND_COUNT; kind++) {
                gboolean rdma = kind == TEST_RDMA_READ || kind == TEST_RDMA_FETCHED;
                g_autoptr(NpReportFacts) facts = facts_of_detail(TRUE);
                g_autoptr(NpReport) report = NULL;

                if (kind == TEST_FLUSH)
                        continue;
                report = make(kind, rdma ? "rdma" : "tcp", facts, 0);
                check_sums(report);
                g_assert_cmpfloat(find(report, NP_COMPONENT_HOST_RECEIVE)->mean_ns, ==, 2000);
                g_assert_cmpfloat(find(report, NP_COMPONENT_TARGET_RECEIVE)->mean_ns, ==, kind == TEST_WRITE ? 1600 : 1500);
                g_assert_cmpfloat(find(report, NP_COMPONENT_HOST_RECEIVE)->margin_ns, ==, 0);
                g_assert_cmpfloat(find(report, NP_COMPONENT_RESPONSE_WIRE)->margin_ns, ==,
                                  find(report, NP_COMPONENT_RESPONSE_WAY)->margin_ns);
                g_assert_cmpint(find(report, NP_COMPONENT_INVALIDATION) != NULL, ==, rdma);
                g_assert_cmpint(find(report, NP_COMPONENT_SEND_COMPLETION) != NULL, ==, rdma);
                g_assert_cmpint(find(report, NP_COMPONENT_R2T) == NULL, ==, rdma);
                g_assert_cmpint(find(report, NP_COMPONENT_TRANSFER_HOST_RECEIVE) == NULL, ==, rdma);
                if (rdma)
                        g_assert_cmpfloat(find(report, NP_COMPONENT_SEND_COMPLETION)->mean_ns, ==, 900);
        }
}

/* One in a hundred may lack it: what it had is in the row beside. */
static void test_few_untold(void)
{
        static const NpComponent pairs[][2] = {
                { NP_COMPONENT_TARGET_RECEIVE, NP_COMPONENT_REQUEST_WIRE },
                { NP_COMPONENT_TRANSFER_TARGET_RECEIVE, NP_COMPONENT_TRANSFER_WIRE },
                { NP_COMPONENT_HOST_RECEIVE, NP_COMPONENT_RESPONSE_WIRE },
                { NP_COMPONENT_DRIVE, NP_COMPONENT_TARGET_BLOCK },
        };
        g_autoptr(NpReportFacts) facts = facts_of_detail(TRUE);
        g_autoptr(NpReport) few = make(TEST_WRITE_FETCHED, "tcp", facts, 10), more = make(TEST_WRITE_FETCHED, "tcp", facts, 11);

        check_sums(few);
        g_assert_cmpfloat_with_epsilon(find(few, NP_COMPONENT_HOST_RECEIVE)->mean_ns, 1980, 1e-6);
        g_assert_cmpfloat_with_epsilon(find(few, NP_COMPONENT_DRIVE)->mean_ns, 49500, 1e-6);
        for (gsize i = 0; i < G_N_ELEMENTS(pairs); i++)
                for (guint j = 0; j < 2; j++)
                        g_assert_cmpstr(find(more, pairs[i][j])->reason, ==, pairs[i][0] == NP_COMPONENT_DRIVE ?
                                        "drive not seen at work on 11 of 1000 commands" : "arrival not seen of 11 of 1000 commands");
        g_assert_null(find(more, NP_COMPONENT_REQUEST_WAY)->reason);
        g_assert_null(find(more, NP_COMPONENT_TO_STORAGE)->reason);
        g_assert_cmpfloat(((NpReportStage *) sample_group(more, 0)->stages->pdata[NP_STAGE_STORAGE])->mean_ns, ==, 51400);
}

static void test_plain_session(void)
{
        g_autoptr(NpReportFacts) facts = facts_of_detail(FALSE);
        g_autoptr(NpReport) report = make(TEST_RDMA_FETCHED, "rdma", facts, COMMANDS);

        for (guint i = 0; i < NP_COMPONENT_COUNT; i++) {
                const NpReportComponent *c = find(report, i);

                if (c)
                        g_assert_cmpstr(c->reason, ==, np_component_info(i)->detail ? NP_REPORT_NOT_IN_DETAIL : NULL);
        }
        g_assert_cmpfloat(find(report, NP_COMPONENT_TRANSFER)->mean_ns, ==, 4000);
}

static void test_hidden_drive(void)
{
        g_autoptr(NpReportFacts) facts = facts_of_detail(TRUE);
        g_autoptr(NpReport) report = NULL;

        ((NpReportTarget *) facts->targets->pdata[0])->drive_hidden = g_strdup("md device");
        report = make(TEST_READ, "tcp", facts, COMMANDS);
        g_assert_cmpstr(find(report, NP_COMPONENT_DRIVE)->reason, ==, "md device");
        g_assert_cmpstr(find(report, NP_COMPONENT_TARGET_BLOCK)->reason, ==, "md device");
        g_assert_cmpstr(find(report, NP_COMPONENT_HOST_RECEIVE)->reason, ==,
                        "arrival not seen of 1000 of 1000 commands, as with TLS");
}

/* The drive of another path's target tells nothing of this one's. */
static void test_other_path(void)
{
        g_autoptr(NpReportFacts) facts = facts_of_detail(TRUE);
        g_autoptr(NpReport) report = NULL;
        NpReportTarget *other = np_report_target_new("c", "6.12", "0.1.0", "c");

        other->drive_hidden = g_strdup("md device");
        g_ptr_array_add(facts->targets, other);
        ((NpReportPath *) facts->paths->pdata[2])->target = 1;
        report = make(TEST_RDMA_READ, "rdma", facts, COMMANDS);
        g_assert_cmpstr(find(report, NP_COMPONENT_DRIVE)->reason, ==, "drive not seen at work on 1000 of 1000 commands");
        g_assert_cmpstr(find(report, NP_COMPONENT_HOST_RECEIVE)->reason, ==,
                        "arrival not seen of 1000 of 1000 commands, as on a polled queue");
        g_assert_cmpstr(find(report, NP_COMPONENT_TARGET_RECEIVE)->reason, ==, "arrival not seen of 1000 of 1000 commands");
}

/* Nor does what another path's target has no hook for. */
static void test_other_path_without_hook(void)
{
        g_autoptr(NpReportFacts) facts = facts_of_detail(TRUE);
        g_autoptr(NpReport) report = NULL;
        NpReportTarget *other = np_report_target_new("c", "6.12", "0.1.0", "c");

        g_ptr_array_add(other->hooks, np_report_hook_new("T5", "merged", "it is inlined"));
        g_ptr_array_add(facts->targets, other);
        ((NpReportPath *) facts->paths->pdata[2])->target = 1;
        report = make(TEST_READ, "tcp", facts, 0);
        g_assert_null(find(report, NP_COMPONENT_DRIVE)->reason);
        check_sums(report);

        ((NpReportPath *) facts->paths->pdata[0])->target = 1;
        g_clear_pointer(&report, np_report_free);
        report = make(TEST_READ, "tcp", facts, 0);
        g_assert_cmpstr(find(report, NP_COMPONENT_DRIVE)->reason, ==, "this kernel has no hook for T5: it is inlined");
}

/* What another machine says of its own times may be anything that a record may hold: no reason to lose the report. */
static void test_absurd_times(void)
{
        g_autoptr(NpAnalysis) a = sample_analysis(TRUE);
        g_autoptr(NpReportFacts) facts = facts_of_detail(TRUE);
        g_autoptr(NpReport) report = NULL, again = NULL;
        g_autoptr(GError) error = NULL;
        g_autofree char *json = NULL;

        for (guint i = 0; i < COMMANDS; i++) {
                TestCommand c = sample_command(TEST_READ, i, 0);

                test_detail(&c);
                c.target.t[NP_T9] = c.target.ts = NP_TIME_MAX - 1;
                c.target.ta = 1;
                np_analysis_add_host(a, &c.host);
                np_analysis_add_target(a, 0, &c.target);
        }
        np_analysis_finish(a);
        report = np_analysis_report(a, facts);
        g_assert_cmpuint(np_analysis_joined(a), ==, COMMANDS);

        json = np_report_to_json(report);
        again = np_report_from_json(json, -1, &error);
        g_assert_no_error(error);
}

/* One path of each transport: all rows, and what the one does not have is no time of its commands, not an unknown one. */
static void test_two_transports(void)
{
        g_autoptr(NpAnalysis) a = sample_analysis(TRUE);
        g_autoptr(NpReportFacts) facts = facts_of_detail(TRUE);
        g_autoptr(NpReport) report = NULL;
        g_autofree char *text = NULL;

        set_transport(facts, 1, "rdma");
        for (guint i = 0; i < COMMANDS; i++) {
                TestCommand c = sample_command(i % 2 ? TEST_RDMA_READ : TEST_READ, i, 0);

                c.host.header.filter = c.target.header.filter = i % 2;
                test_detail(&c);
                np_analysis_add_host(a, &c.host);
                np_analysis_add_target(a, 0, &c.target);
        }
        np_analysis_finish(a);
        report = np_analysis_report(a, facts);
        check_sums(report);
        g_assert_cmpfloat(find(report, NP_COMPONENT_INVALIDATION)->mean_ns, ==, 60);
        g_assert_cmpfloat(find(report, NP_COMPONENT_R2T)->mean_ns, ==, 0);
        g_assert_cmpfloat(find(report, NP_COMPONENT_SEND_COMPLETION)->mean_ns, ==, 450);

        text = np_report_to_text(report, NP_REPORT_TEXT_DETAIL);
        g_assert_nonnull(strstr(text, "\nhost driver (nvme)  "));
        g_assert_nonnull(strstr(text, "\n  invalidation, send completion  "));
        g_assert_null(strstr(text, "\n  write data transfer  "));
        g_assert_null(strstr(text, "\n  R2T handling  "));
}

int main(int argc, char **argv)
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/analysis-components/all-told", test_all_told);
        g_test_add_func("/analysis-components/few-untold", test_few_untold);
        g_test_add_func("/analysis-components/plain-session", test_plain_session);
        g_test_add_func("/analysis-components/hidden-drive", test_hidden_drive);
        g_test_add_func("/analysis-components/other-path", test_other_path);
        g_test_add_func("/analysis-components/other-path-without-hook", test_other_path_without_hook);
        g_test_add_func("/analysis-components/absurd-times", test_absurd_times);
        g_test_add_func("/analysis-components/two-transports", test_two_transports);
        return g_test_run();
}
