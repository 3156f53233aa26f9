/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "join-sync.h"
#include "simulation.h"

#define SECOND G_GUINT64_CONSTANT(1000000000)
#define MS G_GUINT64_CONSTANT(1000000)

static void test_known(void)
{
        NpOffset unknown = { 0 };
        NpOffset offset = { TRUE, { 7000 * MS, 7001 * MS }, 100 * SECOND };
        NpJoinSync sync = { 0 };

        g_assert_cmpuint(np_join_sync_known(&sync, &unknown), ==, G_MAXUINT64);
        g_assert_cmpuint(np_join_sync_limit(&sync, &unknown, 50 * SECOND), ==, 50 * SECOND);

        /* It was asked to begin, and nothing has come. */
        np_join_sync_take(&sync, 0, 99 * SECOND);
        g_assert_cmpuint(np_join_sync_known(&sync, &unknown), ==, 99 * SECOND);
        g_assert_cmpuint(np_join_sync_limit(&sync, &unknown, 101 * SECOND), ==, 99 * SECOND);

        /* It was at 106.5 s of the target's, 99.499 s of the host's, and takes 501 ms to come. */
        np_join_sync_take(&sync, 106500 * MS, 100 * SECOND);
        g_assert_cmpuint(np_join_sync_known(&sync, &unknown), ==, 98990 * MS);
        g_assert_cmpuint(np_join_sync_known(&sync, &offset), <=, 99489 * MS);
        g_assert_cmpuint(np_join_sync_known(&sync, &offset), >=, 99488 * MS);
        g_assert_cmpuint(np_join_sync_limit(&sync, &offset, 99 * SECOND), ==, 99 * SECOND);
        g_assert_cmpuint(np_join_sync_limit(&sync, &offset, 120 * SECOND), ==, np_join_sync_known(&sync, &offset));

        /* News from the future: the host's clock stood still. */
        sync.target_ns = 500 * SECOND;
        g_assert_cmpuint(np_join_sync_known(&sync, &offset), ==, 99990 * MS);
        /* The target's did; no clock can be before its zero. */
        sync.target_ns = 1;
        g_assert_cmpuint(np_join_sync_known(&sync, &offset), ==, 0);

        /* Silence is not waited for without end, and not at all after the end. */
        g_assert_cmpuint(np_join_sync_limit(&sync, &offset, 100 * SECOND), ==, 70 * SECOND);
        sync.ended = TRUE;
        g_assert_cmpuint(np_join_sync_limit(&sync, &offset, 100 * SECOND), ==, 100 * SECOND);
        sync.synced = FALSE;
        g_assert_cmpuint(np_join_sync_known(&sync, &unknown), ==, 0);
}

/* A link so slow that the first sync is 4 s on its way, the next one 6 s: nothing is known that may not be here yet. The target's
 * clock is 7 s ahead. */
static void test_slow(void)
{
        NpOffset unknown = { 0 };
        NpJoinSync sync = { 0 };

        np_join_sync_take(&sync, 0, 100 * SECOND);
        np_join_sync_take(&sync, 107500 * MS, 104500 * MS);
        g_assert_cmpuint(np_join_sync_known(&sync, &unknown), ==, 99990 * MS);
        np_join_sync_take(&sync, 108500 * MS, 107500 * MS);
        g_assert_cmpuint(np_join_sync_known(&sync, &unknown), ==, 100990 * MS);
        np_join_sync_take(&sync, 118 * SECOND, 111 * SECOND);
        g_assert_cmpuint(np_join_sync_known(&sync, &unknown), ==, 110490 * MS);
}

/* Of one command in 10 ms, 100 a second: the target's records come in portions of a second, half a second late. The join is
 * asked for everything all the time, and must wait. */
static void test_late_records(void)
{
        TestOutcome outcome = { 0 };
        g_autoptr(NpJoin) join = np_join_new(test_take, &outcome);
        TestCommand commands[1000];

        np_join_target_synced(join, 0, SECOND);
        for (guint i = 0; i < 1000; i++) {
                guint64 now = SECOND + i * 10 * MS;

                commands[i] = test_command_at(now, i);
                np_join_add_host(join, &commands[i].host);
                if (i % 100 == 50 && i > 100) {
                        for (guint j = i - 150; j < i - 50; j++)
                                np_join_add_target(join, &commands[j].target);
                        np_join_target_synced(join, SECOND + (i - 50) * 10 * MS + TEST_OFFSET_NS, now);
                }
                np_join_advance(join, now);
        }
        g_assert_cmpuint(outcome.unjoined[NP_UNJOINED_NO_TARGET], ==, 0);
        g_assert_cmpuint(outcome.right, ==, test_outcome_total(&outcome));
        g_assert_cmpuint(outcome.right, >=, 890);

        for (guint j = 900; j < 1000; j++)
                np_join_add_target(join, &commands[j].target);
        np_join_finish(join);
        g_assert_cmpuint(outcome.right, ==, 1000);
}

