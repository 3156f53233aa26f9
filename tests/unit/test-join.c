/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "simulation.h"

#define SECOND G_GUINT64_CONSTANT(1000000000)

static void add_both(NpJoin *join, const TestCommand *c)
{
        np_join_add_target(join, &c->target);
        np_join_add_host(join, &c->host);
}

/* The target's record of a command whose host's was lost, and the other way round, look like one command of another offset. */
static void test_stray_pair(void)
{
        for (guint stray_at = 0; stray_at < 12; stray_at++) {
                TestOutcome outcome = { 0 };
                g_autoptr(NpJoin) join = np_join_new(test_take, &outcome);

                for (guint i = 0; i < 12; i++) {
                        TestCommand c = test_command_at(SECOND + i * SECOND / 100, i), other = c;

                        if (i != stray_at) {
                                add_both(join, &c);
                                continue;
                        }
                        other = test_command_at(SECOND + i * SECOND / 100 + SECOND / 30, i);
                        other.target.cpu = 1000;
                        np_join_add_host(join, &c.host);
                        np_join_add_target(join, &other.target);
                }
                np_join_finish(join);
                g_assert_cmpuint(outcome.right, ==, 11);
                g_assert_cmpuint(outcome.wrong, ==, 0);
                g_assert_cmpuint(outcome.unjoined[NP_UNJOINED_NO_TARGET], ==, 1);
        }
}

/* In a window of its own the stray is alone, but earlier windows know better. */
static void test_stray_alone(void)
{
        TestOutcome outcome = { 0 };
        g_autoptr(NpJoin) join = np_join_new(test_take, &outcome);
        TestCommand c;

        for (guint i = 0; i < 12; i++) {
                c = test_command_at(SECOND + i * SECOND / 100, i);
                add_both(join, &c);
        }
        np_join_advance(join, 2 * SECOND);
        g_assert_cmpuint(outcome.right, ==, 12);

        c = test_command_at(3 * SECOND, 100);
        np_join_add_host(join, &c.host);
        c = test_command_at(3 * SECOND + SECOND / 20, 100);
        np_join_add_target(join, &c.target);
        np_join_advance(join, 4 * SECOND);
        g_assert_cmpuint(outcome.unjoined[NP_UNJOINED_NO_TARGET], ==, 1);

        c = test_command_at(5 * SECOND, 101);
        add_both(join, &c);
        np_join_finish(join);
        g_assert_cmpuint(outcome.right, ==, 13);
        g_assert_cmpuint(outcome.wrong, ==, 0);
}

/* Two commands that disagree, and nothing to tell which is right. */
static void test_undecidable(void)
{
        TestOutcome outcome = { 0 };
        g_autoptr(NpJoin) join = np_join_new(test_take, &outcome);
        TestCommand c = test_command_at(SECOND, 1);
        NpJoinStats stats;

        add_both(join, &c);
        c = test_command_at(SECOND + 1000000, 2);
        np_join_add_host(join, &c.host);
        c = test_command_at(SECOND + 2000000, 2);
        np_join_add_target(join, &c.target);
        np_join_finish(join);
        g_assert_cmpuint(outcome.unjoined[NP_UNJOINED_AMBIGUOUS], ==, 2);
        np_join_stats(join, &stats);
        g_assert_cmpuint(stats.target_without_host, ==, 0);
}

/* The same, and then a third tells. */
static void test_decided_later(void)
{
        TestOutcome outcome = { 0 };
        g_autoptr(NpJoin) join = np_join_new(test_take, &outcome);
        TestCommand c = test_command_at(SECOND, 1);

        add_both(join, &c);
        c = test_command_at(SECOND + 1000000, 2);
        np_join_add_host(join, &c.host);
        c = test_command_at(SECOND + 2000000, 2);
        np_join_add_target(join, &c.target);
        np_join_advance(join, 2 * SECOND);
        g_assert_cmpuint(test_outcome_total(&outcome), ==, 0);

        for (guint i = 3; i < 6; i++) {
                c = test_command_at(2 * SECOND + i * 1000000, i);
                add_both(join, &c);
        }
        np_join_advance(join, 3 * SECOND);
        g_assert_cmpuint(outcome.right, ==, 4);
        g_assert_cmpuint(outcome.wrong, ==, 0);
        g_assert_cmpuint(outcome.unjoined[NP_UNJOINED_NO_TARGET], ==, 1);
}

