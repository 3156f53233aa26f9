/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <locale.h>
#include <string.h>

#include "report-text.h"
#include "sample-report.h"

static void check_same_text(const char *actual, const char *expected)
{
        g_auto(GStrv) a = g_strsplit(actual, "\n", -1), b = g_strsplit(expected, "\n", -1);

        for (guint i = 0; a[i] || b[i]; i++) {
                if (g_strcmp0(a[i], b[i]) != 0)
                        g_test_message("line %u", i + 1);
                g_assert_cmpstr(a[i], ==, b[i]);
                if (!a[i] || !b[i])
                        break;
        }
}

static void check_lines(const char *text)
{
        g_auto(GStrv) lines = g_strsplit(text, "\n", -1);

        g_assert_true(g_str_has_suffix(text, "\n"));
        g_assert_false(g_str_has_suffix(text, "\n\n"));
        for (guint i = 0; lines[i]; i++) {
                g_assert_false(g_str_has_suffix(lines[i], " "));
                /* a group's title may be longer, like the one in docs/model.md */
                if (!g_str_has_prefix(lines[i], "== ") && strchr(lines[i], ' '))
                        g_assert_cmpint(g_utf8_strlen(lines[i], -1), <=, 87);
        }
}

static void test_text(gconstpointer data)
{
        const SampleReport *sample = data;
        g_autoptr(NpReport) report = sample->make();
        g_autofree char *text = np_report_to_text(report, NP_REPORT_TEXT_DEFAULT);
        g_autofree char *detail = np_report_to_text(report, NP_REPORT_TEXT_DETAIL | NP_REPORT_TEXT_BY_PATH);
        g_autofree char *expected = sample_fixture(sample->name, ".txt", text);
        g_autofree char *expected_detail = sample_fixture(sample->name, "-detail.txt", detail);

        check_same_text(text, expected);
        check_same_text(detail, expected_detail);
        check_lines(text);
        check_lines(detail);
}

static void check_view(const char *name, NpReport *report, NpReportTextFlags flags, const char *suffix, glong width)
{
        g_autofree char *text = np_report_to_text(report, flags);
        g_autofree char *expected = sample_fixture(name, suffix, text);
        g_auto(GStrv) lines = g_strsplit(text, "\n", -1);

        check_same_text(text, expected);
        for (guint i = 0; lines[i]; i++) {
                g_assert_false(g_str_has_suffix(lines[i], " "));
                g_assert_cmpint(g_utf8_strlen(lines[i], -1), <=, width);
        }
}

/* 80 columns where one processor does each part, never more than 128. */
static void test_views(void)
{
        g_autoptr(NpReport) joined = sample_reports[0].make(), multipath = sample_reports[3].make();
        g_autoptr(NpReport) simple = sample_reports[0].make(), none = sample_reports[4].make();
        NpReportViewRow *first = simple->views[NP_VIEW_QUEUE]->pdata[0];
        g_autofree char *text = np_report_to_text(none, NP_REPORT_TEXT_BY_CPU);

        check_view("joined", joined, NP_REPORT_TEXT_BY_QUEUE, "-queue.txt", 128);
        check_view("joined", joined, NP_REPORT_TEXT_BY_CPU, "-cpu.txt", 128);
        check_view("joined", joined, NP_REPORT_TEXT_BY_SIZE, "-size.txt", 128);
        check_view("joined", joined, NP_REPORT_TEXT_BY_PROCESS | NP_REPORT_TEXT_DETAIL, "-process-detail.txt", 128);
        check_view("multipath", multipath, NP_REPORT_TEXT_BY_QUEUE | NP_REPORT_TEXT_DETAIL, "-queue-detail.txt", 128);

        g_ptr_array_set_size(simple->views[NP_VIEW_QUEUE], 1);
        g_free(first->response_cores.list);
        g_free(first->target_cores.list);
        first->response_cores = (NpReportCores) { g_strdup("0"), 0, 1, 0 };
        first->target_cores = (NpReportCores) { g_strdup("2"), 2, 1, 0 };
        check_view("joined", simple, NP_REPORT_TEXT_BY_QUEUE, "-queue-80.txt", 80);

        g_assert_nonnull(strstr(text, "\nno commands by cpu in this report\n"));
}

