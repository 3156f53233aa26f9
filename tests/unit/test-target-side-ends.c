/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One recording of this machine's side for another, and all of them: what limits and what ends them. */
#include <string.h>

#include "target-fixture.h"

/* What the link does not take is dropped and counted, and what was not dropped arrives. */
static void test_link_full(Fixture *f, gconstpointer data)
{
        const unsigned all = 4 * 20000;

        fixture_begin(f);
        fixture_record_all(f);
        f->fake->on_drain = fixture_emit;
        for (int i = 0; i < 4; i++) {
                fixture_to_emit = 20000;
                for (int j = 0; j < 100 && fixture_to_emit > 0; j++)
                        fixture_run_once(f);
                g_assert_cmpuint(fixture_to_emit, ==, 0);
        }
        g_assert_cmpuint(f->link.records, ==, 0);
        link_say(&f->link, WIRE_PAUSE, NULL, 0);
        fixture_wait_eof(f);
        g_assert_cmpstr(f->link.ended, ==, "{\"error\":null,\"message\":null}");
        g_assert_cmpuint(f->link.sync.link_full, >, 0);
        g_assert_cmpuint(f->link.records + f->link.sync.link_full, ==, all);
        g_assert_cmpuint(f->link.records * sizeof(struct np_target_record), <=, TARGET_SIDE_BUFFER_MAX + (1U << 20));
        g_assert_cmpuint(f->link.records * sizeof(struct np_target_record), >, TARGET_SIDE_BUFFER_MAX - (1U << 20));
        g_assert_cmpuint(f->link.sync.counters[NP_C_EMITTED], ==, all);
        g_assert_cmpuint(f->counts.link_full, ==, f->link.sync.link_full);
}

/* Who reads nothing of the rest is not waited for. */
static void test_rest_not_taken(Fixture *f, gconstpointer data)
{
        fixture_begin(f);
        fixture_record_all(f);
        f->fake->on_drain = fixture_emit;
        fixture_to_emit = 20000;
        link_say(&f->link, WIRE_PAUSE, NULL, 0);
        for (int i = 0; i < 300 && target_sides_count(f->sides) > 0; i++)
                fixture_run_once(f);
        g_assert_cmpuint(target_sides_count(f->sides), ==, 0);
        g_assert_true(g_str_has_prefix(f->told->str, "host-a:the link did not take the last "));
}

static void test_asks_and_reads_nothing(Fixture *f, gconstpointer data)
{
        fixture_begin(f);
        fixture_record_all(f);
        f->fake->on_drain = fixture_emit;
        fixture_to_emit = 100000;
        for (int i = 0; i < 100 && fixture_to_emit > 0; i++)
                fixture_run_once(f);
        for (int i = 0; i < 100000 && target_sides_count(f->sides) > 0; i++) {
                for (int j = 0; j < 100; j++)
                        link_say_threshold(&f->link, i + 1);
                fixture_run_once(f);
        }
        g_assert_cmpstr(f->told->str, ==, "host-a:the host asks for more than it reads");
}

static void test_session_limit(Fixture *f, gconstpointer data)
{
        fixture_put(f, "host-a.conf", "[Peer]\nHostNQN=nqn.host-a\nMaxSessionSec=1\n");
        fixture_begin(f);
        fixture_record_all(f);
        fixture_run_for(f, 500);
        /* one that comes while it settles is no fault */
        f->fake->counters.target_in_flight = 1;
        for (int i = 0; i < 200 && !strstr(f->fake->calls->str, "pause"); i++)
                fixture_run_once(f);
        link_say_threshold(&f->link, 1);
        fixture_wait_eof(f);
        g_assert_nonnull(
                strstr(f->link.ended, "{\"error\":null,\"message\":\"host-a ended the recording: MaxSessionSec=1 in "));
        g_assert_true(g_str_has_prefix(f->told->str, "host-a:host-a ended the recording: MaxSessionSec=1 in "));
        g_assert_cmpuint(f->link.n[WIRE_CHANGED], ==, 1);
        g_assert_cmpstr(f->fake->calls->str, ==, "open attach threshold resume pause detach free");
}

/* A host that attaches only, and never begins, is bound by it too. */
static void test_session_limit_unused(Fixture *f, gconstpointer data)
{
        fixture_put(f, "host-a.conf", "[Peer]\nHostNQN=nqn.host-a\nMaxSessionSec=1\n");
        fixture_begin(f);
        fixture_wait_eof(f);
        g_assert_nonnull(strstr(f->link.ended, "MaxSessionSec=1 in "));
        g_assert_cmpstr(f->fake->calls->str, ==, "open attach detach free");
}

static void test_duration(Fixture *f, gconstpointer data)
{
        uint64_t from;

        g_assert_cmpint(fixture_open(f, "host-a", 300 * USEC_PER_MSEC, &f->link, NULL), ==, 0);
        fixture_record_all(f);
        from = now_ns(CLOCK_MONOTONIC);
        fixture_wait_eof(f);
        g_assert_cmpuint(now_ns(CLOCK_MONOTONIC) - from, >=, 350 * NSEC_PER_MSEC);
        g_assert_nonnull(strstr(f->link.ended, "though the time that it asked for is over"));
}

