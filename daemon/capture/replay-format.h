/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A recording: what a live capture handed out, in a file. Written by --record, read by --replay, and made by
 * tests/bus/make_replay.py (tests/unit/test-recording.c checks that its layouts are these).
 *
 *     struct replay_header
 *     facts: facts_size bytes of JSON, schema org.ntprof.recording/1 (recording-facts.c), zero-padded to 8 bytes
 *     frames until the end of the file, each: struct replay_frame, size bytes, zero-padded to 8 bytes
 *
 * All numbers in the byte order of the machine that wrote it, little endian on all that ntprof runs on. Frames are in the
 * order in which the records were drained. A reader refuses other versions and unknown frames: it is a debugging
 * format, not an archive.
 */
#pragma once

#include <linux/types.h>

#define REPLAY_MAGIC "NTPROFRP"
#define REPLAY_VERSION 1
#define REPLAY_FACTS_MAX (4U << 20)
#define REPLAY_FRAME_MAX (64U << 10)

struct replay_header {
        char magic[8];
        __u32 version;
        __u32 facts_size;
};

enum replay_frame_type {
        REPLAY_HOST_RECORD = 1,         /* struct np_host_record */
        REPLAY_TARGET_RECORD = 2,       /* struct np_target_record */
        REPLAY_COUNTERS = 3,            /* struct replay_counters */
        REPLAY_IOSTAT = 4,              /* struct replay_iostat: one when the recording starts, one when it ends */
        REPLAY_END = 5,                 /* struct replay_end; absent when the writer was killed */
};

struct replay_frame {
        __u32 type;                     /* enum replay_frame_type */
        __u32 size;                     /* of what follows, without padding */
};

/* All since the start of the recording. */
struct replay_counters {
        __u64 time_ns;
        __u64 host_recursion, target_recursion;
        __u64 host_in_flight, target_in_flight;
        __u32 n_counters;               /* NP_C_COUNT of the recorder: a recording of before a counter was added has fewer */
        __u32 n_kinds;
        /* then __u64 host[n_counters], target[n_counters], and n_kinds times {__u64 key, count} */
};

struct replay_iostat {
        __u64 time_ns;
        __u64 ios;
        __u64 weighted_ms;
        __u32 valid;
        __u32 reason_size;              /* bytes of text that follow; 0 when valid */
};

struct replay_end {
        __u64 time_ns;                  /* when recording ended */
};
