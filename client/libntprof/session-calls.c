/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What one can do with a session: wait for its end, stop, cancel, remove, read its report. */
#include "error-private.h"
#include "memfd.h"
#include "session-private.h"

/**
 * ntprof_session_get_error:
 * @self: a session
 *
 * Why the session has no report.
 *
 * Returns: (transfer full) (nullable): %NULL while it has not ended or when its result is "done"; else an error of the
 *   domain [error@Error]
 */
GError *ntprof_session_get_error(NtprofSession *self)
{
        g_return_val_if_fail(NTPROF_IS_SESSION(self), NULL);

        const char *result = ntprof_session_get_result(self);
        const char *message = ntprof_session_get_message(self);

        if (!ntprof_session_has_ended(self) || g_str_equal(result, "done"))
                return NULL;
        if (g_str_equal(result, "cancelled"))
                return g_error_new(NTPROF_ERROR, NTPROF_ERROR_SESSION_CANCELLED, "%s was cancelled: it has no report",
                                   self->label);
        return g_error_new(NTPROF_ERROR, ntprof_error_from_name(result), "%s: %s", self->label,
                           *message ? message : result);
}

static void localize(NtprofSession *self, GError **error)
{
        np_error_localize_call(&np_error_ntprofd, G_DBUS_PROXY(self->proxy), error, self->label);
}

/* ---- wait ---- */

static gboolean check_ended(NtprofSession *self, GError **error)
{
        if (ntprof_session_has_ended(self))
                return TRUE;
        g_set_error(error, NTPROF_ERROR, NTPROF_ERROR_SERVICE_GONE,
                    "%s is gone before it ended: it was removed, or ntprofd left the bus ('journalctl -u ntprofd' may tell why)",
                    self->label);
        return FALSE;
}

typedef struct {
        gulong state_handler, gone_handler;
        GSource *cancel_source;
} Wait;

static void wait_free(Wait *wait)
{
        if (wait->cancel_source) {
                g_source_destroy(wait->cancel_source);
                g_source_unref(wait->cancel_source);
        }
        g_free(wait);
}

static void wait_disconnect(GTask *task)
{
        NtprofSession *self = g_task_get_source_object(task);
        Wait *wait = g_task_get_task_data(task);

        g_clear_signal_handler(&wait->state_handler, self);
        g_clear_signal_handler(&wait->gone_handler, self);
        if (wait->cancel_source)
                g_source_destroy(wait->cancel_source);
}

static void wait_check(NtprofSession *self, GParamSpec *pspec, GTask *task)
{
        g_autoptr(GError) error = NULL;

        if (!ntprof_session_has_ended(self) && !ntprof_session_get_gone(self))
                return;
        wait_disconnect(task);
        if (check_ended(self, &error))
                g_task_return_boolean(task, TRUE);
        else
                g_task_return_error(task, g_steal_pointer(&error));
        g_object_unref(task);
}

static gboolean wait_cancelled(GCancellable *cancellable, GTask *task)
{
        wait_disconnect(task);
        g_task_return_error_if_cancelled(task);
        g_object_unref(task);
        return G_SOURCE_REMOVE;
}

/**
 * ntprof_session_wait:
 * @self: a session
 * @cancellable: (nullable): cancels the waiting, not the session
 * @callback: (scope async): called when the session has ended or is gone
 * @user_data: for @callback
 *
 * Waits for the end of a session.
 */
void ntprof_session_wait(NtprofSession *self, GCancellable *cancellable, GAsyncReadyCallback callback, gpointer user_data)
{
        g_return_if_fail(NTPROF_IS_SESSION(self));

        GTask *task = g_task_new(self, cancellable, callback, user_data);
        Wait *wait = g_new0(Wait, 1);

        g_task_set_source_tag(task, ntprof_session_wait);
        g_task_set_task_data(task, wait, (GDestroyNotify) wait_free);
        wait->state_handler = g_signal_connect(self, "notify::state", G_CALLBACK(wait_check), task);
        wait->gone_handler = g_signal_connect(self, "notify::gone", G_CALLBACK(wait_check), task);
        if (cancellable) {
                wait->cancel_source = g_cancellable_source_new(cancellable);
                g_source_set_callback(wait->cancel_source, G_SOURCE_FUNC(wait_cancelled), task, NULL);
                g_source_attach(wait->cancel_source, g_task_get_context(task));
        }
        wait_check(self, NULL, task);
}

