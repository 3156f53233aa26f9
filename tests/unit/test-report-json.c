/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <math.h>
#include <string.h>

#include "sample-report.h"

static void test_golden(gconstpointer data)
{
        const SampleReport *sample = data;
        g_autoptr(NpReport) report = sample->make();
        g_autofree char *json = np_report_to_json(report), *expected = sample_fixture(sample->name, ".json", json);

        g_assert_cmpstr(json, ==, expected);
        g_assert_true(g_str_has_suffix(json, "}\n"));
}

static void test_round_trip(gconstpointer data)
{
        const SampleReport *sample = data;
        g_autoptr(GError) error = NULL;
        g_autoptr(NpReport) report = sample->make(), again = NULL;
        g_autofree char *json = np_report_to_json(report), *text = np_report_to_text(report, NP_REPORT_TEXT_DEFAULT);
        g_autofree char *json_again = NULL, *text_again = NULL;

        again = np_report_from_json(json, -1, &error);
        g_assert_no_error(error);
        json_again = np_report_to_json(again);
        text_again = np_report_to_text(again, NP_REPORT_TEXT_DEFAULT);
        g_assert_cmpstr(text_again, ==, text);
        g_assert_cmpstr(json_again, ==, json);
}

/* json-glib does not write all of them right. */
static void test_round_numbers(void)
{
        static const double numbers[] = { 0, 1, 1e-300, 1e-08, 2e-08, 1e16, 1e17, 1e18, 0x1p-1074 };

        for (guint i = 0; i < G_N_ELEMENTS(numbers); i++) {
                g_autoptr(GError) error = NULL;
                g_autoptr(NpReport) report = sample_reports[0].make(), again = NULL;
                NpReportStage *stage = ((NpReportGroup *) report->groups->pdata[0])->stages->pdata[0];
                g_autofree char *json = NULL, *json_again = NULL;

                report->qd_from_stages = numbers[i];
                stage->mean_ns = -numbers[i];
                json = np_report_to_json(report);
                again = np_report_from_json(json, -1, &error);
                g_assert_no_error(error);
                g_assert_cmpfloat(fabs(again->qd_from_stages - numbers[i]), <=, 1e-15 * numbers[i]);
                json_again = np_report_to_json(again);
                g_assert_cmpstr(json_again, ==, json);
        }
}

/* Whatever the numbers are. */
static void test_round_trip_random(void)
{
        for (guint n = 0; n < 200; n++) {
                g_autoptr(GError) error = NULL;
                g_autoptr(NpReport) report = sample_reports[n % 3].make(), again = NULL;
                g_autofree char *json = NULL, *text = NULL, *text_again = NULL;

                for (guint i = 0; i < report->groups->len; i++) {
                        NpReportGroup *group = report->groups->pdata[i];

                        group->mean_ns = g_test_rand_double_range(0, 1e10);
                        group->rate_per_s = exp(g_test_rand_double_range(-5, 16));
                        group->max_ns = (guint64) (guint32) g_test_rand_int() << 30;
                        for (guint j = 0; j < group->stages->len; j++) {
                                NpReportStage *stage = group->stages->pdata[j];

                                stage->mean_ns = g_test_rand_double_range(-1e3, 1e9);
                                stage->share = g_test_rand_double();
                                stage->avg_qd = g_test_rand_double_range(0, 1000);
                        }
                }
                json = np_report_to_json(report);
                text = np_report_to_text(report, NP_REPORT_TEXT_DEFAULT);
                again = np_report_from_json(json, strlen(json), &error);
                g_assert_no_error(error);
                text_again = np_report_to_text(again, NP_REPORT_TEXT_DEFAULT);
                g_assert_cmpstr(text_again, ==, text);
        }
}

/* The good report with one piece replaced, every time it occurs. */
static char *altered(const char *from, const char *to)
{
        g_autoptr(NpReport) report = sample_reports[0].make();
        GString *json = g_string_new(NULL);
        g_autofree char *good = np_report_to_json(report);

        g_string_assign(json, good);
        g_assert_cmpuint(g_string_replace(json, from, to, 0), >, 0);
        return g_string_free(json, FALSE);
}

