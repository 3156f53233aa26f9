/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "ntprof-client.h"

#include "client-private.h"
#include "error-private.h"
#include "session-private.h"

/**
 * NtprofClient:
 *
 * A connection to the service ntprofd, which is started when it isn't running.
 *
 * ```c
 * g_autoptr(NtprofClient) client = ntprof_client_new_sync(NULL, NULL, &error);
 * g_autoptr(NtprofSession) session = ntprof_client_start_session_sync(client, "nvme6n1",
 *         g_variant_new_parsed("{'duration-usec': <uint64 10000000>}"), NULL, &error);
 * if (ntprof_session_wait_sync(session, NULL, &error)) {
 *         g_autoptr(NtprofReport) report = ntprof_session_get_report_sync(session, NULL, &error);
 *         ...
 * ```
 *
 * A client, its sessions and what they signal belong to the thread-default main context in which the client was made.
 */

G_DEFINE_FINAL_TYPE_WITH_CODE(NtprofClient, ntprof_client, G_TYPE_OBJECT,
                              G_IMPLEMENT_INTERFACE(G_TYPE_INITABLE, np_client_initable_init)
                              G_IMPLEMENT_INTERFACE(G_TYPE_ASYNC_INITABLE, np_client_async_initable_init))

enum {
        PROP_0,
        PROP_ADDRESS,
        PROP_CONNECTION,
        PROP_VERSION,
        PROP_FEATURES,
        PROP_KERNEL,
        N_PROPERTIES,
};

static GParamSpec *properties[N_PROPERTIES];

/* ---- sessions ---- */

static gpointer session_new(GDBusProxy *proxy)
{
        return np_session_new(NP_DBUS_SESSION(proxy));
}

static const char *session_path(gpointer session)
{
        return ntprof_session_get_object_path(session);
}

static void session_set_gone(gpointer session)
{
        np_session_set_gone(session);
}

static int compare_sessions(gconstpointer a, gconstpointer b)
{
        const char *x = ntprof_session_get_id(*(NtprofSession *const *) a), *y = ntprof_session_get_id(*(NtprofSession *const *) b);
        guint64 i = g_ascii_strtoull(x, NULL, 10), j = g_ascii_strtoull(y, NULL, 10);

        return i < j ? -1 : i > j ? 1 : strcmp(x, y);
}

static const NpObjectKind session_kind = {
        .interface = "org.ntprof1.Session",
        .added = "session-added",
        .removed = "session-removed",
        .new = session_new,
        .get_path = session_path,
        .set_gone = session_set_gone,
        .compare = compare_sessions,
};

/* ---- object ---- */

void np_client_opened(gpointer object, NpOpened *opened)
{
        NtprofClient *self = NTPROF_CLIENT(object);

        g_set_object(&self->connection, opened->connection);
        self->service = NP_DBUS_MANAGER(g_steal_pointer(&opened->proxy));
        self->manager = g_steal_pointer(&opened->manager);
        np_opened_free(opened);
        np_object_list_follow(self->sessions, self->manager, self->connection);
}

static void ntprof_client_init(NtprofClient *self)
{
        self->sessions = np_object_list_new(&session_kind, self);
}

static void ntprof_client_finalize(GObject *object)
{
        NtprofClient *self = NTPROF_CLIENT(object);

        g_clear_pointer(&self->sessions, np_object_list_free);
        g_clear_object(&self->service);
        g_clear_object(&self->manager);
        g_clear_object(&self->connection);
        g_free(self->address);
        G_OBJECT_CLASS(ntprof_client_parent_class)->finalize(object);
}

static void ntprof_client_get_property(GObject *object, guint id, GValue *value, GParamSpec *pspec)
{
        NtprofClient *self = NTPROF_CLIENT(object);

        switch (id) {
        case PROP_ADDRESS:
                g_value_set_string(value, self->address);
                break;
        case PROP_CONNECTION:
                g_value_set_object(value, self->connection);
                break;
        case PROP_VERSION:
                g_value_set_string(value, ntprof_client_get_version(self));
                break;
        case PROP_FEATURES:
                g_value_set_boxed(value, ntprof_client_get_features(self));
                break;
        case PROP_KERNEL:
                g_value_set_string(value, ntprof_client_get_kernel(self));
                break;
        default:
                G_OBJECT_WARN_INVALID_PROPERTY_ID(object, id, pspec);
        }
}

static void ntprof_client_set_property(GObject *object, guint id, const GValue *value, GParamSpec *pspec)
{
        NtprofClient *self = NTPROF_CLIENT(object);

        switch (id) {
        case PROP_ADDRESS:
                self->address = g_value_dup_string(value);
                break;
        case PROP_CONNECTION:
                self->connection = g_value_dup_object(value);
                break;
        default:
                G_OBJECT_WARN_INVALID_PROPERTY_ID(object, id, pspec);
        }
}

