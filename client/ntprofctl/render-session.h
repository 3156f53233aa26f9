/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sessions for people, on stdout. */
#pragma once

#include <ntprof.h>

/* A table, a row each. */
char *render_sessions(GPtrArray *sessions);

/* All about one. */
char *render_session(NtprofSession *session);
