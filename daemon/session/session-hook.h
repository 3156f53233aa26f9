/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is attached for a session, of one machine: for Session.Hooks and the report. */
#pragma once

#include <glib.h>
#include <stdbool.h>

typedef struct SessionHook {
        char *boundary, *mechanism, *symbol;
        bool target;
} SessionHook;

/* Of SessionHook. */
GArray *session_hooks_new(void);
void session_hooks_add(GArray *hooks, const char *boundary, const char *mechanism, const char *symbol, bool target);