typedef struct {
        const char *from, *to;
        NpReportError code;
        const char *message;            /* part of it */
} Bad;

static const Bad bad[] = {
        /* not JSON */
        { "{", "", NP_REPORT_ERROR_SYNTAX, "not JSON" },
        { "}", "", NP_REPORT_ERROR_SYNTAX, "not a report" },
        { "13300.0", "NaN", NP_REPORT_ERROR_SYNTAX, "not JSON" },
        { "13300.0", "Infinity", NP_REPORT_ERROR_SYNTAX, "not JSON" },
        { "\"beta\"", "\"be\xff\xfeta\"", NP_REPORT_ERROR_SYNTAX, "UTF-8" },

        /* of another kind */
        { "org.ntprof.report/1", "org.ntprof.report/2", NP_REPORT_ERROR_SCHEMA, "org.ntprof.report/2" },
        { "org.ntprof.report/1", "\\u001b[2J", NP_REPORT_ERROR_SCHEMA, "\\033[2J" },
        { "\"schema\"", "\"Schema\"", NP_REPORT_ERROR_SCHEMA, "schema" },
        { "\"org.ntprof.report/1\"", "1", NP_REPORT_ERROR_SCHEMA, "schema" },
        { "\"org.ntprof.report/1\"", "null", NP_REPORT_ERROR_SCHEMA, "schema" },

        /* a key missing */
        { "\"session\"", "\"x\"", NP_REPORT_ERROR_INVALID, "session: missing" },
        { "\"duration_ns\"", "\"x\"", NP_REPORT_ERROR_INVALID, "session.duration_ns: missing" },
        { "\"host\"", "\"x\"", NP_REPORT_ERROR_INVALID, "host: missing" },
        { "\"kernel\"", "\"x\"", NP_REPORT_ERROR_INVALID, "host.kernel: missing" },
        { "\"boundary\"", "\"x\"", NP_REPORT_ERROR_INVALID, "host.hooks[0].boundary: missing" },
        { "\"targets\"", "\"x\"", NP_REPORT_ERROR_INVALID, "targets: missing" },
        { "\"peer\"", "\"x\"", NP_REPORT_ERROR_INVALID, "targets[0].peer: missing" },
        { "\"ended_early\"", "\"x\"", NP_REPORT_ERROR_INVALID, "targets[0].ended_early: missing" },
        { "\"clock_offset\"", "\"x\"", NP_REPORT_ERROR_INVALID, "targets[0].clock_offset: missing" },
        { "\"target\"", "\"x\"", NP_REPORT_ERROR_INVALID, "paths[0].target: missing" },
        { "\"paths\"", "\"x\"", NP_REPORT_ERROR_INVALID, "paths: missing" },
        { "\"traddr\"", "\"x\"", NP_REPORT_ERROR_INVALID, "paths[0].traddr: missing" },
        { "\"queue_depth\"", "\"x\"", NP_REPORT_ERROR_INVALID, "queue_depth: missing" },
        { "\"diskstats\"", "\"x\"", NP_REPORT_ERROR_INVALID, "queue_depth.diskstats: missing" },
        { "\"losses\"", "\"x\"", NP_REPORT_ERROR_INVALID, "losses: missing" },
        { "\"groups\"", "\"x\"", NP_REPORT_ERROR_INVALID, "groups: missing" },
        { "\"op\"", "\"x\"", NP_REPORT_ERROR_INVALID, "groups[0].op: missing" },
        { "\"size_bytes\"", "\"x\"", NP_REPORT_ERROR_INVALID, "groups[0].size_bytes: missing" },
        { "\"latency\"", "\"x\"", NP_REPORT_ERROR_INVALID, "groups[0].latency: missing" },
        { "\"p999_ns\"", "\"x\"", NP_REPORT_ERROR_INVALID, "groups[0].latency.p999_ns: missing" },
        { "\"stages\"", "\"x\"", NP_REPORT_ERROR_INVALID, "groups[0].stages: missing" },
        { "\"share\"", "\"x\"", NP_REPORT_ERROR_INVALID, "groups[0].stages[0].share: missing" },
        { "\"components\"", "\"x\"", NP_REPORT_ERROR_INVALID, "groups[0].stages[0].components: missing" },
        { "\"mean_ns_reason\"", "\"x\"", NP_REPORT_ERROR_INVALID, "groups[0].stages[2].components[7].mean_ns_reason: missing" },
        { "\"largest\"", "\"x\"", NP_REPORT_ERROR_INVALID, "groups[0].largest: missing" },
        { "\"warnings\"", "\"x\"", NP_REPORT_ERROR_INVALID, "warnings: missing" },

        /* another type */
        { "\"seed\" : 305441741", "\"seed\" : \"305441741\"", NP_REPORT_ERROR_INVALID, "session.seed: must be a whole number" },
        { "\"seed\" : 305441741", "\"seed\" : 1.5", NP_REPORT_ERROR_INVALID, "session.seed: must be a whole number" },
        { "\"seed\" : 305441741", "\"seed\" : null", NP_REPORT_ERROR_INVALID, "session.seed: must be a whole number" },
        { "\"seed\" : 305441741", "\"seed\" : []", NP_REPORT_ERROR_INVALID, "session.seed: must be a whole number" },
        { "\"threshold_fixed\" : false", "\"threshold_fixed\" : 0", NP_REPORT_ERROR_INVALID, "must be true or false" },
        { "\"alpha\"", "7", NP_REPORT_ERROR_INVALID, "host.name: must be a string" },
        { "\"read\"", "null", NP_REPORT_ERROR_INVALID, "groups[0].op: must be a string" },
        { "\"nvme6n1\"", "{}", NP_REPORT_ERROR_INVALID, "paths[0].namespace: must be a string" },
        { "13300.0", "\"13300\"", NP_REPORT_ERROR_INVALID, "groups[0].rate_per_s: must be a number" },
        { "13300.0", "true", NP_REPORT_ERROR_INVALID, "groups[0].rate_per_s: must be a number" },
        { "\"warnings\" : []", "\"warnings\" : {}", NP_REPORT_ERROR_INVALID, "warnings: must be an array" },
        { "\"warnings\" : []", "\"warnings\" : [ 1 ]", NP_REPORT_ERROR_INVALID, "warnings[0]: must be a string" },
        { "\"warnings\" : []", "\"warnings\" : [ null ]", NP_REPORT_ERROR_INVALID, "warnings[0]: must be a string" },
        { "\"groups\" : [", "\"groups\" : [ 1, ", NP_REPORT_ERROR_INVALID, "groups[0]: must be an object" },
        { "\"targets\" : [", "\"targets\" : [ null, ", NP_REPORT_ERROR_INVALID, "targets[0]: must be an object" },
        { "\"stor-a\"", "[]", NP_REPORT_ERROR_INVALID, "targets[0].peer: must be a string" },
        { "\"clock_offset\" : {", "\"clock_offset\" : [ {} ], \"x\" : {", NP_REPORT_ERROR_INVALID,
          "targets[0].clock_offset: must be an object" },
        { "\"target\" : 0", "\"target\" : \"stor-a\"", NP_REPORT_ERROR_INVALID, "paths[0].target: must be a whole number" },
        { "\"hooks\" : [", "\"hooks\" : [ [], ", NP_REPORT_ERROR_INVALID, "host.hooks[0]: must be an object" },

        /* out of range */
        { "305441741", "-1", NP_REPORT_ERROR_INVALID, "session.seed: must be from 0 to 4294967295" },
        { "305441741", "4294967296", NP_REPORT_ERROR_INVALID, "session.seed" },
        { "10002000000", "99999999999999999999999999", NP_REPORT_ERROR_INVALID, "session.duration_ns" },
        { "13300.0", "-1.0", NP_REPORT_ERROR_INVALID, "groups[0].rate_per_s" },
        { "13300.0", "1e999", NP_REPORT_ERROR_INVALID, "groups[0].rate_per_s" },
        { "13300.0", "1e300", NP_REPORT_ERROR_INVALID, "groups[0].rate_per_s" },
        { "\"mean_ns\" : 490.0", "\"mean_ns\" : -1e999", NP_REPORT_ERROR_INVALID, "groups[0].stages[0].mean_ns" },

        /* what doesn't fit together */
        { "\"target\" : 0", "\"target\" : 1", NP_REPORT_ERROR_INVALID, "paths[0].target: must be from 0 to 0" },
        { "\"target\" : 0", "\"target\" : -1", NP_REPORT_ERROR_INVALID, "paths[0].target: must be from 0 to 0" },
        { "\"target\" : 0", "\"target\" : null", NP_REPORT_ERROR_INVALID, "paths[0].target_reason: missing" },
        { "17999000012345", "17999000012222", NP_REPORT_ERROR_INVALID, "targets[0].clock_offset.max_ns: must be from 17999000012300" },
        { "\"id\" : \"network\"", "\"id\" : \"network_target\"", NP_REPORT_ERROR_INVALID, "groups[0].stages[2].id" },
        { "\"with_target\" : true", "\"with_target\" : false", NP_REPORT_ERROR_INVALID, "has 5 elements, must have 3" },
        { "\"largest\" : \"storage\"", "\"largest\" : \"network_target\"", NP_REPORT_ERROR_INVALID, "groups[0].largest" },
        { "\"largest\" : \"storage\"", "\"largest\" : \"\"", NP_REPORT_ERROR_INVALID, "groups[0].largest" },

        { "\"margin_ns\"", "\"x\"", NP_REPORT_ERROR_INVALID, "groups[0].stages[2].components[0].margin_ns: missing" },
        { "\"margin_ns\" : 122.5", "\"margin_ns\" : -1.0", NP_REPORT_ERROR_INVALID, "components[0].margin_ns: must be from 0" },
        { "\"part_of\" : \"request\"", "\"part_of\" : \"transfer\"", NP_REPORT_ERROR_INVALID,
          "groups[0].stages[2].components[1].part_of: request_wire is no part of that" },
        { "\"part_of\" : \"request\"", "\"part_of\" : 1", NP_REPORT_ERROR_INVALID, "components[1].part_of: must be a string" },
        { "\"id\" : \"to_storage\"", "\"id\" : \"response\"", NP_REPORT_ERROR_INVALID,
          "groups[0].stages[3].components[1].id: response is there twice" },
        { "\"information\" : true", "\"information\" : false", NP_REPORT_ERROR_INVALID,
          "groups[0].stages[3].components[2].information: send_completion is not one of those that add up" },
        { "\"detail\" : true", "\"detail\" : 1", NP_REPORT_ERROR_INVALID, "session.detail: must be true or false" },
        { "\"drive_hidden\" : \"the namespace is a file\"", "\"drive_hidden\" : 1", NP_REPORT_ERROR_INVALID,
          "targets[0].drive_hidden: must be a string" },
        { "\"fua\" : false", "\"fua\" : 0", NP_REPORT_ERROR_INVALID, "groups[0].fua: must be true or false" },
        { "\"qid\"", "\"x\"", NP_REPORT_ERROR_INVALID, "views.queue[0].qid: missing" },
        { "\"process\"", "\"x\"", NP_REPORT_ERROR_INVALID, "views.process: missing" },
        { "\"path\" : 0", "\"path\" : 1", NP_REPORT_ERROR_INVALID, "views.queue[0].path: must be from 0 to 0" },
        { "\"list\" : \"0\"", "\"list\" : \"0-\"", NP_REPORT_ERROR_INVALID,
          "views.queue[0].host_cores.list: must be a list of processors, like 0-3,7" },
        { "\"list\" : \"0\"", "\"list\" : \"\"", NP_REPORT_ERROR_INVALID, "host_cores.list" },
        { "\"list\" : \"0\"", "\"list\" : \"0,\"", NP_REPORT_ERROR_INVALID, "host_cores.list" },
        { "\"list\" : \"0\"", "\"list\" : \"0-1-2\"", NP_REPORT_ERROR_INVALID, "host_cores.list" },
        { "\"list\" : \"0\"", "\"list\" : \"3-0\"", NP_REPORT_ERROR_INVALID, "host_cores.list" },
        { "\"list\" : \"0\"", "\"list\" : \"0-4294967296\"", NP_REPORT_ERROR_INVALID, "host_cores.list" },
        { "\"list\" : \"0\"", "\"list\" : \"0-18446744073709551615\"", NP_REPORT_ERROR_INVALID, "host_cores.list" },
        { "\"comm\" : \"fio\"", "\"comm\" : \"\\u001b\"", NP_REPORT_ERROR_INVALID,
          "views.process[0].comm: holds control characters" },
        { "\"groups_by_path\"", "\"x\"", NP_REPORT_ERROR_INVALID, "groups_by_path: missing" },

        /* what would steer a terminal */
        { "\"read\"", "\"\\u001b]0;x\\u0007\"", NP_REPORT_ERROR_INVALID, "groups[0].op: holds control characters" },
        { "\"beta\"", "\"a\\nb\"", NP_REPORT_ERROR_INVALID, "targets[0].name: holds control characters" },
        { "\"beta\"", "\"a\xc2\x9b" "31m\"", NP_REPORT_ERROR_INVALID, "targets[0].name: holds control characters" },
};

