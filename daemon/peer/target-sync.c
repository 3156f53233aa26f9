/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "target-sync.h"

#include <string.h>

#include "../util.h"

/* In detail a record over RDMA leaves when the response's send has completed: after its acknowledgement has come back, and more
 * when one of the two was lost. */
#define SEND_COMPLETION_NS (1 * NSEC_PER_SEC)

uint64_t target_sync_lag_ns(const CaptureConfig *config)
{
        return config->detail && config->transports & TRANSPORT_RDMA ? SEND_COMPLETION_NS : 0;
}

struct wire_sync target_sync_make(const CaptureCounters *counters, uint64_t began_ns, uint64_t drained_ns, uint64_t lag_ns,
                                  uint64_t link_full)
{
        struct wire_sync sync = {
                .target_ns = drained_ns > began_ns + lag_ns ? drained_ns - lag_ns : began_ns,
                .in_flight = counters->target_in_flight,
                .recursion = counters->target_recursion,
                .link_full = link_full,
        };

        memcpy(sync.counters, counters->target, sizeof(sync.counters));
        return sync;
}
