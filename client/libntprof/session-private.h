/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "np-dbus.h"
#include "ntprof-session.h"

struct _NtprofSession {
        GObject parent;
        NpDBusSession *proxy;
        char *label;            /* "session 3", for errors */
        GVariant **values;      /* by property, of the D-Bus object's properties */
        gboolean gone;
};

enum {
        NP_PROP_0,
        /* mirrored: a row each in mirrored[] */
        NP_PROP_ID,
        NP_PROP_NAMESPACE_NAME,
        NP_PROP_OWNER,
        NP_PROP_KEEP,
        NP_PROP_DETAIL,
        NP_PROP_STATE,
        NP_PROP_RESULT,
        NP_PROP_MESSAGE,
        NP_PROP_SAMPLE,
        NP_PROP_DURATION_USEC,
        NP_PROP_STARTED_USEC,
        NP_PROP_RECORDED_USEC,
        NP_PROP_COMMANDS,
        NP_PROP_SAMPLED,
        NP_PROP_JOINED,
        NP_PROP_LOST,
        NP_PROP_HAS_TARGET,
        NP_PROP_HOOKS,
        NP_PROP_HOLDS,
        NP_PROP_TARGETS,
        NP_N_MIRRORED,
        /* the library's own */
        NP_PROP_OBJECT_PATH = NP_N_MIRRORED,
        NP_PROP_GONE,
        NP_N_PROPERTIES,
};

/* For NtprofClient: a session shown by a loaded proxy. */
NtprofSession *np_session_new(NpDBusSession *proxy);

/* The service has dropped the session, or left the bus. */
void np_session_set_gone(NtprofSession *self);

/* Takes over properties of the D-Bus object: a{sv}. */
void np_session_apply(NtprofSession *self, GVariant *changed);

NtprofSessionState np_session_state_from_string(const char *name);

/* "", 0 or FALSE while the service has not told. */
const char *np_session_get_string(NtprofSession *self, int property);
guint64 np_session_get_uint64(NtprofSession *self, int property);
gboolean np_session_get_boolean(NtprofSession *self, int property);
