/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What one can ask of the service: to start a session, to inspect the kernel. */
#include "client-private.h"
#include "error-private.h"
#include "memfd.h"

/* ---- starting a session ---- */

static GVariant *build_options(const char *namespace_name, GVariant *options)
{
        g_auto(GVariantDict) dict;
        g_autoptr(GVariant) owned = options ? g_variant_ref_sink(options) : NULL;

        g_variant_dict_init(&dict, owned);
        if (namespace_name)
                g_variant_dict_insert(&dict, "namespace", "s", namespace_name);
        return g_variant_dict_end(&dict);
}

/* What a proxy of the new session must be of: this instance of the service, not the next one. */
static char *require_owner(NtprofClient *self, GError **error)
{
        char *owner = np_manager_dup_owner(self->manager);

        if (!owner)
                g_set_error_literal(error, NTPROF_ERROR, NTPROF_ERROR_SERVICE_GONE,
                                    "ntprofd left the bus while it started the session; 'journalctl -u ntprofd' may tell why");
        return owner;
}

/* A proxy is made also for an object that is gone meanwhile; it then has no properties. */
static NtprofSession *adopt_new(NtprofClient *self, NpDBusSession *proxy, GError **error)
{
        if (np_dbus_session_get_state(proxy))
                return g_object_ref(np_object_list_adopt(self->sessions, G_DBUS_PROXY(proxy)));
        g_set_error_literal(error, NTPROF_ERROR, NTPROF_ERROR_SERVICE_GONE,
                            "the new session is gone already; 'journalctl -u ntprofd' may tell why");
        return NULL;
}

static void start_have_proxy(GObject *source, GAsyncResult *result, gpointer user_data)
{
        g_autoptr(GTask) task = user_data;
        g_autoptr(GError) error = NULL;
        g_autoptr(NpDBusSession) proxy = np_dbus_session_proxy_new_finish(result, &error);

        NtprofSession *session = NULL;
        if (!proxy)
                np_error_localize(&error, "the new session");
        else
                session = adopt_new(g_task_get_source_object(task), proxy, &error);
        if (session)
                g_task_return_pointer(task, session, g_object_unref);
        else
                g_task_return_error(task, g_steal_pointer(&error));
}

static void start_have_path(GObject *source, GAsyncResult *result, gpointer user_data)
{
        g_autoptr(GTask) task = user_data;
        NtprofClient *self = g_task_get_source_object(task);
        g_autoptr(GError) error = NULL;
        g_autofree char *path = NULL, *owner = NULL;

        if (!np_dbus_manager_call_start_session_finish(NP_DBUS_MANAGER(source), &path, result, &error))
                np_error_localize(&error, NULL);
        else
                owner = require_owner(self, &error);
        if (error) {
                g_task_return_error(task, g_steal_pointer(&error));
                return;
        }

        NtprofSession *session = np_object_list_lookup(self->sessions, path);
        if (session) {
                g_task_return_pointer(task, g_object_ref(session), g_object_unref);
                return;
        }
        np_dbus_session_proxy_new(ntprof_client_get_connection(self), G_DBUS_PROXY_FLAGS_DO_NOT_AUTO_START, owner, path,
                                  g_task_get_cancellable(task), start_have_proxy, g_object_ref(task));
}

/**
 * ntprof_client_start_session:
 * @self: a client
 * @namespace_name: e.g. "nvme6n1", "/dev/nvme6n1" or a path device "nvme6c6n1"
 * @options: (nullable): a{sv}, what to record; consumed when floating. "duration-usec" (t): stop by itself after so many
 *   us, 0 (the default): when it is stopped; "sample" (s): "auto" (the default), "all" or "1/N"; "keep" (b): the session
 *   outlives the client's bus connection, by default it is cancelled with it; "peer" (s): the paired machine that is the
 *   target, by default it is found; "no-target" (b): the host's side only; "detail" (b): record what only the
 *   components of the stages need, too
 * @cancellable: (nullable): cancels the waiting; the session may start all the same
 * @callback: (scope async): called when the session is accepted (it is then preparing, or already further)
 * @user_data: for @callback
 *
 * Starts a session.
 */
