/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Paired machines as text: a table of all, all about one, what one answered. */
#pragma once

#include <ntprof.h>

char *render_peers(GPtrArray *peers);
char *render_peer(NtprofPeer *peer);
char *render_peer_answer(NtprofPeer *peer, const NtprofPeerAnswer *answer);

/* "at most 1/16 of the commands, at most 1 h a recording"; NULL: there is none. */
char *peer_limits(const char *max_sample_rate, guint64 max_session_usec);

/* It said which host NQNs are its own, and nobody has confirmed any. */
gboolean peer_is_unconfirmed(NtprofPeer *peer);
