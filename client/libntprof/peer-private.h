/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "np-dbus.h"
#include "ntprof-peer.h"

/* For NtprofPeers: a peer shown by a loaded proxy. */
NtprofPeer *np_peer_new(NpDBusPeer *proxy);

/* It was forgotten, or the service has left the bus. */
void np_peer_set_gone(NtprofPeer *self);

/* What Test() answered: a{sv}. What is missing is "" or 0. */
NtprofPeerAnswer *np_peer_answer_new(GVariant *facts);