/* The network is slow and the identity comes again at once: the second target's record is there, its host's is not yet. */
static void test_rival_to_come(void)
{
        TestOutcome outcome = { 0 };
        g_autoptr(NpJoin) join = np_join_new(test_take, &outcome);
        TestCommand first, second;

        for (guint i = 0; i < 5; i++) {
                first = test_command_at(SECOND + i * 10000000, 100 + i);
                for (guint h = NP_H6; h < NP_H_COUNT; h++)
                        first.host.h[h] += 2000000;
                add_both(join, &first);
        }
        np_join_advance(join, 2 * SECOND);
        g_assert_cmpuint(outcome.right, ==, 5);

        first = test_command_at(3 * SECOND, 1);
        second = test_command_at(3 * SECOND + 100000, 1);
        second.host.cpu = second.target.cpu = 2;
        np_join_add_target(join, &first.target);
        np_join_add_target(join, &second.target);
        np_join_add_host(join, &first.host);
        np_join_advance(join, first.host.h[NP_H8] + 1);
        np_join_add_host(join, &second.host);
        np_join_advance(join, 4 * SECOND);
        g_assert_cmpuint(outcome.right, ==, 7);
        g_assert_cmpuint(outcome.wrong, ==, 0);
}

/* A request sent again with the same cid: two records at the target, one of the host with the second sending. */
static void test_retried(void)
{
        TestOutcome outcome = { 0 };
        g_autoptr(NpJoin) join = np_join_new(test_take, &outcome);
        NpJoinStats stats;

        for (guint i = 0; i < 50; i++) {
                TestCommand c = test_command_at(SECOND + i * SECOND / 100, i);

                if (i % 10 == 5) {
                        TestCommand first = test_command_at(SECOND + i * SECOND / 100 - 80000, i);

                        first.target.cpu = 1000;
                        np_join_add_target(join, &first.target);
                        c.host.header.flags |= NP_F_RETRIED;
                }
                add_both(join, &c);
        }
        np_join_finish(join);
        np_join_stats(join, &stats);
        g_assert_cmpuint(outcome.right, ==, 50);
        g_assert_cmpuint(stats.target_without_host, ==, 5);
}

/* A host's record with a defect takes its partner along: the target's record must not be left for another. */
static void test_defects_take_part(void)
{
        TestOutcome outcome = { 0 };
        g_autoptr(NpJoin) join = np_join_new(test_take, &outcome);
        NpJoinStats stats;

        for (guint i = 0; i < 20; i++) {
                TestCommand c = test_command_at(SECOND + i * SECOND / 100, i);

                if (i % 4 == 1)
                        c.host.h[NP_H3] = 0;
                if (i % 4 == 2)
                        c.host.h[NP_H6] = 0;
                if (i % 4 == 3)
                        c.target.t[NP_T8] = 0;
                add_both(join, &c);
        }
        np_join_finish(join);
        np_join_stats(join, &stats);
        g_assert_cmpuint(outcome.right, ==, 20);
        g_assert_cmpuint(stats.target_without_host, ==, 0);
}

/* Damaged records agree on a wrong offset, and are more than the others: they have no say in it. */
static void test_defects_do_not_vote(void)
{
        TestOutcome outcome = { 0 };
        g_autoptr(NpJoin) join = np_join_new(test_take, &outcome);

        for (guint i = 0; i < 40; i++) {
                TestCommand c = test_command_at(SECOND + i * SECOND / 100, i);

                if (i % 4 == 1 || i % 4 == 2) {
                        for (guint h = NP_H2; h < NP_H_COUNT; h++)
                                c.host.h[h] += c.host.h[h] ? 500000 : 0;
                        c.host.h[NP_H7] = i % 4 == 1 ? 0 : 1;
                }
                if (i % 4 == 3) {
                        for (guint t = NP_T1; t < NP_T_COUNT; t++)
                                c.target.t[t] -= c.target.t[t] ? 500000 : 0;
                        c.target.t[NP_T4] = 1;
                }
                add_both(join, &c);
        }
        np_join_finish(join);
        g_assert_cmpuint(outcome.right, ==, 10);
        g_assert_cmpuint(outcome.unjoined[NP_UNJOINED_NO_TARGET], ==, 30);
}

