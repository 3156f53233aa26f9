/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "time-limit.h"

static gboolean on_over(gpointer data)
{
        NpTimeLimit *limit = data;

        limit->timer = 0;
        g_cancellable_cancel(limit->cancellable);
        return G_SOURCE_REMOVE;
}

void np_time_limit_begin(NpTimeLimit *limit, guint seconds)
{
        limit->cancellable = g_cancellable_new();
        limit->timer = g_timeout_add_seconds(seconds, on_over, limit);
}

void np_time_limit_clear(NpTimeLimit *limit)
{
        g_clear_handle_id(&limit->timer, g_source_remove);
        g_clear_object(&limit->cancellable);
}
