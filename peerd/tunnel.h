/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Streams of bytes over a link: what comes out of a local socket goes to the other side by Data(), what comes by Data() goes
 * into the socket. The reply to Data() is the credit, so neither side ever holds more than NP_STREAM_CREDITS messages of a
 * stream.
 *
 * The end of file is passed on as Close(""), and the other direction goes on. A socket that takes no more bytes, or a Data()
 * out of turn, is Close(REASON), and the stream is gone.
 */
#pragma once

#include <gio/gio.h>

G_BEGIN_DECLS

#define NP_STREAM_CREDITS 4
/* What one Data() brings is there when all of it is: 2 s at 64 kbit/s, and who waits for records gives up after 5 s. */
#define NP_STREAM_READ_MAX (16U << 10)
#define NP_STREAM_DATA_MAX (1U << 20)

typedef struct _NpTunnel NpTunnel;
typedef void (*NpTunnelChanged)(gpointer data);

/* accepted: the other side has connected, so what this side answers with is odd. changed(): np_tunnel_count() is another. */
NpTunnel *np_tunnel_new(GDBusConnection *bus, gboolean accepted, NpTunnelChanged changed, gpointer data);
/* Closes all sockets; changed() is not called. */
void np_tunnel_free(NpTunnel *tunnel);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(NpTunnel, np_tunnel_free)

guint np_tunnel_count(NpTunnel *tunnel);
/* A number for a stream that the other side asked for. */
guint64 np_tunnel_number(NpTunnel *tunnel);
/* The other side has answered with this number; FALSE: it may not. */
gboolean np_tunnel_take_number(NpTunnel *tunnel, guint64 number);
/* Takes the socket, in any case, and begins. FALSE: the number is in use, or there are as many as may be. */
gboolean np_tunnel_add(NpTunnel *tunnel, guint64 number, int fd, GError **error);
/* Tells the other side that there is no such stream after all. */
void np_tunnel_refuse(NpTunnel *tunnel, guint64 number, const char *reason);

/* Calls of the other side: Data() takes the invocation. */
void np_tunnel_data(NpTunnel *tunnel, guint64 number, GVariant *bytes, GDBusMethodInvocation *invocation);
void np_tunnel_close(NpTunnel *tunnel, guint64 number, const char *reason);

G_END_DECLS
