/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a target says of how far its records are complete: struct wire_sync. */
#pragma once

#include "../capture/capture.h"
#include "wire.h"

/* How long after its answer a command's record may leave the kernel, ns: what is told to be complete is older. */
uint64_t target_sync_lag_ns(const CaptureConfig *config);

/* began_ns: since when it records: nothing is missing of what was before. drained_ns: taken before what is told of was drained. */
struct wire_sync target_sync_make(const CaptureCounters *counters, uint64_t began_ns, uint64_t drained_ns, uint64_t lag_ns,
                                  uint64_t link_full);
