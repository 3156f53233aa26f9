/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "each-session.h"
#include "output.h"

static void stopped(NtprofSession *session)
{
        const char *id = ntprof_session_get_id(session);
        g_autoptr(GError) why = ntprof_session_get_error(session);

        if (why)
                output_printf("%s\n", why->message);
        else
                output_printf("session %s: finished; 'ntprofctl report %s' prints its report\n", id, id);
}

int verb_session_stop(Invocation *call)
{
        return each_session(call, ntprof_session_stop_sync, stopped);
}
