/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the analysis says of queues, processors, sizes and processes.
 */
#include <string.h>

#include "sample-session.h"

typedef struct {
        guint filter, qid, cpu, blocks, tgid;
        const char *comm;
        gboolean with_target;
} Wish;

static TestCommand make(const Wish *wish, guint i, guint64 extra_ns)
{
        TestCommand c = sample_command(TEST_READ, i, extra_ns);

        c.host.header.filter = c.target.header.filter = wish->filter;
        c.host.header.id.qid = wish->qid;
        c.host.header.id.nlb = wish->blocks - 1;
        c.host.cpu = wish->cpu;
        c.host.cpu_response = wish->cpu + 1;
        c.target.cpu = wish->cpu + 10;
        c.target.cpu_response = wish->cpu + 12;
        c.host.tgid = wish->tgid;
        if (wish->comm)
                memcpy(c.host.comm, wish->comm, strnlen(wish->comm, sizeof(c.host.comm)));
        test_rehash(&c);
        return c;
}

static void add(NpAnalysis *a, const Wish *wish, guint i, guint64 extra_ns)
{
        TestCommand c = make(wish, i, extra_ns);

        np_analysis_add_host(a, &c.host);
        if (wish->with_target)
                np_analysis_add_target(a, 0, &c.target);
}

static const NpReportViewRow *row_at(const NpReport *report, NpView view, guint i)
{
        g_assert_cmpuint(i, <, report->views[view]->len);
        return report->views[view]->pdata[i];
}

static void assert_near(double a, double b)
{
        g_assert_cmpfloat_with_epsilon(a, b, 1e-6 * MAX(1, b));
}

/* Whatever the view, the commands are the same, and so is how many of them are under way. */
static void check_sums(const NpReport *report)
{
        double commands = 0, depth = 0;

        for (guint i = 0; i < report->groups->len; i++) {
                const NpReportGroup *group = sample_group(report, i);

                if (!group->part_of_other)
                        commands += group->commands;
                for (guint j = 0; j < group->stages->len; j++)
                        depth += ((NpReportStage *) group->stages->pdata[j])->avg_qd;
        }
        for (guint view = 0; view < NP_VIEW_COUNT; view++) {
                double of_rows = 0, depth_of_rows = 0;

                g_assert_cmpuint(report->views[view]->len, <=, NP_VIEW_ROWS + 1);
                for (guint i = 0; i < report->views[view]->len; i++) {
                        const NpReportViewRow *row = row_at(report, view, i);
                        double mean = 0, share = 0;

                        of_rows += row->commands;
                        depth_of_rows += row->avg_qd;
                        for (guint j = 0; j < row->n_stages; j++) {
                                mean += row->stages[j].mean_ns;
                                share += row->stages[j].share;
                        }
                        assert_near(mean, row->mean_ns);
                        assert_near(share, 1);
                        g_assert_cmpint(row->others, ==, i == NP_VIEW_ROWS);
                }
                g_assert_cmpfloat_with_epsilon(of_rows, commands, NP_VIEW_ROWS);        /* rounding */
                g_assert_cmpfloat_with_epsilon(depth_of_rows, depth, 1e-9 + 1e-6 * depth);
        }
}

static void check_readable(const NpReport *report)
{
        g_autofree char *json = np_report_to_json(report), *again_json = NULL;
        g_autoptr(GError) error = NULL;
        g_autoptr(NpReport) again = np_report_from_json(json, -1, &error);

        g_assert_no_error(error);
        again_json = np_report_to_json(again);
        g_assert_cmpstr(again_json, ==, json);
}

