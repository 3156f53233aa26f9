/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "session-private.h"

const char *np_session_get_string(NtprofSession *self, int property)
{
        return self->values[property] ? g_variant_get_string(self->values[property], NULL) : "";
}

guint64 np_session_get_uint64(NtprofSession *self, int property)
{
        return self->values[property] ? g_variant_get_uint64(self->values[property]) : 0;
}

gboolean np_session_get_boolean(NtprofSession *self, int property)
{
        return self->values[property] && g_variant_get_boolean(self->values[property]);
}

/**
 * ntprof_session_get_object_path: (get-property object-path)
 * @self: a session
 *
 * Returns: the session's path on the bus
 */
const char *ntprof_session_get_object_path(NtprofSession *self)
{
        g_return_val_if_fail(NTPROF_IS_SESSION(self), NULL);
        return g_dbus_proxy_get_object_path(G_DBUS_PROXY(self->proxy));
}

/**
 * ntprof_session_get_id: (get-property id)
 * @self: a session
 *
 * Returns: a number, as a string, that the service does not use again
 */
const char *ntprof_session_get_id(NtprofSession *self)
{
        g_return_val_if_fail(NTPROF_IS_SESSION(self), NULL);
        return np_session_get_string(self, NP_PROP_ID);
}

/**
 * ntprof_session_get_namespace_name: (get-property namespace-name)
 * @self: a session
 *
 * Returns: e.g. "nvme6n1"
 */
const char *ntprof_session_get_namespace_name(NtprofSession *self)
{
        g_return_val_if_fail(NTPROF_IS_SESSION(self), NULL);
        return np_session_get_string(self, NP_PROP_NAMESPACE_NAME);
}

/**
 * ntprof_session_get_owner: (get-property owner)
 * @self: a session
 *
 * Returns: uid of who started it
 */
guint ntprof_session_get_owner(NtprofSession *self)
{
        g_return_val_if_fail(NTPROF_IS_SESSION(self), 0);
        return self->values[NP_PROP_OWNER] ? g_variant_get_uint32(self->values[NP_PROP_OWNER]) : 0;
}

/**
 * ntprof_session_get_keep: (get-property keep)
 * @self: a session
 *
 * Returns: whether it outlives the bus connection of who started it
 */
gboolean ntprof_session_get_keep(NtprofSession *self)
{
        g_return_val_if_fail(NTPROF_IS_SESSION(self), FALSE);
        return np_session_get_boolean(self, NP_PROP_KEEP);
}

/**
 * ntprof_session_get_detail: (get-property detail)
 * @self: a session
 *
 * Returns: whether it records what only the components of the stages need, too
 */
gboolean ntprof_session_get_detail(NtprofSession *self)
{
        g_return_val_if_fail(NTPROF_IS_SESSION(self), FALSE);
        return np_session_get_boolean(self, NP_PROP_DETAIL);
}

/**
 * ntprof_session_get_state: (get-property state)
 * @self: a session
 *
 * Returns: where it is in its life
 */
NtprofSessionState ntprof_session_get_state(NtprofSession *self)
{
        g_return_val_if_fail(NTPROF_IS_SESSION(self), NTPROF_SESSION_STATE_UNKNOWN);
        return np_session_state_from_string(np_session_get_string(self, NP_PROP_STATE));
}

/**
 * ntprof_session_get_result: (get-property result)
 * @self: a session
 *
 * Returns: "" until the session has ended, then "done", "cancelled" or the name of an error (see [func@error_from_name])
 */
const char *ntprof_session_get_result(NtprofSession *self)
{
        g_return_val_if_fail(NTPROF_IS_SESSION(self), NULL);
        return np_session_get_string(self, NP_PROP_RESULT);
}

/**
 * ntprof_session_get_message: (get-property message)
 * @self: a session
 *
 * Returns: for a person, when the result is an error: what failed, on what, why, what to do
 */
const char *ntprof_session_get_message(NtprofSession *self)
{
        g_return_val_if_fail(NTPROF_IS_SESSION(self), NULL);
        return np_session_get_string(self, NP_PROP_MESSAGE);
}

/**
 * ntprof_session_get_sample: (get-property sample)
 * @self: a session
 *
 * Returns: "auto", "all" or "1/N", as asked for
 */
const char *ntprof_session_get_sample(NtprofSession *self)
{
        g_return_val_if_fail(NTPROF_IS_SESSION(self), NULL);
        return np_session_get_string(self, NP_PROP_SAMPLE);
}

/**
 * ntprof_session_get_duration_usec: (get-property duration-usec)
 * @self: a session
 *
 * Returns: us to record, as asked for; 0: until it is stopped
 */
guint64 ntprof_session_get_duration_usec(NtprofSession *self)
{
        g_return_val_if_fail(NTPROF_IS_SESSION(self), 0);
        return np_session_get_uint64(self, NP_PROP_DURATION_USEC);
}

/**
 * ntprof_session_get_started_usec: (get-property started-usec)
 * @self: a session
 *
 * Returns: CLOCK_REALTIME in us when the recording started, 0 before
 */
guint64 ntprof_session_get_started_usec(NtprofSession *self)
{
        g_return_val_if_fail(NTPROF_IS_SESSION(self), 0);
        return np_session_get_uint64(self, NP_PROP_STARTED_USEC);
}

