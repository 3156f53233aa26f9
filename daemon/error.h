/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * An error that reaches a person: one of the rows of dbus/errors.def and a message that says what failed, on what, why,
 * and what to do. Functions that can fail so take an Error* and return the row's errno, negative.
 */
#pragma once

#include "util.h"

typedef enum NtprofError {
        NTPROF_ERROR_NONE,
#define NTPROF_ERROR(symbol, name, errno_, exit_) NTPROF_ERROR_##symbol,
#include "../dbus/errors.def"
        NTPROF_ERROR_COUNT,
} NtprofError;

typedef struct Error {
        NtprofError code;
        char *message;
} Error;

#define ERROR_INIT (Error) {}

/* Without the prefix, as in Session.Result: "NoSuchNamespace". */
const char *ntprof_error_name(NtprofError code);
/* "org.ntprof1.Error.NoSuchNamespace" */
const char *ntprof_error_dbus_name(NtprofError code);
/* By one or the other; NONE when there is none. */
NtprofError ntprof_error_by_name(const char *name);
NtprofError ntprof_error_by_dbus_name(const char *name);
int ntprof_error_errno(NtprofError code);

/* Returns the negative errno of code. e may be NULL, and must not be set already. */
int error_set(Error *e, NtprofError code, const char *format, ...) _printf_(3, 4);
void error_clear(Error *e);

/* What somebody wrote, quoted, escaped and cut so that it is safe in a message. */
char *error_quote(const char *text);

#define _cleanup_error_ _cleanup_(error_clear)
