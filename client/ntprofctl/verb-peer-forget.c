/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "output.h"
#include "peer-grant.h"
#include "verbs.h"

#define DESCRIPTION \
        "As root. The link ends, and recordings over it. The other machine is told when\n" \
        "it can be reached. What the peer may do here (/etc/ntprof/peers.d/PEER.conf) is\n" \
        "removed, so that no other machine comes into it under the same name."

static void tell(const char *name, gboolean told)
{
        output_printf("%s is forgotten.\n", name);
        if (!told)
                output_printf("It could not be told: on %s, run 'ntprofctl peer forget' for this machine, too.\n", name);
}

static gboolean forget(NtprofPeers *peers, const char *name, GError **error)
{
        g_autofree char *path = peer_grant_find(name);
        /* The other side may have forgotten this one: what it might do here is left, and keeps its NQN from others. */
        g_autoptr(NtprofPeer) peer = ntprof_peers_find(peers, name, path ? NULL : error);
        gboolean told = FALSE;

        if (!peer && !path)
                return FALSE;
        g_clear_pointer(&path, g_free);
        if (peer && !ntprof_peer_forget_sync(peer, &told, NULL, error))
                return FALSE;
        if (peer)
                tell(name, told);
        if (!peer_grant_remove(name, &path, error))
                return FALSE;
        if (path)
                output_printf("%s may have nothing recorded here any more (%s is removed).\n", name, path);
        return TRUE;
}

int verb_peer_forget(Invocation *call)
{
        int status = verb_parse(call, NULL, DESCRIPTION, 1, -1);
        if (status >= 0)
                return status;

        g_autoptr(NtprofPeers) peers = verb_connect_peers(call, &status);
        if (!peers)
                return status;

        status = 0;
        for (char **name = call->args; *name; name++) {
                g_autoptr(GError) error = NULL;

                if (forget(peers, *name, &error))
                        continue;
                int failure = verb_fail(call, error);
                if (status == 0)
                        status = failure;
        }
        return status;
}
