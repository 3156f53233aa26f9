/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "output.h"
#include "peer-json.h"
#include "render-peer.h"
#include "verbs.h"

int verb_peer_show(Invocation *call)
{
        gboolean json = FALSE;
        const GOptionEntry entries[] = {
                { "json", 0, 0, G_OPTION_ARG_NONE, &json, "Print a JSON document (org.ntprof.peer/1)", NULL },
                {},
        };
        g_autoptr(GError) error = NULL;

        int status = verb_parse(call, entries, NULL, 1, 1);
        if (status >= 0)
                return status;

        g_autoptr(NtprofPeers) peers = verb_connect_peers(call, &status);
        if (!peers)
                return status;

        g_autoptr(NtprofPeer) peer = ntprof_peers_find(peers, call->args[0], &error);
        if (!peer)
                return verb_fail(call, error);
        g_autofree char *text = json ? peer_to_json(peer) : render_peer(peer);
        output_write(text);
        return 0;
}
