/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "session-hook.h"

static void session_hook_clear(void *data)
{
        SessionHook *hook = data;

        g_free(hook->boundary);
        g_free(hook->mechanism);
        g_free(hook->symbol);
}

GArray *session_hooks_new(void)
{
        GArray *hooks = g_array_new(false, true, sizeof(SessionHook));

        g_array_set_clear_func(hooks, session_hook_clear);
        return hooks;
}

void session_hooks_add(GArray *hooks, const char *boundary, const char *mechanism, const char *symbol, bool target)
{
        SessionHook hook = {
                .boundary = g_strdup(boundary),
                .mechanism = g_strdup(mechanism),
                .symbol = g_strdup(symbol),
                .target = target,
        };

        g_array_append_val(hooks, hook);
}
