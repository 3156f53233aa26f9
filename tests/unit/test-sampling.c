/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/session/sampling.h"

#include <glib.h>
#include <math.h>

#define START (100 * NSEC_PER_SEC)
#define TICK (100 * NSEC_PER_MSEC)

static const double two_to_32 = 4294967296.0;

static void test_parse(void)
{
        SampleOption option;

        g_assert_cmpint(sample_option_parse("auto", &option), ==, 0);
        g_assert_cmpint(option.mode, ==, SAMPLE_AUTO);
        g_assert_cmpint(sample_option_parse("all", &option), ==, 0);
        g_assert_cmpint(option.mode, ==, SAMPLE_ALL);
        g_assert_cmpint(sample_option_parse("1/4294967295", &option), ==, 0);
        g_assert_cmpint(option.mode, ==, SAMPLE_FRACTION);
        g_assert_cmpuint(option.n, ==, UINT32_MAX);
        for (const char *const *text = (const char *const[]) { "", "1", "1/", "1/0", "1/4294967296", "1/-1", "1/+1", "1/ 1", "1/1x", "2/3",
                                                               "Auto", "all ", NULL }; *text; text++)
                g_assert_cmpint(sample_option_parse(*text, &option), ==, -EINVAL);
}

static void test_format(void)
{
        for (const char *const *text = (const char *const[]) { "auto", "all", "1/1", "1/64", NULL }; *text; text++) {
                SampleOption option;
                g_autofree char *formatted = NULL;

                g_assert_cmpint(sample_option_parse(*text, &option), ==, 0);
                formatted = sample_option_format(&option);
                g_assert_cmpstr(formatted, ==, *text);
        }
}

static uint32_t fixed(const char *text)
{
        SampleOption option;
        Sampling s;
        uint32_t threshold;

        g_assert_cmpint(sample_option_parse(text, &option), ==, 0);
        threshold = sampling_start(&s, &option, START);
        /* never changed, however many commands there are */
        for (int i = 1; i <= 50; i++)
                g_assert_false(sampling_update(&s, START + i * TICK, i * 1000000ULL));
        return threshold;
}

static void test_fixed(void)
{
        g_assert_cmpuint(fixed("all"), ==, UINT32_MAX);
        g_assert_cmpuint(fixed("1/1"), ==, UINT32_MAX);
        g_assert_cmpuint(fixed("1/2"), ==, 1U << 31);
        g_assert_cmpuint(fixed("1/16"), ==, 1U << 28);
        g_assert_cmpuint(fixed("1/4294967295"), ==, 1);
}

typedef struct Run {
        Sampling s;
        uint64_t time_ns, commands;
        double sampled;                 /* expected number */
        unsigned changes;
} Run;

static void begin(Run *run)
{
        *run = (Run) { .time_ns = START };
        sampling_start(&run->s, &(SampleOption) { .mode = SAMPLE_AUTO }, START);
}

static double fraction(const Run *run)
{
        return run->s.threshold == UINT32_MAX ? 1 : run->s.threshold / two_to_32;
}

static void go(Run *run, double seconds, double rate)
{
        for (uint64_t end = run->time_ns + seconds * NSEC_PER_SEC; run->time_ns < end; run->time_ns += TICK) {
                run->commands += rate * TICK / NSEC_PER_SEC;
                run->sampled += fraction(run) * rate * TICK / NSEC_PER_SEC;
                run->changes += sampling_update(&run->s, run->time_ns + TICK, run->commands);
        }
}

static void test_slow_becomes_all(void)
{
        Run run;

        begin(&run);
        g_assert_cmpfloat(fraction(&run), ==, 1 / 256.0);
        go(&run, 1, 500);
        g_assert_cmpuint(run.s.threshold, ==, UINT32_MAX);
        g_assert_cmpuint(run.changes, ==, 2);
}

static void test_fast_settles_at_the_rate(void)
{
        for (double rate = 5000; rate <= 4e6; rate *= 3) {
                Run run;

                begin(&run);
                go(&run, 3, rate);
                run.sampled = 0;
                run.changes = 0;
                go(&run, 10, rate);
                g_test_message("%g commands/s: %g sampled/s", rate, run.sampled / 10);
                g_assert_cmpfloat(run.sampled / 10, >, SAMPLING_RATE / 1.3);
                g_assert_cmpfloat(run.sampled / 10, <, SAMPLING_RATE * 1.3);
                /* and stays there */
                g_assert_cmpuint(run.changes, <=, 1);
        }
}

/* A million commands a second from the first moment: a fraction of a second's samples beyond what is wanted. */
static void test_the_first_moment_is_harmless(void)
{
        Run run;

        begin(&run);
        go(&run, 0.5, 1e6);
        g_assert_cmpfloat(run.sampled, <, 2 * SAMPLING_RATE);
}

/* Idle, so all are taken; then a flood: it is noticed at the next tick, not at the window's end. */
static void test_a_flood_after_idling(void)
{
        Run run;

        begin(&run);
        go(&run, 2, 0);
        g_assert_cmpuint(run.s.threshold, ==, UINT32_MAX);
        run.sampled = 0;
        go(&run, 0.1, 1e6);
        g_assert_cmpfloat(fraction(&run), <, 0.01);
        go(&run, 2, 1e6);
        g_assert_cmpfloat(fraction(&run), >, 0.0015);
        g_assert_cmpfloat(fraction(&run), <, 0.0025);
}

static void test_small_changes_change_nothing(void)
{
        Run run;

        begin(&run);
        go(&run, 3, 20000);
        run.changes = 0;
        for (int i = 0; i < 20; i++)
                go(&run, 0.5, i % 2 ? 19000 : 22000);
        g_assert_cmpuint(run.changes, ==, 0);
        go(&run, 1, 40000);
        g_assert_cmpuint(run.changes, >=, 1);
}

static void test_growth_is_in_steps(void)
{
        Run run;
        double before;

        begin(&run);
        go(&run, 3, 4e6);
        while (run.s.threshold != UINT32_MAX) {
                before = fraction(&run);
                go(&run, 0.1, 0);
                g_assert_cmpfloat(fraction(&run), <=, before * 16 * 1.001);
                g_assert_cmpuint(run.time_ns, <, START + 60 * NSEC_PER_SEC);
        }
}

int main(int argc, char **argv)
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/sampling/parse", test_parse);
        g_test_add_func("/sampling/format", test_format);
        g_test_add_func("/sampling/fixed", test_fixed);
        g_test_add_func("/sampling/slow-becomes-all", test_slow_becomes_all);
        g_test_add_func("/sampling/fast-settles-at-the-rate", test_fast_settles_at_the_rate);
        g_test_add_func("/sampling/the-first-moment-is-harmless", test_the_first_moment_is_harmless);
        g_test_add_func("/sampling/a-flood-after-idling", test_a_flood_after_idling);
        g_test_add_func("/sampling/small-changes-change-nothing", test_small_changes_change_nothing);
        g_test_add_func("/sampling/growth-is-in-steps", test_growth_is_in_steps);
        return g_test_run();
}
