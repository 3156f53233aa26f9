/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib-object.h>

G_BEGIN_DECLS

#define NTPROF_TYPE_PEER_ANSWER (ntprof_peer_answer_get_type())

/**
 * NtprofPeerAnswer:
 *
 * What another machine answered when it was asked, see [method@Peer.test].
 */
typedef struct _NtprofPeerAnswer NtprofPeerAnswer;

GType ntprof_peer_answer_get_type(void) G_GNUC_CONST;
NtprofPeerAnswer *ntprof_peer_answer_copy(const NtprofPeerAnswer *self);
void ntprof_peer_answer_free(NtprofPeerAnswer *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(NtprofPeerAnswer, ntprof_peer_answer_free)

guint64 ntprof_peer_answer_get_round_trip_usec(const NtprofPeerAnswer *self);
const char *ntprof_peer_answer_get_software(const NtprofPeerAnswer *self);
const char *ntprof_peer_answer_get_machine(const NtprofPeerAnswer *self);
guint ntprof_peer_answer_get_protocol(const NtprofPeerAnswer *self);
const char *const *ntprof_peer_answer_get_subsystems(const NtprofPeerAnswer *self);

G_END_DECLS
