/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "when.h"

char *when_short(guint64 usec)
{
        if (usec == 0)
                return g_strdup("-");

        g_autoptr(GDateTime) then = g_date_time_new_from_unix_local((gint64) (usec / 1000000)),
                             now = g_date_time_new_now_local();
        gboolean today = g_date_time_get_year(then) == g_date_time_get_year(now) &&
                         g_date_time_get_day_of_year(then) == g_date_time_get_day_of_year(now);
        return g_date_time_format(then, today ? "%H:%M:%S" : "%b %e %H:%M");
}

char *when_long(guint64 usec)
{
        g_autoptr(GDateTime) then = g_date_time_new_from_unix_local((gint64) (usec / 1000000));

        return g_date_time_format(then, "%Y-%m-%d %H:%M:%S");
}