/**
 * ntprof_session_wait_finish:
 * @self: a session
 * @result: as given to the callback
 * @error: return location
 *
 * Returns: %TRUE when the session has ended (see [method@Session.get_error] for how); %FALSE with
 *   %NTPROF_ERROR_SERVICE_GONE when it is gone before that
 */
gboolean ntprof_session_wait_finish(NtprofSession *self, GAsyncResult *result, GError **error)
{
        g_return_val_if_fail(g_task_is_valid(result, self), FALSE);
        return g_task_propagate_boolean(G_TASK(result), error);
}

/**
 * ntprof_session_wait_sync:
 * @self: a session
 * @cancellable: (nullable): cancels the waiting, not the session
 * @error: return location
 *
 * Waits for the end of a session, iterating the thread-default main context (so other sources of it are dispatched).
 *
 * Returns: as [method@Session.wait_finish]
 */
gboolean ntprof_session_wait_sync(NtprofSession *self, GCancellable *cancellable, GError **error)
{
        g_return_val_if_fail(NTPROF_IS_SESSION(self), FALSE);

        g_autoptr(GMainContext) context = g_main_context_ref_thread_default();
        GSource *wake = NULL;

        if (cancellable) {
                wake = g_cancellable_source_new(cancellable);
                g_source_set_dummy_callback(wake);
                g_source_attach(wake, context);
        }
        while (!ntprof_session_has_ended(self) && !ntprof_session_get_gone(self) && !g_cancellable_is_cancelled(cancellable))
                g_main_context_iteration(context, TRUE);
        if (wake) {
                g_source_destroy(wake);
                g_source_unref(wake);
        }
        if (!ntprof_session_has_ended(self) && g_cancellable_set_error_if_cancelled(cancellable, error))
                return FALSE;
        return check_ended(self, error);
}

/* ---- stop, cancel, remove ---- */

/* Stop() returns when what was recorded is joined, which takes as long as it takes. */
#define STOP_TIMEOUT_MSEC G_MAXINT
#define DEFAULT_TIMEOUT_MSEC (-1)

/* A reply read synchronously comes before the signals that tell the new state are dispatched. */
static void refresh_sync(NtprofSession *self, GCancellable *cancellable)
{
        GDBusProxy *proxy = G_DBUS_PROXY(self->proxy);
        g_autoptr(GVariant) reply = NULL, all = NULL;

        reply = g_dbus_connection_call_sync(g_dbus_proxy_get_connection(proxy), g_dbus_proxy_get_name(proxy),
                                            g_dbus_proxy_get_object_path(proxy), "org.freedesktop.DBus.Properties", "GetAll",
                                            g_variant_new("(s)", g_dbus_proxy_get_interface_name(proxy)),
                                            G_VARIANT_TYPE("(a{sv})"), G_DBUS_CALL_FLAGS_NO_AUTO_START,
                                            DEFAULT_TIMEOUT_MSEC, cancellable, NULL);
        if (!reply)
                return;
        all = g_variant_get_child_value(reply, 0);
        np_session_apply(self, all);
}

static void on_called(GObject *source, GAsyncResult *result, gpointer user_data)
{
        g_autoptr(GTask) task = user_data;
        g_autoptr(GError) error = NULL;
        g_autoptr(GVariant) reply = g_dbus_proxy_call_finish(G_DBUS_PROXY(source), result, &error);

        if (!reply) {
                localize(g_task_get_source_object(task), &error);
                g_task_return_error(task, g_steal_pointer(&error));
                return;
        }
        g_task_return_boolean(task, TRUE);
}

static void call(NtprofSession *self, const char *method, int timeout_msec, gpointer tag, GCancellable *cancellable,
                 GAsyncReadyCallback callback, gpointer user_data)
{
        GTask *task = g_task_new(self, cancellable, callback, user_data);

        g_task_set_source_tag(task, tag);
        g_dbus_proxy_call(G_DBUS_PROXY(self->proxy), method, NULL, G_DBUS_CALL_FLAGS_NO_AUTO_START, timeout_msec,
                          cancellable, on_called, task);
}

static gboolean call_sync(NtprofSession *self, const char *method, int timeout_msec, GCancellable *cancellable, GError **error)
{
        g_autoptr(GError) local_error = NULL;
        g_autoptr(GVariant) reply = NULL;

        reply = g_dbus_proxy_call_sync(G_DBUS_PROXY(self->proxy), method, NULL, G_DBUS_CALL_FLAGS_NO_AUTO_START,
                                       timeout_msec, cancellable, &local_error);
        if (reply)
                return TRUE;
        localize(self, &local_error);
        g_propagate_error(error, g_steal_pointer(&local_error));
        return FALSE;
}

