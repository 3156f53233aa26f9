/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sessions whose target is another machine, or several: how they begin, go on, and what their reports say. */
#include "remote-session.h"

#define AHEAD (5000 * NSEC_PER_SEC)
#define NO_ANSWER "no answer in time; the journals of ntprof-peerd and ntprofd, here and there, may say why"
#define BEHIND ((uint64_t) 0 - 3 * NSEC_PER_MSEC)

static NpReport *report(RemoteSession *f)
{
        _cleanup_error_ Error error = ERROR_INIT;
        g_autofree char *json = NULL;
        g_autoptr(GError) e = NULL;
        NpReport *made;

        session_report(f->session, &json, &error);
        g_assert_cmpstr(error.message, ==, NULL);
        made = np_report_from_json(json, -1, &e);
        g_assert_no_error(e);
        return made;
}

static const NpReportPath *path_of(const NpReport *r, guint i)
{
        return r->facts->paths->pdata[i];
}

static const NpReportTarget *target_of(const NpReport *r, guint i)
{
        g_assert_cmpuint(i, <, r->facts->targets->len);
        return r->facts->targets->pdata[i];
}

static const SessionTarget *session_target(RemoteSession *f, guint i)
{
        const GPtrArray *targets = targets_list(f->session->targets);

        g_assert_cmpuint(i, <, targets->len);
        return targets->pdata[i];
}

static void end_well(RemoteSession *f, FakeRemote *r)
{
        fake_remote_synced(r, &(struct wire_sync) { .target_ns = UINT64_MAX / 4 });
        fake_remote_ended(r, NTPROF_ERROR_NONE, NULL);
}

static void test_from_start_to_report(RemoteSession *f, gconstpointer data)
{
        g_autoptr(NpReport) report_ = NULL;
        FakeRemote *r = rs_one_ready(f);

        rs_run_for(f, 30);
        g_assert_cmpstr(f->finder->calls->str, ==,
                        "find:10.0.0.2 find:10.0.0.3 open:stor-a threshold:stor-a resume:stor-a");
        g_assert_cmpuint(r->threshold, ==, UINT32_MAX);
        g_assert_cmpuint(r->request.n_filters, ==, 1);
        g_assert_cmpstr(r->request.filters[0].subsysnqn, ==, "nqn.sub");
        g_assert_cmpstr(r->request.filters[0].hostnqn, ==, "nqn.host");
        g_assert_cmphex(r->request.filters[0].seed, ==, namespace_seed("nqn.host"));
        g_assert_cmpuint(r->request.owner, ==, 1000);
        g_assert_cmphex(r->request.transports, ==, TRANSPORT_TCP);
        g_assert_false(r->request.detail);
        /* The host waits for the target. */
        g_assert_cmpint(f->session->state, ==, SESSION_PREPARING);
        g_assert_cmpstr(f->fake->calls->str, ==, "open attach threshold");

        fake_remote_changed(r, 0);
        g_assert_cmpint(f->session->state, ==, SESSION_RECORDING);
        g_assert_true(session_has_target(f->session));
        for (int i = 0; i < 100; i++)
                fake_remote_command(f->fake, i % 2, r, AHEAD);
        rs_run_for(f, 150);

        session_stop(f->session);
        rs_run_for(f, 50);
        g_assert_true(g_str_has_suffix(f->finder->calls->str, "pause:stor-a"));
        g_assert_cmpint(f->session->state, ==, SESSION_JOINING);
        end_well(f, r);
        rs_run_until(f, SESSION_FINISHED);
        g_assert_cmpuint(f->session->joined, ==, 100);
        g_assert_cmpuint(f->session->losses[NP_LOSS_NO_TARGET], ==, 0);
        g_assert_cmpuint(f->session->losses[NP_LOSS_TARGET_GONE], ==, 0);

        report_ = report(f);
        g_assert_cmpuint(report_->facts->targets->len, ==, 1);
        g_assert_cmpstr(target_of(report_, 0)->name, ==, "stor-a.example");
        g_assert_cmpstr(target_of(report_, 0)->peer, ==, "stor-a");
        g_assert_cmpstr(target_of(report_, 0)->kernel, ==, "6.12.0-target");
        g_assert_cmpstr(target_of(report_, 0)->version, ==, "9.9");
        g_assert_cmpuint(target_of(report_, 0)->hooks->len, ==, 2);
        g_assert_null(target_of(report_, 0)->ended_reason);
        g_assert_cmpint(path_of(report_, 1)->target, ==, 0);
}

