/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Spans of time as people write them: "10s", "1min 30s", "500ms", "1.5h", as in systemd.time(7). */
#pragma once

#include <glib.h>

#define DURATION_INFINITE G_MAXUINT64

/* In us, more than 0; DURATION_INFINITE for "infinity". The error is one of usage, says what is wrong and has an example. */
gboolean duration_parse(const char *text, guint64 *ret_usec, GError **error);

/* "10 s", "1 min 30 s", "500 ms": exactly, in the fewest units. */
char *duration_format(guint64 usec);

/* For what goes on: "3.2 s", "1 min 5 s", "2 h 13 min". */
char *duration_format_short(guint64 usec);
