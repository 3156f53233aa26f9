/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The two texts that a target sends: wire.h tells what is in them. */
#pragma once

#include "../session/backend.h"

/* Why the drive's own time can't be seen, of the first namespace of which there is something to say; NULL: it can. */
char *target_drive_hidden(Backend *backend, const CaptureConfig *config);
/* Of the hooks, those of the target's side, at most WIRE_FACTS_HOOKS_MAX. Each text is cut so that it fits into a frame. */
char *target_facts_json(const Backend *backend, const CaptureHook *hooks, unsigned n_hooks, const char *drive_hidden);
/* code: NTPROF_ERROR_NONE when nothing failed; message may be NULL. */
char *target_ended_json(NtprofError code, const char *message);