/* What is asked of the target is what the session was, and what it says of its drive is kept. */
static void test_in_detail(RemoteSession *f, gconstpointer data)
{
        FakeRemote *r;

        rs_start_with(f, (SessionOptions) { .detail = true });
        rs_run_for(f, 30);
        fake_found(f->finder, "stor-a", NULL);
        fake_found(f->finder, "stor-a", NULL);
        r = fake_remote(f->finder, 0);
        g_assert_true(r->request.detail);
        g_assert_true(f->fake->config.detail);
        r->drive_hidden = "the namespace is a file";
        fake_remote_ready(r);
        g_assert_cmpstr(session_target(f, 0)->drive_hidden, ==, "the namespace is a file");
}

/* One machine a path: each has its own clock. */
static void test_two_machines(RemoteSession *f, gconstpointer data)
{
        g_autoptr(NpReport) report_ = NULL;
        FakeRemote *a, *b;

        rs_start_with(f, (SessionOptions) {});
        rs_run_for(f, 30);
        fake_found(f->finder, "stor-a", NULL);
        g_assert_cmpuint(f->finder->remotes->len, ==, 0);
        fake_found(f->finder, "stor-b", NULL);
        a = fake_remote(f->finder, 0);
        b = fake_remote(f->finder, 1);
        fake_remote_ready(b);
        rs_run_for(f, 30);
        g_assert_null(strstr(f->finder->calls->str, "resume"));
        fake_remote_ready(a);
        fake_remote_changed(a, 0);
        g_assert_cmpint(f->session->state, ==, SESSION_PREPARING);
        fake_remote_changed(b, 0);
        g_assert_cmpint(f->session->state, ==, SESSION_RECORDING);

        for (int i = 0; i < 50; i++) {
                fake_remote_command(f->fake, 0, a, AHEAD);
                fake_remote_command(f->fake, 1, b, BEHIND);
        }
        session_stop(f->session);
        rs_run_for(f, 50);
        end_well(f, b);
        rs_run_for(f, 50);
        g_assert_cmpint(f->session->state, ==, SESSION_JOINING);
        end_well(f, a);
        rs_run_until(f, SESSION_FINISHED);
        g_assert_cmpuint(f->session->joined, ==, 100);

        report_ = report(f);
        g_assert_cmpstr(target_of(report_, path_of(report_, 0)->target)->peer, ==, "stor-a");
        g_assert_cmpstr(target_of(report_, path_of(report_, 1)->target)->peer, ==, "stor-b");
}

/* This machine for one path, another for the other. */
static void test_here_and_there(RemoteSession *f, gconstpointer data)
{
        g_autoptr(NpReport) report_ = NULL;
        FakeRemote *r;

        f->fake->info->paths[0].local = true;
        rs_start_with(f, (SessionOptions) {});
        rs_run_for(f, 30);
        g_assert_cmpstr(f->finder->calls->str, ==, "find:10.0.0.3");
        fake_found(f->finder, "stor-b", NULL);
        r = fake_remote(f->finder, 0);
        fake_remote_ready(r);
        fake_remote_changed(r, 0);
        g_assert_cmpint(f->session->state, ==, SESSION_RECORDING);
        for (int i = 0; i < 50; i++) {
                fake_command(f->fake, true);
                fake_remote_command(f->fake, 1, r, AHEAD);
        }
        session_stop(f->session);
        rs_run_for(f, 50);
        end_well(f, r);
        rs_run_until(f, SESSION_FINISHED);
        g_assert_cmpuint(f->session->joined, ==, 100);
        report_ = report(f);
        g_assert_null(target_of(report_, 0)->peer);
        g_assert_cmpstr(target_of(report_, 0)->name, ==, "host-a");
        g_assert_cmpstr(target_of(report_, 1)->peer, ==, "stor-b");
        g_assert_cmpint(path_of(report_, 1)->target, ==, 1);
}

