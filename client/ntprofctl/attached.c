/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "attached.h"

#include <glib-unix.h>
#include <signal.h>
#include <unistd.h>

#include "duration.h"
#include "exit-status.h"
#include "output.h"
#include "progress.h"
#include "render-report.h"
#include "session-json.h"

/* For the service to hear of a cancelled session. It would learn it from our leaving the bus too. */
#define CANCEL_TIMEOUT_MSEC 2000
#define INTERRUPT_ONCE_USEC (50 * 1000)

typedef struct {
        Invocation *call;
        const AttachedOptions *options;
        NtprofClient *client;
        NtprofSession *session;         /* NULL until it has started */
        GCancellable *cancellable;      /* of the start and of the report */
        GMainLoop *loop;
        Progress *progress;
        unsigned interrupts;
        gint64 interrupted_usec;        /* CLOCK_MONOTONIC: the last one */
        gboolean done;
        int status;
} Attached;

static void leave(Attached *attached, int status)
{
        if (attached->done)
                return;
        attached->done = TRUE;
        attached->status = status;
        g_clear_pointer(&attached->progress, progress_end);
        g_main_loop_quit(attached->loop);
}

static void leave_with_error(Attached *attached, const GError *error)
{
        if (attached->done)
                return;
        g_clear_pointer(&attached->progress, progress_end);
        leave(attached, attached->interrupts > 1 || g_error_matches(error, G_IO_ERROR, G_IO_ERROR_CANCELLED)
                                ? EXIT_STATUS_INTERRUPTED
                                : verb_fail(attached->call, error));
}

/* ---- the end ---- */

static void on_report(GObject *source, GAsyncResult *result, gpointer user_data)
{
        Attached *attached = user_data;
        g_autoptr(GError) error = NULL;
        g_autoptr(NtprofReport) report = ntprof_session_get_report_finish(NTPROF_SESSION(source), result, &error);

        if (attached->done)
                return;
        if (!report) {
                leave_with_error(attached, error);
                return;
        }
        g_clear_pointer(&attached->progress, progress_end);
        render_report(report, attached->options->json, attached->options->text_flags);
        leave(attached, 0);
}

static void on_ended(GObject *source, GAsyncResult *result, gpointer user_data)
{
        Attached *attached = user_data;
        g_autoptr(GError) error = NULL;

        if (attached->done)
                return;
        if (ntprof_session_wait_finish(attached->session, result, &error))
                error = ntprof_session_get_error(attached->session);
        if (error)
                leave_with_error(attached, error);
        else
                ntprof_session_get_report(attached->session, attached->cancellable, on_report, attached);
}

/* ---- --detach ---- */

static void tell_detached(Attached *attached)
{
        NtprofSession *session = attached->session;
        const char *id = ntprof_session_get_id(session);
        const guint64 duration = ntprof_session_get_duration_usec(session);

        if (attached->options->json) {
                g_autofree char *json = session_to_json(session);
                output_write(json);
                return;
        }
        g_autofree char *span = duration ? duration_format(duration) : NULL;
        g_autofree char *name = output_sanitize(ntprof_session_get_namespace_name(session));
        output_printf("session %s: recording %s%s%s\n"
                      "'ntprofctl session stop %s' %s, 'ntprofctl report %s' prints its report\n",
                      id, name, span ? " for " : "", span ? span : "", id, span ? "ends it earlier" : "ends it", id);
}

/* What goes wrong while it attaches is told, instead of left for others to find. */
static void check_detached(Attached *attached)
{
        if (attached->done || ntprof_session_get_state(attached->session) == NTPROF_SESSION_STATE_PREPARING)
                return;

        g_autoptr(GError) error = ntprof_session_get_error(attached->session);
        if (error) {
                leave_with_error(attached, error);
                return;
        }
        g_clear_pointer(&attached->progress, progress_end);
        tell_detached(attached);
        leave(attached, 0);
}

static void on_state(NtprofSession *session, GParamSpec *pspec, gpointer user_data)
{
        check_detached(user_data);
}

/* ---- Ctrl-C ---- */

static void on_stopped(GObject *source, GAsyncResult *result, gpointer user_data)
{
        Attached *attached = user_data;
        g_autoptr(GError) error = NULL;

        /* That it has ended is told by its state. */
        if (!ntprof_session_stop_finish(NTPROF_SESSION(source), result, &error))
                leave_with_error(attached, error);
}

static void on_cancelled(GObject *source, GAsyncResult *result, gpointer user_data)
{
        leave(user_data, EXIT_STATUS_INTERRUPTED);
}

static gboolean on_cancel_timeout(gpointer user_data)
{
        leave(user_data, EXIT_STATUS_INTERRUPTED);
        return G_SOURCE_REMOVE;
}

static gboolean on_interrupt(gpointer user_data)
{
        Attached *attached = user_data;
        gint64 before = attached->interrupted_usec;

        /* timeout(1) signals its child, and then its group again: nobody presses a key twice so fast. */
        attached->interrupted_usec = g_get_monotonic_time();
        if (before > 0 && attached->interrupted_usec - before < INTERRUPT_ONCE_USEC)
                return G_SOURCE_CONTINUE;

        attached->interrupts++;
        if (attached->progress)
                progress_clear(attached->progress);

        if (!attached->session || attached->interrupts > 2) {
                g_cancellable_cancel(attached->cancellable);
                leave(attached, EXIT_STATUS_INTERRUPTED);
        } else if (attached->interrupts == 1 && !attached->options->detach) {
                output_note("stopping; Ctrl-C again leaves without a report\n");
                ntprof_session_stop(attached->session, NULL, on_stopped, attached);
        } else {
                output_note("cancelled\n");
                ntprof_session_cancel(attached->session, NULL, on_cancelled, attached);
                g_timeout_add(CANCEL_TIMEOUT_MSEC, on_cancel_timeout, attached);
        }
        return G_SOURCE_CONTINUE;
}

/* ---- the beginning ---- */

static void on_started(GObject *source, GAsyncResult *result, gpointer user_data)
{
        Attached *attached = user_data;
        g_autoptr(GError) error = NULL;

        if (attached->done)
                return;
        attached->session = ntprof_client_start_session_finish(attached->client, result, &error);
        if (!attached->session) {
                leave_with_error(attached, error);
                return;
        }
        if (attached->options->detach) {
                g_signal_connect(attached->session, "notify::state", G_CALLBACK(on_state), attached);
                check_detached(attached);
        } else
                attached->progress = progress_start(attached->session);
        if (!attached->done)
                ntprof_session_wait(attached->session, attached->cancellable, on_ended, attached);
}

int attached_run(Invocation *call, NtprofClient *client, const AttachedOptions *options)
{
        Attached attached = {
                .call = call,
                .options = options,
                .client = client,
                .cancellable = g_cancellable_new(),
                .loop = g_main_loop_new(NULL, FALSE),
        };
        const guint sources[] = {
                g_unix_signal_add(SIGINT, on_interrupt, &attached),
                g_unix_signal_add(SIGTERM, on_interrupt, &attached),
        };

        ntprof_client_start_session(client, options->namespace_name, options->options, attached.cancellable, on_started, &attached);
        g_main_loop_run(attached.loop);

        output_passing(NULL);
        for (gsize i = 0; i < G_N_ELEMENTS(sources); i++)
                g_source_remove(sources[i]);
        if (attached.session)
                g_signal_handlers_disconnect_by_data(attached.session, &attached);
        g_clear_object(&attached.session);
        g_object_unref(attached.cancellable);
        g_main_loop_unref(attached.loop);
        return attached.status;
}
