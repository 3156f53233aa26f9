/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Lets others in: accepts, waits until they speak (silence.h), and does at most NP_HANDSHAKES_MAX handshakes (tls.h) at a time,
 * each of which takes a thread. Of those that wait for one it is an address's turn that has the fewest, and of its own the
 * latest's, for the others are more likely to have given up, or the oldest's, by turns; and while some wait a handshake has
 * NP_HANDSHAKE_GRACE_MSEC only, and of one certificate there are NP_HANDSHAKES_EACH_MAX: so a peer gets through while others
 * hold all they can.
 */
#pragma once

#include <gio/gio.h>

#include "tls.h"

G_BEGIN_DECLS

#define NP_HANDSHAKES_MAX 8
#define NP_HANDSHAKES_EACH_MAX 2        /* of one certificate, or of all guests, once it is known */
#define NP_HANDSHAKE_QUEUE_MAX 64
#define NP_HANDSHAKE_GRACE_MSEC 1000

typedef struct {
        GTlsCertificate *(*certificate)(gpointer data);
        NpTlsTrust trust;
        /* The owner's from now on. */
        void (*entered)(NpSecured *secured, gpointer data);
} NpListenerOps;

typedef struct _NpListener NpListener;

NpListener *np_listener_new(const NpListenerOps *ops, gpointer data);
/* Nothing of ops is called any more. */
void np_listener_free(NpListener *listener);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(NpListener, np_listener_free)

void np_listener_add(NpListener *listener, GSocket *socket);

G_END_DECLS
