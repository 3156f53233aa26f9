/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Making a client, blocking and not. */
#include "client-private.h"
#include "service-open.h"

static const NpService ntprofd = {
        .bus_name = "org.ntprof1",
        .interface = "org.ntprof1.Manager",
        .proxy_type = np_dbus_manager_proxy_get_type,
        .errors = &np_error_ntprofd,
        .opened = np_client_opened,
};

static gboolean ntprof_client_init_sync(GInitable *initable, GCancellable *cancellable, GError **error)
{
        NtprofClient *self = NTPROF_CLIENT(initable);

        return np_service_init_sync(&ntprofd, self, self->address, self->connection, cancellable, error);
}

void np_client_initable_init(GInitableIface *interface)
{
        interface->init = ntprof_client_init_sync;
}

static void ntprof_client_init_async(GAsyncInitable *initable, int io_priority, GCancellable *cancellable,
                                     GAsyncReadyCallback callback, gpointer user_data)
{
        NtprofClient *self = NTPROF_CLIENT(initable);

        np_service_init_async(&ntprofd, self, self->address, self->connection, io_priority, cancellable, callback, user_data);
}

void np_client_async_initable_init(GAsyncInitableIface *interface)
{
        interface->init_async = ntprof_client_init_async;
        interface->init_finish = np_service_init_finish;
}

/**
 * ntprof_client_new:
 * @address: (nullable): D-Bus address of a bus, %NULL for the system bus
 * @cancellable: (nullable): a cancellable
 * @callback: (scope async): called when it is connected
 * @user_data: for @callback
 *
 * Connects to the service, which is started when it isn't running. With %NULL the connection is the one the whole process
 * shares (see [func@Gio.bus_get]: by default the process exits when that bus goes away).
 */
void ntprof_client_new(const char *address, GCancellable *cancellable, GAsyncReadyCallback callback, gpointer user_data)
{
        g_async_initable_new_async(NTPROF_TYPE_CLIENT, G_PRIORITY_DEFAULT, cancellable, callback, user_data, "address", address, NULL);
}

/**
 * ntprof_client_new_for_connection:
 * @connection: a connection to a message bus
 * @cancellable: (nullable): a cancellable
 * @callback: (scope async): called when it is connected
 * @user_data: for @callback
 *
 * As [func@Client.new] over a connection that exists.
 */
void ntprof_client_new_for_connection(GDBusConnection *connection, GCancellable *cancellable, GAsyncReadyCallback callback,
                                      gpointer user_data)
{
        g_return_if_fail(G_IS_DBUS_CONNECTION(connection));
        g_async_initable_new_async(NTPROF_TYPE_CLIENT, G_PRIORITY_DEFAULT, cancellable, callback, user_data, "connection", connection,
                                   NULL);
}

/**
 * ntprof_client_new_finish: (constructor)
 * @result: as given to the callback of [func@Client.new]
 * @error: return location
 *
 * Returns: (transfer full): a client; %NULL with @error set: %NTPROF_ERROR_NO_SERVICE, %NTPROF_ERROR_ACCESS_DENIED,
 *   %NTPROF_ERROR_TIMED_OUT
 */
NtprofClient *ntprof_client_new_finish(GAsyncResult *result, GError **error)
{
        g_autoptr(GObject) source = g_async_result_get_source_object(result);
        GObject *client = g_async_initable_new_finish(G_ASYNC_INITABLE(source), result, error);

        return client ? NTPROF_CLIENT(client) : NULL;
}

/**
 * ntprof_client_new_for_connection_finish: (constructor)
 * @result: as given to the callback of [func@Client.new_for_connection]
 * @error: return location
 *
 * Returns: (transfer full): as [ctor@Client.new_finish]
 */
NtprofClient *ntprof_client_new_for_connection_finish(GAsyncResult *result, GError **error)
{
        return ntprof_client_new_finish(result, error);
}

/**
 * ntprof_client_new_sync: (constructor)
 * @address: (nullable): D-Bus address of a bus, %NULL for the system bus
 * @cancellable: (nullable): a cancellable
 * @error: return location
 *
 * As [func@Client.new], blocking.
 *
 * Returns: (transfer full): as [ctor@Client.new_finish]
 */
NtprofClient *ntprof_client_new_sync(const char *address, GCancellable *cancellable, GError **error)
{
        return g_initable_new(NTPROF_TYPE_CLIENT, cancellable, error, "address", address, NULL);
}

/**
 * ntprof_client_new_for_connection_sync: (constructor)
 * @connection: a connection to a message bus
 * @cancellable: (nullable): a cancellable
 * @error: return location
 *
 * As [func@Client.new_for_connection], blocking.
 *
 * Returns: (transfer full): as [ctor@Client.new_finish]
 */
NtprofClient *ntprof_client_new_for_connection_sync(GDBusConnection *connection, GCancellable *cancellable, GError **error)
{
        g_return_val_if_fail(G_IS_DBUS_CONNECTION(connection), NULL);
        return g_initable_new(NTPROF_TYPE_CLIENT, cancellable, error, "connection", connection, NULL);
}
