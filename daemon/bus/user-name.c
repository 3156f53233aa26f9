/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "user-name.h"

#include <glib.h>
#include <pwd.h>

char *user_name(uid_t uid)
{
        struct passwd pw, *found = NULL;
        char buffer[16384];

        if (getpwuid_r(uid, &pw, buffer, sizeof(buffer), &found) != 0 || !found || !g_utf8_validate(found->pw_name, -1, NULL))
                return NULL;
        return g_strdup(found->pw_name);
}
