/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "local-session.h"

#include <glib.h>

static void test_from_start_to_report(LocalSession *f, gconstpointer data)
{
        g_autoptr(NpReport) r = NULL;
        const NpReportTarget *target;

        ls_start_all(f);
        g_assert_cmpint(f->session->state, ==, SESSION_PREPARING);
        g_assert_true(session_has_target(f->session));
        ls_no_report(f, "Session 1 has no report: it has not begun to record");

        f->fake->iostat = (IoStat) { .ios = 1000, .weighted_ms = 50000 };
        g_assert_true(ls_run(f, SESSION_RECORDING, 5000));
        for (int i = 0; i < 100; i++)
                fake_command(f->fake, i != 7);
        f->fake->iostat = (IoStat) { .ios = 1100, .weighted_ms = 50200 };
        session_stop(f->session);
        g_assert_cmpint(f->session->state, ==, SESSION_JOINING);
        g_assert_true(ls_run(f, SESSION_FINISHED, 5000));

        g_assert_cmpstr(f->fake->calls->str, ==, "open attach threshold resume iostat pause iostat detach free");
        g_assert_cmpstr(f->observer.told->str, ==, "1:hooks 1:recording 1:joining 1:finished");
        g_assert_cmpstr(session_result(f->session), ==, "done");
        g_assert_cmpuint(f->session->commands, ==, 100);
        g_assert_cmpuint(f->session->sampled, ==, 100);
        g_assert_cmpuint(f->session->joined, ==, 99);
        g_assert_cmpuint(f->session->losses[NP_LOSS_NO_TARGET], ==, 1);

        r = ls_report(f);
        g_assert_cmpstr(r->facts->session_id, ==, "1");
        g_assert_cmpstr(r->facts->host_name, ==, "host-a");
        g_assert_cmpuint(r->facts->targets->len, ==, 1);
        target = r->facts->targets->pdata[0];
        g_assert_cmpstr(target->kernel, ==, "6.1.0-test");
        g_assert_null(target->peer);
        g_assert_cmpuint(r->facts->duration_ns, ==, f->session->recorded_ns);
        g_assert_true(r->facts->diskstats.valid);
        g_assert_cmpuint(r->facts->diskstats.ios, ==, 100);
        g_assert_cmpfloat_with_epsilon(r->facts->diskstats.avg_qd, 200e6 / r->facts->duration_ns, 1e-3);
        g_assert_cmpuint(r->facts->host_hooks->len, ==, 1);
        g_assert_cmpuint(target->hooks->len, ==, 1);
        g_assert_cmpuint(r->facts->paths->len, ==, 2);
        g_assert_true(r->facts->threshold_fixed);
        g_assert_cmpuint(r->groups->len, ==, 2);
}

/* One pair of NQNs, though there are two paths; names are zero-padded. */
static void test_configuration(LocalSession *f, gconstpointer data)
{
        const CaptureConfig *config = &f->fake->config;

        ls_start_all(f);
        g_assert_cmpuint(config->n_host_filters, ==, 2);
        g_assert_cmpstr(config->host_filters[1].disk, ==, "nvme6c7n1");
        g_assert_cmpuint(config->host_filters[1].nsid, ==, 1);
        g_assert_cmphex(config->host_filters[1].seed, ==, namespace_seed("nqn.host"));
        g_assert_cmpuint(config->transports, ==, TRANSPORT_TCP);
        g_assert_cmpint(config->host_paths[1].transport, ==, TRANSPORT_TCP);
        g_assert_true(config->host_paths[1].to_target);
        g_assert_cmpuint(config->head_major, ==, 259);
        g_assert_cmpuint(config->head_minor, ==, 6);
        g_assert_cmpuint(config->n_target_filters, ==, 1);
        g_assert_cmpstr(config->target_filters[0].subsysnqn, ==, "nqn.sub");
        g_assert_cmpstr(config->target_filters[0].hostnqn, ==, "nqn.host");
        g_assert_cmphex(config->target_filters[0].seed, ==, config->host_filters[0].seed);
        for (size_t i = strlen("nqn.sub"); i < NP_NQN_LEN; i++)
                g_assert_cmpint(config->target_filters[0].subsysnqn[i], ==, 0);
}

