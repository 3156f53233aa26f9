/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The join under whole loads; test-join.c has the single cases.
 */
#include "simulation.h"

#define SECOND G_GUINT64_CONSTANT(1000000000)
#define HOUR (3600 * (gint64) SECOND)

/* As a session does: records as they come, four times a second all but the last tenth of a second is joined. */
static void feed_live(NpJoin *join, GArray *commands)
{
        guint64 next = 0;

        for (guint i = 0; i < commands->len; i++) {
                const SimulatedCommand *c = &g_array_index(commands, SimulatedCommand, i);
                guint64 now = c->records.host.h[NP_H8];

                if (now > next) {
                        if (next > 0)
                                np_join_advance(join, now - SECOND / 10);
                        next = now + SECOND / 4;
                }
                if (!c->target_lost)
                        np_join_add_target(join, &c->records.target);
                if (!c->host_lost)
                        np_join_add_host(join, &c->records.host);
        }
        np_join_finish(join);
}

static void feed_at_once(NpJoin *join, GArray *commands)
{
        for (guint i = 0; i < commands->len; i++) {
                const SimulatedCommand *c = &g_array_index(commands, SimulatedCommand, i);

                if (!c->host_lost)
                        np_join_add_host(join, &c->records.host);
        }
        for (guint i = commands->len; i-- > 0;) {
                const SimulatedCommand *c = &g_array_index(commands, SimulatedCommand, i);

                if (!c->target_lost)
                        np_join_add_target(join, &c->records.target);
        }
        np_join_finish(join);
}

typedef struct {
        guint hosts, host_lost, target_lost, both;
} Losses;

static Losses count_losses(GArray *commands)
{
        Losses l = { 0 };

        for (guint i = 0; i < commands->len; i++) {
                const SimulatedCommand *c = &g_array_index(commands, SimulatedCommand, i);

                g_assert_cmpint(np_host_record_defect(&c->records.host), ==, NP_DEFECT_NONE);
                g_assert_cmpint(np_target_record_defect(&c->records.target), ==, NP_DEFECT_NONE);
                l.hosts += !c->host_lost;
                l.host_lost += c->host_lost && !c->target_lost;
                l.target_lost += c->target_lost && !c->host_lost;
                l.both += !c->host_lost && !c->target_lost;
        }
        return l;
}

typedef enum { LIVE, AT_ONCE } Feed;

/* Joins the load; every host record must come out once, and none with another's target record. */
static TestOutcome run(const Simulation *s, Feed feed, Losses *ret_losses, NpJoinStats *ret_stats)
{
        g_autoptr(GArray) commands = simulate(s);
        TestOutcome outcome = { 0 };
        g_autoptr(NpJoin) join = np_join_new(test_take, &outcome);
        Losses losses = count_losses(commands);
        NpJoinStats stats;
        guint64 last = g_array_index(commands, SimulatedCommand, commands->len - 1).records.host.h[NP_H8];
        gint64 truth = simulated_offset(s, last);

        if (feed == LIVE)
                feed_live(join, commands);
        else
                feed_at_once(join, commands);

        g_assert_cmpuint(test_outcome_total(&outcome), ==, losses.hosts);
        g_assert_cmpuint(outcome.wrong, ==, 0);

        np_join_stats(join, &stats);
        g_assert_cmpuint(stats.joined, ==, outcome.right);
        for (guint i = 0; i < NP_UNJOINED_COUNT; i++)
                g_assert_cmpuint(stats.unjoined[i], ==, outcome.unjoined[i]);
        if (stats.offset_known) {
                /* the last window's middle is up to half a second ago */
                gint64 since = (gint64) (ABS(s->drift_ppm) * 1e-6 * SECOND);

                g_assert_cmpint(stats.offset_min_ns, <=, truth + since);
                g_assert_cmpint(stats.offset_max_ns, >=, truth - since);
        }

        if (ret_losses)
                *ret_losses = losses;
        if (ret_stats)
                *ret_stats = stats;
        return outcome;
}

static const Simulation ordinary = {
        .commands = 20000, .queues = 4, .depth = 8, .blocks = 1000000, .think_ns = 10000000, .wire_ns = 2000,
        .fetched_percent = 10, .start_ns = 1000 * SECOND,
};

static void test_clocks(void)
{
        static const gint64 offsets[] = { 0, 7 * HOUR, -HOUR / 4, 123456789 };
        static const double drifts[] = { 0, 50, -50 };

        for (gsize i = 0; i < G_N_ELEMENTS(offsets); i++)
                for (gsize j = 0; j < G_N_ELEMENTS(drifts); j++) {
                        Simulation s = ordinary;
                        NpJoinStats stats;
                        TestOutcome o;

                        s.commands = 6000;
                        s.think_ns = 20000000;
                        s.offset_ns = offsets[i];
                        s.drift_ppm = drifts[j];
                        o = run(&s, j == 0 ? AT_ONCE : LIVE, NULL, &stats);
                        g_assert_cmpuint(o.right, ==, s.commands);
                        g_assert_true(stats.offset_known);
                        g_assert_cmpint(stats.offset_max_ns - stats.offset_min_ns, <, 200000);
                }
}

