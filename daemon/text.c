/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "text.h"

#include <glib.h>

#include "util.h"

char *text_printable(const char *text, size_t max)
{
        _cleanup_free_ char *valid = g_utf8_make_valid(text, -1);
        GString *result = g_string_new(NULL);

        for (const char *s = valid; *s; s = g_utf8_next_char(s)) {
                gunichar c = g_utf8_get_char(s);
                gsize before = result->len;

                if (g_unichar_iscntrl(c))
                        g_string_append_c(result, '?');
                else
                        g_string_append_unichar(result, c);
                if (max > 0 && result->len > max) {
                        g_string_truncate(result, before);
                        break;
                }
        }
        return g_string_free(result, false);
}