static void test_without_a_target(LocalSession *f, gconstpointer data)
{
        g_autoptr(NpReport) r = NULL;

        f->fake->no_target_reason = "the target is this machine, but it has no hook for T1";
        ls_start_all(f);
        g_assert_false(session_has_target(f->session));
        g_assert_true(ls_run(f, SESSION_RECORDING, 5000));
        fake_command(f->fake, false);
        session_stop(f->session);
        g_assert_true(ls_run(f, SESSION_FINISHED, 5000));
        r = ls_report(f);
        g_assert_cmpuint(r->facts->targets->len, ==, 0);
        g_assert_cmpstr(((NpReportPath *) r->facts->paths->pdata[0])->no_target_reason, ==, f->fake->no_target_reason);
        g_assert_cmpuint(f->session->losses[NP_LOSS_NO_TARGET], ==, 0);
        g_assert_cmpuint(r->groups->len, ==, 1);
}

/* The other machine tells it: a report must be readable whatever it is. */
static void test_a_subsystem_of_an_odd_name(LocalSession *f, gconstpointer data)
{
        g_autoptr(NpReport) r = NULL;

        g_free(f->fake->info->subsystem_nqn);
        f->fake->info->subsystem_nqn = g_strdup("nqn.\033[31m\377");
        ls_start_all(f);
        g_assert_true(ls_run(f, SESSION_RECORDING, 5000));
        session_stop(f->session);
        g_assert_true(ls_run(f, SESSION_FINISHED, 5000));
        r = ls_report(f);
        g_assert_cmpstr(r->facts->subsystem_nqn, ==, "nqn.?[31m\357\277\275");
}

/* Nothing was attached: nothing is. */
static void test_cancel_while_it_prepares(LocalSession *f, gconstpointer data)
{
        ls_start_all(f);
        session_cancel(f->session);
        g_assert_cmpint(f->session->state, ==, SESSION_FINISHED);
        g_assert_cmpstr(session_result(f->session), ==, "cancelled");
        ls_run(f, SESSION_RECORDING, 50);
        g_assert_cmpstr(f->fake->calls->str, ==, "open detach free");
        ls_no_report(f, "Session 1 has no report: it was cancelled");
}

static void test_cancel_while_it_records(LocalSession *f, gconstpointer data)
{
        ls_start_all(f);
        g_assert_true(ls_run(f, SESSION_RECORDING, 5000));
        fake_command(f->fake, true);
        session_cancel(f->session);
        g_assert_cmpint(f->session->state, ==, SESSION_FINISHED);
        ls_run(f, SESSION_JOINING, 200);
        g_assert_cmpstr(f->fake->calls->str, ==, "open attach threshold resume iostat detach free");
        g_assert_cmpstr(f->observer.told->str, ==, "1:hooks 1:recording 1:finished");
}

/* The kernel takes seconds; the loop goes on meanwhile. */
static void test_cancel_waits_for_nothing(LocalSession *f, gconstpointer data)
{
        ls_start_all(f);
        g_assert_true(ls_run(f, SESSION_RECORDING, 5000));
        f->fake->hold_detach = true;
        session_cancel(f->session);
        g_assert_cmpint(f->session->state, ==, SESSION_FINISHED);
        ls_run(f, SESSION_JOINING, 50);
        g_assert_cmpint(f->fake->open_captures, ==, 1);
        g_atomic_int_set(&f->fake->hold_detach, false);
        ls_run_until_let_go(f);
}

static void test_cancel_while_it_joins(LocalSession *f, gconstpointer data)
{
        ls_start_all(f);
        g_assert_true(ls_run(f, SESSION_RECORDING, 5000));
        f->fake->counters.host_in_flight = 1;
        session_stop(f->session);
        g_assert_cmpint(f->session->state, ==, SESSION_JOINING);
        session_cancel(f->session);
        g_assert_cmpstr(session_result(f->session), ==, "cancelled");
        ls_run(f, SESSION_FAILED, 100);
        ls_no_report(f, "Session 1 has no report: it was cancelled");
}

