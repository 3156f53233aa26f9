/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "../session/backend.h"

#define REPLAY_SPEED_MAX 1000.0

/* Everything from the recording at path; nothing of this machine is looked at. speed: 1 is as recorded, at most
 * REPLAY_SPEED_MAX. Errors: CAPTURE_FAILED */
int backend_replay_new(const char *path, double speed, Backend **ret, Error *error);