/* A slow load over ten minutes: one window has few commands, the clocks part by 30 ms. */
static void test_slow_load(void)
{
        Simulation s = ordinary;

        s.commands = 1200;
        s.queues = 1;
        s.depth = 1;
        s.think_ns = SECOND / 2;
        s.drift_ppm = 50;
        g_assert_cmpuint(run(&s, LIVE, NULL, NULL).right, ==, s.commands);
        s.drift_ppm = -50;
        g_assert_cmpuint(run(&s, AT_ONCE, NULL, NULL).right, ==, s.commands);
}

static void test_losses(void)
{
        Simulation s = ordinary;
        NpJoinStats stats;
        Losses losses;
        TestOutcome o;

        s.lost_host_percent = 5;
        s.lost_target_percent = 7;
        s.offset_ns = -3 * HOUR / 1000;
        for (Feed feed = LIVE; feed <= AT_ONCE; feed++) {
                o = run(&s, feed, &losses, &stats);
                g_assert_cmpuint(o.right, ==, losses.both);
                g_assert_cmpuint(o.unjoined[NP_UNJOINED_NO_TARGET], ==, losses.target_lost);
                g_assert_cmpuint(stats.target_without_host, ==, losses.host_lost);
                g_assert_cmpuint(stats.target_not_chosen, ==, 0);
        }
}

/* Every queue of both controllers sends the same identities at the same time. */
static void test_same_identity_on_several_queues(void)
{
        Simulation s = ordinary;
        g_autoptr(GArray) commands = NULL;
        TestOutcome outcome = { 0 };
        g_autoptr(NpJoin) join = np_join_new(test_take, &outcome);

        s.commands = 8000;
        s.queues = 1;
        s.offset_ns = HOUR;
        commands = simulate(&s);
        for (guint i = 0; i < commands->len; i++) {
                TestCommand c = g_array_index(commands, SimulatedCommand, i).records;

                for (guint twin = 0; twin < 4; twin++) {
                        c.host.header.id.qid = 1 + twin % 2;
                        c.host.header.id.cntlid = 1 + twin / 2;
                        c.host.cpu = c.target.cpu = 4 * i + twin;
                        test_rehash(&c);
                        np_join_add_target(join, &c.target);
                        np_join_add_host(join, &c.host);
                }
        }
        np_join_finish(join);
        g_assert_cmpuint(outcome.right, ==, 4 * commands->len);
}

/* One block, one slot: 16 identities that come again every 16 commands, ten thousand commands a second. */
static void test_generations_wrap(void)
{
        Simulation s = ordinary;
        TestOutcome o;

        s.queues = s.depth = s.blocks = 1;
        s.think_ns = 20000;
        s.drift_ppm = 50;
        s.offset_ns = HOUR;
        for (Feed feed = LIVE; feed <= AT_ONCE; feed++) {
                o = run(&s, feed, NULL, NULL);
                g_assert_cmpuint(o.right, >, s.commands * 0.99);
        }

        s.lost_host_percent = s.lost_target_percent = 3;
        for (Feed feed = LIVE; feed <= AT_ONCE; feed++) {
                Losses losses;

                o = run(&s, feed, &losses, NULL);
                g_assert_cmpuint(o.right, >, losses.both * 0.95);
        }
}

/* The worst: the same identity with every command, back to back. */
static void test_one_identity(void)
{
        Simulation s = ordinary;
        Losses losses;

        s.queues = s.depth = s.blocks = 1;
        s.same_cid = TRUE;
        s.think_ns = 5000;
        s.offset_ns = -HOUR;
        g_assert_cmpuint(run(&s, LIVE, NULL, NULL).right, >, s.commands * 0.9);

        s.lost_host_percent = s.lost_target_percent = 1;
        g_assert_cmpuint(run(&s, LIVE, &losses, NULL).right, >, losses.both / 2);
}

/* Nothing tells one period from the next, so nothing may be joined by guess. */
static void test_periodic_repeats(void)
{
        Simulation s = ordinary;

        s.queues = s.depth = s.blocks = 1;
        s.same_cid = TRUE;
        s.periodic = TRUE;
        s.think_ns = 1000000;
        s.commands = 3000;
        run(&s, LIVE, NULL, NULL);
        s.lost_host_percent = s.lost_target_percent = 10;
        run(&s, LIVE, NULL, NULL);
        run(&s, AT_ONCE, NULL, NULL);

        /* the target began late: one period off, all hosts have a partner, but with the right offset the first has none */
        s.lost_host_percent = s.lost_target_percent = 0;
        s.wire_ns = 100000;
        for (Feed feed = LIVE; feed <= AT_ONCE; feed++) {
                TestOutcome outcome = { 0 };
                g_autoptr(NpJoin) join = np_join_new(test_take, &outcome);
                g_autoptr(GArray) commands = simulate(&s);

                g_array_index(commands, SimulatedCommand, 0).target_lost = TRUE;
                if (feed == LIVE)
                        feed_live(join, commands);
                else
                        feed_at_once(join, commands);
                g_assert_cmpuint(outcome.wrong, ==, 0);
        }
}