static void check_goes_on_without(RemoteSession *f, const char *reason)
{
        g_autoptr(NpReport) report_ = NULL;
        struct np_target_record unused;

        rs_run_until(f, SESSION_RECORDING);
        g_assert_false(session_has_target(f->session));
        fake_command_on(f->fake, 0, &unused);
        session_stop(f->session);
        rs_run_until(f, SESSION_FINISHED);
        g_assert_cmpstr(session_result(f->session), ==, "done");
        report_ = report(f);
        g_assert_cmpuint(report_->facts->targets->len, ==, 0);
        g_assert_cmpstr(path_of(report_, 0)->no_target_reason, ==, reason);
        g_assert_cmpuint(f->session->losses[NP_LOSS_NO_TARGET], ==, 0);
        g_assert_cmpuint(f->session->losses[NP_LOSS_TARGET_GONE], ==, 0);
}

static void test_nobody_is_found(RemoteSession *f, gconstpointer data)
{
        rs_start_with(f, (SessionOptions) {});
        rs_run_for(f, 30);
        fake_found(f->finder, NULL, "no paired machine is the target");
        fake_found(f->finder, NULL, "nor of this");
        check_goes_on_without(f, "the target is another machine (10.0.0.2): no paired machine is the target");
}

static void test_nobody_can_be_asked(RemoteSession *f, gconstpointer data)
{
        f->finder->find_error = -ENOTCONN;
        rs_start_with(f, (SessionOptions) {});
        check_goes_on_without(f, "the target is another machine (10.0.0.2): Transport endpoint is not connected");
}

static void test_open_fails(RemoteSession *f, gconstpointer data)
{
        f->finder->open_error = -ENOTCONN;
        rs_start_with(f, (SessionOptions) {});
        rs_run_for(f, 30);
        fake_found(f->finder, "stor-a", NULL);
        fake_found(f->finder, "stor-a", NULL);
        check_goes_on_without(f, "the target is another machine (10.0.0.2): stor-a cannot be asked to record: "
                                 "Transport endpoint is not connected");
}

static void test_refused(RemoteSession *f, gconstpointer data)
{
        rs_start_with(f, (SessionOptions) {});
        rs_run_for(f, 30);
        fake_found(f->finder, "stor-a", NULL);
        fake_found(f->finder, "stor-a", NULL);
        fake_remote_ended(fake_remote(f->finder, 0), NTPROF_ERROR_PEER_REFUSED, "stor-a allows nothing");
        check_goes_on_without(f, "the target is another machine (10.0.0.2): stor-a allows nothing");
}

/* Between ready and the beginning. */
static void test_gone_before_it_begins(RemoteSession *f, gconstpointer data)
{
        f->fake->hold_attach = true;
        fake_remote_ended(rs_one_ready(f), NTPROF_ERROR_PEER_UNREACHABLE, "stor-a: the link was cut");
        g_atomic_int_set(&f->fake->hold_attach, false);
        check_goes_on_without(f, "the target is another machine (10.0.0.2): stor-a: the link was cut");
}

static void test_never_ready(RemoteSession *f, gconstpointer data)
{
        targets_patience.connect_usec = 200 * USEC_PER_MSEC;
        rs_start_with(f, (SessionOptions) {});
        rs_run_for(f, 30);
        fake_found(f->finder, "stor-a", NULL);
        fake_found(f->finder, "stor-a", NULL);
        check_goes_on_without(f, "the target is another machine (10.0.0.2): stor-a: " NO_ANSWER);
}