/* Down to the column: scripts read it. */
static void test_example(void)
{
        static const char example[] =
                "== read 4KiB nvme6n1: 3066 commands sampled (from about 13.3k commands/s), all with the target's side\n"
                "latency (us): mean 72.77, p50 69.54, p99 80.30, p99.9 81.83\n"
                "stage                                 mean us   share   avg QD\n"
                "host block layer                         0.49      1%     0.01\n"
                "host driver (nvme-rdma)                  1.26      2%     0.02\n"
                "network (RDMA, NICs, wire)              10.03     14%     0.13  ###\n"
                "target driver (nvmet-rdma)               1.02      1%     0.01\n"
                "storage (target block layer, drive)     59.97     82%     0.80  ####################\n"
                "largest: storage (target block layer, drive), 82 % of the latency\n";
        g_autoptr(NpReport) report = sample_reports[0].make();
        g_autofree char *text = np_report_to_text(report, NP_REPORT_TEXT_DEFAULT);

        g_assert_nonnull(strstr(text, example));
}

static void check_size(guint64 bytes, const char *expected)
{
        g_autofree char *text = np_text_size(bytes);

        g_assert_cmpstr(text, ==, expected);
}

static void check_rate(double rate, const char *expected)
{
        g_autofree char *text = np_text_rate(rate);

        g_assert_cmpstr(text, ==, expected);
}

static void check_percent(double share, const char *expected)
{
        g_autofree char *text = np_text_percent(share);

        g_assert_cmpstr(text, ==, expected);
}

static void test_numbers(void)
{
        check_size(512, "512B");
        check_size(4096, "4KiB");
        check_size(4608, "4.5KiB");
        check_size(1048576, "1MiB");
        check_size(33554432, "32MiB");

        check_rate(0, "0.0");
        check_rate(0.44, "0.4");
        check_rate(9.96, "10");
        check_rate(999.4, "999");
        check_rate(999.6, "1.0k");
        check_rate(13300, "13.3k");
        check_rate(999949, "999.9k");
        check_rate(999951, "1.00M");
        check_rate(1234567, "1.23M");

        check_percent(0.0012, "0.12 %");
        check_percent(0.0234, "2.3 %");
        check_percent(0.123, "12 %");
        check_percent(0.00996, "1.0 %");
}

/* A language with a decimal comma, made here: no machine has to have one installed, only what they are made from. */
static void test_language(void)
{
        g_autoptr(NpReport) report = sample_reports[0].make();
        g_autofree char *plain = np_report_to_text(report, NP_REPORT_TEXT_DEFAULT), *text = NULL, *language = NULL;
        g_autofree char *folder = g_dir_make_tmp("ntprof-test-XXXXXX", NULL);
        const char *const command[] = { "localedef", "-i", "de_DE", "-f", "UTF-8", NULL, NULL };
        const char *argv[G_N_ELEMENTS(command)], *rm[] = { "rm", "-r", folder, NULL };
        gboolean made;
        int status = 1;

        language = g_build_filename(folder, "de_DE.UTF-8", NULL);
        memcpy(argv, command, sizeof(command));
        argv[5] = language;
        made = g_spawn_sync(NULL, (char **) argv, NULL, G_SPAWN_SEARCH_PATH | G_SPAWN_STDOUT_TO_DEV_NULL | G_SPAWN_STDERR_TO_DEV_NULL,
                            NULL, NULL, NULL, NULL, &status, NULL) && status == 0;
        if (made) {
                g_setenv("LOCPATH", folder, TRUE);
                g_assert_nonnull(setlocale(LC_NUMERIC, "de_DE.UTF-8"));
                text = np_report_to_text(report, NP_REPORT_TEXT_DEFAULT);
                setlocale(LC_NUMERIC, "C");
                g_unsetenv("LOCPATH");
                g_assert_cmpstr(text, ==, plain);
        } else {
                g_test_skip("localedef could not make de_DE.UTF-8: is the package locales installed?");
        }
        g_spawn_sync(NULL, (char **) rm, NULL, G_SPAWN_SEARCH_PATH, NULL, NULL, NULL, NULL, NULL, NULL);
}

