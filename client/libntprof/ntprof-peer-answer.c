/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "ntprof-peer-answer.h"

#include "peer-private.h"

struct _NtprofPeerAnswer {
        guint64 round_trip_usec;
        char *software, *machine;
        guint protocol;
        char **subsystems;
};

G_DEFINE_BOXED_TYPE(NtprofPeerAnswer, ntprof_peer_answer, ntprof_peer_answer_copy, ntprof_peer_answer_free)

NtprofPeerAnswer *np_peer_answer_new(GVariant *facts)
{
        NtprofPeerAnswer *self = g_new0(NtprofPeerAnswer, 1);

        g_variant_lookup(facts, "round-trip-usec", "t", &self->round_trip_usec);
        g_variant_lookup(facts, "software", "s", &self->software);
        g_variant_lookup(facts, "machine", "s", &self->machine);
        g_variant_lookup(facts, "protocol", "u", &self->protocol);
        g_variant_lookup(facts, "subsystems", "^as", &self->subsystems);
        if (!self->software)
                self->software = g_strdup("");
        if (!self->machine)
                self->machine = g_strdup("");
        if (!self->subsystems)
                self->subsystems = g_new0(char *, 1);
        return self;
}

/**
 * ntprof_peer_answer_copy:
 * @self: an answer
 *
 * Returns: (transfer full): a copy
 */
NtprofPeerAnswer *ntprof_peer_answer_copy(const NtprofPeerAnswer *self)
{
        NtprofPeerAnswer *copy = g_new(NtprofPeerAnswer, 1);

        g_return_val_if_fail(self, NULL);
        *copy = (NtprofPeerAnswer){
                .round_trip_usec = self->round_trip_usec,
                .software = g_strdup(self->software),
                .machine = g_strdup(self->machine),
                .protocol = self->protocol,
                .subsystems = g_strdupv(self->subsystems),
        };
        return copy;
}

/**
 * ntprof_peer_answer_free:
 * @self: (transfer full): an answer
 */
void ntprof_peer_answer_free(NtprofPeerAnswer *self)
{
        g_return_if_fail(self);
        g_free(self->software);
        g_free(self->machine);
        g_strfreev(self->subsystems);
        g_free(self);
}

/**
 * ntprof_peer_answer_get_round_trip_usec:
 * @self: an answer
 *
 * Returns: us from the question to the answer, over the link that was there then
 */
guint64 ntprof_peer_answer_get_round_trip_usec(const NtprofPeerAnswer *self)
{
        g_return_val_if_fail(self, 0);
        return self->round_trip_usec;
}

/**
 * ntprof_peer_answer_get_software:
 * @self: an answer
 *
 * Returns: what runs there, e.g. "ntprof 0.1.0"; the other machine's words
 */
const char *ntprof_peer_answer_get_software(const NtprofPeerAnswer *self)
{
        g_return_val_if_fail(self, NULL);
        return self->software;
}

/**
 * ntprof_peer_answer_get_machine:
 * @self: an answer
 *
 * Returns: what the other machine calls itself
 */
const char *ntprof_peer_answer_get_machine(const NtprofPeerAnswer *self)
{
        g_return_val_if_fail(self, NULL);
        return self->machine;
}

/**
 * ntprof_peer_answer_get_protocol:
 * @self: an answer
 *
 * Returns: version of the protocol that the two machines agreed on
 */
guint ntprof_peer_answer_get_protocol(const NtprofPeerAnswer *self)
{
        g_return_val_if_fail(self, 0);
        return self->protocol;
}

/**
 * ntprof_peer_answer_get_subsystems:
 * @self: an answer
 *
 * Returns: (transfer none) (array zero-terminated=1): NQNs of the subsystems it exports
 */
const char *const *ntprof_peer_answer_get_subsystems(const NtprofPeerAnswer *self)
{
        g_return_val_if_fail(self, NULL);
        return (const char *const *) self->subsystems;
}
