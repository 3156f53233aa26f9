/* SPDX-License-Identifier: GPL-2.0-or-later */
/* ntprofctl's exit statuses: 0, 1, 2 and a column of dbus/errors.def and libntprof/client-errors.def. */
#pragma once

#include <glib.h>

enum {
        EXIT_STATUS_FAILED = 1,
        EXIT_STATUS_USAGE = 2,
        EXIT_STATUS_INTERRUPTED = 130,
};

int exit_status_of(const GError *error);

/* The table for --help. */
char *exit_status_help(void);
