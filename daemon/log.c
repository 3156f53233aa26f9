/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "log.h"

#include <glib.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <systemd/sd-daemon.h>

static void log_line(const char *priority, const char *format, va_list ap)
{
        _cleanup_free_ char *text = g_strdup_vprintf(format, ap);
        bool journal = getenv("JOURNAL_STREAM") != NULL;

        /* One line each, whatever a message holds. */
        g_strdelimit(text, "\r\n", ' ');
        fprintf(stderr, "%s%s\n", journal ? priority : "ntprofd: ", text);
}

void log_error(const char *format, ...)
{
        va_list ap;

        va_start(ap, format);
        log_line(SD_ERR, format, ap);
        va_end(ap);
}

void log_info(const char *format, ...)
{
        va_list ap;

        va_start(ap, format);
        log_line(SD_INFO, format, ap);
        va_end(ap);
}
