/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "ntprof-peer.h"

#include "peer-private.h"

/**
 * NtprofPeer:
 *
 * Another machine that this one is paired with.
 *
 * Peers come from a [class@Peers]. The properties mirror those of the D-Bus object and notify as the service tells of
 * changes, in the thread-default main context that was in force when the [class@Peers] was made. When a peer is
 * [property@Peer:gone] they stay as they were.
 */

G_DEFINE_FINAL_TYPE(NtprofPeer, ntprof_peer, G_TYPE_OBJECT)

enum {
        PROP_0,
        /* mirrored: a row each in mirrored[] */
        PROP_NAME,
        PROP_FINGERPRINT,
        PROP_ADDRESS,
        PROP_ORIGIN,
        PROP_CLAIMED_HOST_NQNS,
        PROP_HOST_NQNS,
        PROP_ALLOW,
        PROP_MAX_SAMPLE_RATE,
        PROP_MAX_SESSION_USEC,
        PROP_SUBSYSTEMS,
        PROP_CONNECTED,
        PROP_STREAMS,
        PROP_LAST_SEEN_USEC,
        N_MIRRORED,
        /* the library's own */
        PROP_OBJECT_PATH = N_MIRRORED,
        PROP_GONE,
        N_PROPERTIES,
};

static const struct {
        const char *dbus_name, *type, *name;
} mirrored[N_MIRRORED] = {
        [PROP_NAME]              = { "Name", "s", "name" },
        [PROP_FINGERPRINT]       = { "Fingerprint", "s", "fingerprint" },
        [PROP_ADDRESS]           = { "Address", "s", "address" },
        [PROP_ORIGIN]            = { "Origin", "s", "origin" },
        [PROP_CLAIMED_HOST_NQNS] = { "ClaimedHostNqns", "as", "claimed-host-nqns" },
        [PROP_HOST_NQNS]         = { "HostNqns", "as", "host-nqns" },
        [PROP_ALLOW]             = { "Allow", "s", "allow" },
        [PROP_MAX_SAMPLE_RATE]   = { "MaxSampleRate", "s", "max-sample-rate" },
        [PROP_MAX_SESSION_USEC]  = { "MaxSessionUSec", "t", "max-session-usec" },
        [PROP_SUBSYSTEMS]        = { "Subsystems", "as", "subsystems" },
        [PROP_CONNECTED]         = { "Connected", "b", "connected" },
        [PROP_STREAMS]           = { "Streams", "u", "streams" },
        [PROP_LAST_SEEN_USEC]    = { "LastSeenUSec", "t", "last-seen-usec" },
};

static GParamSpec *properties[N_PROPERTIES];

static gboolean take(NtprofPeer *self, int i, GVariant *value)
{
        if (!g_variant_is_of_type(value, G_VARIANT_TYPE(mirrored[i].type)) ||
            (self->values[i] && g_variant_equal(self->values[i], value)))
                return FALSE;
        g_clear_pointer(&self->values[i], g_variant_unref);
        self->values[i] = g_variant_ref(value);
        if (g_str_equal(mirrored[i].type, "as")) {
                g_strfreev(self->lists[i]);
                self->lists[i] = g_variant_dup_strv(value, NULL);
        }
        return TRUE;
}

static void on_properties_changed(GDBusProxy *proxy, GVariant *changed, GStrv invalidated, NtprofPeer *self)
{
        GVariantIter iter;
        const char *name;
        GVariant *value;

        if (self->gone)
                return;
        g_object_freeze_notify(G_OBJECT(self));
        g_variant_iter_init(&iter, changed);
        while (g_variant_iter_loop(&iter, "{&sv}", &name, &value))
                for (int i = 1; i < N_MIRRORED; i++)
                        if (g_str_equal(mirrored[i].dbus_name, name) && take(self, i, value))
                                g_object_notify_by_pspec(G_OBJECT(self), properties[i]);
        g_object_thaw_notify(G_OBJECT(self));
}

NtprofPeer *np_peer_new(NpDBusPeer *proxy)
{
        NtprofPeer *self = g_object_new(NTPROF_TYPE_PEER, NULL);

        self->proxy = g_object_ref(proxy);
        g_signal_connect_object(proxy, "g-properties-changed", G_CALLBACK(on_properties_changed), self, 0);
        for (int i = 1; i < N_MIRRORED; i++) {
                g_autoptr(GVariant) value = g_dbus_proxy_get_cached_property(G_DBUS_PROXY(proxy), mirrored[i].dbus_name);
                if (value)
                        take(self, i, value);
        }
        self->label = g_strdup_printf("peer %s", ntprof_peer_get_name(self));
        return self;
}

