/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Making a client: the bus, the sessions' object manager, the service; blocking and not. */
#include "client-private.h"
#include "error-private.h"

/* The service isn't on the bus, and nobody starts it: GDBus takes that for an empty object manager. */
static gboolean check_owner(NtprofClient *self, GError **error)
{
        g_autofree char *owner = np_client_dup_owner(self);

        if (owner)
                return TRUE;
        g_set_error(error, NTPROF_ERROR, NTPROF_ERROR_NO_SERVICE, "ntprofd isn't on the bus and nothing starts it: " NP_HINT_START);
        return FALSE;
}

static gboolean service_ready(NtprofClient *self, NpDBusManager *service, GError **error)
{
        self->service = service;
        g_dbus_proxy_set_default_timeout(G_DBUS_PROXY(service), NP_CALL_TIMEOUT_MSEC);
        if (np_dbus_manager_get_version(service))
                return TRUE;
        g_set_error(error, NTPROF_ERROR, NTPROF_ERROR_NO_SERVICE,
                    "what owns the name %s on the bus isn't ntprofd, or refuses to tell its version", NP_BUS_NAME);
        return FALSE;
}

#define ADDRESS_FLAGS (G_DBUS_CONNECTION_FLAGS_AUTHENTICATION_CLIENT | G_DBUS_CONNECTION_FLAGS_MESSAGE_BUS_CONNECTION)

static gboolean ntprof_client_init_sync(GInitable *initable, GCancellable *cancellable, GError **error)
{
        NtprofClient *self = NTPROF_CLIENT(initable);
        g_autoptr(GError) local_error = NULL;

        if (!self->connection) {
                self->connection = self->address ? g_dbus_connection_new_for_address_sync(self->address, ADDRESS_FLAGS, NULL,
                                                                                          cancellable, &local_error)
                                                 : g_bus_get_sync(G_BUS_TYPE_SYSTEM, cancellable, &local_error);
                if (!self->connection) {
                        np_error_localize_connection(&local_error, self->address);
                        goto fail;
                }
        }

        GDBusObjectManager *manager =
                np_dbus_object_manager_client_new_sync(self->connection, G_DBUS_OBJECT_MANAGER_CLIENT_FLAGS_NONE, NP_BUS_NAME,
                                                       NP_ROOT_PATH, cancellable, &local_error);
        if (!manager) {
                np_error_localize(&local_error, NULL);
                goto fail;
        }
        np_client_manager_ready(self, manager);
        if (!check_owner(self, error))
                return FALSE;

        NpDBusManager *service = np_dbus_manager_proxy_new_sync(self->connection, G_DBUS_PROXY_FLAGS_NONE, NP_BUS_NAME,
                                                                NP_ROOT_PATH, cancellable, &local_error);
        if (!service) {
                np_error_localize(&local_error, NULL);
                goto fail;
        }
        return service_ready(self, service, error);

fail:
        g_propagate_error(error, g_steal_pointer(&local_error));
        return FALSE;
}

void np_client_initable_init(GInitableIface *interface)
{
        interface->init = ntprof_client_init_sync;
}

static void init_fail(GTask *task, GError *error)
{
        g_task_return_error(task, error);
        g_object_unref(task);
}

static void init_have_service(GObject *source, GAsyncResult *result, gpointer user_data)
{
        GTask *task = user_data;
        g_autoptr(GError) error = NULL;
        NpDBusManager *service = np_dbus_manager_proxy_new_finish(result, &error);

        if (!service)
                np_error_localize(&error, NULL);
        else
                service_ready(g_task_get_source_object(task), service, &error);
        if (error)
                return init_fail(task, g_steal_pointer(&error));
        g_task_return_boolean(task, TRUE);
        g_object_unref(task);
}

static void init_have_manager(GObject *source, GAsyncResult *result, gpointer user_data)
{
        GTask *task = user_data;
        NtprofClient *self = g_task_get_source_object(task);
        g_autoptr(GError) error = NULL;
        GDBusObjectManager *manager = np_dbus_object_manager_client_new_finish(result, &error);

        if (!manager) {
                np_error_localize(&error, NULL);
                return init_fail(task, g_steal_pointer(&error));
        }
        np_client_manager_ready(self, manager);
        if (!check_owner(self, &error))
                return init_fail(task, g_steal_pointer(&error));
        np_dbus_manager_proxy_new(self->connection, G_DBUS_PROXY_FLAGS_NONE, NP_BUS_NAME, NP_ROOT_PATH, g_task_get_cancellable(task),
                                  init_have_service, task);
}

static void init_manager(GTask *task)
{
        NtprofClient *self = g_task_get_source_object(task);

        np_dbus_object_manager_client_new(self->connection, G_DBUS_OBJECT_MANAGER_CLIENT_FLAGS_NONE, NP_BUS_NAME, NP_ROOT_PATH,
                                          g_task_get_cancellable(task), init_have_manager, task);
}

static void init_have_connection(GObject *source, GAsyncResult *result, gpointer user_data)
{
        GTask *task = user_data;
        NtprofClient *self = g_task_get_source_object(task);
        g_autoptr(GError) error = NULL;

        self->connection = self->address ? g_dbus_connection_new_for_address_finish(result, &error) : g_bus_get_finish(result, &error);
        if (!self->connection) {
                np_error_localize_connection(&error, self->address);
                return init_fail(task, g_steal_pointer(&error));
        }
        init_manager(task);
}

static void ntprof_client_init_async(GAsyncInitable *initable, int io_priority, GCancellable *cancellable,
                                     GAsyncReadyCallback callback, gpointer user_data)
{
        NtprofClient *self = NTPROF_CLIENT(initable);
        GTask *task = g_task_new(self, cancellable, callback, user_data);

        g_task_set_priority(task, io_priority);
        if (self->connection)
                init_manager(task);
        else if (self->address)
                g_dbus_connection_new_for_address(self->address, ADDRESS_FLAGS, NULL, cancellable, init_have_connection, task);
        else
                g_bus_get(G_BUS_TYPE_SYSTEM, cancellable, init_have_connection, task);
}

static gboolean ntprof_client_init_finish(GAsyncInitable *initable, GAsyncResult *result, GError **error)
{
        return g_task_propagate_boolean(G_TASK(result), error);
}

void np_client_async_initable_init(GAsyncInitableIface *interface)
{
        interface->init_async = ntprof_client_init_async;
        interface->init_finish = ntprof_client_init_finish;
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
