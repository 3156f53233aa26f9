/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Getting in touch with ntprof-peerd, blocking and not. */
#include "peers-private.h"

static const NpService peerd = {
        .bus_name = NP_PEERS_BUS_NAME,
        .interface = "org.ntprof1.PeerManager",
        .proxy_type = np_dbus_peer_manager_proxy_get_type,
        .errors = &np_error_peerd,
        .opened = np_peers_opened,
};

static gboolean ntprof_peers_init_sync(GInitable *initable, GCancellable *cancellable, GError **error)
{
        NtprofPeers *self = NTPROF_PEERS(initable);

        return np_service_init_sync(&peerd, self, self->address, self->connection, cancellable, error);
}

void np_peers_initable_init(GInitableIface *interface)
{
        interface->init = ntprof_peers_init_sync;
}

static void ntprof_peers_init_async(GAsyncInitable *initable, int io_priority, GCancellable *cancellable,
                                     GAsyncReadyCallback callback, gpointer user_data)
{
        NtprofPeers *self = NTPROF_PEERS(initable);

        np_service_init_async(&peerd, self, self->address, self->connection, io_priority, cancellable, callback, user_data);
}

void np_peers_async_initable_init(GAsyncInitableIface *interface)
{
        interface->init_async = ntprof_peers_init_async;
        interface->init_finish = np_service_init_finish;
}

/**
 * ntprof_peers_new:
 * @address: (nullable): D-Bus address of a bus, %NULL for the system bus
 * @cancellable: (nullable): a cancellable
 * @callback: (scope async): called when it is connected
 * @user_data: for @callback
 *
 * Connects to the service, which is started when it isn't running. With %NULL the connection is the one the whole process
 * shares (see [func@Gio.bus_get]: by default the process exits when that bus goes away).
 */
void ntprof_peers_new(const char *address, GCancellable *cancellable, GAsyncReadyCallback callback, gpointer user_data)
{
        g_async_initable_new_async(NTPROF_TYPE_PEERS, G_PRIORITY_DEFAULT, cancellable, callback, user_data, "address", address,
                                   NULL);
}

/**
 * ntprof_peers_new_for_connection:
 * @connection: a connection to a message bus, for instance [property@Client:connection]
 * @cancellable: (nullable): a cancellable
 * @callback: (scope async): called when it is connected
 * @user_data: for @callback
 *
 * As [func@Peers.new] over a connection that exists.
 */
void ntprof_peers_new_for_connection(GDBusConnection *connection, GCancellable *cancellable, GAsyncReadyCallback callback,
                                     gpointer user_data)
{
        g_return_if_fail(G_IS_DBUS_CONNECTION(connection));
        g_async_initable_new_async(NTPROF_TYPE_PEERS, G_PRIORITY_DEFAULT, cancellable, callback, user_data, "connection",
                                   connection, NULL);
}

/**
 * ntprof_peers_new_finish: (constructor)
 * @result: as given to the callback of [func@Peers.new]
 * @error: return location
 *
 * Returns: (transfer full): the peers; %NULL with @error set: %NTPROF_ERROR_NO_SERVICE, %NTPROF_ERROR_ACCESS_DENIED,
 *   %NTPROF_ERROR_TIMED_OUT
 */
NtprofPeers *ntprof_peers_new_finish(GAsyncResult *result, GError **error)
{
        g_autoptr(GObject) source = g_async_result_get_source_object(result);
        GObject *peers = g_async_initable_new_finish(G_ASYNC_INITABLE(source), result, error);

        return peers ? NTPROF_PEERS(peers) : NULL;
}

/**
 * ntprof_peers_new_for_connection_finish: (constructor)
 * @result: as given to the callback of [func@Peers.new_for_connection]
 * @error: return location
 *
 * Returns: (transfer full): as [ctor@Peers.new_finish]
 */
NtprofPeers *ntprof_peers_new_for_connection_finish(GAsyncResult *result, GError **error)
{
        return ntprof_peers_new_finish(result, error);
}

/**
 * ntprof_peers_new_sync: (constructor)
 * @address: (nullable): D-Bus address of a bus, %NULL for the system bus
 * @cancellable: (nullable): a cancellable
 * @error: return location
 *
 * As [func@Peers.new], blocking.
 *
 * Returns: (transfer full): as [ctor@Peers.new_finish]
 */
NtprofPeers *ntprof_peers_new_sync(const char *address, GCancellable *cancellable, GError **error)
{
        return g_initable_new(NTPROF_TYPE_PEERS, cancellable, error, "address", address, NULL);
}

/**
 * ntprof_peers_new_for_connection_sync: (constructor)
 * @connection: a connection to a message bus
 * @cancellable: (nullable): a cancellable
 * @error: return location
 *
 * As [func@Peers.new_for_connection], blocking.
 *
 * Returns: (transfer full): as [ctor@Peers.new_finish]
 */
NtprofPeers *ntprof_peers_new_for_connection_sync(GDBusConnection *connection, GCancellable *cancellable, GError **error)
{
        g_return_val_if_fail(G_IS_DBUS_CONNECTION(connection), NULL);
        return g_initable_new(NTPROF_TYPE_PEERS, cancellable, error, "connection", connection, NULL);
}