static void test_never_found(RemoteSession *f, gconstpointer data)
{
        targets_patience.connect_usec = 100 * USEC_PER_MSEC;
        rs_start_with(f, (SessionOptions) {});
        rs_run_for(f, 30);
        fake_found(f->finder, "stor-a", NULL);
        check_goes_on_without(f, "the target is another machine (10.0.0.2): " NO_ANSWER);
        g_assert_cmpstr(f->finder->calls->str, ==, "find:10.0.0.2 find:10.0.0.3 cancel:10.0.0.3");
}

/* Its threshold is not in force in time: the host begins, and what comes later counts. */
static void test_slow_to_begin(RemoteSession *f, gconstpointer data)
{
        FakeRemote *r;

        targets_patience.start_usec = 100 * USEC_PER_MSEC;
        r = rs_one_ready(f);
        rs_run_until(f, SESSION_RECORDING);
        fake_remote_changed(r, 0);
        fake_remote_command(f->fake, 0, r, AHEAD);
        session_stop(f->session);
        rs_run_for(f, 50);
        end_well(f, r);
        rs_run_until(f, SESSION_FINISHED);
        g_assert_cmpuint(f->session->joined, ==, 1);
}

static void test_attaching_here_takes_longer(RemoteSession *f, gconstpointer data)
{
        FakeRemote *r;

        f->fake->hold_attach = true;
        r = rs_one_ready(f);
        rs_run_for(f, 50);
        g_assert_null(strstr(f->finder->calls->str, "resume"));
        g_atomic_int_set(&f->fake->hold_attach, false);
        rs_run_for(f, 50);
        g_assert_nonnull(strstr(f->finder->calls->str, "resume"));
        fake_remote_changed(r, 0);
        g_assert_cmpint(f->session->state, ==, SESSION_RECORDING);
        session_cancel(f->session);
}

static void test_attaching_here_fails(RemoteSession *f, gconstpointer data)
{
        f->fake->hold_attach = true;
        f->fake->attach_error = -EPERM;
        rs_one_ready(f);
        g_atomic_int_set(&f->fake->hold_attach, false);
        rs_run_until(f, SESSION_FAILED);
        g_assert_true(g_str_has_suffix(f->finder->calls->str, "free:stor-a"));
}

/* The link is cut in the middle: what the machine told until then counts, the rest is gone; all else goes on. */
static void test_ends_early(RemoteSession *f, gconstpointer data)
{
        g_autoptr(NpReport) report_ = NULL;
        struct np_target_record unused;
        FakeRemote *r = rs_one_recording(f);

        for (int i = 0; i < 10; i++)
                fake_remote_command(f->fake, 0, r, AHEAD);
        rs_run_for(f, 20);
        fake_remote_synced(r, &(struct wire_sync) { .target_ns = now_ns(CLOCK_MONOTONIC) + AHEAD });
        rs_run_for(f, 100);
        fake_remote_ended(r, NTPROF_ERROR_PEER_UNREACHABLE, "stor-a: the link was cut");
        g_assert_cmpint(f->session->state, ==, SESSION_RECORDING);
        g_assert_cmpint(session_target(f, 0)->state, ==, TARGET_ENDED);
        for (int i = 0; i < 5; i++)
                fake_command_on(f->fake, 0, &unused);
        rs_run_for(f, 100);
        session_stop(f->session);
        rs_run_until(f, SESSION_FINISHED);

        g_assert_cmpuint(f->session->joined, ==, 10);
        g_assert_cmpuint(f->session->losses[NP_LOSS_TARGET_GONE], ==, 5);
        g_assert_cmpuint(f->session->losses[NP_LOSS_NO_TARGET], ==, 0);
        report_ = report(f);
        g_assert_cmpstr(target_of(report_, 0)->ended_reason, ==, "stor-a: the link was cut");
        g_assert_cmpuint(target_of(report_, 0)->recorded_ns, >=, 100 * NSEC_PER_MSEC);
        g_assert_cmpuint(target_of(report_, 0)->recorded_ns, <=, report_->facts->duration_ns - 90 * NSEC_PER_MSEC);
        g_assert_true(session_has_target(f->session));
}

