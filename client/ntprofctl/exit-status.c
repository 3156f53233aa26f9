/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "exit-status.h"

#include <ntprof.h>

#include "error-table.h"
#include "usage.h"

int exit_status_of(const GError *error)
{
        if (error->domain == USAGE_ERROR)
                return EXIT_STATUS_USAGE;
        if (error->domain == NTPROF_ERROR) {
                const NpErrorRow *row = np_error_row_by_code(error->code);
                if (row)
                        return row->exit_status;
        }
        return EXIT_STATUS_FAILED;
}

/* "NoSuchNamespace" to "no such namespace". */
static char *in_words(const char *name)
{
        GString *words = g_string_new(NULL);

        for (; *name; name++) {
                if (g_ascii_isupper(*name) && words->len)
                        g_string_append_c(words, ' ');
                g_string_append_c(words, g_ascii_tolower(*name));
        }
        return g_string_free(words, FALSE);
}

char *exit_status_help(void)
{
        GString *text = g_string_new("Exit status:\n"
                                     "    0  done\n"
                                     "    1  any other failure\n"
                                     "    2  wrong command line\n");

        for (gsize i = 0; i < np_error_n_rows; i++)
                if (np_error_rows[i].exit_status > EXIT_STATUS_USAGE) {
                        g_autofree char *words = in_words(np_error_rows[i].name);
                        g_string_append_printf(text, "  %3d  %s\n", np_error_rows[i].exit_status, words);
                }
        g_string_append_printf(text, "  %3d  interrupted twice (Ctrl-C): left without a report\n", EXIT_STATUS_INTERRUPTED);
        return g_string_free(text, FALSE);
}
