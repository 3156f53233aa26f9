/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "ntprof-peers.h"

#include <string.h>

#include "peer-private.h"
#include "peers-private.h"

/**
 * NtprofPeers:
 *
 * The machines that this one is paired with, and pairing: a connection to the service ntprof-peerd, which is started when
 * it isn't running. It may not be installed where [class@Client] works: then there is only %NTPROF_ERROR_NO_SERVICE.
 *
 * ```c
 * g_autoptr(NtprofPeers) peers = ntprof_peers_new_sync(NULL, NULL, &error);
 * g_autoptr(NtprofPeer) peer = ntprof_peers_join_sync(peers, line, NULL, &confirmed, NULL, &error);
 * ```
 *
 * It, its peers and what they signal belong to the thread-default main context in which it was made. When the service
 * leaves the bus (it ends by itself when nobody needs it), its peers are removed; they are added anew when it is back.
 */

G_DEFINE_FINAL_TYPE_WITH_CODE(NtprofPeers, ntprof_peers, G_TYPE_OBJECT,
                              G_IMPLEMENT_INTERFACE(G_TYPE_INITABLE, np_peers_initable_init)
                              G_IMPLEMENT_INTERFACE(G_TYPE_ASYNC_INITABLE, np_peers_async_initable_init))

enum {
        PROP_0,
        PROP_ADDRESS,
        PROP_CONNECTION,
        PROP_VERSION,
        PROP_FINGERPRINT,
        PROP_CERTIFICATE,
        PROP_LISTENING,
        N_PROPERTIES,
};

static GParamSpec *properties[N_PROPERTIES];

/* ---- peers ---- */

static gpointer peer_new(GDBusProxy *proxy)
{
        return np_peer_new(NP_DBUS_PEER(proxy));
}

static const char *peer_path(gpointer peer)
{
        return ntprof_peer_get_object_path(peer);
}

static void peer_set_gone(gpointer peer)
{
        np_peer_set_gone(peer);
}

static int compare_peers(gconstpointer a, gconstpointer b)
{
        return strcmp(ntprof_peer_get_name(*(NtprofPeer *const *) a), ntprof_peer_get_name(*(NtprofPeer *const *) b));
}

static const NpObjectKind peer_kind = {
        .interface = "org.ntprof1.Peer",
        .added = "peer-added",
        .removed = "peer-removed",
        .new = peer_new,
        .get_path = peer_path,
        .set_gone = peer_set_gone,
        .compare = compare_peers,
};

/* ---- object ---- */

/* The generated proxy's properties have the names of ours. */
static void on_service_notify(NpDBusPeerManager *service, GParamSpec *pspec, NtprofPeers *self)
{
        GParamSpec *ours = g_object_class_find_property(G_OBJECT_GET_CLASS(self), pspec->name);

        if (ours)
                g_object_notify_by_pspec(G_OBJECT(self), ours);
}

void np_peers_opened(gpointer object, NpOpened *opened)
{
        NtprofPeers *self = NTPROF_PEERS(object);

        g_set_object(&self->connection, opened->connection);
        self->service = NP_DBUS_PEER_MANAGER(g_steal_pointer(&opened->proxy));
        self->manager = g_steal_pointer(&opened->manager);
        np_opened_free(opened);
        np_object_list_follow(self->peers, self->manager, self->connection);
        g_signal_connect_object(self->service, "notify", G_CALLBACK(on_service_notify), self, 0);
}

static void ntprof_peers_init(NtprofPeers *self)
{
        self->peers = np_object_list_new(&peer_kind, self);
}

static void ntprof_peers_finalize(GObject *object)
{
        NtprofPeers *self = NTPROF_PEERS(object);

        g_clear_pointer(&self->peers, np_object_list_free);
        g_clear_object(&self->service);
        g_clear_object(&self->manager);
        g_clear_object(&self->connection);
        g_free(self->address);
        G_OBJECT_CLASS(ntprof_peers_parent_class)->finalize(object);
}

