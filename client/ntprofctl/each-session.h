/* SPDX-License-Identifier: GPL-2.0-or-later */
/* For the verbs that do one thing to each session named. */
#pragma once

#include "verbs.h"

/* done: told of a session for which act succeeded; NULL: silence. Goes on after an error, and returns the first one's exit
 * status. */
int each_session(Invocation *call, gboolean (*act)(NtprofSession *, GCancellable *, GError **), void (*done)(NtprofSession *));
