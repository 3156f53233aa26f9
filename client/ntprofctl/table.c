/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "table.h"

#include <stdlib.h>
#include <unistd.h>

/* libsmartcols fails for lack of memory only, for which GLib aborts. */
#define MUST(call)                      \
        do {                            \
                if ((call) != 0)        \
                        abort();        \
        } while (0)

struct libscols_table *table_new(const TableColumn *columns, gsize n_columns)
{
        struct libscols_table *table = scols_new_table();

        if (!table)
                abort();
        MUST(scols_table_enable_colors(table, output_has_colors(STDOUT_FILENO)));
        MUST(scols_table_enable_maxout(table, FALSE));
        /* A pipe's reader wants all of it, whatever COLUMNS says. */
        MUST(scols_table_set_termforce(table, output_is_terminal(STDOUT_FILENO) ? SCOLS_TERMFORCE_AUTO : SCOLS_TERMFORCE_NEVER));
        for (gsize i = 0; i < n_columns; i++) {
                struct libscols_column *column =
                        scols_table_new_column(table, columns[i].name, 0, columns[i].right ? SCOLS_FL_RIGHT : 0);
                if (!column)
                        abort();
                if (output_has_colors(STDOUT_FILENO))
                        MUST(scols_cell_set_color(scols_column_get_header(column), output_style(STDOUT_FILENO, STYLE_BOLD)));
        }
        return table;
}

struct libscols_line *table_add_line(struct libscols_table *table)
{
        struct libscols_line *line = scols_table_new_line(table, NULL);

        if (!line)
                abort();
        return line;
}

void table_set(struct libscols_line *line, gsize column, char *value)
{
        g_autofree char *clean = output_sanitize(value);

        g_free(value);
        MUST(scols_line_set_data(line, column, clean));
}

void table_color(struct libscols_line *line, gsize column, Style style)
{
        if (output_has_colors(STDOUT_FILENO))
                MUST(scols_cell_set_color(scols_line_get_cell(line, column), output_style(STDOUT_FILENO, style)));
}

char *table_free_to_text(struct libscols_table *table)
{
        char *raw = NULL;

        MUST(scols_print_table_to_string(table, &raw));
        scols_unref_table(table);

        /* What fills up the last column is of no use. */
        g_auto(GStrv) lines = g_strsplit(raw, "\n", -1);
        free(raw);
        for (char **line = lines; *line; line++)
                g_strchomp(*line);
        g_autofree char *text = g_strjoinv("\n", lines);
        return g_str_has_suffix(text, "\n") ? g_strdup(text) : g_strconcat(text, "\n", NULL);
}
