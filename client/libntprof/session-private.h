/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "np-dbus.h"
#include "ntprof-session.h"

/* For NtprofClient: a session shown by a loaded proxy. */
NtprofSession *np_session_new(NpDBusSession *proxy);

/* The service has dropped the session, or left the bus. */
void np_session_set_gone(NtprofSession *self);

/* Takes over properties of the D-Bus object: a{sv}. */
void np_session_apply(NtprofSession *self, GVariant *changed);

NpDBusSession *np_session_get_proxy(NtprofSession *self);

/* "session 3", for errors. */
const char *np_session_get_label(NtprofSession *self);

NtprofSessionState np_session_state_from_string(const char *name);