void np_peer_set_gone(NtprofPeer *self)
{
        if (self->gone)
                return;
        self->gone = TRUE;
        g_object_notify_by_pspec(G_OBJECT(self), properties[PROP_GONE]);
}

static void ntprof_peer_init(NtprofPeer *self)
{
        self->values = g_new0(GVariant *, N_MIRRORED);
        self->lists = g_new0(char **, N_MIRRORED);
        for (int i = 1; i < N_MIRRORED; i++)
                if (g_str_equal(mirrored[i].type, "as"))
                        self->lists[i] = g_new0(char *, 1);
}

static void ntprof_peer_finalize(GObject *object)
{
        NtprofPeer *self = NTPROF_PEER(object);

        for (int i = 0; i < N_MIRRORED; i++) {
                g_clear_pointer(&self->values[i], g_variant_unref);
                g_strfreev(self->lists[i]);
        }
        g_free(self->values);
        g_free(self->lists);
        g_free(self->label);
        g_clear_object(&self->proxy);
        G_OBJECT_CLASS(ntprof_peer_parent_class)->finalize(object);
}

/* ---- properties ---- */

static const char *get_string(NtprofPeer *self, int i)
{
        return self->values[i] ? g_variant_get_string(self->values[i], NULL) : "";
}

static guint64 get_uint64(NtprofPeer *self, int i)
{
        return self->values[i] ? g_variant_get_uint64(self->values[i]) : 0;
}

static const char *const *get_list(NtprofPeer *self, int i)
{
        return (const char *const *) self->lists[i];
}

static void ntprof_peer_get_property(GObject *object, guint id, GValue *value, GParamSpec *pspec)
{
        NtprofPeer *self = NTPROF_PEER(object);

        if (id == PROP_GONE)
                g_value_set_boolean(value, self->gone);
        else if (id == PROP_OBJECT_PATH)
                g_value_set_string(value, ntprof_peer_get_object_path(self));
        else if (id == PROP_CONNECTED)
                g_value_set_boolean(value, ntprof_peer_get_connected(self));
        else if (id == PROP_STREAMS)
                g_value_set_uint(value, ntprof_peer_get_streams(self));
        else if (id > PROP_0 && id < N_MIRRORED && g_str_equal(mirrored[id].type, "s"))
                g_value_set_string(value, get_string(self, (int) id));
        else if (id > PROP_0 && id < N_MIRRORED && g_str_equal(mirrored[id].type, "as"))
                g_value_set_boxed(value, get_list(self, (int) id));
        else if (id > PROP_0 && id < N_MIRRORED && g_str_equal(mirrored[id].type, "t"))
                g_value_set_uint64(value, get_uint64(self, (int) id));
        else
                G_OBJECT_WARN_INVALID_PROPERTY_ID(object, id, pspec);
}

