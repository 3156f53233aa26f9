/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/session/manager.h"

#include <glib.h>

#include "fake-backend.h"

typedef struct Fixture {
        sd_event *event;
        FakeBackend *fake;
        FakeObserver observer;
        SessionManager *manager;
} Fixture;

static void set_up(Fixture *f, gconstpointer data)
{
        g_assert_cmpint(sd_event_new(&f->event), >=, 0);
        f->fake = fake_backend_new();
        fake_observer_init(&f->observer);
        g_assert_cmpint(session_manager_new(f->event, &f->fake->backend, NULL, &f->observer.observer, &f->manager), ==, 0);
}

static void tear_down(Fixture *f, gconstpointer data)
{
        session_manager_free(f->manager);
        fake_backend_free(f->fake);
        fake_observer_clear(&f->observer);
        g_assert_null(sd_event_unref(f->event));
}

static Session *start(Fixture *f)
{
        _cleanup_error_ Error error = ERROR_INIT;
        SessionOptions options = { .namespace = (char *) "nvme6n1" };
        Session *s = NULL;

        g_assert_cmpint(session_manager_start(f->manager, 1000, &options, &s, &error), ==, 0);
        return s;
}

static void test_find(Fixture *f, gconstpointer data)
{
        Session *one = start(f), *other = start(f);

        g_assert_true(session_manager_find(f->manager, "1") == one);
        g_assert_true(session_manager_find(f->manager, "2") == other);
        g_assert_null(session_manager_find(f->manager, "3"));
        g_assert_null(session_manager_find(f->manager, ""));
        g_assert_cmpuint(session_manager_list(f->manager)->len, ==, 2);
        g_assert_cmpstr(f->observer.told->str, ==, "added:1 added:2");
}

static void test_limit_of_active_ones(Fixture *f, gconstpointer data)
{
        _cleanup_error_ Error error = ERROR_INIT;
        SessionOptions options = { .namespace = (char *) "nvme6n1" };
        Session *s, *first = start(f);

        for (int i = 1; i < SESSIONS_ACTIVE_MAX; i++)
                start(f);
        g_assert_cmpint(session_manager_start(f->manager, 1000, &options, &s, &error), ==, -EUSERS);
        g_assert_cmpint(error.code, ==, NTPROF_ERROR_TOO_MANY_SESSIONS);
        session_cancel(first);
        start(f);
}

static void run_until(Fixture *f, const gint *value, gint wanted)
{
        for (int i = 0; i < 1000 && g_atomic_int_get(value) != wanted; i++)
                g_assert_cmpint(sd_event_run(f->event, 10 * USEC_PER_MSEC), >=, 0);
        g_assert_cmpint(g_atomic_int_get(value), ==, wanted);
}

/* Cancelled while the kernel attaches: what they hold is held until it is through, so there is a bound; and who waits for its
 * turn then leaves. */
static void test_cancelled_ones_that_still_attach(Fixture *f, gconstpointer data)
{
        _cleanup_error_ Error error = ERROR_INIT;
        SessionOptions options = { .namespace = (char *) "nvme6n1" };
        Session *s, *sessions[SESSIONS_ACTIVE_MAX];

        f->fake->hold_attach = true;
        for (int round = 0; round < 2; round++) {
                for (int i = 0; i < SESSIONS_ACTIVE_MAX; i++)
                        sessions[i] = start(f);
                run_until(f, &f->fake->attaching, 1);
                for (int i = 0; i < 100; i++)
                        g_assert_cmpint(sd_event_run(f->event, 0), >=, 0);
                for (int i = 0; i < SESSIONS_ACTIVE_MAX; i++)
                        session_cancel(sessions[i]);
        }

        g_assert_cmpint(session_manager_start(f->manager, 1000, &options, &s, &error), ==, -EUSERS);
        g_assert_cmpint(error.code, ==, NTPROF_ERROR_TOO_MANY_SESSIONS);
        g_assert_cmpint(f->fake->open_captures, ==, 2 * SESSIONS_ACTIVE_MAX);

        g_atomic_int_set(&f->fake->hold_attach, false);
        run_until(f, &f->fake->open_captures, 0);
        g_assert_cmpint(f->fake->attaching, ==, 1);
        start(f);
}

static void test_the_oldest_is_forgotten(Fixture *f, gconstpointer data)
{
        Session *kept = start(f);

        for (int i = 0; i < SESSIONS_ENDED_MAX + 1; i++)
                session_cancel(start(f));
        start(f);
        /* the first never ended, so it stays; the second is gone */
        g_assert_true(session_manager_find(f->manager, "1") == kept);
        g_assert_null(session_manager_find(f->manager, "2"));
        g_assert_nonnull(session_manager_find(f->manager, "3"));
        g_assert_nonnull(strstr(f->observer.told->str, "removed:2"));
        g_assert_cmpuint(session_manager_list(f->manager)->len, ==, SESSIONS_ENDED_MAX + 2);
}

static void test_remove(Fixture *f, gconstpointer data)
{
        _cleanup_error_ Error error = ERROR_INIT;
        Session *s = start(f);

        g_assert_cmpint(session_manager_remove(f->manager, s, &error), ==, -EBUSY);
        g_assert_cmpstr(error.message, ==, "Session 1 is preparing: stop or cancel it first");
        session_cancel(s);
        g_assert_cmpint(session_manager_remove(f->manager, s, NULL), ==, 0);
        g_assert_null(session_manager_find(f->manager, "1"));
        g_assert_cmpstr(f->observer.told->str, ==, "added:1 1:finished removed:1");
        /* its id is not used again */
        g_assert_cmpstr(start(f)->id, ==, "2");
}

static void test_a_refused_one_takes_no_id(Fixture *f, gconstpointer data)
{
        SessionOptions options = { .namespace = (char *) "nvme6n1" };
        Session *s;

        f->fake->open_error = -EOPNOTSUPP;
        g_assert_cmpint(session_manager_start(f->manager, 0, &options, &s, NULL), ==, -EOPNOTSUPP);
        f->fake->open_error = 0;
        g_assert_cmpstr(start(f)->id, ==, "1");
        g_assert_cmpstr(f->observer.told->str, ==, "added:1");
}

static void test_shutdown(Fixture *f, gconstpointer data)
{
        Session *ended = start(f), *running = start(f);

        session_cancel(ended);
        session_manager_shutdown(f->manager);
        g_assert_cmpstr(session_result(ended), ==, "cancelled");
        g_assert_cmpstr(session_result(running), ==, "ShuttingDown");
        g_assert_cmpint(f->fake->open_captures, ==, 0);
}

int main(int argc, char **argv)
{
#define TEST(name, function) g_test_add("/manager/" name, Fixture, NULL, set_up, function, tear_down)
        g_test_init(&argc, &argv, NULL);
        TEST("find", test_find);
        TEST("limit-of-active-ones", test_limit_of_active_ones);
        TEST("cancelled-ones-that-still-attach", test_cancelled_ones_that_still_attach);
        TEST("the-oldest-is-forgotten", test_the_oldest_is_forgotten);
        TEST("remove", test_remove);
        TEST("a-refused-one-takes-no-id", test_a_refused_one_takes_no_id);
        TEST("shutdown", test_shutdown);
        return g_test_run();
}
