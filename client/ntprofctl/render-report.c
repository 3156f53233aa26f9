/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "render-report.h"

#include <string.h>
#include <unistd.h>

#include "output.h"

/* The model's text in colours: group titles, the largest stage, warnings, bars. */
static void append_line(GString *out, const char *line)
{
        const char *none = output_style(STDOUT_FILENO, STYLE_NONE);
        const char *bar = strrchr(line, ' ');

        if (g_str_has_prefix(line, "== ") || g_str_has_prefix(line, "largest: "))
                g_string_append_printf(out, "%s%s%s", output_style(STDOUT_FILENO, STYLE_BOLD), line, none);
        else if (g_str_has_prefix(line, "warning: "))
                g_string_append_printf(out, "%s%s%s", output_style(STDOUT_FILENO, STYLE_BAD), line, none);
        else if (g_str_has_prefix(line, "stage  ") || strstr(line, "  avg QD  mean us  "))
                g_string_append_printf(out, "%s%s%s", output_style(STDOUT_FILENO, STYLE_DIM), line, none);
        else if (bar && bar[1] && strspn(bar + 1, "#") == strlen(bar + 1))
                g_string_append_printf(out, "%.*s%s%s%s", (int) (bar + 1 - line), line, output_style(STDOUT_FILENO, STYLE_BAR), bar + 1,
                                       none);
        else
                g_string_append(out, line);
}

void render_report(NtprofReport *report, gboolean json, NtprofReportTextFlags flags)
{
        if (json) {
                const char *document = ntprof_report_to_json(report);
                output_printf("%s%s", document, g_str_has_suffix(document, "\n") ? "" : "\n");
                return;
        }

        g_autofree char *raw = ntprof_report_to_text_full(report, flags), *text = output_sanitize(raw);
        if (!output_has_colors(STDOUT_FILENO))
                return output_write(text);

        g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
        g_autoptr(GString) out = g_string_new(NULL);
        for (char **line = lines; *line; line++) {
                append_line(out, *line);
                if (line[1])
                        g_string_append_c(out, '\n');
        }
        output_write(out->str);
}