/* What it told until then is worth nothing, and has been joined: there is no report. */
static void test_types_are_wrong(RemoteSession *f, gconstpointer data)
{
        FakeRemote *r = rs_one_recording(f);

        fake_remote_command(f->fake, 0, r, AHEAD);
        rs_run_for(f, 20);
        fake_remote_ended(r, NTPROF_ERROR_KERNEL_UNSUPPORTED, "stor-a: struct nvmet_req is not so");
        g_assert_cmpint(f->session->state, ==, SESSION_FAILED);
        g_assert_cmpint(f->session->error, ==, NTPROF_ERROR_KERNEL_UNSUPPORTED);
        g_assert_cmpstr(f->session->message, ==, "nvme6n1: stor-a: struct nvmet_req is not so");
        g_assert_null(f->session->report_json);
}

/* Found out while the last commands complete. */
static void test_types_are_wrong_at_the_end(RemoteSession *f, gconstpointer data)
{
        FakeRemote *r = rs_one_recording(f);

        fake_remote_command(f->fake, 0, r, AHEAD);
        session_stop(f->session);
        rs_run_for(f, 100);
        fake_remote_ended(r, NTPROF_ERROR_KERNEL_UNSUPPORTED, "stor-a: struct nvmet_req is not so");
        g_assert_cmpint(f->session->state, ==, SESSION_FAILED);
        g_assert_cmpstr(f->session->message, ==, "nvme6n1: stor-a: struct nvmet_req is not so");
}

/* A kernel that cannot be recorded at all has told nothing: the session goes on without. */
static void test_unsupported(RemoteSession *f, gconstpointer data)
{
        rs_start_with(f, (SessionOptions) {});
        rs_run_for(f, 30);
        fake_found(f->finder, "stor-a", NULL);
        fake_found(f->finder, "stor-a", NULL);
        fake_remote_ended(fake_remote(f->finder, 0), NTPROF_ERROR_KERNEL_UNSUPPORTED, "stor-a: no hook for T1");
        check_goes_on_without(f, "the target is another machine (10.0.0.2): stor-a: no hook for T1");
}

static void test_ends_by_itself(RemoteSession *f, gconstpointer data)
{
        FakeRemote *r = rs_one_recording(f);

        fake_remote_ended(r, NTPROF_ERROR_NONE, NULL);
        g_assert_cmpstr(session_target(f, 0)->reason, ==, "stor-a ended the recording by itself");
        session_stop(f->session);
        rs_run_until(f, SESSION_FINISHED);
        g_assert_null(strstr(f->finder->calls->str, "pause"));
}

static void test_never_ends(RemoteSession *f, gconstpointer data)
{
        FakeRemote *r;

        targets_patience.quiet_usec = 200 * USEC_PER_MSEC;
        r = rs_one_recording(f);
        fake_remote_command(f->fake, 0, r, AHEAD);
        session_stop(f->session);
        rs_run_until(f, SESSION_FINISHED);
        g_assert_cmpstr(session_target(f, 0)->reason, ==, "stor-a did not answer at the end");
        g_assert_cmpuint(f->session->joined, ==, 1);
        g_assert_true(r->freed);
}

