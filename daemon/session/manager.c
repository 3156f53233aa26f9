/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "manager.h"

#include <glib.h>
#include <inttypes.h>
#include <stdio.h>

#include "capture-job.h"

struct SessionManager {
        sd_event *event;
        Backend *backend;
        RemoteFinder *finder;
        const SessionObserver *observer;
        GPtrArray *sessions;            /* in order of their ids */
        uint64_t last_id;
};

int session_manager_new(sd_event *event, Backend *backend, RemoteFinder *finder, const SessionObserver *observer,
                        SessionManager **ret)
{
        SessionManager *m = g_new0(SessionManager, 1);

        m->event = sd_event_ref(event);
        m->backend = backend;
        m->finder = finder;
        m->observer = observer;
        m->sessions = g_ptr_array_new();
        *ret = m;
        return 0;
}

static void drop(SessionManager *m, Session *s)
{
        /* While it can still be found: who tells of it needs that. */
        m->observer->removed(s, m->observer->userdata);
        g_ptr_array_remove(m->sessions, s);
        session_free(s);
}

SessionManager *session_manager_free(SessionManager *m)
{
        if (!m)
                return NULL;

        while (m->sessions->len > 0)
                drop(m, m->sessions->pdata[m->sessions->len - 1]);
        g_ptr_array_unref(m->sessions);
        sd_event_unref(m->event);
        g_free(m);
        return NULL;
}

static unsigned count_active(const SessionManager *m)
{
        unsigned n = 0;

        for (guint i = 0; i < m->sessions->len; i++)
                n += !session_has_ended(m->sessions->pdata[i]);
        return n;
}

static void forget_oldest(SessionManager *m)
{
        while (m->sessions->len - count_active(m) > SESSIONS_ENDED_MAX)
                for (guint i = 0; i < m->sessions->len; i++) {
                        Session *s = m->sessions->pdata[i];

                        if (session_has_ended(s)) {
                                drop(m, s);
                                break;
                        }
                }
}

int session_manager_start(SessionManager *m, uid_t owner, const SessionOptions *options, Session **ret, Error *error)
{
        unsigned active, ending;
        char id[21];
        Session *s;
        int r;

        active = count_active(m);
        ending = capture_jobs_abandoned();
        if (active >= SESSIONS_ACTIVE_MAX)
                return error_set(error, NTPROF_ERROR_TOO_MANY_SESSIONS, "%d sessions record already: stop one first",
                                 SESSIONS_ACTIVE_MAX);
        if (active + ending >= 2 * SESSIONS_ACTIVE_MAX)
                return error_set(error, NTPROF_ERROR_TOO_MANY_SESSIONS,
                                 "%u sessions that were cancelled are not detached yet: try again in some seconds", ending);

        snprintf(id, sizeof(id), "%" PRIu64, m->last_id + 1);
        r = session_new(m->event, m->backend, m->finder, m->observer, id, owner, options, &s, error);
        if (r < 0)
                return r;

        m->last_id++;
        g_ptr_array_add(m->sessions, s);
        m->observer->added(s, m->observer->userdata);
        forget_oldest(m);

        *ret = s;
        return 0;
}

Session *session_manager_find(SessionManager *m, const char *id)
{
        for (guint i = 0; i < m->sessions->len; i++) {
                Session *s = m->sessions->pdata[i];

                if (g_str_equal(s->id, id))
                        return s;
        }

        return NULL;
}

const GPtrArray *session_manager_list(SessionManager *m)
{
        return m->sessions;
}

int session_manager_remove(SessionManager *m, Session *s, Error *error)
{
        if (!session_has_ended(s))
                return error_set(error, NTPROF_ERROR_SESSION_BUSY, "Session %s is %s: stop or cancel it first", s->id,
                                 session_state_to_string(s->state));

        drop(m, s);
        return 0;
}

void session_manager_shutdown(SessionManager *m)
{
        for (guint i = 0; i < m->sessions->len; i++)
                session_fail(m->sessions->pdata[i], NTPROF_ERROR_SHUTTING_DOWN, "The service was ended while the session ran");
}
