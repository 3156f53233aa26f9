/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Between links.c (which links there are) and links-connect.c (how new ones are made). */
#pragma once

#include "link-internal.h"
#include "listener.h"

G_BEGIN_DECLS

struct _NpLinks {
        guint references;               /* the owner's, and one for each connection that is being made */
        gboolean freed;
        const NpLinksOps *ops;
        gpointer data;
        NpListener *listener;
        GPtrArray *links;               /* of NpLink, the latest last; all are open, or closing */
        GHashTable *attempts;           /* name of a peer: Attempt, of links-connect.c */
        GCancellable *cancellable;      /* of all that connects: cancelled by np_links_free() */
};

NpLinks *np_links_ref(NpLinks *links);
void np_links_unref(NpLinks *links);

/* Takes secured; NULL: the other side has closed it already. */
NpLink *np_links_add(NpLinks *links, NpSecured *secured, const char *peer, gboolean outgoing);

G_END_DECLS