/* It ends in the sixth second, having told of five; of what it sent since then all is there but the last. Two that were lost
 * before that are its own loss. */
static void test_gone(gconstpointer data)
{
        gboolean limited = GPOINTER_TO_INT(data);
        TestOutcome outcome = { 0 };
        g_autoptr(NpJoin) join = np_join_new(test_take, &outcome);

        np_join_target_synced(join, 0, SECOND);
        if (limited)
                np_join_target_threshold(join, 0, 1u << 30);
        for (guint i = 0; i < 1000; i++) {
                guint64 now = SECOND + i * 10 * MS;
                TestCommand c = test_command_at(now, i);

                if (limited && c.host.header.hash >= 1u << 30 && i < 550)
                        continue;
                np_join_add_host(join, &c.host);
                if (i < 550 && i != 77 && i != 88)
                        np_join_add_target(join, &c.target);
                if (i % 100 == 0 && i <= 500)
                        np_join_target_synced(join, now + TEST_OFFSET_NS, now);
                if (i == 560)
                        np_join_target_ended(join);
                np_join_advance(join, now);
        }
        /* Not waited for, and before the end of the session. */
        g_assert_cmpuint(test_outcome_total(&outcome), >=, limited ? 500 : 990);
        np_join_finish(join);
        g_assert_cmpuint(outcome.wrong, ==, 0);
        g_assert_cmpuint(outcome.unjoined[NP_UNJOINED_TARGET_GONE], ==, 450);
        g_assert_cmpuint(outcome.unjoined[NP_UNJOINED_THRESHOLD], ==, 0);
        /* The weight of what the target did not leave out. */
        g_assert_cmpuint(outcome.last_threshold, ==, G_MAXUINT32);
        if (limited)
                return;
        g_assert_cmpuint(outcome.unjoined[NP_UNJOINED_NO_TARGET], ==, 2);
        g_assert_cmpuint(outcome.right, ==, 548);
}

/* One that ends before it said anything. */
static void test_gone_at_once(void)
{
        TestOutcome outcome = { 0 };
        g_autoptr(NpJoin) join = np_join_new(test_take, &outcome);

        np_join_target_synced(join, 0, SECOND);
        np_join_target_ended(join);
        for (guint i = 0; i < 100; i++) {
                TestCommand c = test_command_at(SECOND + i * 10 * MS, i);

                np_join_add_host(join, &c.host);
        }
        np_join_advance(join, 3 * SECOND);
        g_assert_cmpuint(outcome.unjoined[NP_UNJOINED_TARGET_GONE], ==, 100);
}

/* It goes silent without an end: the host's records do not pile up for as long. */
static void test_silent(void)
{
        TestOutcome outcome = { 0 };
        g_autoptr(NpJoin) join = np_join_new(test_take, &outcome);

        np_join_target_synced(join, 0, SECOND);
        for (guint i = 0; i < 6000; i++) {
                TestCommand c = test_command_at(SECOND + i * 10 * MS, i);

                np_join_add_host(join, &c.host);
                np_join_advance(join, c.host.h[NP_H8]);
        }
        g_assert_cmpuint(outcome.unjoined[NP_UNJOINED_NO_TARGET], >=, 2900);
        g_assert_cmpuint(outcome.unjoined[NP_UNJOINED_NO_TARGET], <=, 3100);
}

int main(int argc, char **argv)
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/join-sync/known", test_known);
        g_test_add_func("/join-sync/slow", test_slow);
        g_test_add_func("/join-sync/late-records", test_late_records);
        g_test_add_data_func("/join-sync/gone/all", GINT_TO_POINTER(FALSE), test_gone);
        g_test_add_data_func("/join-sync/gone/limited", GINT_TO_POINTER(TRUE), test_gone);
        g_test_add_func("/join-sync/gone-at-once", test_gone_at_once);
        g_test_add_func("/join-sync/silent", test_silent);
        return g_test_run();
}
