/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The rows of dbus/errors.def and client-errors.def with the codes of NtprofError. Private to client/. */
#pragma once

#include <glib.h>

typedef struct {
        int code;               /* of NtprofError */
        const char *name;       /* "NoReport" */
        int exit_status;        /* ntprofctl's */
        gboolean on_bus;        /* the service sends it, as org.ntprof1.Error.NAME */
} NpErrorRow;

extern const NpErrorRow np_error_rows[];
extern const gsize np_error_n_rows;

/* NULL when there is none. */
const NpErrorRow *np_error_row_by_code(int code);
const NpErrorRow *np_error_row_by_name(const char *name);