/* Nothing ties a record without H2 or T1 to anything. */
static void test_untied(void)
{
        TestOutcome outcome = { 0 };
        g_autoptr(NpJoin) join = np_join_new(test_take, &outcome);
        NpJoinStats stats;

        for (guint i = 0; i < 20; i++) {
                TestCommand c = test_command_at(SECOND + i * SECOND / 100, i);

                if (i == 7)
                        c.host.h[NP_H2] = 0;
                if (i == 9)
                        c.target.t[NP_T1] = 0;
                add_both(join, &c);
        }
        np_join_finish(join);
        np_join_stats(join, &stats);
        g_assert_cmpuint(outcome.right, ==, 18);
        g_assert_cmpuint(outcome.unjoined[NP_UNJOINED_NO_TARGET], ==, 2);
        g_assert_cmpuint(stats.target_without_host, ==, 2);
}

/* Before its first threshold the target sampled nothing. */
static void test_before_first_threshold(void)
{
        TestOutcome outcome = { 0 };
        g_autoptr(NpJoin) join = np_join_new(test_take, &outcome);

        np_join_target_threshold(join, SECOND + SECOND / 2 + TEST_OFFSET_NS, G_MAXUINT32);
        for (guint i = 0; i < 100; i++) {
                TestCommand c = test_command_at(SECOND + i * SECOND / 100, i);

                np_join_add_host(join, &c.host);
                if (i > 50)
                        np_join_add_target(join, &c.target);
        }
        np_join_finish(join);
        g_assert_cmpuint(outcome.unjoined[NP_UNJOINED_THRESHOLD], ==, 51);
        g_assert_cmpuint(outcome.right, ==, 49);
}

static void test_weight(void)
{
        TestOutcome outcome = { 0 };
        g_autoptr(NpJoin) join = np_join_new(test_take, &outcome);
        TestCommand c = test_command_at(SECOND, 1);

        c.host.header.threshold = 1u << 31;
        c.target.header.threshold = 1u << 30;
        c.host.header.hash = c.target.header.hash = 5;
        add_both(join, &c);
        np_join_advance(join, 2 * SECOND);
        g_assert_cmpuint(outcome.right, ==, 1);
        g_assert_cmpuint(outcome.last_threshold, ==, 1u << 30);

        c = test_command_at(2 * SECOND, 2);
        c.host.header.threshold = 1u << 29;
        add_both(join, &c);
        np_join_advance(join, 3 * SECOND);
        g_assert_cmpuint(outcome.right, ==, 2);
        g_assert_cmpuint(outcome.last_threshold, ==, 1u << 29);

        np_join_target_threshold(join, SECOND, 1u << 20);
        c = test_command_at(3 * SECOND, 3);
        c.host.header.hash = 5;
        np_join_add_host(join, &c.host);
        np_join_finish(join);
        g_assert_cmpuint(outcome.unjoined[NP_UNJOINED_NO_TARGET], ==, 1);
        g_assert_cmpuint(outcome.last_threshold, ==, 1u << 20);
}

/* What the host's lower threshold left out is no lost record of the host. */
static void test_target_not_chosen(void)
{
        TestOutcome outcome = { 0 };
        g_autoptr(NpJoin) join = np_join_new(test_take, &outcome);
        NpJoinStats stats;
        guint64 over = 0;

        for (guint i = 0; i < 400; i++) {
                TestCommand c = test_command_at(SECOND + i * SECOND / 100, i);
                gboolean low = i >= 200;

                c.host.header.threshold = low ? 1u << 30 : G_MAXUINT32;
                np_join_add_target(join, &c.target);
                if (low && c.host.header.hash >= 1u << 30)
                        over++;
                else if (i % 50 != 0)
                        np_join_add_host(join, &c.host);
        }
        g_assert_cmpuint(over, >, 50);
        np_join_finish(join);
        np_join_stats(join, &stats);
        g_assert_cmpuint(stats.target_not_chosen, >=, over);
        g_assert_cmpuint(stats.target_not_chosen + stats.target_without_host + outcome.right, ==, 400);
        g_assert_cmpuint(stats.target_without_host, >=, 4);
}

