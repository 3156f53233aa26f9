/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the service tells about sessions, as JSON: members are named as the properties of org.ntprof1.Session. */
#pragma once

#include <ntprof.h>

/* {"schema": "org.ntprof.session/1", "id": "3", "namespace": "nvme6n1", ...}, ends with a newline. */
char *session_to_json(NtprofSession *session);

/* {"schema": "org.ntprof.sessions/1", "sessions": [...]} */
char *sessions_to_json(GPtrArray *sessions);
