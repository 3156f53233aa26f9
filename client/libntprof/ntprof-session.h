/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <gio/gio.h>

#include "ntprof-report.h"

G_BEGIN_DECLS

/**
 * NtprofSessionState:
 * @NTPROF_SESSION_STATE_UNKNOWN: a state this version of the library does not know
 * @NTPROF_SESSION_STATE_PREPARING: hooks are being attached
 * @NTPROF_SESSION_STATE_RECORDING: commands are being recorded
 * @NTPROF_SESSION_STATE_JOINING: the recording is over, its last commands are being joined
 * @NTPROF_SESSION_STATE_FINISHED: ended; unless its result is "cancelled" there is a report
 * @NTPROF_SESSION_STATE_FAILED: ended by an error; result and message tell which
 *
 * Where a session is in its life. It only ever goes forward.
 */
typedef enum {
        NTPROF_SESSION_STATE_UNKNOWN,
        NTPROF_SESSION_STATE_PREPARING,
        NTPROF_SESSION_STATE_RECORDING,
        NTPROF_SESSION_STATE_JOINING,
        NTPROF_SESSION_STATE_FINISHED,
        NTPROF_SESSION_STATE_FAILED,
} NtprofSessionState;

#define NTPROF_TYPE_SESSION_STATE (ntprof_session_state_get_type())
GType ntprof_session_state_get_type(void) G_GNUC_CONST;
const char *ntprof_session_state_to_string(NtprofSessionState state);

#define NTPROF_TYPE_SESSION (ntprof_session_get_type())
G_DECLARE_FINAL_TYPE(NtprofSession, ntprof_session, NTPROF, SESSION, GObject)

const char *ntprof_session_get_object_path(NtprofSession *self);
const char *ntprof_session_get_id(NtprofSession *self);
const char *ntprof_session_get_namespace_name(NtprofSession *self);
guint ntprof_session_get_owner(NtprofSession *self);
gboolean ntprof_session_get_keep(NtprofSession *self);
gboolean ntprof_session_get_detail(NtprofSession *self);
NtprofSessionState ntprof_session_get_state(NtprofSession *self);
const char *ntprof_session_get_result(NtprofSession *self);
const char *ntprof_session_get_message(NtprofSession *self);
const char *ntprof_session_get_sample(NtprofSession *self);
guint64 ntprof_session_get_duration_usec(NtprofSession *self);
guint64 ntprof_session_get_started_usec(NtprofSession *self);
guint64 ntprof_session_get_recorded_usec(NtprofSession *self);
guint64 ntprof_session_get_commands(NtprofSession *self);
guint64 ntprof_session_get_sampled(NtprofSession *self);
guint64 ntprof_session_get_joined(NtprofSession *self);
GVariant *ntprof_session_get_lost(NtprofSession *self);
guint64 ntprof_session_get_lost_total(NtprofSession *self);
gboolean ntprof_session_get_has_target(NtprofSession *self);
GVariant *ntprof_session_get_hooks(NtprofSession *self);
GVariant *ntprof_session_get_holds(NtprofSession *self);
GVariant *ntprof_session_get_targets(NtprofSession *self);
gboolean ntprof_session_get_gone(NtprofSession *self);
gboolean ntprof_session_has_ended(NtprofSession *self);
GError *ntprof_session_get_error(NtprofSession *self);

void ntprof_session_wait(NtprofSession *self, GCancellable *cancellable, GAsyncReadyCallback callback, gpointer user_data);
gboolean ntprof_session_wait_finish(NtprofSession *self, GAsyncResult *result, GError **error);
gboolean ntprof_session_wait_sync(NtprofSession *self, GCancellable *cancellable, GError **error);

void ntprof_session_stop(NtprofSession *self, GCancellable *cancellable, GAsyncReadyCallback callback, gpointer user_data);
gboolean ntprof_session_stop_finish(NtprofSession *self, GAsyncResult *result, GError **error);
gboolean ntprof_session_stop_sync(NtprofSession *self, GCancellable *cancellable, GError **error);

void ntprof_session_cancel(NtprofSession *self, GCancellable *cancellable, GAsyncReadyCallback callback, gpointer user_data);
gboolean ntprof_session_cancel_finish(NtprofSession *self, GAsyncResult *result, GError **error);
gboolean ntprof_session_cancel_sync(NtprofSession *self, GCancellable *cancellable, GError **error);

void ntprof_session_remove(NtprofSession *self, GCancellable *cancellable, GAsyncReadyCallback callback, gpointer user_data);
gboolean ntprof_session_remove_finish(NtprofSession *self, GAsyncResult *result, GError **error);
gboolean ntprof_session_remove_sync(NtprofSession *self, GCancellable *cancellable, GError **error);

void ntprof_session_get_report(NtprofSession *self, GCancellable *cancellable, GAsyncReadyCallback callback, gpointer user_data);
NtprofReport *ntprof_session_get_report_finish(NtprofSession *self, GAsyncResult *result, GError **error);
NtprofReport *ntprof_session_get_report_sync(NtprofSession *self, GCancellable *cancellable, GError **error);

G_END_DECLS