/* What is under way is waited for, but not longer than that. */
static void test_settles(Fixture *f, gconstpointer data)
{
        uint64_t from;

        for (int i = 0; i < 2; i++) {
                fixture_begin(f);
                fixture_record_all(f);
                f->fake->counters.target_in_flight = 1;
                from = now_ns(CLOCK_MONOTONIC);
                link_say(&f->link, WIRE_PAUSE, NULL, 0);
                if (i == 0) {
                        fixture_run_for(f, 100);
                        link_receive(&f->link);
                        g_assert_null(f->link.ended);
                        f->fake->counters.target_in_flight = 0;
                }
                fixture_wait_eof(f);
                g_assert_cmpuint(f->link.sync.in_flight, ==, i);
                if (i == 0)
                        g_assert_cmpuint(now_ns(CLOCK_MONOTONIC) - from, <, fixture_patience.settle_usec * NSEC_PER_USEC);
                else
                        g_assert_cmpuint(now_ns(CLOCK_MONOTONIC) - from, >=, fixture_patience.settle_usec * NSEC_PER_USEC);
                f->fake->counters.target_in_flight = 0;
                link_clear(&f->link);
        }
}

static void test_paused_before_begun(Fixture *f, gconstpointer data)
{
        fixture_begin(f);
        link_say(&f->link, WIRE_PAUSE, NULL, 0);
        fixture_wait_eof(f);
        g_assert_cmpstr(f->link.ended, ==, "{\"error\":null,\"message\":null}");
        g_assert_cmpuint(f->link.n[WIRE_SYNC], ==, 0);
        g_assert_cmpstr(f->fake->calls->str, ==, "open attach detach free");
}

static void test_limits(Fixture *f, gconstpointer data)
{
        static const char *const names[] = { "host-a", "host-b" };
        Link links[2 * TARGET_SIDES_PEER_MAX] = {}, one = { .fd = -1 };
        _cleanup_error_ Error of_peer = ERROR_INIT, of_all = ERROR_INIT, other = ERROR_INIT;
        unsigned n = 0;

        for (size_t i = 0; i < ELEMENTSOF(names); i++)
                for (int j = 0; j < TARGET_SIDES_PEER_MAX; j++)
                        g_assert_cmpint(fixture_open(f, names[i], 0, &links[n++], NULL), ==, 0);
        g_assert_cmpuint(target_sides_count(f->sides), ==, TARGET_SIDES_MAX);

        g_assert_cmpint(fixture_open(f, "host-a", 0, &one, &of_peer), ==, -EUSERS);
        g_assert_cmpstr(of_peer.message, ==, "stor-a: 4 recordings for host-a run there already: stop one first");
        g_assert_cmpint(fixture_open(f, "host-c", 0, &one, &of_all), ==, -EUSERS);
        g_assert_cmpstr(of_all.message, ==,
                        "stor-a: 8 recordings for other machines run there already: try again when one has ended");
        /* who may have none is told that first */
        g_assert_cmpint(fixture_open(f, "host-d", 0, &one, &other), ==, -EPERM);

        for (unsigned i = 0; i < n; i++)
                link_clear(&links[i]);
        for (int i = 0; i < 500 && target_sides_count(f->sides) > 0; i++)
                fixture_run_once(f);
        g_assert_cmpint(fixture_open(f, "host-a", 0, &one, NULL), ==, 0);
        link_clear(&one);
}

static void test_shutdown(Fixture *f, gconstpointer data)
{
        fixture_begin(f);
        fixture_record_all(f);
        target_sides_shutdown(f->sides);
        g_assert_cmpuint(target_sides_count(f->sides), ==, 0);
        g_assert_cmpstr(f->told->str, ==, "host-a:the service was ended");
        link_receive(&f->link);
        g_assert_true(f->link.eof);
        g_assert_cmpstr(f->link.ended, ==,
                        "{\"error\":\"ShuttingDown\",\"message\":\"host-a: its ntprofd was ended while it recorded\"}");
}

/* The thread that attaches is waited for: nothing stays attached, and it does not outlive what it works on. */
static void test_shutdown_while_attaching(Fixture *f, gconstpointer data)
{
        fixture_begin(f);
        target_sides_shutdown(f->sides);
        g_assert_cmpint(f->fake->open_captures, ==, 0);
        g_assert_true(g_str_has_suffix(f->fake->calls->str, "detach free"));
        link_receive(&f->link);
        g_assert_true(f->link.eof);
        g_assert_nonnull(strstr(f->link.ended, "ShuttingDown"));
}

int main(int argc, char **argv)
{
        g_test_init(&argc, &argv, NULL);
#define ADD(path, function) g_test_add("/target-side-ends/" path, Fixture, NULL, fixture_set_up, function, fixture_tear_down)
        ADD("link-full", test_link_full);
        ADD("rest-not-taken", test_rest_not_taken);
        ADD("asks-and-reads-nothing", test_asks_and_reads_nothing);
        ADD("session-limit", test_session_limit);
        ADD("session-limit-unused", test_session_limit_unused);
        ADD("duration", test_duration);
        ADD("settles", test_settles);
        ADD("paused-before-begun", test_paused_before_begun);
        ADD("limits", test_limits);
        ADD("shutdown", test_shutdown);
        ADD("shutdown-while-attaching", test_shutdown_while_attaching);
        return g_test_run();
}
