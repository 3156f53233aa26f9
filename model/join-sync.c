/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "join-sync.h"

/* Without an offset: how old the news of the sync that came fastest can be at most. Others may come much later: a slow link. */
#define DELAY_NS (G_GUINT64_CONSTANT(1500000000))
/* The host can have the response before the target's send of it has returned, which is when its record is made. */
#define EDGE_NS (G_GUINT64_CONSTANT(10000000))
/* A target that is silent for longer, or whose clock stood still, is not waited for. */
#define STALL_NS (30 * G_GUINT64_CONSTANT(1000000000))

static guint64 minus(guint64 ns, guint64 by)
{
        return ns > by ? ns - by : 0;
}

void np_join_sync_take(NpJoinSync *sync, guint64 target_ns, guint64 host_ns)
{
        gint64 ahead_ns = (gint64) target_ns - (gint64) host_ns;

        sync->synced = TRUE;
        sync->target_ns = target_ns;
        sync->host_ns = host_ns;
        if (target_ns == 0)
                return;
        sync->ahead_ns = sync->heard ? MAX(sync->ahead_ns, ahead_ns) : ahead_ns;
        sync->heard = TRUE;
}

guint64 np_join_sync_known(const NpJoinSync *sync, const NpOffset *offset)
{
        gint64 at_host;

        if (!sync->synced)
                return sync->ended ? 0 : G_MAXUINT64;
        if (!offset->known) {
                at_host = sync->heard ? (gint64) sync->target_ns - sync->ahead_ns : (gint64) sync->host_ns;
                return at_host > 0 ? minus(MIN((guint64) at_host, sync->host_ns), DELAY_NS) : 0;
        }

        at_host = (gint64) sync->target_ns - np_offset_at(offset, sync->host_ns).max;
        return at_host > 0 ? minus(MIN((guint64) at_host, sync->host_ns), EDGE_NS) : 0;
}

guint64 np_join_sync_limit(const NpJoinSync *sync, const NpOffset *offset, guint64 host_ns)
{
        if (sync->ended)
                return host_ns;
        return MIN(host_ns, MAX(np_join_sync_known(sync, offset), minus(host_ns, STALL_NS)));
}
