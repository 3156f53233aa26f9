/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/session/session.h"

#include <glib.h>

#include "fake-backend.h"

typedef struct Fixture {
        sd_event *event;
        FakeBackend *fake;
        FakeObserver observer;
        Session *session;
} Fixture;

static void set_up(Fixture *f, gconstpointer data)
{
        g_assert_cmpint(sd_event_new(&f->event), >=, 0);
        f->fake = fake_backend_new();
        fake_observer_init(&f->observer);
}

/* What was attached is detached on a thread. */
static void run_until_let_go(Fixture *f)
{
        for (int i = 0; i < 500 && f->fake->open_captures > 0; i++)
                g_assert_cmpint(sd_event_run(f->event, 10 * USEC_PER_MSEC), >=, 0);
        g_assert_cmpint(f->fake->open_captures, ==, 0);
}

static void tear_down(Fixture *f, gconstpointer data)
{
        bool ended = f->session && session_has_ended(f->session);

        session_free(f->session);
        if (ended)
                run_until_let_go(f);
        fake_backend_free(f->fake);
        fake_observer_clear(&f->observer);
        g_assert_null(sd_event_unref(f->event));
}

static void start(Fixture *f, const SessionOptions *options)
{
        _cleanup_error_ Error error = ERROR_INIT;
        SessionOptions o = *options;
        int r;

        o.namespace = (char *) "nvme6n1";
        r = session_new(f->event, &f->fake->backend, NULL, &f->observer.observer, "1", 1000, &o, &f->session, &error);
        g_assert_cmpstr(error.message, ==, NULL);
        g_assert_cmpint(r, ==, 0);
}

static void start_all(Fixture *f)
{
        start(f, &(SessionOptions) { .sample = { .mode = SAMPLE_ALL } });
}

/* Until then, or for so long. */
static bool run(Fixture *f, SessionState until, unsigned msec)
{
        uint64_t deadline = now_ns(CLOCK_MONOTONIC) + msec * NSEC_PER_MSEC;

        while (f->session->state != until && now_ns(CLOCK_MONOTONIC) < deadline)
                g_assert_cmpint(sd_event_run(f->event, 10 * USEC_PER_MSEC), >=, 0);
        return f->session->state == until;
}

static NpReport *report(Fixture *f)
{
        _cleanup_error_ Error error = ERROR_INIT;
        g_autofree char *json = NULL;
        g_autoptr(GError) e = NULL;
        NpReport *made;

        g_assert_cmpint(session_report(f->session, &json, &error), ==, 0);
        made = np_report_from_json(json, -1, &e);
        g_assert_no_error(e);
        return made;
}

static void no_report(Fixture *f, const char *why)
{
        _cleanup_error_ Error error = ERROR_INIT;
        char *json;

        g_assert_cmpint(session_report(f->session, &json, &error), ==, -ENODATA);
        g_assert_cmpint(error.code, ==, NTPROF_ERROR_NO_REPORT);
        g_assert_cmpstr(error.message, ==, why);
}

