/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Points in time for people: us of CLOCK_REALTIME, in local time. */
#pragma once

#include <glib.h>

/* "17:03:20" today, else "Nov 30 17:03"; "-" for 0. */
char *when_short(guint64 usec);

/* "2026-11-30 17:03:20" */
char *when_long(guint64 usec);