static void ntprof_client_class_init(NtprofClientClass *class)
{
        GObjectClass *object_class = G_OBJECT_CLASS(class);
        const GParamFlags construct = G_PARAM_READWRITE | G_PARAM_CONSTRUCT_ONLY | G_PARAM_STATIC_STRINGS;
        const GParamFlags read = G_PARAM_READABLE | G_PARAM_STATIC_STRINGS;

        /* GDBus maps the service's errors only from here on. */
        (void) ntprof_error_quark();

        object_class->finalize = ntprof_client_finalize;
        object_class->get_property = ntprof_client_get_property;
        object_class->set_property = ntprof_client_set_property;

        /**
         * NtprofClient:address:
         *
         * D-Bus address of the bus, or %NULL for the system bus or when it was made for a connection.
         */
        properties[PROP_ADDRESS] = g_param_spec_string("address", NULL, NULL, NULL, construct);
        /**
         * NtprofClient:connection: (getter get_connection)
         *
         * The connection to the bus.
         */
        properties[PROP_CONNECTION] = g_param_spec_object("connection", NULL, NULL, G_TYPE_DBUS_CONNECTION, construct);
        /**
         * NtprofClient:version: (getter get_version)
         *
         * Of the service, e.g. "0.1.0".
         */
        properties[PROP_VERSION] = g_param_spec_string("version", NULL, NULL, NULL, read);
        /**
         * NtprofClient:features: (getter get_features)
         *
         * What the service can do, e.g. "nvme-tcp-host".
         */
        properties[PROP_FEATURES] = g_param_spec_boxed("features", NULL, NULL, G_TYPE_STRV, read);
        /**
         * NtprofClient:kernel: (getter get_kernel)
         *
         * Release of the service's kernel, as `uname -r`.
         */
        properties[PROP_KERNEL] = g_param_spec_string("kernel", NULL, NULL, NULL, read);
        g_object_class_install_properties(object_class, N_PROPERTIES, properties);

        /**
         * NtprofClient::session-added:
         * @self: the client
         * @session: a session that somebody started
         */
        g_signal_new("session-added", NTPROF_TYPE_CLIENT, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL, G_TYPE_NONE, 1,
                     NTPROF_TYPE_SESSION);
        /**
         * NtprofClient::session-removed:
         * @self: the client
         * @session: a session that no longer exists
         */
        g_signal_new("session-removed", NTPROF_TYPE_CLIENT, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL, G_TYPE_NONE, 1,
                     NTPROF_TYPE_SESSION);
}

/**
 * ntprof_client_get_connection: (get-property connection)
 * @self: a client
 *
 * Returns: (transfer none): the connection to the bus
 */
GDBusConnection *ntprof_client_get_connection(NtprofClient *self)
{
        g_return_val_if_fail(NTPROF_IS_CLIENT(self), NULL);
        return self->connection;
}

/**
 * ntprof_client_get_version: (get-property version)
 * @self: a client
 *
 * Returns: (nullable): version of the service, e.g. "0.1.0"
 */
const char *ntprof_client_get_version(NtprofClient *self)
{
        g_return_val_if_fail(NTPROF_IS_CLIENT(self), NULL);
        return self->service ? np_dbus_manager_get_version(self->service) : NULL;
}

/**
 * ntprof_client_get_features: (get-property features)
 * @self: a client
 *
 * Returns: (transfer none) (nullable) (array zero-terminated=1): what the service can do, e.g. "nvme-tcp-host"
 */
const char *const *ntprof_client_get_features(NtprofClient *self)
{
        g_return_val_if_fail(NTPROF_IS_CLIENT(self), NULL);
        return self->service ? np_dbus_manager_get_features(self->service) : NULL;
}

/**
 * ntprof_client_get_kernel: (get-property kernel)
 * @self: a client
 *
 * Returns: (nullable): release of the service's kernel, as `uname -r`
 */
const char *ntprof_client_get_kernel(NtprofClient *self)
{
        g_return_val_if_fail(NTPROF_IS_CLIENT(self), NULL);
        return self->service ? np_dbus_manager_get_kernel(self->service) : NULL;
}

/**
 * ntprof_client_list_sessions:
 * @self: a client
 *
 * The sessions of everybody, the oldest first. They are known as of when the client was made, and kept up to date while the
 * main context is iterated.
 *
 * Returns: (transfer container) (element-type NtprofSession): sessions, unreferenced with the array
 */
GPtrArray *ntprof_client_list_sessions(NtprofClient *self)
{
        g_return_val_if_fail(NTPROF_IS_CLIENT(self), NULL);
        return np_object_list_all(self->sessions);
}

/**
 * ntprof_client_find_session:
 * @self: a client
 * @id: id or object path of a session
 * @error: return location
 *
 * Returns: (transfer full): the session; %NULL with @error set to %NTPROF_ERROR_NO_SUCH_SESSION when there is none (known
 *   as of [method@Client.list_sessions])
 */
NtprofSession *ntprof_client_find_session(NtprofClient *self, const char *id, GError **error)
{
        g_return_val_if_fail(NTPROF_IS_CLIENT(self), NULL);
        g_return_val_if_fail(id, NULL);

        g_autofree char *path = *id == '/' ? g_strdup(id) : g_strconcat(NP_ROOT_PATH "/session/", id, NULL);
        NtprofSession *session = np_object_list_lookup(self->sessions, path);
        if (!session) {
                g_set_error(error, NTPROF_ERROR, NTPROF_ERROR_NO_SUCH_SESSION, "%s: no such session", id);
                return NULL;
        }
        return g_object_ref(session);
}
