/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Records from a recorded file, at the speed at which they were taken or a multiple of it. It behaves as the live source
 * would: commands that begin after pause() are not handed out, and a threshold lower than the recorded one chooses fewer.
 */
#pragma once

#include "../session/iostat.h"
#include "recording.h"

/* recording must outlive the capture. */
int capture_replay_new(const Recording *recording, double speed, const CaptureHandlers *handlers, Capture **ret, Error *error);
/* The target's side alone: records of the recording's controllers that a filter of config is about, each with that filter's
 * index. */
int capture_replay_new_target(const Recording *recording, double speed, const CaptureConfig *config,
                              const CaptureHandlers *handlers, Capture **ret, Error *error);
/* The disk's counts when the recording began and, after pause() at its end, when it ended; at any other time not valid. */
void capture_replay_read_iostat(Capture *c, IoStat *ret);
