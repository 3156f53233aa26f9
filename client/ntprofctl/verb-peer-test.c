/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "output.h"
#include "peer-json.h"
#include "render-peer.h"
#include "verbs.h"

int verb_peer_test(Invocation *call)
{
        gboolean json = FALSE;
        const GOptionEntry entries[] = {
                { "json", 0, 0, G_OPTION_ARG_NONE, &json, "Print a JSON document (org.ntprof.peer-answer/1)", NULL },
                {},
        };
        g_autoptr(GError) error = NULL;

        int status = verb_parse(call, entries,
                                "Connects when there is no link yet. The exit status is 0 when the peer answers.", 1, 1);
        if (status >= 0)
                return status;

        g_autoptr(NtprofPeers) peers = verb_connect_peers(call, &status);
        if (!peers)
                return status;

        g_autoptr(NtprofPeer) peer = ntprof_peers_find(peers, call->args[0], &error);
        g_autoptr(NtprofPeerAnswer) answer = peer ? ntprof_peer_test_sync(peer, NULL, &error) : NULL;
        if (!answer)
                return verb_fail(call, error);
        g_autofree char *text = json ? peer_answer_to_json(peer, answer) : render_peer_answer(peer, answer);
        output_write(text);
        return 0;
}