/**
 * ntprof_session_get_recorded_usec: (get-property recorded-usec)
 * @self: a session
 *
 * Returns: us it has recorded
 */
guint64 ntprof_session_get_recorded_usec(NtprofSession *self)
{
        g_return_val_if_fail(NTPROF_IS_SESSION(self), 0);
        return np_session_get_uint64(self, NP_PROP_RECORDED_USEC);
}

/**
 * ntprof_session_get_commands: (get-property commands)
 * @self: a session
 *
 * Returns: commands of the namespace while it recorded, sampled or not
 */
guint64 ntprof_session_get_commands(NtprofSession *self)
{
        g_return_val_if_fail(NTPROF_IS_SESSION(self), 0);
        return np_session_get_uint64(self, NP_PROP_COMMANDS);
}

/**
 * ntprof_session_get_sampled: (get-property sampled)
 * @self: a session
 *
 * Returns: commands chosen by the sampling hash
 */
guint64 ntprof_session_get_sampled(NtprofSession *self)
{
        g_return_val_if_fail(NTPROF_IS_SESSION(self), 0);
        return np_session_get_uint64(self, NP_PROP_SAMPLED);
}

/**
 * ntprof_session_get_joined: (get-property joined)
 * @self: a session
 *
 * Returns: sampled commands with both sides' records
 */
guint64 ntprof_session_get_joined(NtprofSession *self)
{
        g_return_val_if_fail(NTPROF_IS_SESSION(self), 0);
        return np_session_get_uint64(self, NP_PROP_JOINED);
}

/**
 * ntprof_session_get_lost: (get-property lost)
 * @self: a session
 *
 * Returns: (transfer none) (nullable): a{st}, number of commands by cause (key as in "losses" of the report), only causes
 *   that occurred
 */
GVariant *ntprof_session_get_lost(NtprofSession *self)
{
        g_return_val_if_fail(NTPROF_IS_SESSION(self), NULL);
        return self->values[NP_PROP_LOST];
}

/**
 * ntprof_session_get_lost_total:
 * @self: a session
 *
 * Returns: the sum of [property@Session:lost] over all causes
 */
guint64 ntprof_session_get_lost_total(NtprofSession *self)
{
        guint64 count, total = 0;
        GVariantIter iter;

        g_return_val_if_fail(NTPROF_IS_SESSION(self), 0);
        if (!self->values[NP_PROP_LOST])
                return 0;
        g_variant_iter_init(&iter, self->values[NP_PROP_LOST]);
        while (g_variant_iter_next(&iter, "{&st}", NULL, &count))
                total += count;
        return total;
}

/**
 * ntprof_session_get_has_target: (get-property has-target)
 * @self: a session
 *
 * Returns: whether the target's side is recorded too
 */
gboolean ntprof_session_get_has_target(NtprofSession *self)
{
        g_return_val_if_fail(NTPROF_IS_SESSION(self), FALSE);
        return np_session_get_boolean(self, NP_PROP_HAS_TARGET);
}

/**
 * ntprof_session_get_hooks: (get-property hooks)
 * @self: a session
 *
 * Returns: (transfer none) (nullable): a(sss), boundary, mechanism and symbol of what is attached
 */
GVariant *ntprof_session_get_hooks(NtprofSession *self)
{
        g_return_val_if_fail(NTPROF_IS_SESSION(self), NULL);
        return self->values[NP_PROP_HOOKS];
}

/**
 * ntprof_session_get_holds: (get-property holds)
 * @self: a session
 *
 * Returns: (transfer none) (nullable): as, kernel modules of this machine that cannot be unloaded because of what is attached;
 *   none before anything is, and when the session has ended. %NULL when the service does not tell
 */
GVariant *ntprof_session_get_holds(NtprofSession *self)
{
        g_return_val_if_fail(NTPROF_IS_SESSION(self), NULL);
        return self->values[NP_PROP_HOLDS];
}

/**
 * ntprof_session_get_targets: (get-property targets)
 * @self: a session
 *
 * Returns: (transfer none) (nullable): a(sss), of each machine that records the target's side, or was to: the peer's name
 *   ("" for this machine itself); "connecting", "recording" or "ended"; and, when it ended before the session did, why.
 *   %NULL when the service does not tell
 */
GVariant *ntprof_session_get_targets(NtprofSession *self)
{
        g_return_val_if_fail(NTPROF_IS_SESSION(self), NULL);
        return self->values[NP_PROP_TARGETS];
}

/**
 * ntprof_session_get_gone: (get-property gone)
 * @self: a session
 *
 * Returns: whether the session no longer exists: it was removed, or the service or the bus went away
 */
gboolean ntprof_session_get_gone(NtprofSession *self)
{
        g_return_val_if_fail(NTPROF_IS_SESSION(self), FALSE);
        return self->gone;
}

/**
 * ntprof_session_has_ended:
 * @self: a session
 *
 * Returns: whether the session is finished or has failed
 */
gboolean ntprof_session_has_ended(NtprofSession *self)
{
        NtprofSessionState state = ntprof_session_get_state(self);

        return state == NTPROF_SESSION_STATE_FINISHED || state == NTPROF_SESSION_STATE_FAILED;
}
