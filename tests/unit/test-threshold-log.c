/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "threshold-log.h"

G_DEFINE_AUTOPTR_CLEANUP_FUNC(NpThresholdLog, np_threshold_log_free)

static void test_lowest(void)
{
        g_autoptr(NpThresholdLog) log = np_threshold_log_new();

        g_assert_true(np_threshold_log_is_empty(log));
        g_assert_cmpuint(np_threshold_log_lowest(log, 0, 100, 7), ==, 7);

        np_threshold_log_add(log, 100, 50);
        np_threshold_log_add(log, 300, 80);
        np_threshold_log_add(log, 200, 10);     /* told late */
        g_assert_false(np_threshold_log_is_empty(log));
        g_assert_cmpuint(np_threshold_log_first(log), ==, 50);
        g_assert_cmpuint(np_threshold_log_last(log), ==, 80);
        g_assert_cmpuint(np_threshold_log_highest(log), ==, 80);

        g_assert_cmpuint(np_threshold_log_lowest(log, 0, 99, 7), ==, 7);
        g_assert_cmpuint(np_threshold_log_lowest(log, 0, 100, 7), ==, 7);
        g_assert_cmpuint(np_threshold_log_lowest(log, 0, 100, 90), ==, 50);
        g_assert_cmpuint(np_threshold_log_lowest(log, 100, 199, 7), ==, 50);
        g_assert_cmpuint(np_threshold_log_lowest(log, 150, 400, 7), ==, 10);
        g_assert_cmpuint(np_threshold_log_lowest(log, 200, 200, 7), ==, 10);
        g_assert_cmpuint(np_threshold_log_lowest(log, 299, 301, 7), ==, 10);
        g_assert_cmpuint(np_threshold_log_lowest(log, 300, 301, 7), ==, 80);
}

static void test_bounded(void)
{
        g_autoptr(NpThresholdLog) log = np_threshold_log_new();

        for (guint i = 1; i <= 200000; i++)
                np_threshold_log_add(log, i, i);
        g_assert_cmpuint(np_threshold_log_first(log), >, 100000);
        g_assert_cmpuint(np_threshold_log_last(log), ==, 200000);
        g_assert_cmpuint(np_threshold_log_lowest(log, 199999, 199999, 0), ==, 199999);
}

static void test_samples(void)
{
        g_assert_true(np_threshold_samples(G_MAXUINT32, G_MAXUINT32));
        g_assert_true(np_threshold_samples(10, 9));
        g_assert_false(np_threshold_samples(10, 10));
        g_assert_false(np_threshold_samples(0, 0));
}

int main(int argc, char **argv)
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/threshold-log/lowest", test_lowest);
        g_test_add_func("/threshold-log/bounded", test_bounded);
        g_test_add_func("/threshold-log/samples", test_samples);
        return g_test_run();
}
