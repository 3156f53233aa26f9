/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "output.h"

#include <string.h>

#include "progress.h"

static void test_count(void)
{
        static const struct {
                guint64 n;
                const char *text;
        } cases[] = {
                { 0, "0" },           { 3066, "3066" },       { 9999, "9999" },       { 10000, "10.0k" },   { 13349, "13.3k" },
                { 99949, "99.9k" },   { 99950, "100k" },      { 999499, "999k" },     { 999500, "1.0M" },   { 42100000, "42.1M" },
                { G_GUINT64_CONSTANT(1500000000), "1.5G" },   { G_MAXUINT64, "18.4E" },
        };

        for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
                g_autofree char *text = output_count(cases[i].n);
                g_assert_cmpstr(text, ==, cases[i].text);
        }
}

static void test_sanitize(void)
{
        static const struct {
                const char *text, *clean;
        } cases[] = {
                { "plain\ttext\n", "plain\ttext\n" },
                { "\033[2Jgone", "?[2Jgone" },
                { "a\rb\x7f", "a?b?" },
                { "\xc2\x9b" "31m", "??31m" },
                { "grün", "grün" },
                { "bad \xff byte", "bad \xef\xbf\xbd byte" },
        };

        for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
                g_autofree char *clean = output_sanitize(cases[i].text);
                g_assert_cmpstr(clean, ==, cases[i].clean);
        }
}

static void test_progress(void)
{
        ProgressFacts facts = {
                .state = NTPROF_SESSION_STATE_RECORDING,
                .elapsed_usec = 3250000,
                .duration_usec = 10000000,
                .commands = 42100,
                .rate = 13349.6,
                .sampled = 3066,
                .joined = 3060,
                .lost = 6,
                .has_target = TRUE,
        };
        g_autofree char *timed = progress_text(&facts);
        g_assert_cmpstr(timed, ==, "3.2 s of 10 s: 42.1k commands, 13.3k/s, 3066 sampled, 3060 joined, 6 lost");

        facts.duration_usec = 0;
        facts.has_target = FALSE;
        g_autofree char *open = progress_text(&facts);
        g_assert_cmpstr(open, ==, "3.2 s: 42.1k commands, 13.3k/s, 3066 sampled, 6 lost");

        facts.state = NTPROF_SESSION_STATE_JOINING;
        g_autofree char *joining = progress_text(&facts);
        g_assert_cmpstr(joining, ==, "joining: 42.1k commands, 3066 sampled, 6 lost");

        facts.state = NTPROF_SESSION_STATE_PREPARING;
        g_autofree char *preparing = progress_text(&facts);
        g_assert_cmpstr(preparing, ==, "attaching to the kernel");
}

/* Other machines are named while they are waited for, and when they are missed. */
static void test_progress_targets(void)
{
        static const struct {
                NtprofSessionState state;
                const char *targets, *text;
        } cases[] = {
                { NTPROF_SESSION_STATE_PREPARING, "[('stor-a', 'connecting', ''), ('stor-b', 'connecting', ''), ('', 'connecting', '')]",
                  "attaching to the kernel; connecting to stor-a, stor-b" },
                { NTPROF_SESSION_STATE_PREPARING, "[('stor-a', 'recording', ''), ('stor-b', 'ended', 'it said no')]",
                  "attaching to the kernel; without stor-b" },
                { NTPROF_SESSION_STATE_JOINING, "[('stor-a', 'ended', ''), ('stor-b', 'ended', 'it left')]",
                  "joining: 0 commands, 0 sampled, 0 joined, 0 lost; without stor-b" },
                { NTPROF_SESSION_STATE_JOINING, "[('', 'ended', 'it failed'), ('stor-a', 'recording', '')]",
                  "joining: 0 commands, 0 sampled, 0 joined, 0 lost" },
        };

        for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
                g_autoptr(GVariant) targets = g_variant_ref_sink(g_variant_new_parsed(cases[i].targets));
                const ProgressFacts facts = { .state = cases[i].state, .has_target = TRUE, .targets = targets };
                g_autofree char *text = progress_text(&facts);

                g_assert_cmpstr(text, ==, cases[i].text);
        }
}

/* Why a machine is missed is told once, and not at the session's own end. */
static void test_progress_missed(void)
{
        static const struct {
                const char *targets, *lines;
        } steps[] = {
                { "@a(sss) []", "" },
                { "[('stor-a', 'recording', ''), ('stor-b', 'connecting', '')]", "" },
                { "[('stor-a', 'recording', ''), ('stor-b', 'ended', 'it said no')]", "without stor-b: it said no\n" },
                { "[('stor-a', 'recording', ''), ('stor-b', 'ended', 'it said no')]", "" },
                { "[('stor-a', 'ended', ''), ('stor-b', 'ended', 'it said no'), ('', 'ended', 'it failed')]",
                  "without this machine's target side: it failed\n" },
        };
        g_autoptr(GHashTable) told = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);

        for (gsize i = 0; i < G_N_ELEMENTS(steps); i++) {
                g_autoptr(GVariant) targets = g_variant_ref_sink(g_variant_new_parsed(steps[i].targets));
                g_autofree char *lines = progress_missed(targets, told);

                g_assert_cmpstr(lines, ==, steps[i].lines);
        }
        g_autofree char *none = progress_missed(NULL, told);
        g_assert_cmpstr(none, ==, "");
}

/* The longest there is in practice fits a terminal of 80 columns. */
static void test_progress_width(void)
{
        const ProgressFacts facts = {
                .state = NTPROF_SESSION_STATE_RECORDING,
                .elapsed_usec = 59 * G_USEC_PER_SEC,
                .duration_usec = 60 * G_USEC_PER_SEC,
                .commands = 99900000,
                .rate = 1500000,
                .sampled = 99900000,
                .joined = 99900000,
                .lost = 999,
                .has_target = TRUE,
        };
        g_autofree char *text = progress_text(&facts);

        g_assert_cmpuint(strlen(text), <, 80);
}

int main(int argc, char *argv[])
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/output/count", test_count);
        g_test_add_func("/output/sanitize", test_sanitize);
        g_test_add_func("/progress/text", test_progress);
        g_test_add_func("/progress/targets", test_progress_targets);
        g_test_add_func("/progress/missed", test_progress_missed);
        g_test_add_func("/progress/width", test_progress_width);
        return g_test_run();
}
