/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What two ntprofd say to each other while one records the target's side for the other: a stream of frames, which the
 * machines' ntprof-peerd carry between them without looking into it. docs/peers.md tells the conversation.
 *
 * A frame is struct wire_frame and size bytes. Numbers are little endian (as is all that ntprof runs on). Every byte of the
 * other side's is hostile until checked: a frame of an unknown type, of a wrong size or out of turn ends the stream.
 */
#pragma once

#include <linux/types.h>

#include "../../bpf/record.h"

#define WIRE_FRAME_MAX (64U << 10)              /* bytes after the header */

struct wire_frame {
        __u32 type;                             /* enum wire_type */
        __u32 size;
};

enum wire_type {
        /* from the host */
        WIRE_THRESHOLD = 1,                     /* struct wire_threshold: sample so, from now on */
        WIRE_RESUME = 2,                        /* empty: begin to count and to sample */
        WIRE_PAUSE = 3,                         /* empty: begin nothing new, send what is there, then WIRE_ENDED */
        /* from the target */
        WIRE_FACTS = 16,                        /* JSON, once and first, unless WIRE_ENDED is all: attached, not yet resumed */
        WIRE_CHANGED = 17,                      /* struct wire_changed: a threshold is in force (0 before the first); no more
                                                 * often than WIRE_THRESHOLD came */
        WIRE_RECORDS = 18,                      /* struct np_target_record, one or more */
        WIRE_SYNC = 19,                         /* struct wire_sync: at least once a second after WIRE_RESUME */
        WIRE_ENDED = 20,                        /* JSON, last: {"error": null or a name of errors.def, "message": null or
                                                 * a sentence}: with a message it is the target that ends it */
};

/* WIRE_FACTS: what the target calls itself, and what it has attached:
 *
 *     {"machine": "stor-a", "kernel": "6.1.0-18-amd64", "version": "0.1.0",
 *      "hooks": [{"boundary": "T1", "mechanism": "tp_btf", "symbol": "nvmet_req_init"}, ...],
 *      "drive_hidden": null or a sentence: why the drive's own time can't be seen there, "the namespace is a file"}
 *
 * Of that all is text; a key that is not known is left alone. */
#define WIRE_FACTS_HOOKS_MAX 64

struct wire_threshold {
        __u32 threshold;                        /* as NP records': hash < threshold, 0xffffffff = all */
        __u32 reserved;
};

struct wire_changed {
        __u64 target_ns;                        /* CLOCK_MONOTONIC of the target, taken before it took effect; 0: nothing was
                                                 * recorded before it */
        __u32 threshold;                        /* may be lower than asked for: the target's administrator limits it */
        __u32 reserved;
};

/* All records of commands that the target answered before target_ns have been sent before this frame, or are counted here.
 * target_ns is not before it was told to resume: so the first one bounds how far its clock can be ahead of the host's. */
struct wire_sync {
        __u64 target_ns;
        __u64 in_flight;                        /* sampled, not yet answered */
        __u64 recursion;                        /* program runs that the kernel skipped */
        __u64 link_full;                        /* records dropped because the link did not take them in time */
        __u64 counters[NP_C_COUNT];
};
