/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A session with another machine is ended by somebody: nothing may hang, and nobody be left alone, however far it is. */
#include "remote-session.h"

/* How far it is. */
typedef enum Until {
        UNTIL_CREATED,
        UNTIL_FINDING,
        UNTIL_OPENED,
        UNTIL_READY,
        UNTIL_RECORDING,
        UNTIL_ENDING,
        UNTIL_COUNT,
} Until;

static void bring(RemoteSession *f, Until until)
{
        FakeRemote *r;

        if (until >= UNTIL_READY) {
                r = until == UNTIL_READY ? rs_one_ready(f) : rs_one_recording(f);
                rs_run_for(f, 30);
                if (until == UNTIL_ENDING) {
                        session_stop(f->session);
                        rs_run_for(f, 50);
                }
                g_assert_false(r->freed);
                return;
        }
        rs_start_with(f, (SessionOptions) {});
        if (until >= UNTIL_FINDING)
                rs_run_for(f, 30);
        if (until >= UNTIL_OPENED) {
                fake_found(f->finder, "stor-a", NULL);
                fake_found(f->finder, "stor-a", NULL);
        }
}

static void test_cancel(RemoteSession *f, gconstpointer data)
{
        bring(f, GPOINTER_TO_INT(data));
        session_cancel(f->session);
        g_assert_cmpstr(session_result(f->session), ==, "cancelled");
        for (guint i = 0; i < f->finder->remotes->len; i++)
                g_assert_true(fake_remote(f->finder, i)->freed);
        rs_run_for(f, 50);
}

static void test_fail(RemoteSession *f, gconstpointer data)
{
        bring(f, GPOINTER_TO_INT(data));
        session_fail(f->session, NTPROF_ERROR_SHUTTING_DOWN, "over");
        g_assert_cmpstr(session_result(f->session), ==, "ShuttingDown");
        for (guint i = 0; i < f->finder->remotes->len; i++)
                g_assert_true(fake_remote(f->finder, i)->freed);
        rs_run_for(f, 50);
}

static void test_free(RemoteSession *f, gconstpointer data)
{
        bring(f, GPOINTER_TO_INT(data));
        f->session = session_free(f->session);
}

static void test_stop(RemoteSession *f, gconstpointer data)
{
        Until until = GPOINTER_TO_INT(data);

        bring(f, until);
        session_stop(f->session);
        if (until >= UNTIL_READY) {
                rs_run_for(f, 80);
                fake_remote_ended(fake_remote(f->finder, 0), NTPROF_ERROR_NONE, NULL);
        }
        rs_run_until(f, SESSION_FINISHED);
        g_assert_cmpstr(session_result(f->session), ==, "done");
}

int main(int argc, char **argv)
{
        static const char *const names[UNTIL_COUNT] = { "created", "finding", "opened", "ready", "recording", "ending" };
        static const struct {
                const char *name;
                void (*function)(RemoteSession *f, gconstpointer data);
        } endings[] = { { "cancel", test_cancel }, { "fail", test_fail }, { "free", test_free }, { "stop", test_stop } };

        g_test_init(&argc, &argv, NULL);
        for (int until = 0; until < UNTIL_COUNT; until++)
                for (size_t i = 0; i < ELEMENTSOF(endings); i++) {
                        g_autofree char *name = g_strdup_printf("/session-remote-ends/%s/%s", endings[i].name, names[until]);

                        g_test_add(name, RemoteSession, GINT_TO_POINTER(until), rs_set_up, endings[i].function, rs_tear_down);
                }
        return g_test_run();
}
