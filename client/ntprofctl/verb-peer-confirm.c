/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "output.h"
#include "peer-grant.h"
#include "render-peer.h"
#include "shared/peer-config.h"
#include "usage.h"
#include "verbs.h"

#define DESCRIPTION \
        "Run it on the target, as root: it writes /etc/ntprof/peers.d/PEER.conf. A host\n" \
        "claims its NQN when it joins; anybody could, so an administrator says whether it\n" \
        "is right (on the host: /etc/nvme/hostnqn). Without --host-nqn it shows what the\n" \
        "peer claims and asks. An NQN belongs to one peer only."

/* Whether a person at the terminal says yes. */
static gboolean ask(NtprofPeer *peer, GError **error)
{
        g_autoptr(GString) text = g_string_new(NULL);
        char answer[16] = "";

        if (!output_is_terminal(STDIN_FILENO)) {
                g_set_error(error, USAGE_ERROR, USAGE_ERROR_FAILED,
                            "nobody can be asked whether what %s claims is right: give --host-nqn NQN, or --yes",
                            ntprof_peer_get_name(peer));
                return FALSE;
        }
        g_string_append_printf(text, "%s (%s) claims the host NQN\n", ntprof_peer_get_name(peer),
                               ntprof_peer_get_fingerprint(peer));
        for (const char *const *nqn = ntprof_peer_get_claimed_host_nqns(peer); *nqn; nqn++)
                g_string_append_printf(text, "    %s\n", *nqn);
        g_string_append(text, "May it have the commands of that host recorded on this machine? [y/N] ");
        g_autofree char *clean = output_sanitize(text->str);
        output_note(clean);

        if (!fgets(answer, sizeof(answer), stdin) || !strchr("yY", answer[0]) || answer[0] == '\0') {
                g_set_error_literal(error, NTPROF_ERROR, NTPROF_ERROR_FAILED, "not confirmed; nothing is changed");
                return FALSE;
        }
        return TRUE;
}

/* The NQNs that the peer claims, when they are to be taken. */
static gboolean take_claimed(NtprofPeer *peer, gboolean yes, PeerGrant *grant, GError **error)
{
        const char *const *claimed = ntprof_peer_get_claimed_host_nqns(peer);
        const char *name = ntprof_peer_get_name(peer);

        if (!*claimed) {
                g_set_error(error, NTPROF_ERROR, NTPROF_ERROR_FAILED,
                            "%s claims no host NQN: give --host-nqn NQN (on that machine, /etc/nvme/hostnqn has it)", name);
                return FALSE;
        }
        grant->host_nqns = g_strdupv((char **) claimed);
        /* What can't be written needs no question. */
        return peer_grant_check(name, grant, error) && peer_grant_possible(name, grant, error) && (yes || ask(peer, error));
}

/* Of the file, so that those of before are told, too. */
static void tell_limits(const char *path)
{
        g_autoptr(NpPeerConfig) config = np_peer_config_load(path, NULL);

        if (!config || config->allow == NP_PEER_ALLOW_NONE)
                return;
        g_autofree char *rate = np_peer_config_sample_rate(config);
        g_autofree char *limits = peer_limits(rate, config->max_session_sec * G_USEC_PER_SEC);
        if (limits)
                output_printf("Limits: %s.\n", limits);
}

int verb_peer_confirm(Invocation *call)
{
        g_auto(PeerGrant) grant = PEER_GRANT_NONE;
        gboolean yes = FALSE;
        const GOptionEntry entries[] = {
                { "host-nqn", 0, 0, G_OPTION_ARG_STRING_ARRAY, &grant.host_nqns, "Whose commands it may have recorded", "NQN" },
                { "allow", 0, 0, G_OPTION_ARG_STRING, &grant.allow, "What it may do: observe or none", "WHAT" },
                { "max-sample-rate", 0, 0, G_OPTION_ARG_STRING, &grant.max_sample_rate, "At most so many: all or 1/N", "RATE" },
                { "max-session-sec", 0, 0, G_OPTION_ARG_INT64, &grant.max_session_sec, "At most so long; 0 is no limit", "N" },
                { "yes", 'y', 0, G_OPTION_ARG_NONE, &yes, "Take what it claims without asking", NULL },
                {},
        };
        g_autoptr(GError) error = NULL;

        int status = verb_parse(call, entries, DESCRIPTION, 1, 1);
        if (status >= 0)
                return status;
        const char *name = call->args[0];
        if (!peer_grant_check(name, &grant, &error))
                return verb_fail(call, error);

        g_autoptr(NtprofPeers) peers = verb_connect_peers(call, &status);
        if (!peers)
                return status;
        g_autoptr(NtprofPeer) peer = ntprof_peers_find(peers, name, &error);
        if (!peer || (!grant.host_nqns && !take_claimed(peer, yes, &grant, &error)))
                return verb_fail(call, error);

        g_autofree char *path = peer_grant_write(name, &grant, &error);
        if (!path)
                return verb_fail(call, error);
        g_autofree char *granted = peer_grant_describe(name, &grant, path);
        output_write(granted);
        tell_limits(path);
        return 0;
}