/* It goes on sending: for so long, and no longer. */
static void test_sends_for_ever(RemoteSession *f, gconstpointer data)
{
        FakeRemote *r;
        uint64_t begun;

        targets_patience.quiet_usec = 200 * USEC_PER_MSEC;
        targets_patience.end_usec = 600 * USEC_PER_MSEC;
        r = rs_one_recording(f);
        session_stop(f->session);
        begun = now_ns(CLOCK_MONOTONIC);
        while (!r->freed) {
                fake_remote_heard(r);
                rs_run_for(f, 20);
        }
        g_assert_cmpuint(now_ns(CLOCK_MONOTONIC) - begun, >=, 600 * NSEC_PER_MSEC);
        rs_run_until(f, SESSION_FINISHED);
        g_assert_cmpstr(session_target(f, 0)->reason, ==, "stor-a took too long to send what it still had at the end");
}

static void test_losses(RemoteSession *f, gconstpointer data)
{
        struct wire_sync sync = { .target_ns = UINT64_MAX / 4, .recursion = 1, .link_full = 2 };
        FakeRemote *a, *b;

        rs_start_with(f, (SessionOptions) {});
        rs_run_for(f, 30);
        fake_found(f->finder, "stor-a", NULL);
        fake_found(f->finder, "stor-b", NULL);
        a = fake_remote(f->finder, 0);
        b = fake_remote(f->finder, 1);
        fake_remote_ready(a);
        fake_remote_ready(b);
        fake_remote_changed(a, 0);
        fake_remote_changed(b, 0);
        rs_run_until(f, SESSION_RECORDING);
        sync.counters[NP_C_RING_FULL] = 3;
        sync.counters[NP_C_MAP_FULL] = 4;
        sync.counters[NP_C_STALE] = 5;
        fake_remote_synced(a, &sync);
        fake_remote_synced(a, &sync);
        fake_remote_synced(b, &sync);
        session_stop(f->session);
        rs_run_for(f, 50);
        end_well(f, a);
        fake_remote_synced(b, &sync);
        fake_remote_ended(b, NTPROF_ERROR_NONE, NULL);
        rs_run_until(f, SESSION_FINISHED);
        /* Of the last told each, and end_well() tells none of a's. */
        g_assert_cmpuint(f->session->losses[NP_LOSS_TARGET_RECURSION], ==, 1);
        g_assert_cmpuint(f->session->losses[NP_LOSS_LINK_FULL], ==, 2);
        g_assert_cmpuint(f->session->losses[NP_LOSS_TARGET_RING_FULL], ==, 3);
        g_assert_cmpuint(f->session->losses[NP_LOSS_TARGET_MAP_FULL], ==, 4);
        g_assert_cmpuint(f->session->losses[NP_LOSS_TARGET_STALE], ==, 5);
}

static void test_a_peer_by_name(RemoteSession *f, gconstpointer data)
{
        rs_start_with(f, (SessionOptions) { .peer = (char *) "stor-c" });
        rs_run_for(f, 30);
        g_assert_cmpstr(f->finder->calls->str, ==, "find:stor-c find:stor-c");
        fake_found(f->finder, "stor-c", NULL);
        fake_found(f->finder, "stor-c", NULL);
        fake_remote_ready(fake_remote(f->finder, 0));
        fake_remote_changed(fake_remote(f->finder, 0), 0);
        rs_run_until(f, SESSION_RECORDING);
        /* From now on it is as any other. */
        fake_remote_ended(fake_remote(f->finder, 0), NTPROF_ERROR_PEER_UNREACHABLE, "stor-c: the link was cut");
        g_assert_cmpint(f->session->state, ==, SESSION_RECORDING);
        session_cancel(f->session);
}

static void check_failed(RemoteSession *f, const char *result, const char *message)
{
        rs_run_until(f, SESSION_FAILED);
        g_assert_cmpstr(session_result(f->session), ==, result);
        g_assert_cmpstr(f->session->message, ==, message);
}

static void test_an_unknown_peer_by_name(RemoteSession *f, gconstpointer data)
{
        rs_start_with(f, (SessionOptions) { .peer = (char *) "stor-c" });
        rs_run_for(f, 30);
        fake_found(f->finder, NULL, "no paired machine is called stor-c");
        fake_found(f->finder, NULL, "no paired machine is called stor-c");
        check_failed(f, "NoPeer", "nvme6n1: no paired machine is called stor-c");
}

