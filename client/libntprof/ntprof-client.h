/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <gio/gio.h>

#include "ntprof-session.h"

G_BEGIN_DECLS

#define NTPROF_TYPE_CLIENT (ntprof_client_get_type())
G_DECLARE_FINAL_TYPE(NtprofClient, ntprof_client, NTPROF, CLIENT, GObject)

void ntprof_client_new(const char *address, GCancellable *cancellable, GAsyncReadyCallback callback, gpointer user_data);
void ntprof_client_new_for_connection(GDBusConnection *connection, GCancellable *cancellable,
                                      GAsyncReadyCallback callback, gpointer user_data);
NtprofClient *ntprof_client_new_finish(GAsyncResult *result, GError **error);
NtprofClient *ntprof_client_new_for_connection_finish(GAsyncResult *result, GError **error);
NtprofClient *ntprof_client_new_sync(const char *address, GCancellable *cancellable, GError **error);
NtprofClient *ntprof_client_new_for_connection_sync(GDBusConnection *connection, GCancellable *cancellable, GError **error);

GDBusConnection *ntprof_client_get_connection(NtprofClient *self);
const char *ntprof_client_get_version(NtprofClient *self);
const char *const *ntprof_client_get_features(NtprofClient *self);
const char *ntprof_client_get_kernel(NtprofClient *self);

GPtrArray *ntprof_client_list_sessions(NtprofClient *self);
NtprofSession *ntprof_client_find_session(NtprofClient *self, const char *id, GError **error);

void ntprof_client_start_session(NtprofClient *self, const char *namespace_name, GVariant *options,
                                 GCancellable *cancellable, GAsyncReadyCallback callback, gpointer user_data);
NtprofSession *ntprof_client_start_session_finish(NtprofClient *self, GAsyncResult *result, GError **error);
NtprofSession *ntprof_client_start_session_sync(NtprofClient *self, const char *namespace_name, GVariant *options,
                                                GCancellable *cancellable, GError **error);

void ntprof_client_inspect(NtprofClient *self, GCancellable *cancellable, GAsyncReadyCallback callback, gpointer user_data);
char *ntprof_client_inspect_finish(NtprofClient *self, GAsyncResult *result, GError **error);
char *ntprof_client_inspect_sync(NtprofClient *self, GCancellable *cancellable, GError **error);
void ntprof_client_inspect_namespace(NtprofClient *self, const char *namespace_name, GCancellable *cancellable,
                                     GAsyncReadyCallback callback, gpointer user_data);
char *ntprof_client_inspect_namespace_sync(NtprofClient *self, const char *namespace_name, GCancellable *cancellable,
                                           GError **error);

G_END_DECLS
