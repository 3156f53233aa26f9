/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "log.h"

#include <glib.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <systemd/sd-daemon.h>
#include <systemd/sd-journal.h>

static void log_text(const char *priority, char *text)
{
        bool journal = getenv("JOURNAL_STREAM") != NULL;

        /* One line each, whatever a message holds. */
        g_strdelimit(text, "\r\n", ' ');
        fprintf(stderr, "%s%s\n", journal ? priority : "ntprofd: ", text);
}

static void log_line(const char *priority, const char *format, va_list ap)
{
        _cleanup_free_ char *text = g_strdup_vprintf(format, ap);

        log_text(priority, text);
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

/* What a service's child inherits says JOURNAL_STREAM too, whatever its standard error is. */
static bool stderr_is_journal(void)
{
        const char *stream = getenv("JOURNAL_STREAM");
        _cleanup_free_ char *ours = NULL;
        struct stat st;

        if (!stream || fstat(STDERR_FILENO, &st) < 0)
                return false;
        ours = g_strdup_printf("%ju:%ju", (uintmax_t) st.st_dev, (uintmax_t) st.st_ino);
        return g_str_equal(stream, ours);
}

static void add_field(GArray *iovec, const char *name, const char *value)
{
        char *field = g_strdup_printf("%s=%s", name, value);
        struct iovec v = { .iov_base = field, .iov_len = strlen(field) };

        g_array_append_val(iovec, v);
}

static int send_event(const char *priority, const char *message_id, const LogField *fields, size_t n_fields, const char *text)
{
        g_autoptr(GArray) iovec = g_array_new(false, false, sizeof(struct iovec));
        char digit[] = { priority[1], '\0' };   /* SD_INFO is "<6>" */
        int r;

        add_field(iovec, "MESSAGE", text);
        add_field(iovec, "MESSAGE_ID", message_id);
        add_field(iovec, "PRIORITY", digit);
        for (size_t i = 0; i < n_fields; i++)
                add_field(iovec, fields[i].name, fields[i].value);
        r = sd_journal_sendv((struct iovec *) iovec->data, iovec->len);
        for (guint i = 0; i < iovec->len; i++)
                g_free(g_array_index(iovec, struct iovec, i).iov_base);
        return r;
}

void log_event(const char *priority, const char *message_id, const LogField *fields, size_t n_fields, const char *format, ...)
{
        _cleanup_free_ char *text = NULL;
        va_list ap;

        va_start(ap, format);
        text = g_strdup_vprintf(format, ap);
        va_end(ap);

        if (stderr_is_journal() && send_event(priority, message_id, fields, n_fields, text) >= 0)
                return;
        log_text(priority, text);
}