static void test_a_peer_by_name_refuses(RemoteSession *f, gconstpointer data)
{
        rs_start_with(f, (SessionOptions) { .peer = (char *) "stor-c" });
        rs_run_for(f, 30);
        fake_found(f->finder, "stor-c", NULL);
        fake_found(f->finder, "stor-c", NULL);
        fake_remote_ended(fake_remote(f->finder, 0), NTPROF_ERROR_PEER_REFUSED, "stor-c allows nothing");
        check_failed(f, "PeerRefused", "nvme6n1: stor-c allows nothing");
}

static void test_a_peer_by_name_is_late(RemoteSession *f, gconstpointer data)
{
        targets_patience.connect_usec = 100 * USEC_PER_MSEC;
        rs_start_with(f, (SessionOptions) { .peer = (char *) "stor-c" });
        check_failed(f, "PeerUnreachable", "nvme6n1: " NO_ANSWER);
        g_assert_nonnull(strstr(f->finder->calls->str, "cancel:stor-c cancel:stor-c"));
}

static void test_no_target(RemoteSession *f, gconstpointer data)
{
        f->fake->info->paths[0].local = true;
        rs_start_with(f, (SessionOptions) { .no_target = true });
        g_assert_cmpuint(f->fake->config.n_target_filters, ==, 0);
        check_goes_on_without(f, "the target's side was not asked for");
        g_assert_cmpstr(f->finder->calls->str, ==, "");
}

static void test_exported_here_but_not_enabled(RemoteSession *f, gconstpointer data)
{
        f->fake->info->paths[0].exported_here = f->fake->info->paths[1].exported_here = true;
        f->fake->info->paths[0].no_target_reason = g_strdup("this machine exports it, but it is not enabled");
        rs_start_with(f, (SessionOptions) {});
        check_goes_on_without(f, "this machine exports it, but it is not enabled");
        g_assert_cmpstr(f->finder->calls->str, ==, "");
}

int main(int argc, char **argv)
{
#define TEST(name, function) g_test_add("/session-remote/" name, RemoteSession, NULL, rs_set_up, function, rs_tear_down)
        g_test_init(&argc, &argv, NULL);
        TEST("from-start-to-report", test_from_start_to_report);
        TEST("in-detail", test_in_detail);
        TEST("two-machines", test_two_machines);
        TEST("here-and-there", test_here_and_there);
        TEST("nobody-is-found", test_nobody_is_found);
        TEST("nobody-can-be-asked", test_nobody_can_be_asked);
        TEST("open-fails", test_open_fails);
        TEST("refused", test_refused);
        TEST("gone-before-it-begins", test_gone_before_it_begins);
        TEST("never-ready", test_never_ready);
        TEST("never-found", test_never_found);
        TEST("slow-to-begin", test_slow_to_begin);
        TEST("attaching-here-takes-longer", test_attaching_here_takes_longer);
        TEST("attaching-here-fails", test_attaching_here_fails);
        TEST("ends-early", test_ends_early);
        TEST("types-are-wrong", test_types_are_wrong);
        TEST("types-are-wrong-at-the-end", test_types_are_wrong_at_the_end);
        TEST("unsupported", test_unsupported);
        TEST("ends-by-itself", test_ends_by_itself);
        TEST("never-ends", test_never_ends);
        TEST("sends-for-ever", test_sends_for_ever);
        TEST("losses", test_losses);
        TEST("a-peer-by-name", test_a_peer_by_name);
        TEST("an-unknown-peer-by-name", test_an_unknown_peer_by_name);
        TEST("a-peer-by-name-refuses", test_a_peer_by_name_refuses);
        TEST("a-peer-by-name-is-late", test_a_peer_by_name_is_late);
        TEST("no-target", test_no_target);
        TEST("exported-here-but-not-enabled", test_exported_here_but_not_enabled);
        return g_test_run();
}
