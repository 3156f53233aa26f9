/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "link-internal.h"
#include "source.h"

#define TICK_MSEC 1000
#define IDLE_SEC 60
#define IDLE_ACCEPTED_SEC 120           /* so that it is the side that can connect again that closes */
#define HELLO_SEC 10
#define UNPINNED_SEC 30
#define FLUSH_MSEC 2000

G_DEFINE_FINAL_TYPE(NpLink, np_link, G_TYPE_OBJECT)

static void np_link_finalize(GObject *object)
{
        NpLink *link = NP_LINK(object);

        g_clear_object(&link->bus);
        g_clear_object(&link->socket);
        g_free(link->peer);
        g_free(link->fingerprint);
        g_free(link->address);
        g_free(link->reason);
        g_clear_pointer(&link->facts, g_variant_unref);
        G_OBJECT_CLASS(np_link_parent_class)->finalize(object);
}

static void np_link_class_init(NpLinkClass *class)
{
        G_OBJECT_CLASS(class)->finalize = np_link_finalize;
}

static void np_link_init(NpLink *link)
{
}

const char *np_link_peer(NpLink *link)
{
        return link->peer;
}

const char *np_link_fingerprint(NpLink *link)
{
        return link->fingerprint;
}

const char *np_link_address(NpLink *link)
{
        return link->address;
}

gboolean np_link_outgoing(NpLink *link)
{
        return link->outgoing;
}

gboolean np_link_is_open(NpLink *link)
{
        return !link->closing && !link->closed;
}

guint np_link_n_streams(NpLink *link)
{
        return link->tunnel ? np_tunnel_count(link->tunnel) : 0;
}

guint np_link_protocol(NpLink *link)
{
        return link->protocol;
}

GVariant *np_link_facts(NpLink *link)
{
        return link->facts;
}

void np_link_set_facts(NpLink *link, guint protocol, GVariant *facts)
{
        gboolean new = !link->facts || !g_variant_equal(link->facts, facts);

        g_variant_ref(facts);
        g_clear_pointer(&link->facts, g_variant_unref);
        link->facts = facts;
        link->protocol = protocol;
        if (link->peer)
                link->deadline = 0;
        /* Hello can be said as often as one likes, and a file may be written of it. */
        if (link->ops && new)
                link->ops->met(link, link->ops_data);
}

void np_link_touch(NpLink *link)
{
        link->idle_since = g_get_monotonic_time();
}

static void tunnel_changed(gpointer data)
{
        NpLink *link = data;

        np_link_touch(link);
        if (link->ops)
                link->ops->changed(link, link->ops_data);
}

/* The connection is no more. */
static void over(NpLink *link)
{
        g_autoptr(NpLink) held = g_object_ref(link);

        if (link->closed)
                return;
        link->closed = TRUE;
        g_info("link with %s (%s): closed%s%s", link->peer ?: link->fingerprint, link->address, link->reason ? ": " : "",
               link->reason ?: "");
        np_source_clear(&link->timer);
        np_source_clear(&link->closer);
        g_signal_handlers_disconnect_by_data(link->bus, link);
        if (link->object)
                g_dbus_connection_unregister_object(link->bus, link->object);
        g_clear_pointer(&link->tunnel, np_tunnel_free);
        g_clear_pointer(&link->gate, np_gate_free);
        if (link->ops)
                link->ops->changed(link, link->ops_data);
        if (link->gone)
                link->gone(link, link->links);
        g_object_unref(link);
}

static void bus_closed(GDBusConnection *bus, gboolean remote_vanished, GError *error, gpointer data)
{
        NpLink *link = data;

        /* GDBus' words for an end of file are of another world. */
        if (!link->reason)
                link->reason = g_strdup(!error || g_error_matches(error, G_IO_ERROR, G_IO_ERROR_FAILED) ? "by the other side" :
                                                                                                          error->message);
        over(link);
}

void np_link_abort(NpLink *link, const char *reason)
{
        if (link->closed)
                return;
        if (!link->reason)
                link->reason = g_strdup(reason);
        link->closing = TRUE;
        /* Before the connection: what closes that must not wait for a peer that takes nothing. */
        g_socket_shutdown(link->socket, TRUE, TRUE, NULL);
        g_dbus_connection_close(link->bus, NULL, NULL, NULL);
        over(link);
}

