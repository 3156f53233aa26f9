/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "service-open.h"

#include "np-dbus.h"

#define ADDRESS_FLAGS (G_DBUS_CONNECTION_FLAGS_AUTHENTICATION_CLIENT | G_DBUS_CONNECTION_FLAGS_MESSAGE_BUS_CONNECTION)

void np_opened_free(NpOpened *opened)
{
        g_clear_object(&opened->proxy);
        g_clear_object(&opened->manager);
        g_clear_object(&opened->connection);
        g_free(opened);
}

char *np_manager_dup_owner(GDBusObjectManager *manager)
{
        return g_dbus_object_manager_client_get_name_owner(G_DBUS_OBJECT_MANAGER_CLIENT(manager));
}

/* The service isn't on the bus, and nobody starts it: GDBus takes that for an empty object manager. */
static gboolean check_owner(const NpService *service, NpOpened *opened, GError **error)
{
        g_autofree char *owner = np_manager_dup_owner(opened->manager);

        if (owner)
                return TRUE;
        g_set_error(error, NTPROF_ERROR, NTPROF_ERROR_NO_SERVICE, "%s isn't on the bus and nothing starts it: %s",
                    service->errors->daemon, service->errors->start);
        return FALSE;
}

static gboolean check_version(const NpService *service, NpOpened *opened, GError **error)
{
        g_autoptr(GVariant) version = g_dbus_proxy_get_cached_property(opened->proxy, "Version");

        g_dbus_proxy_set_default_timeout(opened->proxy, NP_CALL_TIMEOUT_MSEC);
        if (version && g_variant_is_of_type(version, G_VARIANT_TYPE_STRING))
                return TRUE;
        g_set_error(error, NTPROF_ERROR, NTPROF_ERROR_NO_SERVICE,
                    "what owns the name %s on the bus isn't %s, or refuses to tell its version", service->bus_name,
                    service->errors->daemon);
        return FALSE;
}

static NpOpened *open_sync(const NpService *service, const char *address, GDBusConnection *connection,
                           GCancellable *cancellable, GError **error)
{
        g_autoptr(NpOpened) opened = g_new0(NpOpened, 1);
        g_autoptr(GError) local_error = NULL;

        if (connection)
                opened->connection = g_object_ref(connection);
        else if (address)
                opened->connection = g_dbus_connection_new_for_address_sync(address, ADDRESS_FLAGS, NULL, cancellable,
                                                                            &local_error);
        else
                opened->connection = g_bus_get_sync(G_BUS_TYPE_SYSTEM, cancellable, &local_error);
        if (!opened->connection) {
                np_error_localize_connection(&local_error, address);
                goto fail;
        }

        opened->manager = np_dbus_object_manager_client_new_sync(opened->connection, G_DBUS_OBJECT_MANAGER_CLIENT_FLAGS_NONE,
                                                                 service->bus_name, NP_ROOT_PATH, cancellable, &local_error);
        if (!opened->manager) {
                np_error_localize_for(service->errors, &local_error, NULL);
                goto fail;
        }
        if (!check_owner(service, opened, error))
                return NULL;

        opened->proxy = g_initable_new(service->proxy_type(), cancellable, &local_error, "g-connection", opened->connection,
                                       "g-name", service->bus_name, "g-object-path", NP_ROOT_PATH, "g-interface-name",
                                       service->interface, NULL);
        if (!opened->proxy) {
                np_error_localize_for(service->errors, &local_error, NULL);
                goto fail;
        }
        return check_version(service, opened, error) ? g_steal_pointer(&opened) : NULL;

fail:
        g_propagate_error(error, g_steal_pointer(&local_error));
        return NULL;
}

gboolean np_service_init_sync(const NpService *service, gpointer object, const char *address, GDBusConnection *connection,
                              GCancellable *cancellable, GError **error)
{
        NpOpened *opened = open_sync(service, address, connection, cancellable, error);

        if (!opened)
                return FALSE;
        service->opened(object, opened);
        return TRUE;
}

/* ---- without blocking ---- */

typedef struct {
        const NpService *service;
        char *address;
        NpOpened *opened;
} Opening;

