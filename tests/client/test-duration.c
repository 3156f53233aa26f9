/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "duration.h"
#include "usage.h"

static void assert_parses(const char *text, guint64 expected)
{
        g_autoptr(GError) error = NULL;
        guint64 usec = 0;

        if (!duration_parse(text, &usec, &error))
                g_error("'%s': %s", text, error->message);
        if (usec != expected)
                g_error("'%s': %" G_GUINT64_FORMAT " us instead of %" G_GUINT64_FORMAT, text, usec, expected);
}

static void test_parse(void)
{
        const guint64 second = 1000000;

        assert_parses("10s", 10 * second);
        assert_parses("10", 10 * second);
        assert_parses(" 10 sec ", 10 * second);
        assert_parses("1min 30s", 90 * second);
        assert_parses("1min30s", 90 * second);
        assert_parses("1 minute 30 seconds", 90 * second);
        assert_parses("1m 30", 90 * second);
        assert_parses("500ms", 500000);
        assert_parses("250us", 250);
        assert_parses("3µs", 3);
        assert_parses("2h", 7200 * second);
        assert_parses("1.5h", 5400 * second);
        assert_parses("0.5s", 500000);
        assert_parses("1.000001s", 1000001);
        assert_parses("1.5ms", 1500);
        assert_parses("1d", 86400 * second);
        assert_parses("2 weeks 1 day", 15 * 86400 * second);
        assert_parses("0s 1us", 1);
        assert_parses("infinity", DURATION_INFINITE);
        assert_parses("  infinity ", DURATION_INFINITE);
        assert_parses("9223372036854775807us", G_MAXINT64);
}

static void assert_fails(const char *text, const char *why)
{
        g_autoptr(GError) error = NULL;
        guint64 usec = 4711;

        if (duration_parse(text, &usec, &error))
                g_error("'%s' was taken as %" G_GUINT64_FORMAT " us", text, usec);
        g_assert_error(error, USAGE_ERROR, USAGE_ERROR_FAILED);
        if (!strstr(error->message, why) || !strstr(error->message, "for example 10s"))
                g_error("'%s': \"%s\" lacks \"%s\" or an example", text, error->message, why);
        g_assert_cmpuint(usec, ==, 4711);
}

static void test_errors(void)
{
        assert_fails("", "empty");
        assert_fails("  ", "empty");
        assert_fails("10x", "unknown unit 'x'");
        assert_fails("10 fortnights", "unknown unit 'fortnights'");
        assert_fails("s", "a number is expected at 's'");
        assert_fails("ten", "a number is expected at 'ten'");
        assert_fails("1min s", "a number is expected at 's'");
        assert_fails("1.s", "a number is expected");
        assert_fails("1.2.3s", "a number is expected at '.3s'");
        assert_fails("-1s", "negative");
        assert_fails("1min -1s", "negative");
        assert_fails("0", "more than 0");
        assert_fails("0s 0ms", "more than 0");
        assert_fails("0.0000001s", "more than 0");
        assert_fails("infinity s", "nothing can follow");
        assert_fails("99999999999999999999s", "too long");
        assert_fails("99999999999999999999us", "too long");
        assert_fails("999999999999999999999999999999us", "too long");
        assert_fails("9223372036854775808us", "too long");
        assert_fails("20000000000000w", "too long");
        assert_fails("9223372036854775807us 1us", "too long");
}

static void test_format(void)
{
        static const struct {
                guint64 usec;
                const char *exact, *brief;
        } cases[] = {
                { 0, "0 s", "0 ms" },
                { 1, "1 us", "0 ms" },
                { 99999, "99 ms 999 us", "99 ms" },
                { 500000, "500 ms", "0.5 s" },
                { 3250000, "3 s 250 ms", "3.2 s" },
                { 10000000, "10 s", "10.0 s" },
                { 65000000, "1 min 5 s", "1 min 5 s" },
                { G_GUINT64_CONSTANT(3600000000), "1 h", "1 h 0 min" },
                { G_GUINT64_CONSTANT(8000000000), "2 h 13 min 20 s", "2 h 13 min" },
        };

        for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
                g_autofree char *exact = duration_format(cases[i].usec), *brief = duration_format_short(cases[i].usec);
                g_assert_cmpstr(exact, ==, cases[i].exact);
                g_assert_cmpstr(brief, ==, cases[i].brief);
        }
}

static void test_round_trip(void)
{
        for (int i = 0; i < 1000; i++) {
                const guint64 usec = (((guint64) g_test_rand_int() << 31 | (guint32) g_test_rand_int()) >> (i % 40)) + 1;
                g_autofree char *text = duration_format(usec & G_MAXINT64);
                assert_parses(text, usec & G_MAXINT64);
        }
}

int main(int argc, char *argv[])
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/duration/parse", test_parse);
        g_test_add_func("/duration/errors", test_errors);
        g_test_add_func("/duration/format", test_format);
        g_test_add_func("/duration/round-trip", test_round_trip);
        return g_test_run();
}
