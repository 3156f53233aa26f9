/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Writing to people and programs: terminals, colours, pipes whose reader has left. */
#pragma once

#include <glib.h>

typedef enum {
        STYLE_NONE,
        STYLE_BOLD,
        STYLE_DIM,
        STYLE_GOOD,
        STYLE_BAD,
        STYLE_BAR,
} Style;

gboolean output_is_terminal(int fd);

/* Of a terminal, and the user hasn't set NO_COLOR (no-color.org), nor is it a dumb one. */
gboolean output_has_colors(int fd);

/* Columns of the terminal, 80 where it is none. */
unsigned output_width(int fd);

/* Escape sequence of a style, "" when the fd has no colours; STYLE_NONE ends a style. */
const char *output_style(int fd, Style style);

/* Writes all to stdout. When its reader has left the process ends quietly, as by SIGPIPE; any other error is told, and
 * the process exits with 1: there is nothing else to do for any caller. */
void output_write(const char *text);

void output_printf(const char *format, ...) G_GNUC_PRINTF(1, 2);

/* To stderr, whatever becomes of it: "ntprofctl: MESSAGE\n". */
void output_error(const char *format, ...) G_GNUC_PRINTF(1, 2);

/* To stderr, whatever becomes of it. */
void output_note(const char *text);

/* On a terminal, a line on stderr in whose place comes what is written next; NULL: nothing comes. Off a terminal nothing. */
void output_passing(const char *text);

/* A copy without what a terminal would obey: names in reports come from other machines. Newlines and tabs stay. */
char *output_sanitize(const char *text);

/* "13.3k", "3066": at most 5 characters up to 999 million. */
char *output_count(guint64 n);

/* Appends "  NAME       VALUE\n", sanitized: what is shown of one thing, line by line. */
void output_row(GString *text, const char *name, const char *format, ...) G_GNUC_PRINTF(3, 4);
