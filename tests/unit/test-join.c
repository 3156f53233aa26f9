/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "join.h"

#include "simulation.h"
#include "threshold-log.h"

#define SECOND G_GUINT64_CONSTANT(1000000000)
#define HOUR (3600 * (gint64) SECOND)

typedef struct {
        guint64 right, wrong, unjoined[NP_UNJOINED_COUNT];
        guint32 last_threshold;
} Outcome;

static void take(const struct np_host_record *host, const struct np_target_record *target, NpUnjoined why, guint32 threshold,
                 gpointer data)
{
        Outcome *outcome = data;

        outcome->last_threshold = threshold;
        if (!target) {
                g_assert_cmpint(why, <, NP_UNJOINED_COUNT);
                outcome->unjoined[why]++;
                return;
        }
        g_assert_cmpint(why, ==, NP_UNJOINED_COUNT);
        if (host->cpu == target->cpu)
                outcome->right++;
        else
                outcome->wrong++;
}

static guint64 total(const Outcome *o)
{
        return o->right + o->wrong + o->unjoined[0] + o->unjoined[1] + o->unjoined[2];
}

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

                l.hosts += !c->host_lost;
                l.host_lost += c->host_lost && !c->target_lost;
                l.target_lost += c->target_lost && !c->host_lost;
                l.both += !c->host_lost && !c->target_lost;
        }
        return l;
}

typedef enum { LIVE, AT_ONCE } Feed;

/* Joins the load; every host record must come out once, and none with another's target record. */
static Outcome run(const Simulation *s, Feed feed, Losses *ret_losses, NpJoinStats *ret_stats)
{
        g_autoptr(GArray) commands = simulate(s);
        Outcome outcome = { 0 };
        g_autoptr(NpJoin) join = np_join_new(take, &outcome);
        Losses losses = count_losses(commands);
        NpJoinStats stats;
        guint64 last = g_array_index(commands, SimulatedCommand, commands->len - 1).records.host.h[NP_H8];
        gint64 truth = simulated_offset(s, last);

        if (feed == LIVE)
                feed_live(join, commands);
        else
                feed_at_once(join, commands);

        g_assert_cmpuint(total(&outcome), ==, losses.hosts);
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
                        Outcome o;

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
        Outcome o;

        s.lost_host_percent = 5;
        s.lost_target_percent = 7;
        s.offset_ns = -3 * HOUR / 1000;
        for (Feed feed = LIVE; feed <= AT_ONCE; feed++) {
                o = run(&s, feed, &losses, &stats);
                g_assert_cmpuint(o.right, ==, losses.both);
                g_assert_cmpuint(o.unjoined[NP_UNJOINED_NO_TARGET], ==, losses.target_lost);
                g_assert_cmpuint(stats.target_without_host, ==, losses.host_lost);
                g_assert_cmpuint(stats.target_over_threshold, ==, 0);
        }
}

/* Every queue of both controllers sends the same identities at the same time. */
static void test_same_identity_on_several_queues(void)
{
        Simulation s = ordinary;
        g_autoptr(GArray) commands = NULL;
        Outcome outcome = { 0 };
        g_autoptr(NpJoin) join = np_join_new(take, &outcome);

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
        Outcome o;

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
                Outcome outcome = { 0 };
                g_autoptr(NpJoin) join = np_join_new(take, &outcome);
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
        Outcome o;

        s.blocks = 20;
        s.lost_host_percent = s.lost_target_percent = 2;
        s.drift_ppm = -50;
        for (Feed feed = LIVE; feed <= AT_ONCE; feed++) {
                o = run(&s, feed, &losses, NULL);
                g_assert_cmpuint(o.right, >, losses.both * 0.99);
        }
}

static void add_both(NpJoin *join, const TestCommand *c)
{
        np_join_add_target(join, &c->target);
        np_join_add_host(join, &c->host);
}