static void check_refused(const char *json, gssize length, NpReportError code, const char *message)
{
        g_autoptr(GError) error = NULL;
        g_autoptr(NpReport) report = np_report_from_json(json, length, &error);

        g_assert_null(report);
        g_assert_error(error, NP_REPORT_ERROR, (int) code);
        if (!strstr(error->message, message))
                g_test_message("\"%s\" is not in \"%s\"", message, error->message);
        g_assert_nonnull(strstr(error->message, message));
        g_assert_true(g_utf8_validate(error->message, -1, NULL));
}

static void test_refused(void)
{
        for (gsize i = 0; i < G_N_ELEMENTS(bad); i++) {
                g_autofree char *json = altered(bad[i].from, bad[i].to);

                g_autofree char *shown = g_strescape(bad[i].to, NULL);     /* what the test prints is UTF-8 */

                g_test_message("%s -> %s", bad[i].from, shown);
                check_refused(json, -1, bad[i].code, bad[i].message);
        }
}

static void test_not_an_object(void)
{
        check_refused("", -1, NP_REPORT_ERROR_SCHEMA, "schema");
        check_refused("null", -1, NP_REPORT_ERROR_SCHEMA, "schema");
        check_refused("[]", -1, NP_REPORT_ERROR_SCHEMA, "schema");
        check_refused("7", -1, NP_REPORT_ERROR_SCHEMA, "schema");
        check_refused("\"schema\"", -1, NP_REPORT_ERROR_SCHEMA, "schema");
        check_refused("{}", -1, NP_REPORT_ERROR_SCHEMA, "schema");
        check_refused("{\0}", 3, NP_REPORT_ERROR_SYNTAX, "UTF-8");
}

