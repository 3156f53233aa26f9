/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "np-dbus.h"
#include "ntprof-peers.h"
#include "object-list.h"
#include "service-open.h"

#define NP_PEERS_BUS_NAME "org.ntprof1.Peers"

struct _NtprofPeers {
        GObject parent;
        GDBusConnection *connection;
        char *address;
        GDBusObjectManager *manager;    /* of the peers */
        NpDBusPeerManager *service;
        NpObjectList *peers;
};

void np_peers_initable_init(GInitableIface *interface);
void np_peers_async_initable_init(GAsyncInitableIface *interface);

/* NpService.opened */
void np_peers_opened(gpointer object, NpOpened *opened);
