/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Between the sources of a link: link.c (its life), link-calls.c (what the other side asks), link-ask.c (what it is asked). */
#pragma once

#include "link-gate.h"
#include "link.h"
#include "links.h"
#include "tls.h"
#include "tunnel.h"

G_BEGIN_DECLS

struct _NpLink {
        GObject parent;
        const NpLinksOps *ops;          /* NULL once its NpLinks is gone */
        gpointer ops_data;
        void (*gone)(NpLink *link, gpointer links);
        gpointer links;
        GDBusConnection *bus;
        GSocket *socket;
        char *peer, *fingerprint, *address;
        gboolean outgoing;
        guint protocol;
        GVariant *facts;
        gboolean closing, closed;
        char *reason;
        guint object;                   /* registration */
        NpGate *gate;
        NpTunnel *tunnel;
        guint asked;                    /* calls of ours without an answer */
        gint64 idle_since;
        GSource *timer;                 /* ticks while it is open */
        gint64 deadline;                /* closed then, whatever happens; 0: none */
        GSource *closer;
};

/* gone() is called once, when it is closed; both it and ops not after np_link_orphan(). The link holds itself until it is
 * closed. */
NpLink *np_link_new(const NpSecured *secured, const char *peer, gboolean outgoing, const NpLinksOps *ops, gpointer ops_data,
                    void (*gone)(NpLink *link, gpointer links), gpointer links);
/* Closes at once, and forgets ops. */
void np_link_orphan(NpLink *link);
/* Closes at once. */
void np_link_abort(NpLink *link, const char *reason);
/* Something is under way, or was. */
void np_link_touch(NpLink *link);
void np_link_set_facts(NpLink *link, guint protocol, GVariant *facts);

/* Registers the object; FALSE: closed already. */
gboolean np_link_serve(NpLink *link, GError **error);

/* internal.Peer.Join() */
void np_link_join_async(NpLink *link, const char *code, GVariant *facts, GCancellable *cancellable,
                        GAsyncReadyCallback callback, gpointer data);
GVariant *np_link_join_finish(NpLink *link, GAsyncResult *result, GError **error);

G_END_DECLS
