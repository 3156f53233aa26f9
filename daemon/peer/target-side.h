/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One recording of this machine's side for another machine: the target's half of the conversation of wire.h, over one end of a
 * socket pair. Nothing stays attached longer than the other end is there and the grant lasts.
 *
 *     attaching -> ready -> recording -> settling -> closing -> gone
 *          \_________\___________\___________\___________\_____>
 */
#pragma once

#include <systemd/sd-event.h>

#include "../session/backend.h"
#include "policy.h"

/* What the link has not taken yet; beyond that records are dropped, and counted. */
#define TARGET_SIDE_BUFFER_MAX (8U << 20)

typedef struct TargetSide TargetSide;

typedef struct TargetSideHandlers {
        /* It is over: why is a sentence for the journal. The last call, from the event loop; frees it or leaves it be. */
        void (*gone)(TargetSide *t, const char *why, void *userdata);
        void *userdata;
} TargetSideHandlers;

/* For the journal. */
typedef struct TargetSideCounts {
        uint64_t commands, sampled;
        uint64_t records;               /* given to the link */
        uint64_t link_full;             /* dropped because it did not take them in time */
} TargetSideCounts;

/* How long is waited for what, us. Tests are less patient. */
typedef struct TargetSidePatience {
        uint64_t settle_usec;           /* at the end, for commands under way */
        uint64_t grace_usec;            /* beyond the duration asked for, which the host keeps itself */
        uint64_t close_usec;            /* for the link to take something of the rest */
} TargetSidePatience;

extern TargetSidePatience target_side_patience;

/* Opens the backend's target side and begins to attach, on a thread. config is what to record, duration_usec what the host
 * asked for (0: until it says so). *ret_fd, the other end, is the caller's. Errors: KERNEL_UNSUPPORTED, CAPTURE_FAILED. */
int target_side_new(sd_event *event, Backend *backend, const CaptureConfig *config, const PeerGrant *grant,
                    uint64_t duration_usec, const TargetSideHandlers *handlers, TargetSide **ret, int *ret_fd, Error *error);
/* Tells the other end, as far as it listens, for a loop that runs no more. To be freed next. */
void target_side_shutdown(TargetSide *t);
TargetSide *target_side_free(TargetSide *t);
DEFINE_CLEANUP_FUNC(TargetSide *, target_side_free);

const TargetSideCounts *target_side_counts(const TargetSide *t);
