/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "each-session.h"

int verb_session_remove(Invocation *call)
{
        return each_session(call, ntprof_session_remove_sync, NULL);
}
