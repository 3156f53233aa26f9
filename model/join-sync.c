/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "join-sync.h"

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
        if (target_ns == 0)
                sync->asked_ns = host_ns;
        else if (sync->target_ns == 0)
                sync->ahead_most_ns = (gint64) target_ns - (gint64) sync->asked_ns;
        sync->synced = TRUE;
        sync->target_ns = target_ns;
        sync->host_ns = host_ns;
}

guint64 np_join_sync_known(const NpJoinSync *sync, const NpOffset *offset)
{
        gint64 ahead_ns, at_host;

        if (!sync->synced)
                return sync->ended ? 0 : G_MAXUINT64;
        if (sync->target_ns == 0)
                return sync->asked_ns;

        ahead_ns = offset->known ? np_offset_at(offset, sync->host_ns).max : sync->ahead_most_ns;
        at_host = (gint64) sync->target_ns - ahead_ns;
        return at_host > 0 ? minus(MIN((guint64) at_host, sync->host_ns), EDGE_NS) : 0;
}

guint64 np_join_sync_limit(const NpJoinSync *sync, const NpOffset *offset, guint64 host_ns)
{
        if (sync->ended)
                return host_ns;
        return MIN(host_ns, MAX(np_join_sync_known(sync, offset), minus(host_ns, STALL_NS)));
}
