/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "np-dbus.h"
#include "ntprof-peer.h"

struct _NtprofPeer {
        GObject parent;
        NpDBusPeer *proxy;
        char *label;            /* "peer stor-a", for errors */
        GVariant **values;      /* by property, of the D-Bus object's properties */
        char ***lists;          /* the same of those that are lists */
        gboolean gone;
};

/* For NtprofPeers: a peer shown by a loaded proxy. */
NtprofPeer *np_peer_new(NpDBusPeer *proxy);

/* It was forgotten, or the service has left the bus. */
void np_peer_set_gone(NtprofPeer *self);

/* What Test() answered: a{sv}. What is missing is "" or 0. */
NtprofPeerAnswer *np_peer_answer_new(GVariant *facts);
