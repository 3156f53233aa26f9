/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "session-private.h"

static const struct {
        NtprofSessionState state;
        const char *name, *enum_name;
} states[] = {
        { NTPROF_SESSION_STATE_UNKNOWN,   "unknown",   "NTPROF_SESSION_STATE_UNKNOWN" },
        { NTPROF_SESSION_STATE_PREPARING, "preparing", "NTPROF_SESSION_STATE_PREPARING" },
        { NTPROF_SESSION_STATE_RECORDING, "recording", "NTPROF_SESSION_STATE_RECORDING" },
        { NTPROF_SESSION_STATE_JOINING,   "joining",   "NTPROF_SESSION_STATE_JOINING" },
        { NTPROF_SESSION_STATE_FINISHED,  "finished",  "NTPROF_SESSION_STATE_FINISHED" },
        { NTPROF_SESSION_STATE_FAILED,    "failed",    "NTPROF_SESSION_STATE_FAILED" },
};

GType ntprof_session_state_get_type(void)
{
        static GType type;
        static gsize once;

        if (g_once_init_enter(&once)) {
                static GEnumValue values[G_N_ELEMENTS(states) + 1];

                for (gsize i = 0; i < G_N_ELEMENTS(states); i++)
                        values[i] = (GEnumValue){ (int) states[i].state, states[i].enum_name, states[i].name };
                type = g_enum_register_static("NtprofSessionState", values);
                g_once_init_leave(&once, 1);
        }
        return type;
}

/**
 * ntprof_session_state_to_string:
 * @state: a state
 *
 * Returns: the state's name on the bus, e.g. "recording"
 */
const char *ntprof_session_state_to_string(NtprofSessionState state)
{
        for (gsize i = 0; i < G_N_ELEMENTS(states); i++)
                if (states[i].state == state)
                        return states[i].name;
        return "unknown";
}

NtprofSessionState np_session_state_from_string(const char *name)
{
        for (gsize i = 0; i < G_N_ELEMENTS(states); i++)
                if (g_str_equal(states[i].name, name))
                        return states[i].state;
        return NTPROF_SESSION_STATE_UNKNOWN;
}
