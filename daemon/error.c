/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "error.h"

#include <glib.h>
#include <stdarg.h>
#include <string.h>

#define ERROR_PREFIX "org.ntprof1.Error."

static const struct {
        const char *dbus_name;
        int errno_;
} errors[] = {
        [NTPROF_ERROR_NONE] = { "", 0 },
#define NTPROF_ERROR(symbol, name, number, exit_) [NTPROF_ERROR_##symbol] = { ERROR_PREFIX name, number },
#include "../dbus/errors.def"
};

const char *ntprof_error_dbus_name(NtprofError code)
{
        return errors[code].dbus_name;
}

const char *ntprof_error_name(NtprofError code)
{
        return code == NTPROF_ERROR_NONE ? "" : errors[code].dbus_name + strlen(ERROR_PREFIX);
}

NtprofError ntprof_error_by_name(const char *name)
{
        for (unsigned i = NTPROF_ERROR_NONE + 1; i < NTPROF_ERROR_COUNT; i++)
                if (g_str_equal(ntprof_error_name(i), name))
                        return i;
        return NTPROF_ERROR_NONE;
}

NtprofError ntprof_error_by_dbus_name(const char *name)
{
        return g_str_has_prefix(name, ERROR_PREFIX) ? ntprof_error_by_name(name + strlen(ERROR_PREFIX)) : NTPROF_ERROR_NONE;
}

int ntprof_error_errno(NtprofError code)
{
        return errors[code].errno_;
}

int error_set(Error *e, NtprofError code, const char *format, ...)
{
        va_list ap;

        if (e) {
                g_assert(!e->message);
                va_start(ap, format);
                e->message = g_strdup_vprintf(format, ap);
                va_end(ap);
                e->code = code;
        }

        return -errors[code].errno_;
}

void error_clear(Error *e)
{
        g_free(e->message);
        *e = ERROR_INIT;
}

char *error_quote(const char *text)
{
        _cleanup_free_ char *start = g_strndup(text, 64), *escaped = g_strescape(start, NULL);

        return g_strdup_printf("\"%s%s\"", escaped, strlen(text) > 64 ? "..." : "");
}