static void ntprof_peers_get_property(GObject *object, guint id, GValue *value, GParamSpec *pspec)
{
        NtprofPeers *self = NTPROF_PEERS(object);

        switch (id) {
        case PROP_ADDRESS:
                g_value_set_string(value, self->address);
                break;
        case PROP_CONNECTION:
                g_value_set_object(value, self->connection);
                break;
        case PROP_VERSION:
                g_value_set_string(value, ntprof_peers_get_version(self));
                break;
        case PROP_FINGERPRINT:
                g_value_set_string(value, ntprof_peers_get_fingerprint(self));
                break;
        case PROP_CERTIFICATE:
                g_value_set_string(value, ntprof_peers_get_certificate(self));
                break;
        case PROP_LISTENING:
                g_value_set_boxed(value, ntprof_peers_get_listening(self));
                break;
        default:
                G_OBJECT_WARN_INVALID_PROPERTY_ID(object, id, pspec);
        }
}

static void ntprof_peers_set_property(GObject *object, guint id, const GValue *value, GParamSpec *pspec)
{
        NtprofPeers *self = NTPROF_PEERS(object);

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

static void ntprof_peers_class_init(NtprofPeersClass *class)
{
        GObjectClass *object_class = G_OBJECT_CLASS(class);
        const GParamFlags construct = G_PARAM_READWRITE | G_PARAM_CONSTRUCT_ONLY | G_PARAM_STATIC_STRINGS;
        const GParamFlags read = G_PARAM_READABLE | G_PARAM_STATIC_STRINGS | G_PARAM_EXPLICIT_NOTIFY;

        /* GDBus maps the service's errors only from here on. */
        (void) ntprof_error_quark();

        object_class->finalize = ntprof_peers_finalize;
        object_class->get_property = ntprof_peers_get_property;
        object_class->set_property = ntprof_peers_set_property;

        /**
         * NtprofPeers:address:
         *
         * D-Bus address of the bus, or %NULL for the system bus or when it was made for a connection.
         */
        properties[PROP_ADDRESS] = g_param_spec_string("address", NULL, NULL, NULL, construct);
        /**
         * NtprofPeers:connection: (getter get_connection)
         *
         * The connection to the bus.
         */
        properties[PROP_CONNECTION] = g_param_spec_object("connection", NULL, NULL, G_TYPE_DBUS_CONNECTION, construct);
        /**
         * NtprofPeers:version: (getter get_version)
         *
         * Of the service, e.g. "0.1.0".
         */
        properties[PROP_VERSION] = g_param_spec_string("version", NULL, NULL, NULL, read);
        /**
         * NtprofPeers:fingerprint: (getter get_fingerprint)
         *
         * Of this machine's certificate: "sha256-" and 64 hex digits.
         */
        properties[PROP_FINGERPRINT] = g_param_spec_string("fingerprint", NULL, NULL, NULL, read);
        /**
         * NtprofPeers:certificate: (getter get_certificate)
         *
         * This machine's certificate, PEM.
         */
        properties[PROP_CERTIFICATE] = g_param_spec_string("certificate", NULL, NULL, NULL, read);
        /**
         * NtprofPeers:listening: (getter get_listening)
         *
         * Addresses with ports at which other machines can connect, e.g. "[::]:4425"; empty when `ntprof-peerd.socket`
         * isn't enabled.
         */
        properties[PROP_LISTENING] = g_param_spec_boxed("listening", NULL, NULL, G_TYPE_STRV, read);
        g_object_class_install_properties(object_class, N_PROPERTIES, properties);

        /**
         * NtprofPeers::peer-added:
         * @self: the peers
         * @peer: a machine that was paired or configured
         */
        g_signal_new("peer-added", NTPROF_TYPE_PEERS, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL, G_TYPE_NONE, 1,
                     NTPROF_TYPE_PEER);
        /**
         * NtprofPeers::peer-removed:
         * @self: the peers
         * @peer: a machine that was forgotten
         */
        g_signal_new("peer-removed", NTPROF_TYPE_PEERS, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL, G_TYPE_NONE, 1,
                     NTPROF_TYPE_PEER);
}

/**
 * ntprof_peers_get_connection: (get-property connection)
 * @self: the peers
 *
 * Returns: (transfer none): the connection to the bus
 */
GDBusConnection *ntprof_peers_get_connection(NtprofPeers *self)
{
        g_return_val_if_fail(NTPROF_IS_PEERS(self), NULL);
        return self->connection;
}

/**
 * ntprof_peers_get_version: (get-property version)
 * @self: the peers
 *
 * Returns: (nullable): version of the service, e.g. "0.1.0"; %NULL while it is not on the bus
 */
const char *ntprof_peers_get_version(NtprofPeers *self)
{
        g_return_val_if_fail(NTPROF_IS_PEERS(self), NULL);
        return self->service ? np_dbus_peer_manager_get_version(self->service) : NULL;
}

/**
 * ntprof_peers_get_fingerprint: (get-property fingerprint)
 * @self: the peers
 *
 * Returns: (nullable): of this machine's certificate: "sha256-" and 64 hex digits; %NULL while the service is not on the bus
 */
const char *ntprof_peers_get_fingerprint(NtprofPeers *self)
{
        g_return_val_if_fail(NTPROF_IS_PEERS(self), NULL);
        return self->service ? np_dbus_peer_manager_get_fingerprint(self->service) : NULL;
}

/**
 * ntprof_peers_get_certificate: (get-property certificate)
 * @self: the peers
 *
 * Returns: (nullable): this machine's certificate, PEM; %NULL while the service is not on the bus
 */
const char *ntprof_peers_get_certificate(NtprofPeers *self)
{
        g_return_val_if_fail(NTPROF_IS_PEERS(self), NULL);
        return self->service ? np_dbus_peer_manager_get_certificate(self->service) : NULL;
}

/**
 * ntprof_peers_get_listening: (get-property listening)
 * @self: the peers
 *
 * Returns: (transfer none) (nullable) (array zero-terminated=1): addresses with ports at which other machines can
 *   connect; empty when `ntprof-peerd.socket` isn't enabled, %NULL while the service is not on the bus
 */
const char *const *ntprof_peers_get_listening(NtprofPeers *self)
{
        g_return_val_if_fail(NTPROF_IS_PEERS(self), NULL);
        return self->service ? np_dbus_peer_manager_get_listening(self->service) : NULL;
}

/**
 * ntprof_peers_list:
 * @self: the peers
 *
 * All peers, by name. They are known as of when @self was made, and kept up to date while the main context is iterated.
 *
 * Returns: (transfer container) (element-type NtprofPeer): peers, unreferenced with the array
 */
GPtrArray *ntprof_peers_list(NtprofPeers *self)
{
        g_return_val_if_fail(NTPROF_IS_PEERS(self), NULL);
        return np_object_list_all(self->peers);
}

/**
 * ntprof_peers_find:
 * @self: the peers
 * @name: of a peer on this machine
 * @error: return location
 *
 * Returns: (transfer full): the peer; %NULL with @error set to %NTPROF_ERROR_NO_PEER when none is called so (known as of
 *   [method@Peers.list])
 */
NtprofPeer *ntprof_peers_find(NtprofPeers *self, const char *name, GError **error)
{
        g_return_val_if_fail(NTPROF_IS_PEERS(self), NULL);
        g_return_val_if_fail(name, NULL);

        g_autoptr(GPtrArray) all = np_object_list_all(self->peers);
        for (guint i = 0; i < all->len; i++)
                if (g_str_equal(ntprof_peer_get_name(all->pdata[i]), name))
                        return g_object_ref(all->pdata[i]);
        g_set_error(error, NTPROF_ERROR, NTPROF_ERROR_NO_PEER, "%s: no machine is paired under this name", name);
        return NULL;
}
