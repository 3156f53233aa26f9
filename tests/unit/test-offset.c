/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "offset.h"

static void test_consensus(void)
{
        NpInterval three[] = { { 8, 12 }, { 11, 13 }, { 10, 12 } };
        NpInterval stray[] = { { 8, 12 }, { 500, 600 }, { 11, 13 }, { 10, 12 } };
        NpInterval touching[] = { { 1, 5 }, { 5, 9 } };
        NpInterval apart[] = { { 1, 2 }, { 5, 9 } };
        NpInterval camps[] = { { 0, 10 }, { 5, 15 }, { 100, 110 }, { 105, 115 }, { 106, 120 } };
        NpConsensus c;

        g_assert_true(np_consensus(three, G_N_ELEMENTS(three), &c));
        g_assert_cmpuint(c.votes, ==, 3);
        g_assert_cmpuint(c.opposed, ==, 0);
        g_assert_cmpint(c.best.min, ==, 11);
        g_assert_cmpint(c.best.max, ==, 12);

        g_assert_true(np_consensus(stray, G_N_ELEMENTS(stray), &c));
        g_assert_cmpuint(c.votes, ==, 3);
        g_assert_cmpuint(c.opposed, ==, 1);
        g_assert_cmpint(c.best.min, ==, 11);

        g_assert_true(np_consensus(touching, 2, &c));
        g_assert_cmpuint(c.votes, ==, 2);
        g_assert_cmpint(c.best.min, ==, 5);
        g_assert_cmpint(c.best.max, ==, 5);

        g_assert_true(np_consensus(apart, 2, &c));
        g_assert_cmpuint(c.votes, ==, 1);
        g_assert_cmpuint(c.opposed, ==, 1);

        g_assert_true(np_consensus(camps, G_N_ELEMENTS(camps), &c));
        g_assert_cmpuint(c.votes, ==, 3);
        g_assert_cmpuint(c.opposed, ==, 2);
        g_assert_cmpint(c.best.min, ==, 106);
        g_assert_cmpint(c.best.max, ==, 110);

        g_assert_false(np_consensus(three, 0, &c));
}

static void test_merge(void)
{
        NpInterval intervals[] = { { 30, 40 }, { 1, 20 }, { 2, 5 }, { 40, 41 }, { 20, 22 }, { 50, 51 } };

        g_assert_cmpuint(np_merge_intervals(intervals, G_N_ELEMENTS(intervals)), ==, 3);
        g_assert_cmpint(intervals[0].min, ==, 1);
        g_assert_cmpint(intervals[0].max, ==, 22);
        g_assert_cmpint(intervals[1].min, ==, 30);
        g_assert_cmpint(intervals[1].max, ==, 41);
        g_assert_cmpint(intervals[2].min, ==, 50);
        g_assert_cmpuint(np_merge_intervals(intervals, 0), ==, 0);
}

static void test_first_votes(void)
{
        NpOffset offset = { 0 };
        NpInterval apart[] = { { 1, 2 }, { 5, 9 } };
        NpInterval one[] = { { -7, -3 } };

        g_assert_false(np_offset_update(&offset, 10, NULL, 0));
        g_assert_false(np_offset_update(&offset, 20, apart, 2));
        g_assert_false(offset.known);
        g_assert_true(np_offset_update(&offset, 30, one, 1));
        g_assert_true(offset.known);
        g_assert_cmpint(offset.bounds.min, ==, -7);
        g_assert_cmpint(offset.bounds.max, ==, -3);
}

static void test_carried(void)
{
        NpOffset offset = { TRUE, { 1000, 2000 }, 0 };
        const guint64 second = 1000000000;
        NpInterval later = np_offset_at(&offset, second);

        g_assert_cmpint(later.min, >=, 1000 - 100001);
        g_assert_cmpint(later.min, <=, 1000 - 100000);
        g_assert_cmpint(later.max, >=, 2000 + 100000);

        g_assert_true(np_offset_update(&offset, second, NULL, 0));
        g_assert_cmpint(offset.bounds.min, ==, later.min);
        g_assert_cmpint(offset.bounds.max, ==, later.max);
        g_assert_cmpuint(offset.at_ns, ==, second);
}

/* What earlier windows said narrows what this one says. */
static void test_intersected(void)
{
        NpOffset offset = { TRUE, { 1000, 2000 }, 5 };
        NpInterval votes[] = { { 1500, 9000 }, { 0, 8000 } };

        g_assert_true(np_offset_update(&offset, 5, votes, 2));
        g_assert_cmpint(offset.bounds.min, ==, 1500);
        g_assert_cmpint(offset.bounds.max, ==, 2001);   /* one nanosecond of slack at least */
}

static void test_strays_do_not_overrule(void)
{
        NpOffset offset = { TRUE, { 1000, 2000 }, 0 };
        NpInterval one[] = { { 70000, 80000 } };

        g_assert_true(np_offset_update(&offset, 0, one, 1));
        g_assert_cmpint(offset.bounds.max, ==, 2001);
}

static void test_majority_overrules(void)
{
        NpOffset offset = { TRUE, { 1000, 2000 }, 0 };
        NpInterval jumped[] = { { 70000, 80000 }, { 71000, 82000 }, { 1000, 1500 }, { 69000, 79000 } };

        g_assert_true(np_offset_update(&offset, 0, jumped, G_N_ELEMENTS(jumped)));
        g_assert_cmpint(offset.bounds.min, ==, 71000);
        g_assert_cmpint(offset.bounds.max, ==, 79000);
}

/* Intervals around a true value, some wrong: the best place is found as by trying every point. */
static void test_random(void)
{
        for (guint n = 0; n < 300; n++) {
                NpInterval intervals[40];
                guint count = g_test_rand_int_range(1, 40), best = 0;
                NpConsensus c;

                for (guint i = 0; i < count; i++) {
                        intervals[i].min = g_test_rand_int_range(-100, 100);
                        intervals[i].max = intervals[i].min + g_test_rand_int_range(0, 50);
                }
                for (gint64 at = -100; at <= 150; at++) {
                        guint overlap = 0;

                        for (guint i = 0; i < count; i++)
                                overlap += intervals[i].min <= at && at <= intervals[i].max;
                        best = MAX(best, overlap);
                }
                g_assert_true(np_consensus(intervals, count, &c));
                g_assert_cmpuint(c.votes, ==, best);

                for (guint edge = 0; edge < 2; edge++) {
                        gint64 at = edge ? c.best.max : c.best.min;
                        guint overlap = 0;

                        for (guint i = 0; i < count; i++)
                                overlap += intervals[i].min <= at && at <= intervals[i].max;
                        g_assert_cmpuint(overlap, ==, best);
                }
        }
}

int main(int argc, char **argv)
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/offset/consensus", test_consensus);
        g_test_add_func("/offset/merge", test_merge);
        g_test_add_func("/offset/first-votes", test_first_votes);
        g_test_add_func("/offset/carried", test_carried);
        g_test_add_func("/offset/intersected", test_intersected);
        g_test_add_func("/offset/strays-do-not-overrule", test_strays_do_not_overrule);
        g_test_add_func("/offset/majority-overrules", test_majority_overrules);
        g_test_add_func("/offset/random", test_random);
        return g_test_run();
}
