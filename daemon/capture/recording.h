/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reading a recorded file (replay-format.h), which is checked as a whole before any of it is used. */
#pragma once

#include <stdio.h>

#include "../error.h"
#include "recording-facts.h"
#include "replay-format.h"

typedef struct Recording {
        char *path;
        RecordingFacts *facts;
        uint64_t end_ns;                /* when it ended: of the last frame with a time when the end itself is missing */
        long first_frame;               /* offset */
} Recording;

/* Errors: CAPTURE_FAILED, with the offset of what is wrong. */
int recording_open(const char *path, Recording **ret, Error *error);
void recording_free(Recording *recording);
DEFINE_CLEANUP_FUNC(Recording *, recording_free);

/* One frame. data is valid until the next is read. */
typedef struct RecordingFrame {
        enum replay_frame_type type;
        uint32_t size;
        uint64_t time_ns;               /* by the host's clock, which is the target's too as long as targets are local */
        const void *data;
} RecordingFrame;

typedef struct RecordingReader RecordingReader;

int recording_reader_new(const Recording *recording, RecordingReader **ret, Error *error);
void recording_reader_free(RecordingReader *reader);
DEFINE_CLEANUP_FUNC(RecordingReader *, recording_reader_free);

/* > 0: a frame, 0: the end. Errors: CAPTURE_FAILED */
int recording_reader_next(RecordingReader *reader, RecordingFrame *ret, Error *error);

/* The frames with variable size, checked. */
int recording_frame_counters(const RecordingFrame *frame, CaptureCounters *ret);
int recording_frame_iostat(const RecordingFrame *frame, struct replay_iostat *ret, char **ret_reason);
