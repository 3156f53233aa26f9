/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "output.h"
#include "peer-json.h"
#include "render-peer.h"
#include "verbs.h"

int verb_peer_list(Invocation *call)
{
        gboolean json = FALSE;
        const GOptionEntry entries[] = {
                { "json", 0, 0, G_OPTION_ARG_NONE, &json, "Print a JSON document (org.ntprof.peers/1)", NULL },
                {},
        };

        int status = verb_parse(call, entries, NULL, 0, 0);
        if (status >= 0)
                return status;

        g_autoptr(NtprofPeers) peers = verb_connect_peers(call, &status);
        if (!peers)
                return status;

        g_autoptr(GPtrArray) all = ntprof_peers_list(peers);
        g_autofree char *text = json ? peers_to_json(all) : render_peers(all);
        output_write(text);
        return 0;
}
