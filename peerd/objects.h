/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What is on the bus: org.ntprof1.PeerManager and the ObjectManager at /org/ntprof1 (manager-object.c), an org.ntprof1.Peer for
 * each peer (peer-object.c), org.ntprof1.internal.Links for ntprofd (links-object.c). Their documentation is the XML of dbus/.
 */
#pragma once

#include "peerd.h"

G_BEGIN_DECLS

#define NP_PEERS_NAME "org.ntprof1.Peers"
#define NP_PEERS_PATH "/org/ntprof1"

typedef struct _NpManagerObject NpManagerObject;
typedef struct _NpPeerObjects NpPeerObjects;
typedef struct _NpLinksObject NpLinksObject;

NpManagerObject *np_manager_object_new(NpPeerd *peerd, NpPeerObjects *peers, GDBusConnection *bus, GError **error);
void np_manager_object_sync(NpManagerObject *self);
void np_manager_object_free(NpManagerObject *self);

NpPeerObjects *np_peer_objects_new(NpPeerd *peerd, GDBusConnection *bus);
/* They come, go and change as the pins and the links are now. */
void np_peer_objects_sync(NpPeerObjects *self);
/* "/org/ntprof1/peer/stor_2da" */
char *np_peer_object_path(const char *name);
void np_peer_objects_free(NpPeerObjects *self);

NpLinksObject *np_links_object_new(NpPeerd *peerd, GDBusConnection *bus, GError **error);
void np_links_object_free(NpLinksObject *self);

G_END_DECLS
