/* SPDX-License-Identifier: GPL-2.0-or-later */
/* For main and bus only: what is below them returns errors. To standard error, with priorities when that is the journal. */
#pragma once

#include "util.h"

void log_error(const char *format, ...) _printf_(1, 2);
void log_info(const char *format, ...) _printf_(1, 2);

typedef struct LogField {
        const char *name;               /* "NTPROF_PEER" */
        const char *value;              /* printable */
} LogField;

/* Something to be looked for in the journal: by its message id (128 bits, hexadecimal) and fields. priority: SD_INFO and so on.
 * Where standard error is not the journal, the line alone. */
void log_event(const char *priority, const char *message_id, const LogField *fields, size_t n_fields, const char *format, ...)
        _printf_(5, 6);