static void opening_free(Opening *opening)
{
        g_clear_pointer(&opening->opened, np_opened_free);
        g_free(opening->address);
        g_free(opening);
}

static void have_proxy(GObject *source, GAsyncResult *result, gpointer user_data)
{
        g_autoptr(GTask) task = user_data;
        Opening *opening = g_task_get_task_data(task);
        g_autoptr(GError) error = NULL;
        GObject *proxy = g_async_initable_new_finish(G_ASYNC_INITABLE(source), result, &error);

        if (!proxy)
                np_error_localize_for(opening->service->errors, &error, NULL);
        else {
                opening->opened->proxy = G_DBUS_PROXY(proxy);
                check_version(opening->service, opening->opened, &error);
        }
        if (error) {
                g_task_return_error(task, g_steal_pointer(&error));
                return;
        }
        opening->service->opened(g_task_get_source_object(task), g_steal_pointer(&opening->opened));
        g_task_return_boolean(task, TRUE);
}

static void have_manager(GObject *source, GAsyncResult *result, gpointer user_data)
{
        g_autoptr(GTask) task = user_data;
        Opening *opening = g_task_get_task_data(task);
        NpOpened *opened = opening->opened;
        g_autoptr(GError) error = NULL;

        opened->manager = np_dbus_object_manager_client_new_finish(result, &error);
        if (!opened->manager)
                np_error_localize_for(opening->service->errors, &error, NULL);
        else
                check_owner(opening->service, opened, &error);
        if (error) {
                g_task_return_error(task, g_steal_pointer(&error));
                return;
        }
        g_async_initable_new_async(opening->service->proxy_type(), G_PRIORITY_DEFAULT, g_task_get_cancellable(task), have_proxy,
                                   g_object_ref(task), "g-connection", opened->connection, "g-name", opening->service->bus_name,
                                   "g-object-path", NP_ROOT_PATH, "g-interface-name", opening->service->interface, NULL);
}

static void open_manager(GTask *task)
{
        Opening *opening = g_task_get_task_data(task);

        np_dbus_object_manager_client_new(opening->opened->connection, G_DBUS_OBJECT_MANAGER_CLIENT_FLAGS_NONE,
                                          opening->service->bus_name, NP_ROOT_PATH, g_task_get_cancellable(task), have_manager,
                                          g_object_ref(task));
}

static void have_connection(GObject *source, GAsyncResult *result, gpointer user_data)
{
        g_autoptr(GTask) task = user_data;
        Opening *opening = g_task_get_task_data(task);
        g_autoptr(GError) error = NULL;

        opening->opened->connection =
                opening->address ? g_dbus_connection_new_for_address_finish(result, &error) : g_bus_get_finish(result, &error);
        if (!opening->opened->connection) {
                np_error_localize_connection(&error, opening->address);
                g_task_return_error(task, g_steal_pointer(&error));
                return;
        }
        open_manager(task);
}

void np_service_init_async(const NpService *service, gpointer object, const char *address, GDBusConnection *connection,
                           int io_priority, GCancellable *cancellable, GAsyncReadyCallback callback, gpointer user_data)
{
        g_autoptr(GTask) task = g_task_new(object, cancellable, callback, user_data);
        Opening *opening = g_new0(Opening, 1);

        g_task_set_priority(task, io_priority);
        opening->service = service;
        opening->address = g_strdup(address);
        opening->opened = g_new0(NpOpened, 1);
        g_task_set_task_data(task, opening, (GDestroyNotify) opening_free);
        if (connection) {
                opening->opened->connection = g_object_ref(connection);
                open_manager(task);
        } else if (address)
                g_dbus_connection_new_for_address(address, ADDRESS_FLAGS, NULL, cancellable, have_connection,
                                                  g_object_ref(task));
        else
                g_bus_get(G_BUS_TYPE_SYSTEM, cancellable, have_connection, g_object_ref(task));
}

gboolean np_service_init_finish(GAsyncInitable *object, GAsyncResult *result, GError **error)
{
        return g_task_propagate_boolean(G_TASK(result), error);
}
