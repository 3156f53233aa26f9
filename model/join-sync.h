/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Until when a target's records are known, when they come later than the host's: by what the target says of itself.
 * Private to the join.
 */
#pragma once

#include "offset.h"

G_BEGIN_DECLS

typedef struct {
        gboolean synced;
        gboolean ended;                 /* early: nothing comes any more */
        guint64 target_ns, host_ns;     /* of the last sync, each by its own clock; target_ns 0: none has come */
        guint64 asked_ns;               /* by the host's clock */
        gint64 ahead_most_ns;           /* that the target's clock can be: its first sync was made after it was asked, however
                                         * long either was on its way */
} NpJoinSync;

/* target_ns 0: the target is asked to begin. */
void np_join_sync_take(NpJoinSync *sync, guint64 target_ns, guint64 host_ns);

/* The target's records of all commands that were answered before it, by the host's clock, are here. G_MAXUINT64 when the target
 * never said anything: then its records come with the host's. */
guint64 np_join_sync_known(const NpJoinSync *sync, const NpOffset *offset);

/* How far a join that was asked for host_ns may go. */
guint64 np_join_sync_limit(const NpJoinSync *sync, const NpOffset *offset, guint64 host_ns);

G_END_DECLS
