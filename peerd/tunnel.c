/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tunnel.h"

#include <errno.h>
#include <fcntl.h>
#include <glib-unix.h>
#include <sys/socket.h>
#include <unistd.h>

#include "error.h"
#include "link-gate.h"
#include "link.h"
#include "source.h"

/* Data() that the socket has not taken yet. */
typedef struct {
        GDBusMethodInvocation *invocation;
        GVariant *bytes;
        gsize written;
} Received;

typedef struct {
        NpTunnel *tunnel;
        guint64 number;
        int fd;
        GSource *in, *out, *hup;
        guint sent;             /* Data() of ours without a reply */
        gboolean eof;           /* of the socket: Close() was sent */
        GQueue received;        /* of Received */
        gboolean closed;        /* by the other side, after what is in received */
        gboolean whole;         /* ... both directions */
} Stream;

struct _NpTunnel {
        GDBusConnection *bus;
        gboolean accepted;
        guint64 last, their_last;       /* of the streams that each side answered for */
        guint8 *scratch;        /* NP_STREAM_READ_MAX */
        GHashTable *streams;    /* number: Stream */
        NpTunnelChanged changed;
        gpointer data;
};

static gboolean readable(int fd, GIOCondition condition, gpointer data);
static gboolean writable(int fd, GIOCondition condition, gpointer data);

static void watch(Stream *s, GSource **source, gboolean on, GIOCondition condition, GUnixFDSourceFunc function)
{
        if (on == (*source != NULL))
                return;
        if (!on) {
                np_source_clear(source);
                return;
        }
        *source = g_unix_fd_source_new(s->fd, condition);
        g_source_set_callback(*source, G_SOURCE_FUNC(function), s, NULL);
        g_source_attach(*source, g_main_context_get_thread_default());
}

static void received_free(Received *r)
{
        g_variant_unref(r->bytes);
        g_free(r);
}

static void stream_free(gpointer data)
{
        Stream *s = data;
        Received *r;

        watch(s, &s->in, FALSE, 0, NULL);
        watch(s, &s->out, FALSE, 0, NULL);
        watch(s, &s->hup, FALSE, 0, NULL);
        while ((r = g_queue_pop_head(&s->received))) {
                g_dbus_method_invocation_return_error_literal(r->invocation, G_IO_ERROR, G_IO_ERROR_CLOSED,
                                                              "the stream has ended");
                received_free(r);
        }
        close(s->fd);
        g_free(s);
}

static void drop(Stream *s)
{
        NpTunnel *tunnel = s->tunnel;

        g_hash_table_remove(tunnel->streams, &s->number);
        tunnel->changed(tunnel->data);
}

void np_tunnel_refuse(NpTunnel *tunnel, guint64 number, const char *reason)
{
        g_dbus_connection_call(tunnel->bus, NULL, NP_LINK_PATH, NP_LINK_INTERFACE, "Close",
                               g_variant_new("(ts)", number, reason), NULL, G_DBUS_CALL_FLAGS_NONE, -1, NULL, NULL, NULL);
}

static void send_close(Stream *s, const char *reason)
{
        np_tunnel_refuse(s->tunnel, s->number, reason);
}

static void end(Stream *s, const char *reason)
{
        send_close(s, reason);
        drop(s);
}

/* Both directions have ended, and nothing is to be written: TRUE when it was dropped. */
static gboolean drop_when_over(Stream *s)
{
        if (!s->closed || g_queue_get_length(&s->received) > 0 || (!s->whole && !s->eof))
                return FALSE;
        drop(s);
        return TRUE;
}

static void arm_reading(Stream *s)
{
        watch(s, &s->in, !s->eof && s->sent < NP_STREAM_CREDITS, G_IO_IN, readable);
}

