/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "render-check-rows.h"

#include <string.h>
#include <unistd.h>

#include "render-check-document.h"

/* Text is wrapped to what people have at least, not to what they may have. */
#define WIDTH 79

/* Of the last line, without what a terminal makes colours from. */
static gsize column_of(const GString *text)
{
        const char *newline = strrchr(text->str, '\n'), *c = newline ? newline + 1 : text->str;
        gsize column = 0;

        while (*c) {
                const char *end = g_str_has_prefix(c, "\033[") ? strchr(c, 'm') : NULL;
                column += !end;
                c = (end ? end : c) + 1;
        }
        return column;
}

void render_check_wrapped(GString *text, unsigned indent, const char *words)
{
        g_auto(GStrv) list = g_strsplit(words, " ", -1);
        gsize column = column_of(text);

        for (char **word = list; *word; word++) {
                const gsize length = strlen(*word);
                if (word != list && column + 1 + length > WIDTH) {
                        g_string_append_printf(text, "\n%*s", (int) indent, "");
                        column = indent;
                } else if (word != list) {
                        g_string_append_c(text, ' ');
                        column++;
                }
                g_string_append(text, *word);
                column += length;
        }
        g_string_append_c(text, '\n');
}

void render_check_style(GString *text, Style style)
{
        g_string_append(text, output_style(STDOUT_FILENO, style));
}

/* "command fully handed to the transport (tcp; writes sent after an R2T; detail)" */
static char *title_of(JsonObject *row)
{
        const char *of[] = { check_string(row, "transport"), check_string(row, "covers"),
                             check_boolean(row, "detail") ? "detail" : NULL };
        GString *title = g_string_new(check_text(check_string(row, "description")));
        const char *between = " (";

        for (gsize i = 0; i < G_N_ELEMENTS(of); i++) {
                if (!of[i])
                        continue;
                g_string_append_printf(title, "%s%s", between, of[i]);
                between = "; ";
        }
        if (g_str_equal(between, "; "))
                g_string_append_c(title, ')');
        return g_string_free(title, FALSE);
}

/* H3  command fully handed to the transport (tcp; writes sent after an R2T)
 *     fexit nvme_tcp_try_send
 *     not fentry nvme_tcp_try_send_cmd_pdu: why */
void render_check_boundary(GString *text, JsonObject *row)
{
        JsonObject *chosen = check_object(row, "chosen");
        JsonArray *rejected = check_array(row, "rejected");
        const char *merged = check_string(row, "merged_into");
        g_autofree char *title = title_of(row);

        render_check_style(text, STYLE_BOLD);
        g_string_append_printf(text, "%-3s ", check_text(check_string(row, "boundary")));
        render_check_style(text, STYLE_NONE);
        render_check_wrapped(text, RENDER_CHECK_INDENT, title);

        g_string_append_printf(text, "%*s", RENDER_CHECK_INDENT, "");
        if (chosen) {
                render_check_style(text, STYLE_GOOD);
                g_string_append_printf(text, "%s %s", check_text(check_string(chosen, "mechanism")),
                                       check_text(check_string(chosen, "symbol")));
                render_check_style(text, STYLE_NONE);
                g_string_append_c(text, '\n');
        } else {
                g_autofree char *none = merged ? g_strdup_printf("no hook: merged into %s", merged)
                                        : check_boolean(row, "essential") ? g_strdup("no hook: without it there are no stages")
                                                                           : g_strdup("no hook");
                render_check_style(text, check_boolean(row, "essential") ? STYLE_BAD : STYLE_DIM);
                g_string_append(text, none);
                render_check_style(text, STYLE_NONE);
                g_string_append_c(text, '\n');
        }

        for (guint i = 0; i < check_length(rejected); i++) {
                JsonObject *candidate = check_element(rejected, i);
                g_autofree char *line = g_strdup_printf("not %s %s: %s", check_text(check_string(candidate, "mechanism")),
                                                        check_text(check_string(candidate, "symbol")),
                                                        check_text(check_string(candidate, "reason")));
                g_string_append_printf(text, "%*s", RENDER_CHECK_INDENT, "");
                render_check_wrapped(text, RENDER_CHECK_INDENT + 4, line);
        }
}