void ntprof_client_start_session(NtprofClient *self, const char *namespace_name, GVariant *options, GCancellable *cancellable,
                                 GAsyncReadyCallback callback, gpointer user_data)
{
        g_return_if_fail(NTPROF_IS_CLIENT(self));

        GTask *task = g_task_new(self, cancellable, callback, user_data);

        g_task_set_source_tag(task, ntprof_client_start_session);
        np_dbus_manager_call_start_session(self->service, build_options(namespace_name, options), cancellable,
                                           start_have_path, task);
}

/**
 * ntprof_client_start_session_finish:
 * @self: a client
 * @result: as given to the callback
 * @error: return location
 *
 * Returns: (transfer full): the session; %NULL with @error set: %NTPROF_ERROR_INVALID_OPTION, %NTPROF_ERROR_NO_SUCH_NAMESPACE,
 *   %NTPROF_ERROR_NOT_FABRICS, %NTPROF_ERROR_TRANSPORT_UNSUPPORTED, %NTPROF_ERROR_KERNEL_UNSUPPORTED,
 *   %NTPROF_ERROR_TOO_MANY_SESSIONS, %NTPROF_ERROR_CAPTURE_FAILED, %NTPROF_ERROR_ACCESS_DENIED, %NTPROF_ERROR_SERVICE_GONE
 */
NtprofSession *ntprof_client_start_session_finish(NtprofClient *self, GAsyncResult *result, GError **error)
{
        g_return_val_if_fail(g_task_is_valid(result, self), NULL);
        return g_task_propagate_pointer(G_TASK(result), error);
}

/**
 * ntprof_client_start_session_sync:
 * @self: a client
 * @namespace_name: as for [method@Client.start_session]
 * @options: (nullable): as for [method@Client.start_session]
 * @cancellable: (nullable): cancels the waiting; the session may start all the same
 * @error: return location
 *
 * As [method@Client.start_session], blocking.
 *
 * Returns: (transfer full): as [method@Client.start_session_finish]
 */
NtprofSession *ntprof_client_start_session_sync(NtprofClient *self, const char *namespace_name, GVariant *options,
                                                GCancellable *cancellable, GError **error)
{
        g_autoptr(GError) local_error = NULL;
        g_autoptr(NpDBusSession) proxy = NULL;
        g_autofree char *path = NULL, *owner = NULL;

        g_return_val_if_fail(NTPROF_IS_CLIENT(self), NULL);

        if (!np_dbus_manager_call_start_session_sync(self->service, build_options(namespace_name, options), &path,
                                                     cancellable, &local_error)) {
                np_error_localize(&local_error, NULL);
                g_propagate_error(error, g_steal_pointer(&local_error));
                return NULL;
        }
        owner = require_owner(self, error);
        if (!owner)
                return NULL;
        proxy = np_dbus_session_proxy_new_sync(ntprof_client_get_connection(self), G_DBUS_PROXY_FLAGS_DO_NOT_AUTO_START, owner, path,
                                               cancellable, &local_error);
        if (!proxy) {
                np_error_localize(&local_error, "the new session");
                g_propagate_error(error, g_steal_pointer(&local_error));
                return NULL;
        }
        return adopt_new(self, proxy, error);
}

/* ---- inspection ---- */

static GVariant *inspect_options(const char *namespace_name)
{
        GVariantBuilder options;

        g_variant_builder_init(&options, G_VARIANT_TYPE_VARDICT);
        if (namespace_name)
                g_variant_builder_add(&options, "{sv}", "namespace", g_variant_new_string(namespace_name));
        return g_variant_builder_end(&options);
}

