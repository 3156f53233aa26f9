/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "verbs.h"

int verb_peer_forget(Invocation *call)
{
        int status = verb_parse(call, NULL, "Recordings over the link end. The other machine is told when it can be reached.", 1, -1);
        if (status >= 0)
                return status;

        g_autoptr(NtprofPeers) peers = verb_connect_peers(call, &status);
        if (!peers)
                return status;

        status = 0;
        for (char **name = call->args; *name; name++) {
                g_autoptr(GError) error = NULL;
                g_autoptr(NtprofPeer) peer = ntprof_peers_find(peers, *name, &error);

                if (peer && ntprof_peer_forget_sync(peer, NULL, &error))
                        continue;
                int failure = verb_fail(call, error);
                if (status == 0)
                        status = failure;
        }
        return status;
}