static char *repeated(const char *piece, guint n, const char *begin, const char *end)
{
        GString *s = g_string_new(begin);

        for (guint i = 0; i < n; i++)
                g_string_append(s, piece);
        g_string_append(s, end);
        return g_string_free(s, FALSE);
}

static void test_too_much(void)
{
        g_autofree char *deep = repeated("[", 1000000, "", ""), *deep_object = repeated("{\"a\":", 100000, "", "");
        /* json-glib reads these too: what looks like the beginning of a string is none */
        static const char *const hiding[] = { "/*\"*/", "//\"\n", "['\"'," };
        g_autofree char *quoted = repeated("[", 1000, "{ \"schema\" : \"\\\"", "\" }");
        g_autofree char *huge = repeated(" ", 9u << 20, "{", "}");
        g_autofree char *many = repeated("\"\",", 2000, "\"warnings\" : [", "\"\"]");
        g_autofree char *long_name = repeated("x", 5000, "\"", "\"");
        g_autofree char *many_warnings = altered("\"warnings\" : []", many), *long_names = altered("\"beta\"", long_name);

        check_refused(deep, -1, NP_REPORT_ERROR_SYNTAX, "deeper");
        check_refused(deep_object, -1, NP_REPORT_ERROR_SYNTAX, "deeper");
        for (gsize i = 0; i < G_N_ELEMENTS(hiding); i++) {
                g_autofree char *hidden = g_strconcat(hiding[i], deep, NULL);

                check_refused(hidden, -1, NP_REPORT_ERROR_SYNTAX, "deeper");
        }
        check_refused(quoted, -1, NP_REPORT_ERROR_SCHEMA, "schema is");
        check_refused(huge, -1, NP_REPORT_ERROR_SYNTAX, "longer");
        check_refused(many_warnings, -1, NP_REPORT_ERROR_INVALID, "warnings: has 2001 elements");
        check_refused(long_names, -1, NP_REPORT_ERROR_INVALID, "targets[0].name: longer");
}