static void on_inspected(GObject *source, GAsyncResult *result, gpointer user_data)
{
        g_autoptr(GTask) task = user_data;
        g_autoptr(GUnixFDList) fds = NULL;
        g_autoptr(GVariant) handle = NULL;
        g_autoptr(GError) error = NULL;
        char *json = NULL;

        if (!np_dbus_manager_call_inspect_finish(NP_DBUS_MANAGER(source), &handle, &fds, result, &error))
                np_error_localize(&error, NULL);
        else
                json = np_read_handle(fds, handle, "inspection", &error);
        if (json)
                g_task_return_pointer(task, json, g_free);
        else
                g_task_return_error(task, g_steal_pointer(&error));
}

/**
 * ntprof_client_inspect:
 * @self: a client
 * @cancellable: (nullable): a cancellable
 * @callback: (scope async): called with the inspection
 * @user_data: for @callback
 *
 * Asks what the service's kernel offers: for each boundary the hook chosen and why better ones were not.
 */
void ntprof_client_inspect(NtprofClient *self, GCancellable *cancellable, GAsyncReadyCallback callback, gpointer user_data)
{
        ntprof_client_inspect_namespace(self, NULL, cancellable, callback, user_data);
}

/**
 * ntprof_client_inspect_namespace:
 * @self: a client
 * @namespace_name: (nullable): as for [method@Client.start_session]; %NULL is all that the machine has
 * @cancellable: (nullable): a cancellable
 * @callback: (scope async): called with the inspection
 * @user_data: for @callback
 *
 * As [method@Client.inspect], of what a session of a namespace would take. To be finished by
 * [method@Client.inspect_finish].
 */
void ntprof_client_inspect_namespace(NtprofClient *self, const char *namespace_name, GCancellable *cancellable,
                                     GAsyncReadyCallback callback, gpointer user_data)
{
        g_return_if_fail(NTPROF_IS_CLIENT(self));

        GTask *task = g_task_new(self, cancellable, callback, user_data);

        g_task_set_source_tag(task, ntprof_client_inspect);
        np_dbus_manager_call_inspect(self->service, inspect_options(namespace_name), NULL, cancellable, on_inspected, task);
}

/**
 * ntprof_client_inspect_finish:
 * @self: a client
 * @result: as given to the callback
 * @error: return location
 *
 * Returns: (transfer full): a JSON document of the schema `org.ntprof.inspection/1`; %NULL with @error set
 */
char *ntprof_client_inspect_finish(NtprofClient *self, GAsyncResult *result, GError **error)
{
        g_return_val_if_fail(g_task_is_valid(result, self), NULL);
        return g_task_propagate_pointer(G_TASK(result), error);
}

/**
 * ntprof_client_inspect_sync:
 * @self: a client
 * @cancellable: (nullable): a cancellable
 * @error: return location
 *
 * As [method@Client.inspect], blocking.
 *
 * Returns: (transfer full): as [method@Client.inspect_finish]
 */
char *ntprof_client_inspect_sync(NtprofClient *self, GCancellable *cancellable, GError **error)
{
        return ntprof_client_inspect_namespace_sync(self, NULL, cancellable, error);
}

/**
 * ntprof_client_inspect_namespace_sync:
 * @self: a client
 * @namespace_name: (nullable): as for [method@Client.inspect_namespace]
 * @cancellable: (nullable): a cancellable
 * @error: return location
 *
 * As [method@Client.inspect_namespace], blocking.
 *
 * Returns: (transfer full): as [method@Client.inspect_finish]
 */
char *ntprof_client_inspect_namespace_sync(NtprofClient *self, const char *namespace_name, GCancellable *cancellable,
                                           GError **error)
{
        g_autoptr(GUnixFDList) fds = NULL;
        g_autoptr(GVariant) handle = NULL;
        g_autoptr(GError) local_error = NULL;

        g_return_val_if_fail(NTPROF_IS_CLIENT(self), NULL);
        if (!np_dbus_manager_call_inspect_sync(self->service, inspect_options(namespace_name), NULL, &handle, &fds, cancellable,
                                               &local_error)) {
                np_error_localize(&local_error, NULL);
                g_propagate_error(error, g_steal_pointer(&local_error));
                return NULL;
        }
        return np_read_handle(fds, handle, "inspection", error);
}
