/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "output.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define WIDTH_DEFAULT 80

gboolean output_is_terminal(int fd)
{
        return isatty(fd) == 1;
}

gboolean output_has_colors(int fd)
{
        const char *no_color = getenv("NO_COLOR"), *term = getenv("TERM");

        return output_is_terminal(fd) && !(no_color && *no_color) && !(term && strcmp(term, "dumb") == 0);
}

unsigned output_width(int fd)
{
        struct winsize size = {};

        return ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : WIDTH_DEFAULT;
}

const char *output_style(int fd, Style style)
{
        static const char *const sequences[] = {
                [STYLE_NONE] = "\033[0m",
                [STYLE_BOLD] = "\033[1m",
                [STYLE_DIM] = "\033[2m",
                [STYLE_GOOD] = "\033[32m",
                [STYLE_BAD] = "\033[31m",
                [STYLE_BAR] = "\033[36m",
        };

        return output_has_colors(fd) ? sequences[style] : "";
}

static gboolean passing;

static int write_all(int fd, const char *text)
{
        gsize length = strlen(text);

        while (length > 0) {
                ssize_t n = write(fd, text, length);
                if (n < 0 && errno == EINTR)
                        continue;
                if (n < 0)
                        return -errno;
                text += n;
                length -= (gsize) n;
        }
        return 0;
}

void output_write(const char *text)
{
        int r;

        output_passing(NULL);
        r = write_all(STDOUT_FILENO, text);
        if (r == 0)
                return;
        if (r == -EPIPE) {
                /* GIO ignores the signal, and a parent may too. */
                signal(SIGPIPE, SIG_DFL);
                raise(SIGPIPE);
        }
        output_error("writing the output failed: %s", g_strerror(-r));
        _exit(EXIT_FAILURE);
}

void output_printf(const char *format, ...)
{
        va_list args;

        va_start(args, format);
        g_autofree char *text = g_strdup_vprintf(format, args);
        va_end(args);
        output_write(text);
}

void output_passing(const char *text)
{
        if (passing)
                (void) write_all(STDERR_FILENO, "\r\033[K");
        passing = text && output_is_terminal(STDERR_FILENO);
        if (passing)
                (void) write_all(STDERR_FILENO, text);
}

void output_note(const char *text)
{
        output_passing(NULL);
        (void) write_all(STDERR_FILENO, text);
}

void output_error(const char *format, ...)
{
        va_list args;

        va_start(args, format);
        g_autofree char *message = g_strdup_vprintf(format, args);
        va_end(args);
        g_autofree char *clean = output_sanitize(message);
        g_autofree char *line = g_strdup_printf("ntprofctl: %s\n", clean);
        output_note(line);
}

char *output_sanitize(const char *text)
{
        char *clean = g_utf8_make_valid(text, -1);

        /* C0, DEL; and C1, which some terminals obey: U+0080..U+009F, in UTF-8 c2 80..c2 9f. */
        for (char *p = clean; *p; p++) {
                if ((guchar) *p < 0x20 && *p != '\n' && *p != '\t')
                        *p = '?';
                else if (*p == 0x7f)
                        *p = '?';
                else if ((guchar) p[0] == 0xc2 && (guchar) p[1] >= 0x80 && (guchar) p[1] <= 0x9f)
                        p[0] = p[1] = '?';
        }
        return clean;
}

char *output_count(guint64 n)
{
        static const char suffixes[] = "kMGTPE";
        double value = (double) n;
        int i = -1;

        if (n < 10000)
                return g_strdup_printf("%" G_GUINT64_FORMAT, n);
        do {
                value /= 1000;
                i++;
        } while (value >= 999.5 && suffixes[i + 1]);
        return g_strdup_printf("%.*f%c", value < 99.95 ? 1 : 0, value, suffixes[i]);
}

void output_row(GString *text, const char *name, const char *format, ...)
{
        va_list args;

        va_start(args, format);
        g_autofree char *value = g_strdup_vprintf(format, args);
        va_end(args);
        g_autofree char *clean = output_sanitize(value);
        g_string_append_printf(text, "  %-11s %s\n", name, clean);
}
