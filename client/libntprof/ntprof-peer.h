/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <gio/gio.h>

#include "ntprof-peer-answer.h"

G_BEGIN_DECLS

#define NTPROF_TYPE_PEER (ntprof_peer_get_type())
G_DECLARE_FINAL_TYPE(NtprofPeer, ntprof_peer, NTPROF, PEER, GObject)

const char *ntprof_peer_get_object_path(NtprofPeer *self);
const char *ntprof_peer_get_name(NtprofPeer *self);
const char *ntprof_peer_get_fingerprint(NtprofPeer *self);
const char *ntprof_peer_get_address(NtprofPeer *self);
const char *ntprof_peer_get_origin(NtprofPeer *self);
const char *const *ntprof_peer_get_claimed_host_nqns(NtprofPeer *self);
const char *const *ntprof_peer_get_host_nqns(NtprofPeer *self);
const char *ntprof_peer_get_allow(NtprofPeer *self);
const char *ntprof_peer_get_max_sample_rate(NtprofPeer *self);
guint64 ntprof_peer_get_max_session_usec(NtprofPeer *self);
const char *const *ntprof_peer_get_subsystems(NtprofPeer *self);
gboolean ntprof_peer_get_connected(NtprofPeer *self);
guint ntprof_peer_get_streams(NtprofPeer *self);
guint64 ntprof_peer_get_last_seen_usec(NtprofPeer *self);
gboolean ntprof_peer_get_gone(NtprofPeer *self);

void ntprof_peer_test(NtprofPeer *self, GCancellable *cancellable, GAsyncReadyCallback callback, gpointer user_data);
NtprofPeerAnswer *ntprof_peer_test_finish(NtprofPeer *self, GAsyncResult *result, GError **error);
NtprofPeerAnswer *ntprof_peer_test_sync(NtprofPeer *self, GCancellable *cancellable, GError **error);

void ntprof_peer_forget(NtprofPeer *self, GCancellable *cancellable, GAsyncReadyCallback callback, gpointer user_data);
gboolean ntprof_peer_forget_finish(NtprofPeer *self, GAsyncResult *result, gboolean *told, GError **error);
gboolean ntprof_peer_forget_sync(NtprofPeer *self, gboolean *told, GCancellable *cancellable, GError **error);

G_END_DECLS
