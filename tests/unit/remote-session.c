/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "remote-session.h"

/* Two paths, each to a machine of its own. */
void rs_set_up(RemoteSession *f, gconstpointer data)
{
        g_assert_cmpint(sd_event_new(&f->event), >=, 0);
        f->fake = fake_backend_new();
        f->finder = fake_finder_new();
        fake_observer_init(&f->observer);
        targets_patience = (TargetsPatience) {
                .connect_usec = 30 * USEC_PER_SEC,
                .start_usec = 5 * USEC_PER_SEC,
                .quiet_usec = 5 * USEC_PER_SEC,
                .end_usec = 30 * USEC_PER_SEC,
        };
        for (int i = 0; i < 2; i++)
                f->fake->info->paths[i].local = false;
        g_free(f->fake->info->paths[1].traddr);
        f->fake->info->paths[1].traddr = g_strdup("10.0.0.3");
}

void rs_tear_down(RemoteSession *f, gconstpointer data)
{
        session_free(f->session);
        for (int i = 0; i < 500 && f->fake->open_captures > 0; i++)
                g_assert_cmpint(sd_event_run(f->event, 10 * USEC_PER_MSEC), >=, 0);
        fake_backend_free(f->fake);
        fake_finder_free(f->finder);
        fake_observer_clear(&f->observer);
        g_assert_null(sd_event_unref(f->event));
}

void rs_start_with(RemoteSession *f, SessionOptions options)
{
        _cleanup_error_ Error error = ERROR_INIT;

        options.namespace = (char *) "nvme6n1";
        options.sample.mode = SAMPLE_ALL;
        session_new(f->event, &f->fake->backend, &f->finder->finder, &f->observer.observer, "1", 1000, &options, &f->session,
                    &error);
        g_assert_cmpstr(error.message, ==, NULL);
}

void rs_run_for(RemoteSession *f, unsigned msec)
{
        uint64_t deadline = now_ns(CLOCK_MONOTONIC) + msec * NSEC_PER_MSEC;

        while (now_ns(CLOCK_MONOTONIC) < deadline)
                g_assert_cmpint(sd_event_run(f->event, 5 * USEC_PER_MSEC), >=, 0);
}

void rs_run_until(RemoteSession *f, SessionState state)
{
        uint64_t deadline = now_ns(CLOCK_MONOTONIC) + 20 * NSEC_PER_SEC;

        while (f->session->state != state && now_ns(CLOCK_MONOTONIC) < deadline)
                g_assert_cmpint(sd_event_run(f->event, 5 * USEC_PER_MSEC), >=, 0);
        g_assert_cmpstr(session_state_to_string(f->session->state), ==, session_state_to_string(state));
}

FakeRemote *rs_one_ready(RemoteSession *f)
{
        FakeRemote *r;

        rs_start_with(f, (SessionOptions) {});
        rs_run_for(f, 30);
        fake_found(f->finder, "stor-a", NULL);
        fake_found(f->finder, "stor-a", NULL);
        r = fake_remote(f->finder, 0);
        fake_remote_ready(r);
        return r;
}

FakeRemote *rs_one_recording(RemoteSession *f)
{
        FakeRemote *r = rs_one_ready(f);

        rs_run_for(f, 30);
        fake_remote_changed(r, 0);
        rs_run_until(f, SESSION_RECORDING);
        return r;
}