static void ntprof_peer_class_init(NtprofPeerClass *class)
{
        const GParamFlags flags = G_PARAM_READABLE | G_PARAM_STATIC_STRINGS | G_PARAM_EXPLICIT_NOTIFY;
        GObjectClass *object_class = G_OBJECT_CLASS(class);

        object_class->finalize = ntprof_peer_finalize;
        object_class->get_property = ntprof_peer_get_property;

        /**
         * NtprofPeer:name: (getter get_name)
         *
         * Of the peer on this machine, e.g. "stor-a".
         */
        properties[PROP_NAME] = g_param_spec_string("name", NULL, NULL, "", flags);
        /**
         * NtprofPeer:fingerprint: (getter get_fingerprint)
         *
         * Of its certificate: "sha256-" and 64 hex digits.
         */
        properties[PROP_FINGERPRINT] = g_param_spec_string("fingerprint", NULL, NULL, "", flags);
        /**
         * NtprofPeer:address: (getter get_address)
         *
         * To connect to, e.g. "10.0.0.2:4425"; "" when it is only the other side that connects.
         */
        properties[PROP_ADDRESS] = g_param_spec_string("address", NULL, NULL, "", flags);
        /**
         * NtprofPeer:origin: (getter get_origin)
         *
         * "paired" (learned by an invitation), "configured" (by a file of `/etc/ntprof/peers.d`) or "both".
         */
        properties[PROP_ORIGIN] = g_param_spec_string("origin", NULL, NULL, "", flags);
        /**
         * NtprofPeer:claimed-host-nqns: (getter get_claimed_host_nqns)
         *
         * Host NQNs that it said were its own when it joined. Nothing is granted by them.
         */
        properties[PROP_CLAIMED_HOST_NQNS] = g_param_spec_boxed("claimed-host-nqns", NULL, NULL, G_TYPE_STRV, flags);
        /**
         * NtprofPeer:host-nqns: (getter get_host_nqns)
         *
         * Host NQNs whose commands it may have recorded on this machine.
         */
        properties[PROP_HOST_NQNS] = g_param_spec_boxed("host-nqns", NULL, NULL, G_TYPE_STRV, flags);
        /**
         * NtprofPeer:allow: (getter get_allow)
         *
         * What it may do on this machine: "observe" or "none".
         */
        properties[PROP_ALLOW] = g_param_spec_string("allow", NULL, NULL, "", flags);
        /**
         * NtprofPeer:max-sample-rate: (getter get_max_sample_rate)
         *
         * At most so many of its commands are sampled on this machine: "all" or "1/N".
         */
        properties[PROP_MAX_SAMPLE_RATE] = g_param_spec_string("max-sample-rate", NULL, NULL, "", flags);
        /**
         * NtprofPeer:max-session-usec: (getter get_max_session_usec)
         *
         * us after which a recording for it ends on this machine, 0: no limit.
         */
        properties[PROP_MAX_SESSION_USEC] =
                g_param_spec_uint64("max-session-usec", NULL, NULL, 0, G_MAXUINT64, 0, flags);
        /**
         * NtprofPeer:subsystems: (getter get_subsystems)
         *
         * NQNs of the subsystems that it exports, as it last told.
         */
        properties[PROP_SUBSYSTEMS] = g_param_spec_boxed("subsystems", NULL, NULL, G_TYPE_STRV, flags);
        /**
         * NtprofPeer:connected: (getter get_connected)
         *
         * Whether there is a link now. Links are made when they are needed.
         */
        properties[PROP_CONNECTED] = g_param_spec_boolean("connected", NULL, NULL, FALSE, flags);
        /**
         * NtprofPeer:streams: (getter get_streams)
         *
         * Recordings under way over the link, in either direction.
         */
        properties[PROP_STREAMS] = g_param_spec_uint("streams", NULL, NULL, 0, G_MAXUINT, 0, flags);
        /**
         * NtprofPeer:last-seen-usec: (getter get_last_seen_usec)
         *
         * CLOCK_REALTIME in us of the last time that a link was made or ended, or a recording over it began or ended (to a
         * minute); 0: never.
         */
        properties[PROP_LAST_SEEN_USEC] = g_param_spec_uint64("last-seen-usec", NULL, NULL, 0, G_MAXUINT64, 0, flags);
        /**
         * NtprofPeer:object-path: (getter get_object_path)
         *
         * Of the peer on the bus.
         */
        properties[PROP_OBJECT_PATH] = g_param_spec_string("object-path", NULL, NULL, NULL, flags);
        /**
         * NtprofPeer:gone: (getter get_gone)
         *
         * Whether it is no longer known: it was forgotten, or the service or the bus went away.
         */
        properties[PROP_GONE] = g_param_spec_boolean("gone", NULL, NULL, FALSE, flags);

        g_object_class_install_properties(object_class, N_PROPERTIES, properties);
}

/**
 * ntprof_peer_get_object_path: (get-property object-path)
 * @self: a peer
 *
 * Returns: the peer's path on the bus
 */
const char *ntprof_peer_get_object_path(NtprofPeer *self)
{
        g_return_val_if_fail(NTPROF_IS_PEER(self), NULL);
        return g_dbus_proxy_get_object_path(G_DBUS_PROXY(self->proxy));
}

/**
 * ntprof_peer_get_name: (get-property name)
 * @self: a peer
 *
 * Returns: its name on this machine, e.g. "stor-a"
 */
const char *ntprof_peer_get_name(NtprofPeer *self)
{
        g_return_val_if_fail(NTPROF_IS_PEER(self), NULL);
        return get_string(self, PROP_NAME);
}

/**
 * ntprof_peer_get_fingerprint: (get-property fingerprint)
 * @self: a peer
 *
 * Returns: of its certificate: "sha256-" and 64 hex digits
 */
const char *ntprof_peer_get_fingerprint(NtprofPeer *self)
{
        g_return_val_if_fail(NTPROF_IS_PEER(self), NULL);
        return get_string(self, PROP_FINGERPRINT);
}

/**
 * ntprof_peer_get_address: (get-property address)
 * @self: a peer
 *
 * Returns: the address to connect to, "" when it is only the other side that connects
 */
const char *ntprof_peer_get_address(NtprofPeer *self)
{
        g_return_val_if_fail(NTPROF_IS_PEER(self), NULL);
        return get_string(self, PROP_ADDRESS);
}

