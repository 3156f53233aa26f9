/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "local-namespaces.h"
#include "output.h"
#include "verbs.h"

#define DESCRIPTION \
        "Run it on the host, as root. LINE is what 'ntprofctl peer invite' printed on the\n" \
        "target. The target's fingerprint is compared with the line's before anything is\n" \
        "told; then each machine knows the other by its fingerprint."

/* "nvme6n1 and nvme7n1 are", at most so many names. */
#define NAMES_MAX 4

static void tell_namespaces(GString *text, char **names)
{
        const guint n = g_strv_length(names);

        for (guint i = 0; i < MIN(n, NAMES_MAX); i++)
                g_string_append_printf(text, "%s%s", i == 0 ? "" : i + 1 == n ? " and " : ", ", names[i]);
        if (n > NAMES_MAX)
                g_string_append_printf(text, " and %u more", n - NAMES_MAX);
}

static void tell_exports(GString *text, const char *const *subsystems)
{
        const guint n = g_strv_length((char **) subsystems);
        g_auto(GStrv) names = local_namespaces("/sys", subsystems);

        if (n == 0) {
                g_string_append(text, " It exports no subsystem.");
                return;
        }
        g_string_append_printf(text, " It exports %u subsystem%s", n, n == 1 ? "" : "s");
        if (names[0]) {
                g_string_append(text, "; ");
                tell_namespaces(text, names);
                g_string_append(text, names[1] ? " are of them." : n == 1 ? " is of it." : " is one of them.");
        } else
                g_string_append(text, ", and this machine uses none of them.");
}

/* As it can be pasted there. */
static void tell_confirm(const char *target, const char *name_there)
{
        const gboolean known = name_there && *name_there;
        g_autofree char *clean = output_sanitize(known ? name_there : "NAME");

        output_printf("Not confirmed yet: on %s, run 'ntprofctl peer confirm %s' (as root%s).\n"
                      "Until then nothing is recorded there.\n",
                      target, clean, known ? "" : "; 'ntprofctl peer list' there has the NAME");
}

static void tell(NtprofPeer *peer, gboolean confirmed, const char *name_there)
{
        const char *const *subsystems = ntprof_peer_get_subsystems(peer);
        g_autoptr(NtprofPeerAnswer) answer = NULL;
        g_autoptr(GString) text = g_string_new(NULL);
        g_autoptr(GError) error = NULL;
        g_autofree char *name = output_sanitize(ntprof_peer_get_name(peer));

        /* What it exports may be told later than that it is there. */
        if (!*subsystems)
                answer = ntprof_peer_test_sync(peer, NULL, &error);
        g_string_append_printf(text, "Paired with %s.", name);
        if (*subsystems || answer)
                tell_exports(text, answer ? ntprof_peer_answer_get_subsystems(answer) : subsystems);
        output_printf("%s\n", text->str);

        if (error)
                output_error("paired, but %s", error->message);
        if (!confirmed)
                tell_confirm(name, name_there);
}

int verb_peer_join(Invocation *call)
{
        g_autofree char *name = NULL, *name_there = NULL;
        const GOptionEntry entries[] = {
                { "name", 0, 0, G_OPTION_ARG_STRING, &name, "What the other machine will be called here", "NAME" },
                {},
        };
        g_autoptr(GError) error = NULL;
        g_auto(GVariantDict) dict;
        gboolean confirmed = FALSE;

        g_variant_dict_init(&dict, NULL);
        int status = verb_parse(call, entries, DESCRIPTION, 1, 1);
        if (status >= 0)
                return status;
        if (name)
                g_variant_dict_insert(&dict, "name", "s", name);

        g_autoptr(NtprofPeers) peers = verb_connect_peers(call, &status);
        if (!peers)
                return status;
        g_autoptr(NtprofPeer) peer =
                ntprof_peers_join_sync(peers, call->args[0], g_variant_dict_end(&dict), &confirmed, &name_there, NULL, &error);
        if (!peer)
                return verb_fail(call, error);
        tell(peer, confirmed, name_there);
        return 0;
}