/* A command of 72 us at that time of the host's clock, of an address of its own. */
static TestCommand command_at(guint64 ns, guint64 slba)
{
        TestCommand c;

        test_command(&c, TEST_READ, ns);
        c.host.header.id.slba = slba;
        c.host.cpu = c.target.cpu = slba;
        test_rehash(&c);
        return c;
}

/* The target's record of a command whose host's was lost, and the other way round, look like one command of another offset. */
static void test_stray_pair(void)
{
        for (guint stray_at = 0; stray_at < 12; stray_at++) {
                Outcome outcome = { 0 };
                g_autoptr(NpJoin) join = np_join_new(take, &outcome);

                for (guint i = 0; i < 12; i++) {
                        TestCommand c = command_at(SECOND + i * SECOND / 100, i), other = c;

                        if (i != stray_at) {
                                add_both(join, &c);
                                continue;
                        }
                        other = command_at(SECOND + i * SECOND / 100 + SECOND / 30, i);
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
        Outcome outcome = { 0 };
        g_autoptr(NpJoin) join = np_join_new(take, &outcome);
        TestCommand c;

        for (guint i = 0; i < 12; i++) {
                c = command_at(SECOND + i * SECOND / 100, i);
                add_both(join, &c);
        }
        np_join_advance(join, 2 * SECOND);
        g_assert_cmpuint(outcome.right, ==, 12);

        c = command_at(3 * SECOND, 100);
        np_join_add_host(join, &c.host);
        c = command_at(3 * SECOND + SECOND / 20, 100);
        np_join_add_target(join, &c.target);
        np_join_advance(join, 4 * SECOND);
        g_assert_cmpuint(outcome.unjoined[NP_UNJOINED_NO_TARGET], ==, 1);

        c = command_at(5 * SECOND, 101);
        add_both(join, &c);
        np_join_finish(join);
        g_assert_cmpuint(outcome.right, ==, 13);
        g_assert_cmpuint(outcome.wrong, ==, 0);
}

/* Two commands that disagree, and nothing to tell which is right. */
static void test_undecidable(void)
{
        Outcome outcome = { 0 };
        g_autoptr(NpJoin) join = np_join_new(take, &outcome);
        TestCommand c = command_at(SECOND, 1);
        NpJoinStats stats;

        add_both(join, &c);
        c = command_at(SECOND + 1000000, 2);
        np_join_add_host(join, &c.host);
        c = command_at(SECOND + 2000000, 2);
        np_join_add_target(join, &c.target);
        np_join_finish(join);
        g_assert_cmpuint(outcome.unjoined[NP_UNJOINED_AMBIGUOUS], ==, 2);
        np_join_stats(join, &stats);
        g_assert_cmpuint(stats.target_without_host, ==, 0);
}

/* The same, and then a third tells. */
static void test_decided_later(void)
{
        Outcome outcome = { 0 };
        g_autoptr(NpJoin) join = np_join_new(take, &outcome);
        TestCommand c = command_at(SECOND, 1);

        add_both(join, &c);
        c = command_at(SECOND + 1000000, 2);
        np_join_add_host(join, &c.host);
        c = command_at(SECOND + 2000000, 2);
        np_join_add_target(join, &c.target);
        np_join_advance(join, 2 * SECOND);
        g_assert_cmpuint(total(&outcome), ==, 0);

        for (guint i = 3; i < 6; i++) {
                c = command_at(2 * SECOND + i * 1000000, i);
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
        Outcome outcome = { 0 };
        g_autoptr(NpJoin) join = np_join_new(take, &outcome);
        TestCommand first, second;

        for (guint i = 0; i < 5; i++) {
                first = command_at(SECOND + i * 10000000, 100 + i);
                for (guint h = NP_H6; h < NP_H_COUNT; h++)
                        first.host.h[h] += 2000000;
                add_both(join, &first);
        }
        np_join_advance(join, 2 * SECOND);
        g_assert_cmpuint(outcome.right, ==, 5);

        first = command_at(3 * SECOND, 1);
        second = command_at(3 * SECOND + 100000, 1);
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
        Outcome outcome = { 0 };
        g_autoptr(NpJoin) join = np_join_new(take, &outcome);
        NpJoinStats stats;

        for (guint i = 0; i < 50; i++) {
                TestCommand c = command_at(SECOND + i * SECOND / 100, i);

                if (i % 10 == 5) {
                        TestCommand first = command_at(SECOND + i * SECOND / 100 - 80000, i);

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
        Outcome outcome = { 0 };
        g_autoptr(NpJoin) join = np_join_new(take, &outcome);
        NpJoinStats stats;

        for (guint i = 0; i < 20; i++) {
                TestCommand c = command_at(SECOND + i * SECOND / 100, i);

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
        Outcome outcome = { 0 };
        g_autoptr(NpJoin) join = np_join_new(take, &outcome);

        for (guint i = 0; i < 40; i++) {
                TestCommand c = command_at(SECOND + i * SECOND / 100, i);

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
        Outcome outcome = { 0 };
        g_autoptr(NpJoin) join = np_join_new(take, &outcome);
        NpJoinStats stats;

        for (guint i = 0; i < 20; i++) {
                TestCommand c = command_at(SECOND + i * SECOND / 100, i);

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

/* The target lowers its threshold for the middle third. */
static void test_threshold_change(void)
{
        Simulation s = ordinary;
        g_autoptr(GArray) commands = NULL;
        Outcome outcome = { 0 };
        g_autoptr(NpJoin) join = np_join_new(take, &outcome);
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

/* Before its first threshold the target sampled nothing. */
static void test_before_first_threshold(void)
{
        Outcome outcome = { 0 };
        g_autoptr(NpJoin) join = np_join_new(take, &outcome);

        np_join_target_threshold(join, SECOND + SECOND / 2 + TEST_OFFSET_NS, G_MAXUINT32);
        for (guint i = 0; i < 100; i++) {
                TestCommand c = command_at(SECOND + i * SECOND / 100, i);

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
        Outcome outcome = { 0 };
        g_autoptr(NpJoin) join = np_join_new(take, &outcome);
        TestCommand c = command_at(SECOND, 1);

        c.host.header.threshold = 1u << 31;
        c.target.header.threshold = 1u << 30;
        c.host.header.hash = c.target.header.hash = 5;
        add_both(join, &c);
        np_join_advance(join, 2 * SECOND);
        g_assert_cmpuint(outcome.right, ==, 1);
        g_assert_cmpuint(outcome.last_threshold, ==, 1u << 30);

        c = command_at(2 * SECOND, 2);
        c.host.header.threshold = 1u << 29;
        add_both(join, &c);
        np_join_advance(join, 3 * SECOND);
        g_assert_cmpuint(outcome.right, ==, 2);
        g_assert_cmpuint(outcome.last_threshold, ==, 1u << 29);

        np_join_target_threshold(join, SECOND, 1u << 20);
        c = command_at(3 * SECOND, 3);
        c.host.header.hash = 5;
        np_join_add_host(join, &c.host);
        np_join_finish(join);
        g_assert_cmpuint(outcome.unjoined[NP_UNJOINED_NO_TARGET], ==, 1);
        g_assert_cmpuint(outcome.last_threshold, ==, 1u << 20);
}

/* What the host's lower threshold left out is no lost record of the host. */
static void test_target_over_threshold(void)
{
        Outcome outcome = { 0 };
        g_autoptr(NpJoin) join = np_join_new(take, &outcome);
        NpJoinStats stats;
        guint64 over = 0;

        for (guint i = 0; i < 400; i++) {
                TestCommand c = command_at(SECOND + i * SECOND / 100, i);
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
        g_assert_cmpuint(stats.target_over_threshold, >=, over);
        g_assert_cmpuint(stats.target_over_threshold + stats.target_without_host + outcome.right, ==, 400);
        g_assert_cmpuint(stats.target_without_host, >=, 4);
}

static void test_late_host(void)
{
        Outcome outcome = { 0 };
        g_autoptr(NpJoin) join = np_join_new(take, &outcome);
        TestCommand late = command_at(SECOND, 1000), c;

        np_join_add_target(join, &late.target);
        for (guint i = 0; i < 300; i++) {
                c = command_at(SECOND + i * SECOND / 100, i);
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
        Outcome outcome = { 0 };
        g_autoptr(NpJoin) join = np_join_new(take, &outcome);
        TestCommand a = command_at(SECOND, 1), b = command_at(SECOND + 1000, 2);

        add_both(join, &a);
        add_both(join, &b);
        np_join_advance(join, a.host.h[NP_H8]);
        g_assert_cmpuint(total(&outcome), ==, 0);
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
        Outcome outcome = { 0 };
        g_autoptr(NpJoin) join = np_join_new(take, &outcome);
        NpJoinStats stats;

        for (guint i = 0; i < 6000; i++) {
                TestCommand c = command_at(SECOND + i * SECOND / 100, i);

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
        Outcome outcome = { 0 };
        g_autoptr(NpJoin) join = np_join_new(take, &outcome);

        for (guint i = 0; i < 400; i++) {
                TestCommand c = command_at(SECOND + i * SECOND / 100, i);

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
        Outcome outcome = { 0 };
        g_autoptr(NpJoin) join = np_join_new(take, &outcome);
        NpJoinStats stats;

        np_join_advance(join, 5);
        np_join_finish(join);
        np_join_stats(join, &stats);
        g_assert_false(stats.offset_known);
        g_assert_cmpuint(total(&outcome), ==, 0);
}

/* A peer may send anything: all must end, in time, with every host record told once. */
static void test_hostile_target(void)
{
        Outcome outcome = { 0 };
        g_autoptr(NpJoin) join = np_join_new(take, &outcome);
        guint n = 0;

        for (guint i = 0; i < 20000; i++) {
                TestCommand c = command_at(SECOND + i * 50000, i % 3);

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
        g_assert_cmpuint(total(&outcome), ==, n);
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
        g_test_add_func("/join/clocks", test_clocks);
        g_test_add_func("/join/slow-load", test_slow_load);
        g_test_add_func("/join/losses", test_losses);
        g_test_add_func("/join/same-identity-on-several-queues", test_same_identity_on_several_queues);
        g_test_add_func("/join/generations-wrap", test_generations_wrap);
        g_test_add_func("/join/one-identity", test_one_identity);
        g_test_add_func("/join/periodic-repeats", test_periodic_repeats);
        g_test_add_func("/join/small-working-set", test_small_working_set);
        g_test_add_func("/join/stray-pair", test_stray_pair);
        g_test_add_func("/join/stray-alone", test_stray_alone);
        g_test_add_func("/join/undecidable", test_undecidable);
        g_test_add_func("/join/decided-later", test_decided_later);
        g_test_add_func("/join/rival-to-come", test_rival_to_come);
        g_test_add_func("/join/retried", test_retried);
        g_test_add_func("/join/defects-take-part", test_defects_take_part);
        g_test_add_func("/join/defects-do-not-vote", test_defects_do_not_vote);
        g_test_add_func("/join/untied", test_untied);
        g_test_add_func("/join/threshold-change", test_threshold_change);
        g_test_add_func("/join/before-first-threshold", test_before_first_threshold);
        g_test_add_func("/join/weight", test_weight);
        g_test_add_func("/join/target-over-threshold", test_target_over_threshold);
        g_test_add_func("/join/late-host", test_late_host);
        g_test_add_func("/join/advance-is-a-limit", test_advance_is_a_limit);
        g_test_add_func("/join/targets-expire", test_targets_expire);
        g_test_add_func("/join/clock-jumps", test_clock_jumps);
        g_test_add_func("/join/nothing", test_nothing);
        g_test_add_func("/join/hostile-target", test_hostile_target);
        g_test_add_func("/join/many", test_many);
        return g_test_run();
}