static void test_stop_while_it_prepares(LocalSession *f, gconstpointer data)
{
        g_autoptr(NpReport) r = NULL;

        ls_start_all(f);
        session_stop(f->session);
        g_assert_true(ls_run(f, SESSION_FINISHED, 5000));
        g_assert_cmpstr(session_result(f->session), ==, "done");
        g_assert_cmpstr(f->observer.told->str, ==, "1:hooks 1:recording 1:joining 1:finished");
        r = ls_report(f);
        g_assert_cmpuint(r->groups->len, ==, 0);
}

static void test_freed_while_it_records(LocalSession *f, gconstpointer data)
{
        ls_start_all(f);
        g_assert_true(ls_run(f, SESSION_RECORDING, 5000));
        f->session = session_free(f->session);
        g_assert_cmpstr(f->fake->calls->str, ==, "open attach threshold resume iostat detach free");
}

static void land_last(FakeBackend *fake)
{
        if (!strstr(fake->calls->str, "pause") || fake->counters.host_in_flight == 0)
                return;
        if (--fake->counters.host_in_flight == 0)
                fake_command(fake, true);
}

/* What was under way at the stop is waited for, and is in the report. */
static void test_waits_for_what_is_under_way(LocalSession *f, gconstpointer data)
{
        ls_start_all(f);
        g_assert_true(ls_run(f, SESSION_RECORDING, 5000));
        f->fake->counters.host_in_flight = 5;
        f->fake->on_drain = land_last;
        session_stop(f->session);
        g_assert_true(ls_run(f, SESSION_FINISHED, 1500));
        g_assert_cmpuint(f->session->joined, ==, 1);
        g_assert_cmpuint(f->session->losses[NP_LOSS_IN_FLIGHT], ==, 0);
}

/* But not for ever: a path that lost its controller completes nothing. */
static void test_does_not_wait_for_ever(LocalSession *f, gconstpointer data)
{
        uint64_t begun = now_ns(CLOCK_MONOTONIC);

        ls_start_all(f);
        g_assert_true(ls_run(f, SESSION_RECORDING, 5000));
        f->fake->counters.host_in_flight = 3;
        f->fake->counters.target_in_flight = 2;
        session_stop(f->session);
        g_assert_true(ls_run(f, SESSION_FINISHED, 10000));
        g_assert_cmpuint(now_ns(CLOCK_MONOTONIC) - begun, >=, 2 * NSEC_PER_SEC);
        g_assert_cmpuint(f->session->losses[NP_LOSS_IN_FLIGHT], ==, 3);
}

static void test_duration(LocalSession *f, gconstpointer data)
{
        ls_start(f, &(SessionOptions) { .duration_usec = 250 * USEC_PER_MSEC });
        g_assert_true(ls_run(f, SESSION_FINISHED, 5000));
        g_assert_cmpuint(f->session->recorded_ns, >=, 250 * NSEC_PER_MSEC);
        g_assert_cmpuint(f->session->recorded_ns, <, 2000 * NSEC_PER_MSEC);
}

static void test_shortest_duration(LocalSession *f, gconstpointer data)
{
        ls_start(f, &(SessionOptions) { .duration_usec = 1 });
        g_assert_true(ls_run(f, SESSION_FINISHED, 5000));
        g_assert_cmpuint(f->session->recorded_ns, <, 80 * NSEC_PER_MSEC);
}

static void test_longest_duration(LocalSession *f, gconstpointer data)
{
        ls_start(f, &(SessionOptions) { .duration_usec = UINT64_MAX });
        g_assert_false(ls_run(f, SESSION_FINISHED, 300));
        g_assert_cmpint(f->session->state, ==, SESSION_RECORDING);
}

static void test_end_of_a_replay(LocalSession *f, gconstpointer data)
{
        ls_start_all(f);
        g_assert_true(ls_run(f, SESSION_RECORDING, 5000));
        f->fake->at_end = true;
        g_assert_true(ls_run(f, SESSION_FINISHED, 5000));
        g_assert_cmpstr(session_result(f->session), ==, "done");
}