/**
 * ntprof_session_stop:
 * @self: a session
 * @cancellable: (nullable): cancels the waiting, the session stops all the same
 * @callback: (scope async): called when the session has ended
 * @user_data: for @callback
 *
 * Ends the recording and joins what there is; the report is then at [method@Session.get_report]. On a session that has
 * ended it does nothing. There is no timeout: joining takes as long as it takes.
 */
void ntprof_session_stop(NtprofSession *self, GCancellable *cancellable, GAsyncReadyCallback callback, gpointer user_data)
{
        g_return_if_fail(NTPROF_IS_SESSION(self));
        call(self, "Stop", STOP_TIMEOUT_MSEC, ntprof_session_stop, cancellable, callback, user_data);
}

/**
 * ntprof_session_stop_finish:
 * @self: a session
 * @result: as given to the callback
 * @error: return location
 *
 * Returns: %TRUE when the session has ended; else @error is set: %NTPROF_ERROR_ACCESS_DENIED, %NTPROF_ERROR_NO_SUCH_SESSION,
 *   %NTPROF_ERROR_SERVICE_GONE
 */
gboolean ntprof_session_stop_finish(NtprofSession *self, GAsyncResult *result, GError **error)
{
        g_return_val_if_fail(g_task_is_valid(result, self), FALSE);
        return g_task_propagate_boolean(G_TASK(result), error);
}

/**
 * ntprof_session_stop_sync:
 * @self: a session
 * @cancellable: (nullable): cancels the waiting, the session stops all the same
 * @error: return location
 *
 * As [method@Session.stop], blocking.
 *
 * Returns: as [method@Session.stop_finish]
 */
gboolean ntprof_session_stop_sync(NtprofSession *self, GCancellable *cancellable, GError **error)
{
        g_return_val_if_fail(NTPROF_IS_SESSION(self), FALSE);
        if (!call_sync(self, "Stop", STOP_TIMEOUT_MSEC, cancellable, error))
                return FALSE;
        refresh_sync(self, cancellable);
        return TRUE;
}

/**
 * ntprof_session_cancel:
 * @self: a session
 * @cancellable: (nullable): cancels the waiting, the session is cancelled all the same
 * @callback: (scope async): called when the session has ended
 * @user_data: for @callback
 *
 * Ends the recording without a report; the result becomes "cancelled". On a session that has ended it does nothing.
 */
void ntprof_session_cancel(NtprofSession *self, GCancellable *cancellable, GAsyncReadyCallback callback, gpointer user_data)
{
        g_return_if_fail(NTPROF_IS_SESSION(self));
        call(self, "Cancel", DEFAULT_TIMEOUT_MSEC, ntprof_session_cancel, cancellable, callback, user_data);
}

/**
 * ntprof_session_cancel_finish:
 * @self: a session
 * @result: as given to the callback
 * @error: return location
 *
 * Returns: as [method@Session.stop_finish]
 */
gboolean ntprof_session_cancel_finish(NtprofSession *self, GAsyncResult *result, GError **error)
{
        g_return_val_if_fail(g_task_is_valid(result, self), FALSE);
        return g_task_propagate_boolean(G_TASK(result), error);
}

/**
 * ntprof_session_cancel_sync:
 * @self: a session
 * @cancellable: (nullable): cancels the waiting, the session is cancelled all the same
 * @error: return location
 *
 * As [method@Session.cancel], blocking.
 *
 * Returns: as [method@Session.stop_finish]
 */
gboolean ntprof_session_cancel_sync(NtprofSession *self, GCancellable *cancellable, GError **error)
{
        g_return_val_if_fail(NTPROF_IS_SESSION(self), FALSE);
        if (!call_sync(self, "Cancel", DEFAULT_TIMEOUT_MSEC, cancellable, error))
                return FALSE;
        refresh_sync(self, cancellable);
        return TRUE;
}

/**
 * ntprof_session_remove:
 * @self: a session that has ended
 * @cancellable: (nullable): a cancellable
 * @callback: (scope async): called when it is removed
 * @user_data: for @callback
 *
 * Makes the service forget the session and its report.
 */
void ntprof_session_remove(NtprofSession *self, GCancellable *cancellable, GAsyncReadyCallback callback, gpointer user_data)
{
        g_return_if_fail(NTPROF_IS_SESSION(self));
        call(self, "Remove", DEFAULT_TIMEOUT_MSEC, ntprof_session_remove, cancellable, callback, user_data);
}

