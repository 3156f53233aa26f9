/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One connection to another machine, authenticated by its certificate. Made by links.h only. */
#pragma once

#include <gio/gio.h>

G_BEGIN_DECLS

#define NP_LINK_PROTOCOL_MIN 1
#define NP_LINK_PROTOCOL_MAX 1
#define NP_LINK_STREAMS_MAX 16

#define NP_TYPE_LINK (np_link_get_type())
G_DECLARE_FINAL_TYPE(NpLink, np_link, NP, LINK, GObject)

/* Of the other machine. peer: its name here, NULL: its certificate is not pinned (as long as the link lives, also when Join
 * pinned it). */
const char *np_link_peer(NpLink *link);
const char *np_link_fingerprint(NpLink *link);
/* Its end of the connection: "10.0.0.1:40312". */
const char *np_link_address(NpLink *link);
/* This machine has connected. */
gboolean np_link_outgoing(NpLink *link);
gboolean np_link_is_open(NpLink *link);
guint np_link_n_streams(NpLink *link);
/* The protocol's version, 0 before Hello. */
guint np_link_protocol(NpLink *link);
/* What it said of itself in Hello, NULL before: a{sv} with these and no other keys, all checked: "software" (s), "machine" (s),
 * "subsystems" (as). */
GVariant *np_link_facts(NpLink *link);

/* Sends what is to be sent, and closes; nothing for one that is closed. */
void np_link_close(NpLink *link, const char *reason);

/* Says Hello (again): np_link_facts() are new, and this is how long it took. G_MAXUINT64: error. */
void np_link_hello_async(NpLink *link, GCancellable *cancellable, GAsyncReadyCallback callback, gpointer data);
guint64 np_link_hello_finish(NpLink *link, GAsyncResult *result, GError **error);

/* internal.Peer.OpenTarget(): returns one end of a SOCK_STREAM pair, -1: error. */
void np_link_open_target_async(NpLink *link, GVariant *request, GCancellable *cancellable, GAsyncReadyCallback callback,
                               gpointer data);
int np_link_open_target_finish(NpLink *link, GAsyncResult *result, GError **error);

/* internal.Peer.Renew(): *pinned FALSE: the administrator there has fixed the old one. The other side closes the link
 * afterwards. */
void np_link_renew_async(NpLink *link, const char *fingerprint, GCancellable *cancellable, GAsyncReadyCallback callback,
                         gpointer data);
gboolean np_link_renew_finish(NpLink *link, GAsyncResult *result, gboolean *pinned, GError **error);

/* internal.Peer.Forget() */
void np_link_forget_async(NpLink *link, GCancellable *cancellable, GAsyncReadyCallback callback, gpointer data);
gboolean np_link_forget_finish(NpLink *link, GAsyncResult *result, GError **error);

G_END_DECLS