static void test_records_are_read_when_announced(LocalSession *f, gconstpointer data)
{
        unsigned before;

        f->fake->with_fd = true;
        ls_start_all(f);
        g_assert_true(ls_run(f, SESSION_RECORDING, 5000));
        before = f->fake->drains;
        for (int i = 0; i < 5; i++) {
                fake_announce(f->fake);
                g_assert_cmpint(sd_event_run(f->event, 10 * USEC_PER_MSEC), >, 0);
        }
        g_assert_cmpuint(f->fake->drains, >=, before + 5);
}

/* A moment's rate of a million: the threshold goes down; idle: up to all. */
static void flood(FakeBackend *fake)
{
        fake->counters.host[NP_C_COMMANDS] += 100000;
}

static void test_auto_adapts(LocalSession *f, gconstpointer data)
{
        ls_start(f, &(SessionOptions) {});
        g_assert_true(ls_run(f, SESSION_RECORDING, 5000));
        g_assert_cmpuint(f->fake->threshold, ==, UINT32_MAX / 256 + 1);
        g_assert_false(ls_run(f, SESSION_FINISHED, 900));
        g_assert_cmpuint(f->fake->threshold, ==, UINT32_MAX);
        f->fake->on_drain = flood;
        g_assert_false(ls_run(f, SESSION_FINISHED, 500));
        g_assert_cmpuint(f->fake->threshold, <, UINT32_MAX / 100);
}

static void test_fixed_stays(LocalSession *f, gconstpointer data)
{
        ls_start(f, &(SessionOptions) { .sample = { .mode = SAMPLE_FRACTION, .n = 16 } });
        f->fake->on_drain = flood;
        g_assert_true(ls_run(f, SESSION_RECORDING, 5000));
        g_assert_false(ls_run(f, SESSION_FINISHED, 500));
        g_assert_cmpuint(f->fake->threshold, ==, 1U << 28);
        g_assert_cmpstr(f->fake->calls->str, ==, "open attach threshold resume iostat");
}

static void test_a_report_so_far(LocalSession *f, gconstpointer data)
{
        ls_start_all(f);
        g_assert_true(ls_run(f, SESSION_RECORDING, 5000));
        for (int i = 0; i < 10; i++)
                fake_command(f->fake, true);
        g_assert_false(ls_run(f, SESSION_FINISHED, 300));
        for (int i = 0; i < 2; i++) {
                g_autoptr(NpReport) r = ls_report(f);

                g_assert_cmpuint(r->facts->commands, ==, 10);
        }
        session_stop(f->session);
        g_assert_true(ls_run(f, SESSION_FINISHED, 5000));
        g_assert_cmpuint(f->session->joined, ==, 10);
}

/* The namespace disappears: its counts cannot be read any more, all else stays true. */
static void test_the_disk_goes(LocalSession *f, gconstpointer data)
{
        g_autoptr(NpReport) r = NULL;

        ls_start_all(f);
        g_assert_true(ls_run(f, SESSION_RECORDING, 5000));
        fake_command(f->fake, true);
        f->fake->iostat_invalid = true;
        session_stop(f->session);
        g_assert_true(ls_run(f, SESSION_FINISHED, 5000));
        r = ls_report(f);
        g_assert_false(r->facts->diskstats.valid);
        g_assert_cmpstr(r->facts->diskstats.reason, ==, "nvme6c6n1: its counts cannot be read (No such file or directory)");
        g_assert_cmpuint(f->session->joined, ==, 1);
}

static void test_the_disk_is_replaced(LocalSession *f, gconstpointer data)
{
        g_autoptr(NpReport) r = NULL;

        f->fake->iostat = (IoStat) { .ios = 1000, .weighted_ms = 5000 };
        ls_start_all(f);
        g_assert_true(ls_run(f, SESSION_RECORDING, 5000));
        f->fake->iostat = (IoStat) { .ios = 10, .weighted_ms = 1 };
        session_stop(f->session);
        g_assert_true(ls_run(f, SESSION_FINISHED, 5000));
        r = ls_report(f);
        g_assert_false(r->facts->diskstats.valid);
        g_assert_cmpstr(r->facts->diskstats.reason, ==, "the kernel's counts began anew: a path was replaced");
}