/**
 * ntprof_session_remove_finish:
 * @self: a session
 * @result: as given to the callback
 * @error: return location
 *
 * Returns: %TRUE when it is removed; else @error is set: %NTPROF_ERROR_SESSION_BUSY while it has not ended, and those of
 *   [method@Session.stop_finish]
 */
gboolean ntprof_session_remove_finish(NtprofSession *self, GAsyncResult *result, GError **error)
{
        g_return_val_if_fail(g_task_is_valid(result, self), FALSE);
        return g_task_propagate_boolean(G_TASK(result), error);
}

/**
 * ntprof_session_remove_sync:
 * @self: a session that has ended
 * @cancellable: (nullable): a cancellable
 * @error: return location
 *
 * As [method@Session.remove], blocking.
 *
 * Returns: as [method@Session.remove_finish]
 */
gboolean ntprof_session_remove_sync(NtprofSession *self, GCancellable *cancellable, GError **error)
{
        g_return_val_if_fail(NTPROF_IS_SESSION(self), FALSE);
        return call_sync(self, "Remove", DEFAULT_TIMEOUT_MSEC, cancellable, error);
}

/* ---- report ---- */

static GVariant *no_options(void)
{
        return g_variant_new("a{sv}", NULL);
}

static NtprofReport *report_from_reply(NtprofSession *self, GUnixFDList *fds, GVariant *handle, GError **error)
{
        g_autofree char *json = np_read_handle(fds, handle, "report", error);

        return json ? ntprof_report_new_from_json(json, -1, error) : NULL;
}

static void on_report(GObject *source, GAsyncResult *result, gpointer user_data)
{
        g_autoptr(GTask) task = user_data;
        NtprofSession *self = g_task_get_source_object(task);
        g_autoptr(GUnixFDList) fds = NULL;
        g_autoptr(GVariant) handle = NULL;
        g_autoptr(GError) error = NULL;

        if (!np_dbus_session_call_get_report_finish(NP_DBUS_SESSION(source), &handle, &fds, result, &error)) {
                localize(self, &error);
                g_task_return_error(task, g_steal_pointer(&error));
                return;
        }
        NtprofReport *report = report_from_reply(self, fds, handle, &error);
        if (report)
                g_task_return_pointer(task, report, g_object_unref);
        else
                g_task_return_error(task, g_steal_pointer(&error));
}

/**
 * ntprof_session_get_report:
 * @self: a session
 * @cancellable: (nullable): a cancellable
 * @callback: (scope async): called with the report
 * @user_data: for @callback
 *
 * Reads the report of a session; while it records, the report so far.
 */
void ntprof_session_get_report(NtprofSession *self, GCancellable *cancellable, GAsyncReadyCallback callback, gpointer user_data)
{
        g_return_if_fail(NTPROF_IS_SESSION(self));

        GTask *task = g_task_new(self, cancellable, callback, user_data);

        g_task_set_source_tag(task, ntprof_session_get_report);
        np_dbus_session_call_get_report(self->proxy, no_options(), NULL, cancellable, on_report, task);
}

/**
 * ntprof_session_get_report_finish:
 * @self: a session
 * @result: as given to the callback
 * @error: return location
 *
 * Returns: (transfer full): the report; %NULL with @error set: %NTPROF_ERROR_NO_REPORT when the session was cancelled, failed
 *   or is still preparing, %NTPROF_ERROR_INVALID_DOCUMENT, and those of [method@Session.stop_finish]
 */
NtprofReport *ntprof_session_get_report_finish(NtprofSession *self, GAsyncResult *result, GError **error)
{
        g_return_val_if_fail(g_task_is_valid(result, self), NULL);
        return g_task_propagate_pointer(G_TASK(result), error);
}

/**
 * ntprof_session_get_report_sync:
 * @self: a session
 * @cancellable: (nullable): a cancellable
 * @error: return location
 *
 * As [method@Session.get_report], blocking.
 *
 * Returns: (transfer full): as [method@Session.get_report_finish]
 */
NtprofReport *ntprof_session_get_report_sync(NtprofSession *self, GCancellable *cancellable, GError **error)
{
        g_autoptr(GUnixFDList) fds = NULL;
        g_autoptr(GVariant) handle = NULL;
        g_autoptr(GError) local_error = NULL;

        g_return_val_if_fail(NTPROF_IS_SESSION(self), NULL);
        if (!np_dbus_session_call_get_report_sync(self->proxy, no_options(), NULL, &handle, &fds, cancellable,
                                                  &local_error)) {
                localize(self, &local_error);
                g_propagate_error(error, g_steal_pointer(&local_error));
                return NULL;
        }
        return report_from_reply(self, fds, handle, error);
}
