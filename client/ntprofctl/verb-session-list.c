/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "output.h"
#include "render-session.h"
#include "session-json.h"
#include "verbs.h"

int verb_session_list(Invocation *call)
{
        gboolean json = FALSE;
        const GOptionEntry entries[] = {
                { "json", 0, 0, G_OPTION_ARG_NONE, &json, "Print a JSON document (org.ntprof.sessions/1)", NULL },
                {},
        };

        int status = verb_parse(call, entries, NULL, 0, 0);
        if (status >= 0)
                return status;

        g_autoptr(NtprofClient) client = verb_connect(call, &status);
        if (!client)
                return status;

        g_autoptr(GPtrArray) sessions = ntprof_client_list_sessions(client);
        g_autofree char *text = json ? sessions_to_json(sessions) : render_sessions(sessions);
        output_write(text);
        return 0;
}