/* Two queues: three quarters of the reads by the one, a quarter, and slower, by the other. */
static void test_queues(void)
{
        static const Wish one = { 0, 1, 2, 8, 77, "fio", TRUE }, other = { 0, 5, 3, 8, 78, "dd", TRUE };
        g_autoptr(NpAnalysis) a = sample_analysis(TRUE);
        g_autoptr(NpReport) report = NULL;
        const NpReportViewRow *row;

        for (guint i = 0; i < 100; i++)
                add(a, i % 4 == 3 ? &other : &one, i, i % 4 == 3 ? 100000 : 0);
        np_analysis_set_commands(a, 0, READ, FALSE, 7, 4000);
        report = sample_report_of(a, TRUE);
        check_sums(report);
        check_readable(report);

        g_assert_cmpuint(report->views[NP_VIEW_QUEUE]->len, ==, 2);
        row = row_at(report, NP_VIEW_QUEUE, 0);
        g_assert_cmpstr(row->namespace_name, ==, "nvme6n1");
        g_assert_cmpint(row->path, ==, 0);
        g_assert_cmpuint(row->key, ==, 1);
        g_assert_cmpuint(row->commands, ==, 3000);
        assert_near(row->rate_per_s, 300);
        assert_near(row->avg_qd, 300 * 72000 / 1e9);
        g_assert_cmpuint(row->sampled, ==, 75);
        g_assert_cmpuint(row->joined, ==, 75);
        g_assert_true(row->with_target);
        assert_near(row->mean_ns, 72000);
        g_assert_cmpuint(row->max_ns, ==, 72000);
        g_assert_cmpuint(row->n_stages, ==, NP_STAGE_COUNT);
        assert_near(row->stages[NP_STAGE_STORAGE].mean_ns, 51400);
        assert_near(row->stages[NP_STAGE_STORAGE].avg_qd, 300 * 51400 / 1e9);
        g_assert_cmpint(row->largest, ==, NP_STAGE_STORAGE);
        g_assert_cmpstr(row->host_cores.list, ==, "2");
        g_assert_cmpstr(row->response_cores.list, ==, "3");
        g_assert_cmpstr(row->target_cores.list, ==, "12,14");
        assert_near(row->target_cores.busiest_share, 0.5);

        row = row_at(report, NP_VIEW_QUEUE, 1);
        g_assert_cmpuint(row->key, ==, 5);
        g_assert_cmpuint(row->commands, ==, 1000);
        assert_near(row->mean_ns, 172000);

        g_assert_cmpuint(row_at(report, NP_VIEW_CPU, 0)->key, ==, 2);
        g_assert_cmpint(row_at(report, NP_VIEW_CPU, 0)->path, ==, -1);
        g_assert_cmpuint(report->views[NP_VIEW_SIZE]->len, ==, 1);
        row = row_at(report, NP_VIEW_SIZE, 0);
        g_assert_cmpuint(row->key, ==, 4096);
        assert_near(row->mean_ns, 97000);
        g_assert_cmpstr(row->host_cores.list, ==, "2-3");
        g_assert_cmpuint(row->host_cores.busiest, ==, 2);
        assert_near(row->host_cores.busiest_share, 0.75);
        row = row_at(report, NP_VIEW_PROCESS, 1);
        g_assert_cmpuint(row->key, ==, 78);
        g_assert_cmpstr(row->comm, ==, "dd");
}

/* The same queue number by two paths is two queues; the same processor is one. Another namespace is apart. */
static void test_paths(void)
{
        static const Wish wishes[] = {
                { 0, 1, 2, 8, 77, "fio", TRUE }, { 1, 1, 2, 8, 77, "fio", TRUE }, { 2, 1, 2, 8, 77, "fio", TRUE }
        };
        g_autoptr(NpAnalysis) a = sample_analysis(TRUE);
        g_autoptr(NpReport) report = NULL;

        for (guint i = 0; i < 90; i++)
                add(a, &wishes[i % 3], i, 0);
        for (guint i = 0; i < 3; i++)
                np_analysis_set_commands(a, i, READ, FALSE, 7, 100 * (i + 1));
        report = sample_report_of(a, TRUE);
        check_sums(report);
        g_assert_cmpuint(report->views[NP_VIEW_QUEUE]->len, ==, 3);
        g_assert_cmpuint(row_at(report, NP_VIEW_QUEUE, 0)->commands, ==, 300);
        g_assert_cmpint(row_at(report, NP_VIEW_QUEUE, 1)->path, ==, 1);
        for (guint view = NP_VIEW_CPU; view < NP_VIEW_COUNT; view++) {
                g_assert_cmpuint(report->views[view]->len, ==, 2);
                g_assert_cmpuint(row_at(report, view, 0)->commands, ==, 300);
                g_assert_cmpuint(row_at(report, view, 1)->commands, ==, 300);
                g_assert_cmpstr(row_at(report, view, 0)->namespace_name, ==, "nvme6n1");
                g_assert_cmpstr(row_at(report, view, 1)->namespace_name, ==, "nvme7n1");
        }
}

/* Of one size more was sampled than of the other, as the hash would have it: each is scaled by its own count. */
static void test_scaled_by_kind(void)
{
        static const Wish small = { 0, 1, 0, 1, 1, "a", FALSE }, large = { 0, 2, 1, 256, 1, "a", FALSE };
        g_autoptr(NpAnalysis) a = sample_analysis(FALSE);
        g_autoptr(NpReport) report = NULL;

        for (guint i = 0; i < 30; i++)
                add(a, i < 20 ? &small : &large, i, 0);
        np_analysis_set_commands(a, 0, READ, FALSE, 0, 1000);
        np_analysis_set_commands(a, 0, READ, FALSE, 255, 7000);
        report = sample_report_of(a, FALSE);
        check_sums(report);
        g_assert_cmpuint(row_at(report, NP_VIEW_QUEUE, 0)->key, ==, 2);
        g_assert_cmpuint(row_at(report, NP_VIEW_QUEUE, 0)->commands, ==, 7000);
        g_assert_cmpuint(row_at(report, NP_VIEW_QUEUE, 1)->commands, ==, 1000);
        g_assert_cmpuint(row_at(report, NP_VIEW_PROCESS, 0)->commands, ==, 8000);
        g_assert_false(row_at(report, NP_VIEW_PROCESS, 0)->with_target);
        g_assert_null(row_at(report, NP_VIEW_PROCESS, 0)->target_cores.list);
        g_assert_cmpint(row_at(report, NP_VIEW_PROCESS, 0)->largest, ==, NP_STAGE_NETWORK_TARGET);
}

