/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <string.h>

#include "output.h"
#include "peer-json.h"
#include "shared/peer-config.h"
#include "usage.h"
#include "verbs.h"

#define DESCRIPTION \
        "With --conf, a file that makes another machine trust this one without an\n" \
        "invitation: as /etc/ntprof/peers.d/NAME.conf there, by configuration management.\n" \
        "Both machines need the other's."

static char *render(NtprofPeers *peers)
{
        GString *text = g_string_new("this machine\n");
        const char *const *listening = ntprof_peers_get_listening(peers);
        const char *name = "listening";

        output_row(text, "fingerprint", "%s", ntprof_peers_get_fingerprint(peers));
        if (!listening || !*listening)
                output_row(text, name, "no: 'systemctl enable --now ntprof-peerd.socket' lets others connect");
        for (; listening && *listening; listening++, name = "")
                output_row(text, name, "%s", *listening);
        return g_string_free(text, FALSE);
}

/* An address that others can connect to: as it listens, or by its name when it listens everywhere. */
static char *reachable(const char *listening)
{
        const char *port = strrchr(listening, ':');

        if (!g_str_has_prefix(listening, "[::]:") && !g_str_has_prefix(listening, "0.0.0.0:"))
                return g_strdup(listening);
        return g_strconcat(g_get_host_name(), port, NULL);
}

static char *render_conf(NtprofPeers *peers)
{
        const char *const *listening = ntprof_peers_get_listening(peers);
        g_autofree char *nqn = NULL;
        GString *text = g_string_new("[Peer]\n");

        g_string_append_printf(text, "Fingerprint=%s\n", ntprof_peers_get_fingerprint(peers));
        if (listening && *listening) {
                g_autofree char *address = reachable(*listening);
                g_string_append_printf(text, "Address=%s\n", address);
        }
        if (g_file_get_contents("/etc/nvme/hostnqn", &nqn, NULL, NULL) && np_nqn_valid(g_strstrip(nqn)))
                g_string_append_printf(text,
                                       "# Where it is a host, and may have its own commands recorded:\n"
                                       "#HostNQN=%s\n",
                                       nqn);
        return g_string_free(text, FALSE);
}

int verb_peer_show_identity(Invocation *call)
{
        gboolean json = FALSE, conf = FALSE;
        const GOptionEntry entries[] = {
                { "json", 0, 0, G_OPTION_ARG_NONE, &json, "Print a JSON document (org.ntprof.identity/1)", NULL },
                { "conf", 0, 0, G_OPTION_ARG_NONE, &conf, "Print a file for other machines' peers.d", NULL },
                {},
        };
        g_autoptr(GError) error = NULL;

        int status = verb_parse(call, entries, DESCRIPTION, 0, 0);
        if (status >= 0)
                return status;
        if (json && conf) {
                error = g_error_new_literal(USAGE_ERROR, USAGE_ERROR_FAILED, "--json or --conf, not both");
                return verb_fail(call, error);
        }

        g_autoptr(NtprofPeers) peers = verb_connect_peers(call, &status);
        if (!peers)
                return status;
        g_autofree char *text = json ? identity_to_json(peers) : conf ? render_conf(peers) : render(peers);
        output_write(text);
        return 0;
}