/* A newer version may tell more. */
static void test_unknown_keys(void)
{
        g_autofree char *json = altered("\"mean_ns\" :", "\"new\" : { \"x\" : [ null ] }, \"mean_ns\" :");
        g_autofree char *fewer = altered("\"ring_full\"", "\"some_new_cause\"");
        g_autofree char *component = altered("\"id\" : \"dispatch\"", "\"id\" : \"new_component\"");
        g_autoptr(GError) error = NULL;
        g_autoptr(NpReport) a = np_report_from_json(json, -1, &error);
        g_autoptr(NpReport) b = np_report_from_json(fewer, -1, &error);
        g_autoptr(NpReport) c = np_report_from_json(component, -1, &error);

        g_assert_no_error(error);
        g_assert_nonnull(a);
        g_assert_nonnull(b);
        g_assert_nonnull(c);
}

/* Cut off anywhere, or with any byte changed: an error or a report that can be printed, never a crash. */
static void test_damaged(void)
{
        g_autoptr(NpReport) report = sample_reports[0].make();
        g_autofree char *good = np_report_to_json(report);
        gsize n = strlen(good);

        for (gsize length = 0; length < n - 2; length += 7) {
                g_autofree char *cut = g_strndup(good, length);
                g_autoptr(GError) error = NULL;
                g_autoptr(NpReport) read = np_report_from_json(cut, length, &error);

                g_assert_null(read);
                g_assert_nonnull(error);
        }

        for (guint i = 0; i < 3000; i++) {
                g_autofree char *damaged = g_strdup(good), *text = NULL;
                g_autoptr(GError) error = NULL;
                g_autoptr(NpReport) read = NULL;

                for (guint j = g_test_rand_int_range(1, 4); j > 0; j--)
                        damaged[g_test_rand_int_range(0, n)] = g_test_rand_int_range(0, 3) ? g_test_rand_int_range(32, 127) :
                                                               g_test_rand_int_range(-128, 128);
                read = np_report_from_json(damaged, n, &error);
                g_assert_true(!read == !!error);
                if (read)
                        text = np_report_to_text(read, NP_REPORT_TEXT_DETAIL | NP_REPORT_TEXT_BY_PATH);
        }
}

int main(int argc, char **argv)
{
        g_test_init(&argc, &argv, NULL);
        for (gsize i = 0; i < n_sample_reports; i++) {
                g_autofree char *golden = g_strdup_printf("/report-json/golden/%s", sample_reports[i].name);
                g_autofree char *round = g_strdup_printf("/report-json/round-trip/%s", sample_reports[i].name);

                g_test_add_data_func(golden, &sample_reports[i], test_golden);
                g_test_add_data_func(round, &sample_reports[i], test_round_trip);
        }
        g_test_add_func("/report-json/round-numbers", test_round_numbers);
        g_test_add_func("/report-json/round-trip-random", test_round_trip_random);
        g_test_add_func("/report-json/refused", test_refused);
        g_test_add_func("/report-json/not-an-object", test_not_an_object);
        g_test_add_func("/report-json/too-much", test_too_much);
        g_test_add_func("/report-json/unknown-keys", test_unknown_keys);
        g_test_add_func("/report-json/damaged", test_damaged);
        return g_test_run();
}