/* The target records a little longer than the host, before and after: what only it saw then is no loss. */
static void test_edges_of_the_host(void)
{
        static const struct { guint64 at_ns; guint64 lost; } strays[] = {
                { SECOND - SECOND / 10000, 0 },                 /* sent before, came after */
                { SECOND + SECOND / 1000, 1 },
                { 2 * SECOND - SECOND / 1000, 1 },
                { 2 * SECOND, 0 },
        };

        for (guint i = 0; i < G_N_ELEMENTS(strays); i++) {
                TestOutcome outcome = { 0 };
                g_autoptr(NpJoin) join = np_join_new(test_take, &outcome);
                TestCommand stray = test_command_at(strays[i].at_ns, 1000);
                NpJoinStats stats;

                np_join_host_began(join, SECOND);
                for (guint k = 0; k < 20; k++) {
                        TestCommand c = test_command_at(SECOND + SECOND / 1000 + k * SECOND / 100, k);

                        add_both(join, &c);
                }
                np_join_add_target(join, &stray.target);
                np_join_host_ended(join, 2 * SECOND);
                np_join_finish(join);
                np_join_stats(join, &stats);
                g_assert_cmpuint(outcome.right, ==, 20);
                g_assert_cmpuint(stats.target_without_host, ==, strays[i].lost);
                g_assert_cmpuint(stats.target_not_chosen, ==, 1 - strays[i].lost);
        }
}

static void test_late_host(void)
{
        TestOutcome outcome = { 0 };
        g_autoptr(NpJoin) join = np_join_new(test_take, &outcome);
        TestCommand late = test_command_at(SECOND, 1000), c;

        np_join_add_target(join, &late.target);
        for (guint i = 0; i < 300; i++) {
                c = test_command_at(SECOND + i * SECOND / 100, i);
                add_both(join, &c);
                if (i % 50 == 49)
                        np_join_advance(join, c.host.h[NP_H8] + 1);
        }
        g_assert_cmpuint(outcome.right, ==, 300);
        np_join_add_host(join, &late.host);
        np_join_advance(join, 4 * SECOND);
        g_assert_cmpuint(outcome.right, ==, 301);
        np_join_finish(join);
        g_assert_cmpuint(outcome.wrong, ==, 0);
}

static void test_advance_is_a_limit(void)
{
        TestOutcome outcome = { 0 };
        g_autoptr(NpJoin) join = np_join_new(test_take, &outcome);
        TestCommand a = test_command_at(SECOND, 1), b = test_command_at(SECOND + 1000, 2);

        add_both(join, &a);
        add_both(join, &b);
        np_join_advance(join, a.host.h[NP_H8]);
        g_assert_cmpuint(test_outcome_total(&outcome), ==, 0);
        np_join_advance(join, a.host.h[NP_H8] + 1);
        g_assert_cmpuint(outcome.right, ==, 1);
        np_join_advance(join, SECOND);
        g_assert_cmpuint(outcome.right, ==, 1);
        np_join_finish(join);
        g_assert_cmpuint(outcome.right, ==, 2);
}

/* A target that samples what the host never asked about, for minutes: its records don't pile up. */
static void test_targets_expire(void)
{
        TestOutcome outcome = { 0 };
        g_autoptr(NpJoin) join = np_join_new(test_take, &outcome);
        NpJoinStats stats;

        for (guint i = 0; i < 6000; i++) {
                TestCommand c = test_command_at(SECOND + i * SECOND / 100, i);

                np_join_add_target(join, &c.target);
                if (i % 10 == 0)
                        np_join_add_host(join, &c.host);
                if (i % 100 == 99)
                        np_join_advance(join, c.host.h[NP_H8] + 1);
        }
        np_join_stats(join, &stats);
        g_assert_cmpuint(outcome.right, ==, 600);
        g_assert_cmpuint(stats.target_without_host, >=, (6000 - 600) * 0.9);
        np_join_finish(join);
        np_join_stats(join, &stats);
        g_assert_cmpuint(stats.target_without_host, ==, 5400);
}

