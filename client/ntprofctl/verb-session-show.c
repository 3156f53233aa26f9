/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "output.h"
#include "render-session.h"
#include "session-json.h"
#include "verbs.h"

int verb_session_show(Invocation *call)
{
        gboolean json = FALSE;
        const GOptionEntry entries[] = {
                { "json", 0, 0, G_OPTION_ARG_NONE, &json, "Print a JSON document (org.ntprof.session/1)", NULL },
                {},
        };
        g_autoptr(GError) error = NULL;

        int status = verb_parse(call, entries, NULL, 1, 1);
        if (status >= 0)
                return status;

        g_autoptr(NtprofClient) client = verb_connect(call, &status);
        if (!client)
                return status;

        g_autoptr(NtprofSession) session = ntprof_client_find_session(client, call->args[0], &error);
        if (!session)
                return verb_fail(call, error);
        g_autofree char *text = json ? session_to_json(session) : render_session(session);
        output_write(text);
        return 0;
}