void np_link_orphan(NpLink *link)
{
        link->ops = NULL;
        link->gone = NULL;
        np_link_abort(link, "ntprof-peerd ends");
}

static gboolean flushed_late(gpointer data)
{
        NpLink *link = data;

        np_link_abort(link, "closed");
        return G_SOURCE_REMOVE;
}

static void flushed(GObject *source, GAsyncResult *result, gpointer data)
{
        g_autoptr(NpLink) link = data;

        g_dbus_connection_flush_finish(G_DBUS_CONNECTION(source), result, NULL);
        np_link_abort(link, "closed");
}

static gboolean begin_close(gpointer data)
{
        NpLink *link = data;

        np_source_clear(&link->closer);
        link->closer = g_timeout_source_new(FLUSH_MSEC);
        g_source_set_callback(link->closer, flushed_late, link, NULL);
        g_source_attach(link->closer, g_main_context_get_thread_default());
        g_dbus_connection_flush(link->bus, NULL, flushed, g_object_ref(link));
        return G_SOURCE_REMOVE;
}

void np_link_close(NpLink *link, const char *reason)
{
        if (!np_link_is_open(link))
                return;
        link->closing = TRUE;
        link->reason = g_strdup(reason);
        /* Not yet: an answer that is to be flushed may still be on its way here. */
        link->closer = g_idle_source_new();
        g_source_set_callback(link->closer, begin_close, link, NULL);
        g_source_attach(link->closer, g_main_context_get_thread_default());
}

static gboolean tick(gpointer data)
{
        NpLink *link = data;
        gint64 now = g_get_monotonic_time();

        if (link->deadline > 0 && now >= link->deadline) {
                np_link_abort(link, link->peer ? "no Hello came" : "its time without a pin is over");
                return G_SOURCE_REMOVE;
        }
        if (np_link_n_streams(link) > 0 || link->asked > 0 || np_gate_calls(link->gate) > 0)
                np_link_touch(link);
        else if (now - link->idle_since >= (link->outgoing ? IDLE_SEC : IDLE_ACCEPTED_SEC) * G_USEC_PER_SEC)
                np_link_close(link, "idle");
        return G_SOURCE_CONTINUE;
}

static void violated(const char *what, gpointer data)
{
        NpLink *link = data;

        g_warning("link with %s (%s): it sent %s", link->peer ?: link->fingerprint, link->address, what);
        np_link_abort(link, what);
}

NpLink *np_link_new(const NpSecured *secured, const char *peer, gboolean outgoing, const NpLinksOps *ops, gpointer ops_data,
                    void (*gone)(NpLink *link, gpointer links), gpointer links)
{
        NpLink *link = g_object_new(NP_TYPE_LINK, NULL);

        link->ops = ops;
        link->ops_data = ops_data;
        link->gone = gone;
        link->links = links;
        link->bus = g_object_ref(secured->bus);
        link->socket = g_object_ref(secured->socket);
        link->peer = g_strdup(peer);
        link->fingerprint = g_strdup(secured->fingerprint);
        link->address = g_strdup(secured->address);
        link->outgoing = outgoing;
        /* Its own, until over(). */
        g_object_ref(link);

        np_link_touch(link);
        /* An invitation's own end of a link is as short as the other's. */
        link->deadline = link->idle_since + (peer ? HELLO_SEC : UNPINNED_SEC) * G_USEC_PER_SEC;
        link->gate = np_gate_new(link->bus, peer != NULL, violated, link);
        link->tunnel = np_tunnel_new(link->bus, !outgoing, tunnel_changed, link);
        link->timer = g_timeout_source_new(TICK_MSEC);
        g_source_set_callback(link->timer, tick, link, NULL);
        g_source_attach(link->timer, g_main_context_get_thread_default());
        g_signal_connect(link->bus, "closed", G_CALLBACK(bus_closed), link);
        g_dbus_connection_set_exit_on_close(link->bus, FALSE);
        g_info("link with %s (%s): %s", peer ?: link->fingerprint, link->address, outgoing ? "connected" : "accepted");
        if (!np_link_serve(link, NULL) || g_dbus_connection_is_closed(link->bus)) {
                np_link_abort(link, "closed by the other side");
                return link;
        }
        g_dbus_connection_start_message_processing(link->bus);
        return link;
}
