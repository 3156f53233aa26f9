/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "duration.h"

#include <string.h>

#include "usage.h"

#define EXAMPLE "for example 10s, 500ms or '1min 30s'"

/* As in systemd.time(7), largest first; the first name of a unit is the one printed. */
static const struct {
        guint64 usec;
        const char *names[6];
} units[] = {
        { G_GUINT64_CONSTANT(7) * 24 * 3600 * 1000000, { "w", "week", "weeks" } },
        { G_GUINT64_CONSTANT(24) * 3600 * 1000000,     { "d", "day", "days" } },
        { G_GUINT64_CONSTANT(3600) * 1000000,          { "h", "hr", "hour", "hours" } },
        { 60 * 1000000,                                { "min", "m", "minute", "minutes" } },
        { 1000000,                                     { "s", "sec", "second", "seconds" } },
        { 1000,                                        { "ms", "msec" } },
        { 1,                                           { "us", "usec", "µs" } },
};

static guint64 unit_usec(const char *name, gsize length)
{
        for (gsize i = 0; i < G_N_ELEMENTS(units); i++)
                for (gsize j = 0; j < G_N_ELEMENTS(units[i].names) && units[i].names[j]; j++)
                        if (strlen(units[i].names[j]) == length && strncmp(units[i].names[j], name, length) == 0)
                                return units[i].usec;
        return 0;
}

static gboolean is_space(char c)
{
        return c == ' ' || c == '\t';
}

static gboolean fail(GError **error, const char *text, const char *format, ...) G_GNUC_PRINTF(3, 4);
static gboolean fail(GError **error, const char *text, const char *format, ...)
{
        va_list args;

        va_start(args, format);
        g_autofree char *why = g_strdup_vprintf(format, args);
        va_end(args);
        g_set_error(error, USAGE_ERROR, USAGE_ERROR_FAILED, "duration '%s': %s; " EXAMPLE, text, why);
        return FALSE;
}

/* digits ["." digits] in millionths: enough for the smallest unit and no rounding of what people write. */
static gboolean parse_number(const char **p, guint64 *ret_whole, guint64 *ret_millionths)
{
        guint64 scale = 1000000;

        *ret_whole = *ret_millionths = 0;
        if (!g_ascii_isdigit(**p))
                return FALSE;
        for (; g_ascii_isdigit(**p); (*p)++)
                if (!g_uint64_checked_mul(ret_whole, *ret_whole, 10) ||
                    !g_uint64_checked_add(ret_whole, *ret_whole, (guint64) (**p - '0')))
                        *ret_whole = G_MAXUINT64;       /* stays: too long with any unit */
        if (**p != '.')
                return TRUE;
        (*p)++;
        if (!g_ascii_isdigit(**p))
                return FALSE;
        for (; g_ascii_isdigit(**p); (*p)++) {
                scale /= 10;
                *ret_millionths += scale * (guint64) (**p - '0');
        }
        return TRUE;
}

gboolean duration_parse(const char *text, guint64 *ret_usec, GError **error)
{
        guint64 total = 0;
        const char *p = text;
        gboolean any = FALSE;

        while (is_space(*p))
                p++;
        if (g_str_has_prefix(p, "infinity")) {
                for (p += strlen("infinity"); is_space(*p);)
                        p++;
                if (!*p) {
                        *ret_usec = DURATION_INFINITE;
                        return TRUE;
                }
                return fail(error, text, "nothing can follow 'infinity'");
        }

        while (*p) {
                guint64 whole, millionths, unit, part, fraction;
                const char *name;

                if (*p == '-')
                        return fail(error, text, "it can't be negative");
                if (!parse_number(&p, &whole, &millionths))
                        return fail(error, text, "a number is expected at '%s'", *p ? p : text);
                while (is_space(*p))
                        p++;
                for (name = p; *p && !is_space(*p) && !g_ascii_isdigit(*p) && *p != '.' && *p != '-';)
                        p++;

                /* A number alone is of seconds. */
                unit = p == name ? 1000000 : unit_usec(name, (gsize) (p - name));
                if (unit == 0)
                        return fail(error, text, "unknown unit '%.*s' (us, ms, s, min, h, d, w)", (int) (p - name), name);
                /* The unit is at most 6e11, so this can't overflow. */
                fraction = unit >= 1000000 ? millionths * (unit / 1000000) : millionths * unit / 1000000;
                if (!g_uint64_checked_mul(&part, whole, unit) || !g_uint64_checked_add(&part, part, fraction) ||
                    !g_uint64_checked_add(&total, total, part) || total > G_MAXINT64)
                        return fail(error, text, "it is too long");
                any = TRUE;
                while (is_space(*p))
                        p++;
        }

        if (!any)
                return fail(error, text, "it is empty");
        if (total == 0)
                return fail(error, text, "it must be more than 0 (without a duration, until it is stopped)");
        *ret_usec = total;
        return TRUE;
}

char *duration_format(guint64 usec)
{
        GString *text = g_string_new(NULL);

        if (usec == 0)
                return g_string_free(g_string_append(text, "0 s"), FALSE);
        for (gsize i = 0; i < G_N_ELEMENTS(units); i++) {
                guint64 n = usec / units[i].usec;
                if (n == 0)
                        continue;
                g_string_append_printf(text, "%s%" G_GUINT64_FORMAT " %s", text->len ? " " : "", n, units[i].names[0]);
                usec %= units[i].usec;
        }
        return g_string_free(text, FALSE);
}

char *duration_format_short(guint64 usec)
{
        const guint64 seconds = usec / 1000000;

        if (usec < 100 * 1000)
                return g_strdup_printf("%" G_GUINT64_FORMAT " ms", usec / 1000);
        if (seconds < 60)
                return g_strdup_printf("%" G_GUINT64_FORMAT ".%u s", seconds, (unsigned) (usec / 100000 % 10));
        if (seconds < 3600)
                return g_strdup_printf("%" G_GUINT64_FORMAT " min %u s", seconds / 60, (unsigned) (seconds % 60));
        return g_strdup_printf("%" G_GUINT64_FORMAT " h %u min", seconds / 3600, (unsigned) (seconds / 60 % 60));
}
