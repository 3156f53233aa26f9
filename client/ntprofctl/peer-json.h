/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Paired machines, and this one, as JSON: org.ntprof.peer/1, peers/1, peer-answer/1, identity/1. */
#pragma once

#include <ntprof.h>

char *peer_to_json(NtprofPeer *peer);
char *peers_to_json(GPtrArray *peers);
char *peer_answer_to_json(NtprofPeer *peer, const NtprofPeerAnswer *answer);
char *identity_to_json(NtprofPeers *peers);