static void test_losses_by_cause(LocalSession *f, gconstpointer data)
{
        static const struct {
                enum np_counter counter;
                NpLoss host, target;
        } causes[] = {
                { NP_C_RING_FULL, NP_LOSS_HOST_RING_FULL, NP_LOSS_TARGET_RING_FULL },
                { NP_C_MAP_FULL, NP_LOSS_HOST_MAP_FULL, NP_LOSS_TARGET_MAP_FULL },
                { NP_C_STALE, NP_LOSS_HOST_STALE, NP_LOSS_TARGET_STALE },
                { NP_C_RETRIED, NP_LOSS_RETRIED, NP_LOSS_COUNT },
                { NP_C_PASSTHROUGH, NP_LOSS_PASSTHROUGH, NP_LOSS_COUNT },
                { NP_C_KIND_OVERFLOW, NP_LOSS_KIND_OVERFLOW, NP_LOSS_COUNT },
                { NP_C_WALK_TRUNCATED, NP_LOSS_WALK_TRUNCATED, NP_LOSS_COUNT },
        };

        ls_start_all(f);
        g_assert_true(ls_run(f, SESSION_RECORDING, 5000));
        for (unsigned i = 0; i < ELEMENTSOF(causes); i++) {
                f->fake->counters.host[causes[i].counter] = 100 + i;
                f->fake->counters.target[causes[i].counter] = 200 + i;
        }
        f->fake->counters.host_recursion = 7;
        f->fake->counters.target_recursion = 8;
        session_stop(f->session);
        g_assert_true(ls_run(f, SESSION_FINISHED, 5000));
        for (unsigned i = 0; i < ELEMENTSOF(causes); i++) {
                g_assert_cmpuint(f->session->losses[causes[i].host], ==, 100 + i);
                if (causes[i].target != NP_LOSS_COUNT)
                        g_assert_cmpuint(f->session->losses[causes[i].target], ==, 200 + i);
        }
        g_assert_cmpuint(f->session->losses[NP_LOSS_HOST_RECURSION], ==, 7);
        g_assert_cmpuint(f->session->losses[NP_LOSS_TARGET_RECURSION], ==, 8);
}

int main(int argc, char **argv)
{
#define TEST(name, function) g_test_add("/session/" name, LocalSession, NULL, ls_set_up, function, ls_tear_down)
        g_test_init(&argc, &argv, NULL);
        TEST("from-start-to-report", test_from_start_to_report);
        TEST("configuration", test_configuration);
        TEST("without-a-target", test_without_a_target);
        TEST("a-subsystem-of-an-odd-name", test_a_subsystem_of_an_odd_name);
        TEST("cancel-while-it-prepares", test_cancel_while_it_prepares);
        TEST("cancel-while-it-records", test_cancel_while_it_records);
        TEST("cancel-waits-for-nothing", test_cancel_waits_for_nothing);
        TEST("cancel-while-it-joins", test_cancel_while_it_joins);
        TEST("stop-while-it-prepares", test_stop_while_it_prepares);
        TEST("freed-while-it-records", test_freed_while_it_records);
        TEST("waits-for-what-is-under-way", test_waits_for_what_is_under_way);
        TEST("does-not-wait-for-ever", test_does_not_wait_for_ever);
        TEST("duration", test_duration);
        TEST("shortest-duration", test_shortest_duration);
        TEST("longest-duration", test_longest_duration);
        TEST("end-of-a-replay", test_end_of_a_replay);
        TEST("records-are-read-when-announced", test_records_are_read_when_announced);
        TEST("auto-adapts", test_auto_adapts);
        TEST("fixed-stays", test_fixed_stays);
        TEST("a-report-so-far", test_a_report_so_far);
        TEST("the-disk-goes", test_the_disk_goes);
        TEST("the-disk-is-replaced", test_the_disk_is_replaced);
        TEST("losses-by-cause", test_losses_by_cause);
        return g_test_run();
}