/**
 * ntprof_peer_get_origin: (get-property origin)
 * @self: a peer
 *
 * Returns: "paired", "configured" or "both"
 */
const char *ntprof_peer_get_origin(NtprofPeer *self)
{
        g_return_val_if_fail(NTPROF_IS_PEER(self), NULL);
        return get_string(self, PROP_ORIGIN);
}

/**
 * ntprof_peer_get_claimed_host_nqns: (get-property claimed-host-nqns)
 * @self: a peer
 *
 * Returns: (transfer none) (array zero-terminated=1): host NQNs that it said were its own; nothing is granted by them
 */
const char *const *ntprof_peer_get_claimed_host_nqns(NtprofPeer *self)
{
        g_return_val_if_fail(NTPROF_IS_PEER(self), NULL);
        return get_list(self, PROP_CLAIMED_HOST_NQNS);
}

/**
 * ntprof_peer_get_host_nqns: (get-property host-nqns)
 * @self: a peer
 *
 * Returns: (transfer none) (array zero-terminated=1): host NQNs whose commands it may have recorded on this machine
 */
const char *const *ntprof_peer_get_host_nqns(NtprofPeer *self)
{
        g_return_val_if_fail(NTPROF_IS_PEER(self), NULL);
        return get_list(self, PROP_HOST_NQNS);
}

/**
 * ntprof_peer_get_allow: (get-property allow)
 * @self: a peer
 *
 * Returns: what it may do on this machine: "observe" or "none"
 */
const char *ntprof_peer_get_allow(NtprofPeer *self)
{
        g_return_val_if_fail(NTPROF_IS_PEER(self), NULL);
        return get_string(self, PROP_ALLOW);
}

/**
 * ntprof_peer_get_max_sample_rate: (get-property max-sample-rate)
 * @self: a peer
 *
 * Returns: at most so many of its commands are sampled on this machine: "all" or "1/N"
 */
const char *ntprof_peer_get_max_sample_rate(NtprofPeer *self)
{
        g_return_val_if_fail(NTPROF_IS_PEER(self), NULL);
        return get_string(self, PROP_MAX_SAMPLE_RATE);
}

/**
 * ntprof_peer_get_max_session_usec: (get-property max-session-usec)
 * @self: a peer
 *
 * Returns: us after which a recording for it ends on this machine, 0: no limit
 */
guint64 ntprof_peer_get_max_session_usec(NtprofPeer *self)
{
        g_return_val_if_fail(NTPROF_IS_PEER(self), 0);
        return get_uint64(self, PROP_MAX_SESSION_USEC);
}

/**
 * ntprof_peer_get_subsystems: (get-property subsystems)
 * @self: a peer
 *
 * Returns: (transfer none) (array zero-terminated=1): NQNs of the subsystems that it exports, as it last told
 */
const char *const *ntprof_peer_get_subsystems(NtprofPeer *self)
{
        g_return_val_if_fail(NTPROF_IS_PEER(self), NULL);
        return get_list(self, PROP_SUBSYSTEMS);
}

/**
 * ntprof_peer_get_connected: (get-property connected)
 * @self: a peer
 *
 * Returns: whether there is a link now
 */
gboolean ntprof_peer_get_connected(NtprofPeer *self)
{
        g_return_val_if_fail(NTPROF_IS_PEER(self), FALSE);
        return self->values[PROP_CONNECTED] && g_variant_get_boolean(self->values[PROP_CONNECTED]);
}

/**
 * ntprof_peer_get_streams: (get-property streams)
 * @self: a peer
 *
 * Returns: recordings under way over the link, in either direction
 */
guint ntprof_peer_get_streams(NtprofPeer *self)
{
        g_return_val_if_fail(NTPROF_IS_PEER(self), 0);
        return self->values[PROP_STREAMS] ? g_variant_get_uint32(self->values[PROP_STREAMS]) : 0;
}

/**
 * ntprof_peer_get_last_seen_usec: (get-property last-seen-usec)
 * @self: a peer
 *
 * Returns: CLOCK_REALTIME in us of the last time that a link was made, used or ended, 0: never
 */
guint64 ntprof_peer_get_last_seen_usec(NtprofPeer *self)
{
        g_return_val_if_fail(NTPROF_IS_PEER(self), 0);
        return get_uint64(self, PROP_LAST_SEEN_USEC);
}

/**
 * ntprof_peer_get_gone: (get-property gone)
 * @self: a peer
 *
 * Returns: whether it is no longer known: it was forgotten, or the service or the bus went away
 */
gboolean ntprof_peer_get_gone(NtprofPeer *self)
{
        g_return_val_if_fail(NTPROF_IS_PEER(self), FALSE);
        return self->gone;
}