static void data_taken(GObject *source, GAsyncResult *result, gpointer data)
{
        g_autofree guint64 *number = data;
        g_autoptr(GError) error = NULL;
        g_autoptr(GVariant) reply = g_dbus_connection_call_finish(G_DBUS_CONNECTION(source), result, &error);
        NpTunnel *tunnel = g_object_get_data(source, "np-tunnel");
        Stream *s = tunnel ? g_hash_table_lookup(tunnel->streams, number) : NULL;

        if (!s)
                return;
        s->sent--;
        if (error)
                end(s, "the other side did not take what was sent");
        else
                arm_reading(s);
}

/* After its end of file: a socket that was shut down for writing still takes bytes, one that was closed does not. */
static gboolean gone(int fd, GIOCondition condition, gpointer data)
{
        end(data, "closed");
        return G_SOURCE_REMOVE;
}

static gboolean readable(int fd, GIOCondition condition, gpointer data)
{
        Stream *s = data;
        ssize_t n = recv(fd, s->tunnel->scratch, NP_STREAM_READ_MAX, MSG_DONTWAIT);
        g_autoptr(GBytes) bytes = NULL;

        if (n < 0 && (errno == EAGAIN || errno == EINTR))
                return G_SOURCE_CONTINUE;
        if (n < 0) {
                end(s, g_strerror(errno));
                return G_SOURCE_REMOVE;
        }
        if (n == 0) {
                s->eof = TRUE;
                arm_reading(s);
                send_close(s, "");
                if (!drop_when_over(s))
                        watch(s, &s->hup, TRUE, G_IO_HUP, gone);
                return G_SOURCE_REMOVE;
        }
        s->sent++;
        bytes = g_bytes_new(s->tunnel->scratch, (gsize) n);
        g_dbus_connection_call(s->tunnel->bus, NULL, NP_LINK_PATH, NP_LINK_INTERFACE, "Data",
                               g_variant_new("(t@ay)", s->number,
                                             g_variant_new_from_bytes(G_VARIANT_TYPE_BYTESTRING, bytes, TRUE)),
                               NULL, G_DBUS_CALL_FLAGS_NONE, G_MAXINT, NULL, data_taken,
                               g_memdup2(&s->number, sizeof(s->number)));
        if (s->sent < NP_STREAM_CREDITS)
                return G_SOURCE_CONTINUE;
        arm_reading(s);
        return G_SOURCE_REMOVE;
}

/* FALSE: the stream is gone. */
static gboolean write_received(Stream *s)
{
        Received *r;

        while ((r = g_queue_peek_head(&s->received))) {
                gsize size;
                const guint8 *bytes = g_variant_get_fixed_array(r->bytes, &size, 1);

                while (r->written < size) {
                        ssize_t n = send(s->fd, bytes + r->written, size - r->written, MSG_DONTWAIT | MSG_NOSIGNAL);

                        if (n < 0 && errno == EINTR)
                                continue;
                        if (n < 0 && errno == EAGAIN) {
                                watch(s, &s->out, TRUE, G_IO_OUT, writable);
                                return TRUE;
                        }
                        if (n < 0) {
                                end(s, errno == EPIPE ? "closed" : g_strerror(errno));
                                return FALSE;
                        }
                        r->written += (gsize) n;
                }
                g_queue_pop_head(&s->received);
                g_dbus_method_invocation_return_value(r->invocation, NULL);
                received_free(r);
        }
        watch(s, &s->out, FALSE, 0, NULL);
        if (!s->closed)
                return TRUE;
        shutdown(s->fd, SHUT_WR);
        return !drop_when_over(s);
}

static gboolean writable(int fd, GIOCondition condition, gpointer data)
{
        Stream *s = data;

        return write_received(s) && s->out ? G_SOURCE_CONTINUE : G_SOURCE_REMOVE;
}

