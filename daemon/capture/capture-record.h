/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Writes what another backend's capture hands out to a file that --replay reads (replay-format.h). */
#pragma once

#include "../session/backend.h"

/* Wraps inner, which it frees. The first session that starts is recorded to path, which must not exist yet; later ones
 * pass through. A failing write fails that session. Errors: CAPTURE_FAILED. On error inner is not freed. */
int backend_record_new(Backend *inner, const char *path, Backend **ret, Error *error);
