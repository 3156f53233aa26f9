/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "each-session.h"

int each_session(Invocation *call, gboolean (*act)(NtprofSession *, GCancellable *, GError **), void (*done)(NtprofSession *))
{
        int status = verb_parse(call, NULL, NULL, 1, -1);
        if (status >= 0)
                return status;

        g_autoptr(NtprofClient) client = verb_connect(call, &status);
        if (!client)
                return status;

        status = 0;
        for (char **id = call->args; *id; id++) {
                g_autoptr(GError) error = NULL;
                g_autoptr(NtprofSession) session = ntprof_client_find_session(client, *id, &error);

                if (session && act(session, NULL, &error)) {
                        if (done)
                                done(session);
                        continue;
                }
                int failure = verb_fail(call, error);
                if (status == 0)
                        status = failure;
        }
        return status;
}
