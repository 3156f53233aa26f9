/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "local-session.h"

#include <glib.h>

void ls_set_up(LocalSession *f, gconstpointer data)
{
        g_assert_cmpint(sd_event_new(&f->event), >=, 0);
        f->fake = fake_backend_new();
        fake_observer_init(&f->observer);
}

void ls_run_until_let_go(LocalSession *f)
{
        for (int i = 0; i < 500 && f->fake->open_captures > 0; i++)
                g_assert_cmpint(sd_event_run(f->event, 10 * USEC_PER_MSEC), >=, 0);
        g_assert_cmpint(f->fake->open_captures, ==, 0);
}

void ls_tear_down(LocalSession *f, gconstpointer data)
{
        bool ended = f->session && session_has_ended(f->session);

        session_free(f->session);
        if (ended)
                ls_run_until_let_go(f);
        fake_backend_free(f->fake);
        fake_observer_clear(&f->observer);
        g_assert_null(sd_event_unref(f->event));
}

void ls_start(LocalSession *f, const SessionOptions *options)
{
        _cleanup_error_ Error error = ERROR_INIT;
        SessionOptions o = *options;
        int r;

        o.namespace = (char *) "nvme6n1";
        r = session_new(f->event, &f->fake->backend, NULL, &f->observer.observer, "1", 1000, &o, &f->session, &error);
        g_assert_cmpstr(error.message, ==, NULL);
        g_assert_cmpint(r, ==, 0);
}

void ls_start_all(LocalSession *f)
{
        ls_start(f, &(SessionOptions) { .sample = { .mode = SAMPLE_ALL } });
}

bool ls_run(LocalSession *f, SessionState until, unsigned msec)
{
        uint64_t deadline = now_ns(CLOCK_MONOTONIC) + msec * NSEC_PER_MSEC;

        while (f->session->state != until && now_ns(CLOCK_MONOTONIC) < deadline)
                g_assert_cmpint(sd_event_run(f->event, 10 * USEC_PER_MSEC), >=, 0);
        return f->session->state == until;
}

NpReport *ls_report(LocalSession *f)
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

void ls_no_report(LocalSession *f, const char *why)
{
        _cleanup_error_ Error error = ERROR_INIT;
        char *json;

        g_assert_cmpint(session_report(f->session, &json, &error), ==, -ENODATA);
        g_assert_cmpint(error.code, ==, NTPROF_ERROR_NO_REPORT);
        g_assert_cmpstr(error.message, ==, why);
}