static NpReportGroup *add_size(NpReport *report, guint64 size_bytes, guint64 commands)
{
        NpReportGroup *group = np_report_group_new("read", "nvme6n1");

        group->size_bytes = size_bytes;
        group->commands = group->sampled = group->joined = commands;
        group->with_target = TRUE;
        g_ptr_array_add(group->stages, np_report_stage_new(NP_STAGE_STORAGE));
        group->largest = NP_STAGE_STORAGE;
        g_ptr_array_add(report->groups, group);
        return group;
}

static guint count_tables(const NpReport *report, char **ret_text)
{
        g_auto(GStrv) parts = NULL;

        *ret_text = np_report_to_text(report, NP_REPORT_TEXT_DEFAULT);
        parts = g_strsplit(*ret_text, "\n== ", -1);
        return g_strv_length(parts) - 1;
}

/* Tables of a handful of commands are told in a line, but never the first few, and never many commands. */
static void test_small_tables(void)
{
        g_autoptr(NpReportFacts) facts = sample_facts(TRUE);
        g_autoptr(NpReport) report = NULL;
        g_autofree char *some = NULL, *many = NULL, *one = NULL;
        NpReportGroup *rest;

        facts->commands = facts->sampled = 100000;
        report = np_report_new(facts);
        for (guint i = 0; i < 8; i++)
                add_size(report, 4096 * (i + 1), i == 0 ? 99000 : 100);
        g_assert_cmpuint(count_tables(report, &some), ==, 8);
        g_assert_null(strstr(some, "not shown"));

        rest = add_size(report, 4096, 999);
        rest->with_target = FALSE;
        rest->part_of_other = TRUE;
        rest->joined = 0;
        g_assert_cmpuint(count_tables(report, &one), ==, 8);
        g_assert_nonnull(strstr(one, "\nnot shown: 1 small table of 999 sampled commands in all; --json has it\n"));

        add_size(report, 65536, 1);
        add_size(report, 131072, 1000);
        rest->sampled = 1000;
        g_assert_cmpuint(count_tables(report, &many), ==, 10);
        g_assert_nonnull(strstr(many, "\nnot shown: 1 small table of 1 sampled command in all; --json has it\n"));
}

static void test_losses_table(void)
{
        for (guint i = 0; i < NP_LOSS_COUNT; i++) {
                g_assert_cmpint(np_loss_by_key(np_loss_info(i)->key), ==, i);
                g_assert_nonnull(np_loss_info(i)->text);
        }
        g_assert_cmpint(np_loss_by_key("no_such"), ==, -1);
        g_assert_true(np_loss_info(NP_LOSS_MALFORMED)->of_sampled);
        g_assert_false(np_loss_info(NP_LOSS_HOST_RECURSION)->of_sampled);
}

static void test_copy(void)
{
        g_autoptr(NpReport) report = sample_reports[2].make();
        g_autoptr(NpReportFacts) facts = np_report_facts_copy(report->facts);
        g_autofree char *before = np_report_to_text(report, NP_REPORT_TEXT_DEFAULT), *after = NULL;

        np_report_facts_free(g_steal_pointer(&report->facts));
        report->facts = g_steal_pointer(&facts);
        after = np_report_to_text(report, NP_REPORT_TEXT_DEFAULT);
        g_assert_cmpstr(before, ==, after);
}

int main(int argc, char **argv)
{
        g_test_init(&argc, &argv, NULL);
        for (gsize i = 0; i < n_sample_reports; i++) {
                g_autofree char *path = g_strdup_printf("/report/text/%s", sample_reports[i].name);

                g_test_add_data_func(path, &sample_reports[i], test_text);
        }
        g_test_add_func("/report/views", test_views);
        g_test_add_func("/report/small-tables", test_small_tables);
        g_test_add_func("/report/example", test_example);
        g_test_add_func("/report/numbers", test_numbers);
        g_test_add_func("/report/language", test_language);
        g_test_add_func("/report/losses-table", test_losses_table);
        g_test_add_func("/report/copy", test_copy);
        return g_test_run();
}