/* A working set so small that identities repeat within a window, but some are unique. */
static void test_small_working_set(void)
{
        Simulation s = ordinary;
        Losses losses;
        TestOutcome o;

        s.blocks = 20;
        s.lost_host_percent = s.lost_target_percent = 2;
        s.drift_ppm = -50;
        for (Feed feed = LIVE; feed <= AT_ONCE; feed++) {
                o = run(&s, feed, &losses, NULL);
                g_assert_cmpuint(o.right, >, losses.both * 0.99);
        }
}

/* The target lowers its threshold for the middle third. */
static void test_threshold_change(void)
{
        Simulation s = ordinary;
        g_autoptr(GArray) commands = NULL;
        TestOutcome outcome = { 0 };
        g_autoptr(NpJoin) join = np_join_new(test_take, &outcome);
        const guint32 low = 1u << 30;
        guint64 from, to, expected = 0, near = 0, lost = 0;
        NpJoinStats stats;

        s.offset_ns = 2 * HOUR;
        s.drift_ppm = 50;
        s.lost_target_percent = 2;
        commands = simulate(&s);
        from = g_array_index(commands, SimulatedCommand, s.commands / 3).records.target.t[NP_T1];
        to = g_array_index(commands, SimulatedCommand, s.commands * 2 / 3).records.target.t[NP_T1];

        for (guint i = 0; i < commands->len; i++) {
                SimulatedCommand *c = &g_array_index(commands, SimulatedCommand, i);
                guint64 t1 = c->records.target.t[NP_T1];

                if (t1 >= from && t1 < to) {
                        c->records.target.header.threshold = low;
                        if (c->records.host.header.hash >= low) {
                                c->target_lost = TRUE;
                                expected++;
                                continue;
                        }
                }
                /* within a millisecond of a change it can't be told which of the two it was */
                if (c->target_lost && c->records.host.header.hash >= low &&
                    (ABS((gint64) (t1 - from)) < 2000000 || ABS((gint64) (t1 - to)) < 2000000))
                        near++;
                lost += c->target_lost;
        }
        g_assert_cmpuint(expected, >, s.commands / 5);

        np_join_target_threshold(join, g_array_index(commands, SimulatedCommand, 0).records.target.t[NP_T1] - SECOND, G_MAXUINT32);
        np_join_target_threshold(join, from, low);
        np_join_target_threshold(join, to, G_MAXUINT32);
        feed_live(join, commands);

        np_join_stats(join, &stats);
        g_assert_cmpuint(outcome.wrong, ==, 0);
        g_assert_cmpuint(outcome.unjoined[NP_UNJOINED_THRESHOLD], >=, expected);
        g_assert_cmpuint(outcome.unjoined[NP_UNJOINED_THRESHOLD], <=, expected + near);
        g_assert_cmpuint(outcome.unjoined[NP_UNJOINED_NO_TARGET], ==, lost + expected - outcome.unjoined[NP_UNJOINED_THRESHOLD]);
        g_assert_cmpuint(outcome.right, ==, s.commands - lost - expected);
}

/* Not a benchmark: it fails when something is quadratic. */
static void test_many(void)
{
        Simulation s = ordinary;
        gint64 begin;

        s.commands = 200000;
        s.think_ns = 200000;
        begin = g_get_monotonic_time();
        g_assert_cmpuint(run(&s, LIVE, NULL, NULL).right, ==, s.commands);
        g_test_message("%u commands in %.1f s", s.commands, (g_get_monotonic_time() - begin) / 1e6);
        g_assert_cmpint(g_get_monotonic_time() - begin, <, 60 * G_USEC_PER_SEC);
}

int main(int argc, char **argv)
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/join-load/clocks", test_clocks);
        g_test_add_func("/join-load/slow-load", test_slow_load);
        g_test_add_func("/join-load/losses", test_losses);
        g_test_add_func("/join-load/same-identity-on-several-queues", test_same_identity_on_several_queues);
        g_test_add_func("/join-load/generations-wrap", test_generations_wrap);
        g_test_add_func("/join-load/one-identity", test_one_identity);
        g_test_add_func("/join-load/periodic-repeats", test_periodic_repeats);
        g_test_add_func("/join-load/small-working-set", test_small_working_set);
        g_test_add_func("/join-load/threshold-change", test_threshold_change);
        g_test_add_func("/join-load/many", test_many);
        return g_test_run();
}
