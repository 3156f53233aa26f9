/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "service.h"

#include "objects.h"

/* Who connects as this daemon starts should be told what is exported here; but it is not kept waiting for longer. */
#define DESCRIBE_FIRST_MSEC 1500

struct _NpService {
        NpPeerd *peerd;
        GDBusConnection *bus;
        NpServiceHandlers handlers;
        NpPeerObjects *peers;
        NpManagerObject *manager;
        NpLinksObject *links;
        guint name, sync, listen, idle, filter;
        guint idle_sec;
        int used_sec;                   /* atomic: when something was asked for last */
        int calls;                      /* atomic: that came so far, and wrap around */
        int unanswered;                 /* atomic: calls that wait for their answer */
        gboolean ended;
};

/* ---- ends ---- */

static void end(NpService *self, const GError *error)
{
        if (self->ended)
                return;
        self->ended = TRUE;
        self->handlers.ended(error, self->handlers.data);
}

static void touch(gpointer data)
{
        NpService *self = data;

        g_atomic_int_set(&self->used_sec, g_get_monotonic_time() / G_USEC_PER_SEC);
}

/* In GDBus' thread. */
static GDBusMessage *on_message(GDBusConnection *bus, GDBusMessage *message, gboolean incoming, gpointer data)
{
        GDBusMessageType type = g_dbus_message_get_message_type(message);
        NpService *self = data;

        if (incoming && type == G_DBUS_MESSAGE_TYPE_METHOD_CALL) {
                touch(self);
                g_atomic_int_inc(&self->calls);
                if (!(g_dbus_message_get_flags(message) & G_DBUS_MESSAGE_FLAGS_NO_REPLY_EXPECTED))
                        g_atomic_int_inc(&self->unanswered);
        } else if (!incoming && (type == G_DBUS_MESSAGE_TYPE_METHOD_RETURN || type == G_DBUS_MESSAGE_TYPE_ERROR)) {
                touch(self);
                /* GDBus answers some calls that expect none. */
                if (g_atomic_int_get(&self->unanswered) > 0)
                        g_atomic_int_add(&self->unanswered, -1);
        }
        return message;
}

static void own_name(NpService *self);

/* For what is called from now on the bus starts the daemon anew. What was called before is known when the bus has answered:
 * messages come in order. */
static void release_name(NpService *self)
{
        g_bus_unown_name(self->name);
        self->name = 0;
}

static gboolean on_idle_tick(gpointer data)
{
        NpService *self = data;
        int now = g_get_monotonic_time() / G_USEC_PER_SEC, calls = g_atomic_int_get(&self->calls);

        if (np_peerd_n_streams(self->peerd) > 0 || g_atomic_int_get(&self->unanswered) > 0) {
                touch(self);
                return G_SOURCE_CONTINUE;
        }
        if (now - g_atomic_int_get(&self->used_sec) < (int) self->idle_sec)
                return G_SOURCE_CONTINUE;

        release_name(self);
        if (g_atomic_int_get(&self->calls) == calls)
                end(self, NULL);
        else
                own_name(self);
        return G_SOURCE_CONTINUE;
}

/* ---- begins ---- */

static gboolean on_sync(gpointer data)
{
        NpService *self = data;

        self->sync = 0;
        np_peer_objects_sync(self->peers);
        np_manager_object_sync(self->manager);
        return G_SOURCE_REMOVE;
}

static void on_changed(gpointer data)
{
        NpService *self = data;

        /* Before the next call is answered: who was told that something has changed sees it. */
        if (self->sync == 0)
                self->sync = g_idle_add_full(G_PRIORITY_HIGH, on_sync, self, NULL);
}

static gboolean on_listen(gpointer data)
{
        NpService *self = data;

        self->listen = 0;
        np_peerd_listen(self->peerd);
        return G_SOURCE_REMOVE;
}

static void on_described(GObject *source, GAsyncResult *result, gpointer data)
{
        NpService *self = data;
        g_autoptr(GError) error = NULL;
        g_autoptr(GVariant) facts = np_target_describe_finish(NULL, result, &error);

        if (g_error_matches(error, G_IO_ERROR, G_IO_ERROR_CANCELLED) || self->listen == 0)
                return;
        g_source_remove(self->listen);
        on_listen(self);
}

static void on_name(GDBusConnection *bus, const char *name, gpointer data)
{
        NpService *self = data;

        self->handlers.ready(self->handlers.data);
}

static void on_name_lost(GDBusConnection *bus, const char *name, gpointer data)
{
        g_autoptr(GError) error = NULL;

        if (!bus || g_dbus_connection_is_closed(bus))
                error = g_error_new_literal(G_IO_ERROR, G_IO_ERROR_CLOSED, "the connection to the bus was lost");
        else
                error = g_error_new(G_IO_ERROR, G_IO_ERROR_ADDRESS_IN_USE,
                                    "%s: another process has this name, or the bus does not let this user have it (%s)", name,
                                    "dbus/org.ntprof1.Peers.conf");
        end(data, error);
}

static void own_name(NpService *self)
{
        self->name = g_bus_own_name_on_connection(self->bus, NP_PEERS_NAME, G_BUS_NAME_OWNER_FLAGS_DO_NOT_QUEUE, on_name,
                                                  on_name_lost, self, NULL);
}

static void on_closed(GDBusConnection *bus, gboolean vanished, GError *why, NpService *self)
{
        on_name_lost(bus, NP_PEERS_NAME, self);
}

NpService *np_service_new(NpPeerd *peerd, GDBusConnection *bus, guint idle_sec, const NpServiceHandlers *handlers,
                          GError **error)
{
        g_autoptr(NpService) self = g_new0(NpService, 1);

        self->peerd = peerd;
        self->bus = g_object_ref(bus);
        self->handlers = *handlers;
        self->idle_sec = idle_sec;
        touch(self);

        self->peers = np_peer_objects_new(peerd, bus);
        self->manager = np_manager_object_new(peerd, self->peers, bus, error);
        if (self->manager)
                self->links = np_links_object_new(peerd, bus, error);
        if (!self->links)
                return NULL;
        peerd->changed = on_changed;
        peerd->changed_data = self;
        peerd->used = touch;
        peerd->used_data = self;

        g_signal_connect(bus, "closed", G_CALLBACK(on_closed), self);
        if (idle_sec > 0) {
                self->filter = g_dbus_connection_add_filter(bus, on_message, self, NULL);
                self->idle = g_timeout_add_seconds(1, on_idle_tick, self);
        }
        own_name(self);
        self->listen = g_timeout_add(DESCRIBE_FIRST_MSEC, on_listen, self);
        np_target_describe_async(peerd->target, on_described, self);
        return g_steal_pointer(&self);
}

void np_service_free(NpService *self)
{
        if (!self)
                return;
        self->ended = TRUE;
        self->peerd->changed = NULL;
        self->peerd->used = NULL;
        g_signal_handlers_disconnect_by_data(self->bus, self);
        if (self->name)
                g_bus_unown_name(self->name);
        if (self->filter)
                g_dbus_connection_remove_filter(self->bus, self->filter);
        g_clear_handle_id(&self->idle, g_source_remove);
        g_clear_handle_id(&self->sync, g_source_remove);
        g_clear_handle_id(&self->listen, g_source_remove);
        np_links_object_free(self->links);
        np_manager_object_free(self->manager);
        np_peer_objects_free(self->peers);
        g_object_unref(self->bus);
        g_free(self);
}