/* CLOCK_MONOTONIC stands still while a machine is suspended. */
static void test_clock_jumps(void)
{
        TestOutcome outcome = { 0 };
        g_autoptr(NpJoin) join = np_join_new(test_take, &outcome);

        for (guint i = 0; i < 400; i++) {
                TestCommand c = test_command_at(SECOND + i * SECOND / 100, i);

                if (i >= 200)
                        for (guint t = NP_T1; t < NP_T_COUNT; t++)
                                c.target.t[t] += c.target.t[t] ? 3 * SECOND : 0;
                add_both(join, &c);
                if (i % 25 == 24)
                        np_join_advance(join, c.host.h[NP_H8] + 1);
        }
        np_join_finish(join);
        g_assert_cmpuint(outcome.right, ==, 400);
}

static void test_nothing(void)
{
        TestOutcome outcome = { 0 };
        g_autoptr(NpJoin) join = np_join_new(test_take, &outcome);
        NpJoinStats stats;

        np_join_advance(join, 5);
        np_join_finish(join);
        np_join_stats(join, &stats);
        g_assert_false(stats.offset_known);
        g_assert_cmpuint(test_outcome_total(&outcome), ==, 0);
}

/* A peer may send anything: all must end, in time, with every host record told once. */
static void test_hostile_target(void)
{
        TestOutcome outcome = { 0 };
        g_autoptr(NpJoin) join = np_join_new(test_take, &outcome);
        guint n = 0;

        for (guint i = 0; i < 20000; i++) {
                TestCommand c = test_command_at(SECOND + i * 50000, i % 3);

                for (guint t = NP_T1; t < NP_T_COUNT; t++)
                        c.target.t[t] = i % 2 ? (guint64) (guint32) g_test_rand_int() << 29 : 1 + t * SECOND;
                c.target.r2t_queued = (guint64) (guint32) g_test_rand_int() << 29;
                c.host.header.flags |= NP_F_R2T;
                np_join_add_target(join, &c.target);
                if (i % 4 == 0) {
                        np_join_add_host(join, &c.host);
                        n++;
                }
                if (i % 1000 == 0)
                        np_join_advance(join, c.host.h[NP_H8]);
        }
        np_join_target_threshold(join, G_MAXUINT64, 0);
        np_join_finish(join);
        g_assert_cmpuint(test_outcome_total(&outcome), ==, n);
}

int main(int argc, char **argv)
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/join/stray-pair", test_stray_pair);
        g_test_add_func("/join/stray-alone", test_stray_alone);
        g_test_add_func("/join/undecidable", test_undecidable);
        g_test_add_func("/join/decided-later", test_decided_later);
        g_test_add_func("/join/rival-to-come", test_rival_to_come);
        g_test_add_func("/join/retried", test_retried);
        g_test_add_func("/join/defects-take-part", test_defects_take_part);
        g_test_add_func("/join/defects-do-not-vote", test_defects_do_not_vote);
        g_test_add_func("/join/untied", test_untied);
        g_test_add_func("/join/before-first-threshold", test_before_first_threshold);
        g_test_add_func("/join/weight", test_weight);
        g_test_add_func("/join/target-over-threshold", test_target_not_chosen);
        g_test_add_func("/join/edges-of-the-host", test_edges_of_the_host);
        g_test_add_func("/join/late-host", test_late_host);
        g_test_add_func("/join/advance-is-a-limit", test_advance_is_a_limit);
        g_test_add_func("/join/targets-expire", test_targets_expire);
        g_test_add_func("/join/clock-jumps", test_clock_jumps);
        g_test_add_func("/join/nothing", test_nothing);
        g_test_add_func("/join/hostile-target", test_hostile_target);
        return g_test_run();
}
