/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "np-dbus.h"
#include "ntprof-peers.h"
#include "service-open.h"

#define NP_PEERS_BUS_NAME "org.ntprof1.Peers"

struct _NtprofPeers {
        GObject parent;
        GDBusConnection *connection;
        char *address;
        GDBusObjectManager *manager;    /* of the peers */
        NpDBusPeerManager *service;
        GHashTable *peers;              /* object path -> NtprofPeer, of those that exist */
};

void np_peers_initable_init(GInitableIface *interface);
void np_peers_async_initable_init(GAsyncInitableIface *interface);

/* Takes over all of it. */
void np_peers_opened(NtprofPeers *self, NpOpened *opened);

/* The peer of a proxy, made when there is none for its path yet. Owned by the NtprofPeers. */
NtprofPeer *np_peers_adopt(NtprofPeers *self, NpDBusPeer *proxy);
NtprofPeer *np_peers_lookup(NtprofPeers *self, const char *path);
