/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sessions that cannot be had, or do not get to their end. */
#include "local-session.h"

#include <errno.h>
#include <glib.h>

static void check_failed_with(LocalSession *f, const char *result, const char *message, const char *calls)
{
        g_assert_true(ls_run(f, SESSION_FAILED, 5000));
        g_assert_cmpstr(session_result(f->session), ==, result);
        g_assert_cmpstr(f->session->message, ==, message);
        ls_run_until_let_go(f);
        g_assert_cmpstr(f->fake->calls->str, ==, calls);
        ls_no_report(f, "Session 1 has no report: it failed");
        /* and nothing happens afterwards */
        session_stop(f->session);
        session_cancel(f->session);
        g_assert_cmpint(f->session->state, ==, SESSION_FAILED);
        g_assert_false(ls_run(f, SESSION_FINISHED, 50));
}

static void check_failed(LocalSession *f, const char *message, const char *calls)
{
        check_failed_with(f, "CaptureFailed", message, calls);
}

static void test_attach_fails(LocalSession *f, gconstpointer data)
{
        f->fake->attach_error = -EPERM;
        f->fake->attach_why = "host program nvme_setup_cmd cannot be attached: Operation not permitted";
        ls_start_all(f);
        check_failed(f, "nvme6n1: host program nvme_setup_cmd cannot be attached: Operation not permitted", "open attach detach free");
        g_assert_cmpstr(f->observer.told->str, ==, "1:failed");
}

static void test_attach_fails_without_a_word(LocalSession *f, gconstpointer data)
{
        f->fake->attach_error = -EPERM;
        ls_start_all(f);
        check_failed(f, "nvme6n1: Operation not permitted", "open attach detach free");
}

static void test_threshold_fails(LocalSession *f, gconstpointer data)
{
        f->fake->threshold_error = -EBADF;
        ls_start_all(f);
        check_failed(f, "nvme6n1: the recording could not be started: Bad file descriptor", "open attach threshold detach free");
}

static void test_resume_fails(LocalSession *f, gconstpointer data)
{
        f->fake->resume_error = -EIO;
        ls_start_all(f);
        check_failed(f, "nvme6n1: the recording could not be started: Input/output error", "open attach threshold resume detach free");
}

static void test_drain_fails(LocalSession *f, gconstpointer data)
{
        ls_start_all(f);
        g_assert_true(ls_run(f, SESSION_RECORDING, 5000));
        f->fake->drain_error = -EIO;
        check_failed(f, "nvme6n1: reading records failed: Input/output error", "open attach threshold resume iostat detach free");
}

static void test_counters_fail(LocalSession *f, gconstpointer data)
{
        ls_start_all(f);
        g_assert_true(ls_run(f, SESSION_RECORDING, 5000));
        f->fake->counters_error = -ENOENT;
        check_failed(f, "nvme6n1: the programs' maps cannot be used: No such file or directory",
                     "open attach threshold resume iostat detach free");
}

/* What was recorded before is worth nothing either: there is no report. */
static void test_types_are_wrong(LocalSession *f, gconstpointer data)
{
        ls_start_all(f);
        g_assert_true(ls_run(f, SESSION_RECORDING, 5000));
        fake_command(f->fake, true);
        f->fake->wrong_types = "struct nvmet_req is not so";
        check_failed_with(f, "KernelUnsupported", "nvme6n1: struct nvmet_req is not so",
                          "open attach threshold resume iostat detach free");
}

static void test_types_are_wrong_at_the_end(LocalSession *f, gconstpointer data)
{
        ls_start_all(f);
        g_assert_true(ls_run(f, SESSION_RECORDING, 5000));
        session_stop(f->session);
        f->fake->wrong_types = "struct nvmet_req is not so";
        check_failed_with(f, "KernelUnsupported", "nvme6n1: struct nvmet_req is not so",
                          "open attach threshold resume iostat pause iostat detach free");
}

/* What was recorded before is good. */
static void test_a_module_is_unloaded(LocalSession *f, gconstpointer data)
{
        g_autoptr(NpReport) r = NULL;

        ls_start_all(f);
        g_assert_true(ls_run(f, SESSION_RECORDING, 5000));
        g_assert_cmpuint(f->session->holds->len, ==, 2);
        g_assert_cmpstr(f->session->holds->pdata[0], ==, "nvme_core");
        fake_command(f->fake, true);
        f->fake->gone = "module nvme_tcp was unloaded";
        g_assert_true(ls_run(f, SESSION_FINISHED, 5000));
        r = ls_report(f);
        g_assert_cmpstr(r->facts->ended_reason, ==, "module nvme_tcp was unloaded");
        g_assert_cmpuint(r->facts->commands, ==, 1);
}

static void test_pause_fails(LocalSession *f, gconstpointer data)
{
        ls_start_all(f);
        g_assert_true(ls_run(f, SESSION_RECORDING, 5000));
        f->fake->pause_error = -ENOENT;
        session_stop(f->session);
        check_failed(f, "nvme6n1: pausing failed: No such file or directory",
                     "open attach threshold resume iostat pause iostat detach free");
}

static void test_drain_fails_at_the_end(LocalSession *f, gconstpointer data)
{
        ls_start_all(f);
        g_assert_true(ls_run(f, SESSION_RECORDING, 5000));
        session_stop(f->session);
        f->fake->drain_error = -EIO;
        check_failed(f, "nvme6n1: reading records failed: Input/output error",
                     "open attach threshold resume iostat pause iostat detach free");
}

static void test_refused_at_once(LocalSession *f, gconstpointer data)
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

int main(int argc, char **argv)
{
#define TEST(name, function) g_test_add("/session-fails/" name, LocalSession, NULL, ls_set_up, function, ls_tear_down)
        g_test_init(&argc, &argv, NULL);
        TEST("attach-fails", test_attach_fails);
        TEST("attach-fails-without-a-word", test_attach_fails_without_a_word);
        TEST("threshold-fails", test_threshold_fails);
        TEST("resume-fails", test_resume_fails);
        TEST("drain-fails", test_drain_fails);
        TEST("counters-fail", test_counters_fail);
        TEST("types-are-wrong", test_types_are_wrong);
        TEST("types-are-wrong-at-the-end", test_types_are_wrong_at_the_end);
        TEST("a-module-is-unloaded", test_a_module_is_unloaded);
        TEST("pause-fails", test_pause_fails);
        TEST("drain-fails-at-the-end", test_drain_fails_at_the_end);
        TEST("refused-at-once", test_refused_at_once);
        return g_test_run();
}
