/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "each-session.h"

int verb_session_cancel(Invocation *call)
{
        return each_session(call, ntprof_session_cancel_sync, NULL);
}
