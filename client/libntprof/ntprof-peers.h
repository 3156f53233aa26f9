/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <gio/gio.h>

#include "ntprof-peer.h"

G_BEGIN_DECLS

#define NTPROF_TYPE_PEERS (ntprof_peers_get_type())
G_DECLARE_FINAL_TYPE(NtprofPeers, ntprof_peers, NTPROF, PEERS, GObject)

void ntprof_peers_new(const char *address, GCancellable *cancellable, GAsyncReadyCallback callback, gpointer user_data);
void ntprof_peers_new_for_connection(GDBusConnection *connection, GCancellable *cancellable, GAsyncReadyCallback callback,
                                     gpointer user_data);
NtprofPeers *ntprof_peers_new_finish(GAsyncResult *result, GError **error);
NtprofPeers *ntprof_peers_new_for_connection_finish(GAsyncResult *result, GError **error);
NtprofPeers *ntprof_peers_new_sync(const char *address, GCancellable *cancellable, GError **error);
NtprofPeers *ntprof_peers_new_for_connection_sync(GDBusConnection *connection, GCancellable *cancellable, GError **error);

GDBusConnection *ntprof_peers_get_connection(NtprofPeers *self);
const char *ntprof_peers_get_version(NtprofPeers *self);
const char *ntprof_peers_get_fingerprint(NtprofPeers *self);
const char *ntprof_peers_get_certificate(NtprofPeers *self);
const char *const *ntprof_peers_get_listening(NtprofPeers *self);

GPtrArray *ntprof_peers_list(NtprofPeers *self);
NtprofPeer *ntprof_peers_find(NtprofPeers *self, const char *name, GError **error);

void ntprof_peers_invite(NtprofPeers *self, GVariant *options, GCancellable *cancellable, GAsyncReadyCallback callback,
                         gpointer user_data);
char *ntprof_peers_invite_finish(NtprofPeers *self, GAsyncResult *result, guint64 *expires_usec, GError **error);
char *ntprof_peers_invite_sync(NtprofPeers *self, GVariant *options, guint64 *expires_usec, GCancellable *cancellable,
                               GError **error);

void ntprof_peers_join(NtprofPeers *self, const char *line, GVariant *options, GCancellable *cancellable,
                       GAsyncReadyCallback callback, gpointer user_data);
NtprofPeer *ntprof_peers_join_finish(NtprofPeers *self, GAsyncResult *result, gboolean *confirmed, char **name_there,
                                     GError **error);
NtprofPeer *ntprof_peers_join_sync(NtprofPeers *self, const char *line, GVariant *options, gboolean *confirmed,
                                   char **name_there, GCancellable *cancellable, GError **error);

void ntprof_peers_renew(NtprofPeers *self, GCancellable *cancellable, GAsyncReadyCallback callback, gpointer user_data);
GVariant *ntprof_peers_renew_finish(NtprofPeers *self, GAsyncResult *result, GError **error);
GVariant *ntprof_peers_renew_sync(NtprofPeers *self, GCancellable *cancellable, GError **error);

G_END_DECLS
