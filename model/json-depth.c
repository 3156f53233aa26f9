/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "json-depth.h"

gboolean np_json_nests_at_most(const char *json, gsize n, guint max)
{
        gboolean in_string = FALSE;
        guint depth = 0;

        for (gsize i = 0; i < n; i++)
                if (in_string) {
                        if (json[i] == '\\')
                                i++;
                        else if (json[i] == '"')
                                in_string = FALSE;
                } else if (json[i] == '"')
                        in_string = TRUE;
                else if (json[i] == '/' || json[i] == '\'' || json[i] == '#')
                        return FALSE;
                else if (json[i] == '{' || json[i] == '[') {
                        if (++depth > max)
                                return FALSE;
                } else if ((json[i] == '}' || json[i] == ']') && depth > 0)
                        depth--;
        return TRUE;
}