NpTunnel *np_tunnel_new(GDBusConnection *bus, gboolean accepted, NpTunnelChanged changed, gpointer data)
{
        NpTunnel *tunnel = g_new0(NpTunnel, 1);

        tunnel->bus = g_object_ref(bus);
        tunnel->accepted = accepted;
        tunnel->last = accepted ? -1 : 0;
        tunnel->scratch = g_malloc(NP_STREAM_READ_MAX);
        tunnel->streams = g_hash_table_new_full(g_int64_hash, g_int64_equal, NULL, stream_free);
        tunnel->changed = changed;
        tunnel->data = data;
        /* How the replies that still come find it, or don't. */
        g_object_set_data(G_OBJECT(bus), "np-tunnel", tunnel);
        return tunnel;
}

void np_tunnel_free(NpTunnel *tunnel)
{
        g_object_set_data(G_OBJECT(tunnel->bus), "np-tunnel", NULL);
        g_hash_table_unref(tunnel->streams);
        g_object_unref(tunnel->bus);
        g_free(tunnel->scratch);
        g_free(tunnel);
}

guint np_tunnel_count(NpTunnel *tunnel)
{
        return g_hash_table_size(tunnel->streams);
}

guint64 np_tunnel_number(NpTunnel *tunnel)
{
        return tunnel->last += 2;
}

gboolean np_tunnel_take_number(NpTunnel *tunnel, guint64 number)
{
        if (number <= tunnel->their_last || (number % 2 == 1) == tunnel->accepted)
                return FALSE;
        tunnel->their_last = number;
        return TRUE;
}

gboolean np_tunnel_add(NpTunnel *tunnel, guint64 number, int fd, GError **error)
{
        Stream *s;

        if (np_tunnel_count(tunnel) >= NP_LINK_STREAMS_MAX || g_hash_table_contains(tunnel->streams, &number)) {
                close(fd);
                g_set_error(error, NP_ERROR, NP_ERROR_TOO_MANY_SESSIONS,
                            "%d recordings are under way between these machines, which is the most", NP_LINK_STREAMS_MAX);
                return FALSE;
        }
        g_unix_set_fd_nonblocking(fd, TRUE, NULL);
        s = g_new0(Stream, 1);
        s->tunnel = tunnel;
        s->number = number;
        s->fd = fd;
        g_queue_init(&s->received);
        g_hash_table_insert(tunnel->streams, &s->number, s);
        arm_reading(s);
        tunnel->changed(tunnel->data);
        return TRUE;
}

void np_tunnel_data(NpTunnel *tunnel, guint64 number, GVariant *bytes, GDBusMethodInvocation *invocation)
{
        Stream *s = g_hash_table_lookup(tunnel->streams, &number);
        Received *r;

        if (!s || s->closed) {
                g_dbus_method_invocation_return_error(invocation, G_IO_ERROR, G_IO_ERROR_CLOSED,
                                                      "there is no stream %" G_GUINT64_FORMAT, number);
                return;
        }
        if (g_queue_get_length(&s->received) >= NP_STREAM_CREDITS || g_variant_get_size(bytes) > NP_STREAM_DATA_MAX) {
                g_dbus_method_invocation_return_error_literal(invocation, G_IO_ERROR, G_IO_ERROR_NO_SPACE,
                                                              "more than the stream's credits");
                end(s, "more came than was asked for");
                return;
        }
        r = g_new0(Received, 1);
        r->invocation = invocation;
        r->bytes = g_variant_ref(bytes);
        g_queue_push_tail(&s->received, r);
        if (g_queue_get_length(&s->received) == 1)
                write_received(s);
}

void np_tunnel_close(NpTunnel *tunnel, guint64 number, const char *reason)
{
        Stream *s = g_hash_table_lookup(tunnel->streams, &number);

        if (!s)
                return;
        s->closed = TRUE;
        if (*reason) {
                s->whole = TRUE;
                /* Nobody takes what we would send. */
                s->eof = TRUE;
                arm_reading(s);
        }
        if (g_queue_get_length(&s->received) == 0)
                write_received(s);
}