/* Few of a row's commands have the target's side: it speaks of all of them, with the target as one stage. */
static void test_mostly_without_target(void)
{
        static const Wish with = { 0, 1, 0, 8, 1, "a", TRUE }, without = { 0, 1, 0, 8, 1, "a", FALSE };

        for (guint n = 40; n <= 60; n += 20) {
                g_autoptr(NpAnalysis) a = sample_analysis(TRUE);
                g_autoptr(NpReport) report = NULL;
                const NpReportViewRow *row;

                for (guint i = 0; i < 100; i++)
                        add(a, i < n ? &with : &without, i, i < n ? 0 : 1000);
                np_analysis_set_commands(a, 0, READ, FALSE, 7, 100);
                report = sample_report_of(a, TRUE);
                row = row_at(report, NP_VIEW_QUEUE, 0);
                g_assert_cmpuint(row->sampled, ==, 100);
                g_assert_cmpuint(row->joined, ==, n);
                g_assert_cmpint(row->with_target, ==, n > 50);
                assert_near(row->mean_ns, n > 50 ? 72000 : 72600);
                assert_near(row->avg_qd, 10 * (72000 + 10.0 * (100 - n)) / 1e9);
        }
}

/* More keys than are kept: those of most commands have a row, and nothing is lost of the others. */
static void test_many_keys(void)
{
        g_autoptr(NpAnalysis) a = sample_analysis(TRUE);
        g_autoptr(NpReport) report = NULL;
        guint n = 0, heavy = 0;

        for (guint i = 0; i < 3000; i++) {
                const Wish rare = { 0, 100 + i, 100 + i, 1 + i, 100 + i, "rare", TRUE };
                const Wish often = { 0, i % 20, i % 20, 10000 + i % 20, i % 20, "often", TRUE };

                add(a, &rare, n++, 0);
                add(a, &often, n++, 0);
        }
        report = sample_report_of(a, TRUE);
        check_sums(report);
        check_readable(report);
        for (guint view = 0; view < NP_VIEW_COUNT; view++) {
                const NpReportViewRow *others = row_at(report, view, NP_VIEW_ROWS);

                g_assert_true(others->others);
                g_assert_null(others->comm);
                g_assert_cmpuint(others->commands, ==, 3000 - (NP_VIEW_ROWS - 20));
                for (guint i = 0; i < 20; i++)
                        heavy += row_at(report, view, i)->commands == 150;
        }
        g_assert_cmpuint(heavy, ==, 20 * NP_VIEW_COUNT);
}

/* Numbers of processors are the other machine's to make up. */
static void test_hostile_target(void)
{
        static const Wish wish = { 0, 1, 0, 8, 1, "a", TRUE };
        g_autoptr(NpAnalysis) a = sample_analysis(TRUE);
        g_autoptr(NpReport) report = NULL;
        const NpReportViewRow *row;

        for (guint i = 0; i < 2000; i++) {
                TestCommand c = make(&wish, i, 0);

                c.target.cpu = i * 2147483;
                c.target.cpu_response = G_MAXUINT32 - i;
                np_analysis_add_host(a, &c.host);
                np_analysis_add_target(a, 0, &c.target);
        }
        report = sample_report_of(a, TRUE);
        check_readable(report);
        row = row_at(report, NP_VIEW_QUEUE, 0);
        g_assert_cmpuint(strlen(row->target_cores.list), <, 1024);
        assert_near(row->target_cores.others_share, (4000 - 64) / 4000.0);
        g_assert_cmpstr(row->host_cores.list, ==, "0");
        assert_near(row->host_cores.busiest_share, 1);
}

static void test_names(void)
{
        static const struct {
                const char *comm, *expected;
        } names[] = {
                { "\033[2J\r\nx", "?[2J??x" },
                { "\xff\xfe", "\xef\xbf\xbd\xef\xbf\xbd" },
                { "sixteen-letters-", "sixteen-letters-" },
                { "", NULL },
        };

        for (gsize i = 0; i < G_N_ELEMENTS(names); i++) {
                const Wish wish = { 0, 1, 0, 8, 0, names[i].comm, FALSE };
                g_autoptr(NpAnalysis) a = sample_analysis(FALSE);
                g_autoptr(NpReport) report = NULL;

                add(a, &wish, 0, 0);
                report = sample_report_of(a, FALSE);
                g_assert_cmpstr(row_at(report, NP_VIEW_PROCESS, 0)->comm, ==, names[i].expected);
                check_readable(report);
        }
}

int main(int argc, char **argv)
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/views/queues", test_queues);
        g_test_add_func("/views/paths", test_paths);
        g_test_add_func("/views/scaled-by-kind", test_scaled_by_kind);
        g_test_add_func("/views/mostly-without-target", test_mostly_without_target);
        g_test_add_func("/views/many-keys", test_many_keys);
        g_test_add_func("/views/hostile-target", test_hostile_target);
        g_test_add_func("/views/names", test_names);
        return g_test_run();
}