static void test_from_start_to_report(Fixture *f, gconstpointer data)
{
        g_autoptr(NpReport) r = NULL;
        const NpReportTarget *target;

        start_all(f);
        g_assert_cmpint(f->session->state, ==, SESSION_PREPARING);
        g_assert_true(session_has_target(f->session));
        no_report(f, "Session 1 has no report: it has not begun to record");

        f->fake->iostat = (IoStat) { .ios = 1000, .weighted_ms = 50000 };
        g_assert_true(run(f, SESSION_RECORDING, 5000));
        for (int i = 0; i < 100; i++)
                fake_command(f->fake, i != 7);
        f->fake->iostat = (IoStat) { .ios = 1100, .weighted_ms = 50200 };
        session_stop(f->session);
        g_assert_cmpint(f->session->state, ==, SESSION_JOINING);
        g_assert_true(run(f, SESSION_FINISHED, 5000));

        g_assert_cmpstr(f->fake->calls->str, ==, "open attach threshold resume iostat pause iostat detach free");
        g_assert_cmpstr(f->observer.told->str, ==, "1:hooks 1:recording 1:joining 1:finished");
        g_assert_cmpstr(session_result(f->session), ==, "done");
        g_assert_cmpuint(f->session->commands, ==, 100);
        g_assert_cmpuint(f->session->sampled, ==, 100);
        g_assert_cmpuint(f->session->joined, ==, 99);
        g_assert_cmpuint(f->session->losses[NP_LOSS_NO_TARGET], ==, 1);

        r = report(f);
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
static void test_configuration(Fixture *f, gconstpointer data)
{
        const CaptureConfig *config = &f->fake->config;

        start_all(f);
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

static void test_without_a_target(Fixture *f, gconstpointer data)
{
        g_autoptr(NpReport) r = NULL;

        f->fake->no_target_reason = "the target is this machine, but it has no hook for T1";
        start_all(f);
        g_assert_false(session_has_target(f->session));
        g_assert_true(run(f, SESSION_RECORDING, 5000));
        fake_command(f->fake, false);
        session_stop(f->session);
        g_assert_true(run(f, SESSION_FINISHED, 5000));
        r = report(f);
        g_assert_cmpuint(r->facts->targets->len, ==, 0);
        g_assert_cmpstr(((NpReportPath *) r->facts->paths->pdata[0])->no_target_reason, ==, f->fake->no_target_reason);
        g_assert_cmpuint(f->session->losses[NP_LOSS_NO_TARGET], ==, 0);
        g_assert_cmpuint(r->groups->len, ==, 1);
}

/* The other machine tells it: a report must be readable whatever it is. */
static void test_a_subsystem_of_an_odd_name(Fixture *f, gconstpointer data)
{
        g_autoptr(NpReport) r = NULL;

        g_free(f->fake->info->subsystem_nqn);
        f->fake->info->subsystem_nqn = g_strdup("nqn.\033[31m\377");
        start_all(f);
        g_assert_true(run(f, SESSION_RECORDING, 5000));
        session_stop(f->session);
        g_assert_true(run(f, SESSION_FINISHED, 5000));
        r = report(f);
        g_assert_cmpstr(r->facts->subsystem_nqn, ==, "nqn.?[31m\357\277\275");
}

static void check_failed_with(Fixture *f, const char *result, const char *message, const char *calls)
{
        g_assert_true(run(f, SESSION_FAILED, 5000));
        g_assert_cmpstr(session_result(f->session), ==, result);
        g_assert_cmpstr(f->session->message, ==, message);
        run_until_let_go(f);
        g_assert_cmpstr(f->fake->calls->str, ==, calls);
        no_report(f, "Session 1 has no report: it failed");
        /* and nothing happens afterwards */
        session_stop(f->session);
        session_cancel(f->session);
        g_assert_cmpint(f->session->state, ==, SESSION_FAILED);
        g_assert_false(run(f, SESSION_FINISHED, 50));
}

static void check_failed(Fixture *f, const char *message, const char *calls)
{
        check_failed_with(f, "CaptureFailed", message, calls);
}

static void test_attach_fails(Fixture *f, gconstpointer data)
{
        f->fake->attach_error = -EPERM;
        f->fake->attach_why = "host program nvme_setup_cmd cannot be attached: Operation not permitted";
        start_all(f);
        check_failed(f, "nvme6n1: host program nvme_setup_cmd cannot be attached: Operation not permitted", "open attach detach free");
        g_assert_cmpstr(f->observer.told->str, ==, "1:failed");
}

static void test_attach_fails_without_a_word(Fixture *f, gconstpointer data)
{
        f->fake->attach_error = -EPERM;
        start_all(f);
        check_failed(f, "nvme6n1: Operation not permitted", "open attach detach free");
}

static void test_threshold_fails(Fixture *f, gconstpointer data)
{
        f->fake->threshold_error = -EBADF;
        start_all(f);
        check_failed(f, "nvme6n1: the recording could not be started: Bad file descriptor", "open attach threshold detach free");
}

static void test_resume_fails(Fixture *f, gconstpointer data)
{
        f->fake->resume_error = -EIO;
        start_all(f);
        check_failed(f, "nvme6n1: the recording could not be started: Input/output error", "open attach threshold resume detach free");
}

static void test_drain_fails(Fixture *f, gconstpointer data)
{
        start_all(f);
        g_assert_true(run(f, SESSION_RECORDING, 5000));
        f->fake->drain_error = -EIO;
        check_failed(f, "nvme6n1: reading records failed: Input/output error", "open attach threshold resume iostat detach free");
}

static void test_counters_fail(Fixture *f, gconstpointer data)
{
        start_all(f);
        g_assert_true(run(f, SESSION_RECORDING, 5000));
        f->fake->counters_error = -ENOENT;
        check_failed(f, "nvme6n1: the programs' maps cannot be used: No such file or directory",
                     "open attach threshold resume iostat detach free");
}

/* What was recorded before is worth nothing either: there is no report. */
static void test_types_are_wrong(Fixture *f, gconstpointer data)
{
        start_all(f);
        g_assert_true(run(f, SESSION_RECORDING, 5000));
        fake_command(f->fake, true);
        f->fake->wrong_types = "struct nvmet_req is not so";
        check_failed_with(f, "KernelUnsupported", "nvme6n1: struct nvmet_req is not so",
                          "open attach threshold resume iostat detach free");
}

static void test_types_are_wrong_at_the_end(Fixture *f, gconstpointer data)
{
        start_all(f);
        g_assert_true(run(f, SESSION_RECORDING, 5000));
        session_stop(f->session);
        f->fake->wrong_types = "struct nvmet_req is not so";
        check_failed_with(f, "KernelUnsupported", "nvme6n1: struct nvmet_req is not so",
                          "open attach threshold resume iostat pause iostat detach free");
}

/* What was recorded before is good. */
static void test_a_module_is_unloaded(Fixture *f, gconstpointer data)
{
        g_autoptr(NpReport) r = NULL;

        start_all(f);
        g_assert_true(run(f, SESSION_RECORDING, 5000));
        g_assert_cmpuint(f->session->holds->len, ==, 2);
        g_assert_cmpstr(f->session->holds->pdata[0], ==, "nvme_core");
        fake_command(f->fake, true);
        f->fake->gone = "module nvme_tcp was unloaded";
        g_assert_true(run(f, SESSION_FINISHED, 5000));
        r = report(f);
        g_assert_cmpstr(r->facts->ended_reason, ==, "module nvme_tcp was unloaded");
        g_assert_cmpuint(r->facts->commands, ==, 1);
}

static void test_pause_fails(Fixture *f, gconstpointer data)
{
        start_all(f);
        g_assert_true(run(f, SESSION_RECORDING, 5000));
        f->fake->pause_error = -ENOENT;
        session_stop(f->session);
        check_failed(f, "nvme6n1: pausing failed: No such file or directory",
                     "open attach threshold resume iostat pause iostat detach free");
}

static void test_drain_fails_at_the_end(Fixture *f, gconstpointer data)
{
        start_all(f);
        g_assert_true(run(f, SESSION_RECORDING, 5000));
        session_stop(f->session);
        f->fake->drain_error = -EIO;
        check_failed(f, "nvme6n1: reading records failed: Input/output error",
                     "open attach threshold resume iostat pause iostat detach free");
}

static void test_refused_at_once(Fixture *f, gconstpointer data)
{
        _cleanup_error_ Error error = ERROR_INIT;
        SessionOptions options = { .namespace = (char *) "nvme9n9" };

        f->fake->open_error = -EOPNOTSUPP;
        g_assert_cmpint(session_new(f->event, &f->fake->backend, NULL, &f->observer.observer, "1", 0, &options, &f->session, &error), ==,
                        -EOPNOTSUPP);
        g_assert_cmpint(error.code, ==, NTPROF_ERROR_KERNEL_UNSUPPORTED);
        g_assert_null(f->session);
        error_clear(&error);

        g_clear_pointer(&f->fake->info, namespace_info_free);
        g_assert_cmpint(session_new(f->event, &f->fake->backend, NULL, &f->observer.observer, "1", 0, &options, &f->session, &error), ==,
                        -ENODEV);
        g_assert_cmpstr(error.message, ==, "nvme9n9: no such block device");
        g_assert_cmpstr(f->observer.told->str, ==, "");
}

/* Nothing was attached: nothing is. */
static void test_cancel_while_it_prepares(Fixture *f, gconstpointer data)
{
        start_all(f);
        session_cancel(f->session);
        g_assert_cmpint(f->session->state, ==, SESSION_FINISHED);
        g_assert_cmpstr(session_result(f->session), ==, "cancelled");
        run(f, SESSION_RECORDING, 50);
        g_assert_cmpstr(f->fake->calls->str, ==, "open detach free");
        no_report(f, "Session 1 has no report: it was cancelled");
}

static void test_cancel_while_it_records(Fixture *f, gconstpointer data)
{
        start_all(f);
        g_assert_true(run(f, SESSION_RECORDING, 5000));
        fake_command(f->fake, true);
        session_cancel(f->session);
        g_assert_cmpint(f->session->state, ==, SESSION_FINISHED);
        run(f, SESSION_JOINING, 200);
        g_assert_cmpstr(f->fake->calls->str, ==, "open attach threshold resume iostat detach free");
        g_assert_cmpstr(f->observer.told->str, ==, "1:hooks 1:recording 1:finished");
}

/* The kernel takes seconds; the loop goes on meanwhile. */
static void test_cancel_waits_for_nothing(Fixture *f, gconstpointer data)
{
        start_all(f);
        g_assert_true(run(f, SESSION_RECORDING, 5000));
        f->fake->hold_detach = true;
        session_cancel(f->session);
        g_assert_cmpint(f->session->state, ==, SESSION_FINISHED);
        run(f, SESSION_JOINING, 50);
        g_assert_cmpint(f->fake->open_captures, ==, 1);
        g_atomic_int_set(&f->fake->hold_detach, false);
        run_until_let_go(f);
}

static void test_cancel_while_it_joins(Fixture *f, gconstpointer data)
{
        start_all(f);
        g_assert_true(run(f, SESSION_RECORDING, 5000));
        f->fake->counters.host_in_flight = 1;
        session_stop(f->session);
        g_assert_cmpint(f->session->state, ==, SESSION_JOINING);
        session_cancel(f->session);
        g_assert_cmpstr(session_result(f->session), ==, "cancelled");
        run(f, SESSION_FAILED, 100);
        no_report(f, "Session 1 has no report: it was cancelled");
}

static void test_stop_while_it_prepares(Fixture *f, gconstpointer data)
{
        g_autoptr(NpReport) r = NULL;

        start_all(f);
        session_stop(f->session);
        g_assert_true(run(f, SESSION_FINISHED, 5000));
        g_assert_cmpstr(session_result(f->session), ==, "done");
        g_assert_cmpstr(f->observer.told->str, ==, "1:hooks 1:recording 1:joining 1:finished");
        r = report(f);
        g_assert_cmpuint(r->groups->len, ==, 0);
}

static void test_freed_while_it_records(Fixture *f, gconstpointer data)
{
        start_all(f);
        g_assert_true(run(f, SESSION_RECORDING, 5000));
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
static void test_waits_for_what_is_under_way(Fixture *f, gconstpointer data)
{
        start_all(f);
        g_assert_true(run(f, SESSION_RECORDING, 5000));
        f->fake->counters.host_in_flight = 5;
        f->fake->on_drain = land_last;
        session_stop(f->session);
        g_assert_true(run(f, SESSION_FINISHED, 1500));
        g_assert_cmpuint(f->session->joined, ==, 1);
        g_assert_cmpuint(f->session->losses[NP_LOSS_IN_FLIGHT], ==, 0);
}

/* But not for ever: a path that lost its controller completes nothing. */
static void test_does_not_wait_for_ever(Fixture *f, gconstpointer data)
{
        uint64_t begun = now_ns(CLOCK_MONOTONIC);

        start_all(f);
        g_assert_true(run(f, SESSION_RECORDING, 5000));
        f->fake->counters.host_in_flight = 3;
        f->fake->counters.target_in_flight = 2;
        session_stop(f->session);
        g_assert_true(run(f, SESSION_FINISHED, 10000));
        g_assert_cmpuint(now_ns(CLOCK_MONOTONIC) - begun, >=, 2 * NSEC_PER_SEC);
        g_assert_cmpuint(f->session->losses[NP_LOSS_IN_FLIGHT], ==, 3);
}

static void test_duration(Fixture *f, gconstpointer data)
{
        start(f, &(SessionOptions) { .duration_usec = 250 * USEC_PER_MSEC });
        g_assert_true(run(f, SESSION_FINISHED, 5000));
        g_assert_cmpuint(f->session->recorded_ns, >=, 250 * NSEC_PER_MSEC);
        g_assert_cmpuint(f->session->recorded_ns, <, 2000 * NSEC_PER_MSEC);
}

static void test_shortest_duration(Fixture *f, gconstpointer data)
{
        start(f, &(SessionOptions) { .duration_usec = 1 });
        g_assert_true(run(f, SESSION_FINISHED, 5000));
        g_assert_cmpuint(f->session->recorded_ns, <, 80 * NSEC_PER_MSEC);
}

static void test_longest_duration(Fixture *f, gconstpointer data)
{
        start(f, &(SessionOptions) { .duration_usec = UINT64_MAX });
        g_assert_false(run(f, SESSION_FINISHED, 300));
        g_assert_cmpint(f->session->state, ==, SESSION_RECORDING);
}

static void test_end_of_a_replay(Fixture *f, gconstpointer data)
{
        start_all(f);
        g_assert_true(run(f, SESSION_RECORDING, 5000));
        f->fake->at_end = true;
        g_assert_true(run(f, SESSION_FINISHED, 5000));
        g_assert_cmpstr(session_result(f->session), ==, "done");
}

static void test_records_are_read_when_announced(Fixture *f, gconstpointer data)
{
        unsigned before;

        f->fake->with_fd = true;
        start_all(f);
        g_assert_true(run(f, SESSION_RECORDING, 5000));
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

static void test_auto_adapts(Fixture *f, gconstpointer data)
{
        start(f, &(SessionOptions) {});
        g_assert_true(run(f, SESSION_RECORDING, 5000));
        g_assert_cmpuint(f->fake->threshold, ==, UINT32_MAX / 256 + 1);
        g_assert_false(run(f, SESSION_FINISHED, 900));
        g_assert_cmpuint(f->fake->threshold, ==, UINT32_MAX);
        f->fake->on_drain = flood;
        g_assert_false(run(f, SESSION_FINISHED, 500));
        g_assert_cmpuint(f->fake->threshold, <, UINT32_MAX / 100);
}

static void test_fixed_stays(Fixture *f, gconstpointer data)
{
        start(f, &(SessionOptions) { .sample = { .mode = SAMPLE_FRACTION, .n = 16 } });
        f->fake->on_drain = flood;
        g_assert_true(run(f, SESSION_RECORDING, 5000));
        g_assert_false(run(f, SESSION_FINISHED, 500));
        g_assert_cmpuint(f->fake->threshold, ==, 1U << 28);
        g_assert_cmpstr(f->fake->calls->str, ==, "open attach threshold resume iostat");
}

static void test_a_report_so_far(Fixture *f, gconstpointer data)
{
        start_all(f);
        g_assert_true(run(f, SESSION_RECORDING, 5000));
        for (int i = 0; i < 10; i++)
                fake_command(f->fake, true);
        g_assert_false(run(f, SESSION_FINISHED, 300));
        for (int i = 0; i < 2; i++) {
                g_autoptr(NpReport) r = report(f);

                g_assert_cmpuint(r->facts->commands, ==, 10);
        }
        session_stop(f->session);
        g_assert_true(run(f, SESSION_FINISHED, 5000));
        g_assert_cmpuint(f->session->joined, ==, 10);
}

/* The namespace disappears: its counts cannot be read any more, all else stays true. */
static void test_the_disk_goes(Fixture *f, gconstpointer data)
{
        g_autoptr(NpReport) r = NULL;

        start_all(f);
        g_assert_true(run(f, SESSION_RECORDING, 5000));
        fake_command(f->fake, true);
        f->fake->iostat_invalid = true;
        session_stop(f->session);
        g_assert_true(run(f, SESSION_FINISHED, 5000));
        r = report(f);
        g_assert_false(r->facts->diskstats.valid);
        g_assert_cmpstr(r->facts->diskstats.reason, ==, "nvme6c6n1: its counts cannot be read (No such file or directory)");
        g_assert_cmpuint(f->session->joined, ==, 1);
}

static void test_the_disk_is_replaced(Fixture *f, gconstpointer data)
{
        g_autoptr(NpReport) r = NULL;

        f->fake->iostat = (IoStat) { .ios = 1000, .weighted_ms = 5000 };
        start_all(f);
        g_assert_true(run(f, SESSION_RECORDING, 5000));
        f->fake->iostat = (IoStat) { .ios = 10, .weighted_ms = 1 };
        session_stop(f->session);
        g_assert_true(run(f, SESSION_FINISHED, 5000));
        r = report(f);
        g_assert_false(r->facts->diskstats.valid);
        g_assert_cmpstr(r->facts->diskstats.reason, ==, "the kernel's counts began anew: a path was replaced");
}

static void test_losses_by_cause(Fixture *f, gconstpointer data)
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

        start_all(f);
        g_assert_true(run(f, SESSION_RECORDING, 5000));
        for (unsigned i = 0; i < ELEMENTSOF(causes); i++) {
                f->fake->counters.host[causes[i].counter] = 100 + i;
                f->fake->counters.target[causes[i].counter] = 200 + i;
        }
        f->fake->counters.host_recursion = 7;
        f->fake->counters.target_recursion = 8;
        session_stop(f->session);
        g_assert_true(run(f, SESSION_FINISHED, 5000));
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
#define TEST(name, function) g_test_add("/session/" name, Fixture, NULL, set_up, function, tear_down)
        g_test_init(&argc, &argv, NULL);
        TEST("from-start-to-report", test_from_start_to_report);
        TEST("configuration", test_configuration);
        TEST("without-a-target", test_without_a_target);
        TEST("a-subsystem-of-an-odd-name", test_a_subsystem_of_an_odd_name);
        TEST("attach-fails", test_attach_fails);
        TEST("attach-fails-without-a-word", test_attach_fails_without_a_word);
        TEST("threshold-fails", test_threshold_fails);
        TEST("resume-fails", test_resume_fails);
        TEST("drain-fails", test_drain_fails);
        TEST("counters-fail", test_counters_fail);
        TEST("types-are-wrong", test_types_are_wrong);
        TEST("a-module-is-unloaded", test_a_module_is_unloaded);
        TEST("types-are-wrong-at-the-end", test_types_are_wrong_at_the_end);
        TEST("pause-fails", test_pause_fails);
        TEST("drain-fails-at-the-end", test_drain_fails_at_the_end);
        TEST("refused-at-once", test_refused_at_once);
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
