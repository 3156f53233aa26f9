/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "exit-status.h"
#include "output.h"
#include "verbs.h"

#define DESCRIPTION \
        "The new fingerprint is told to every peer over the link that the old key vouches\n" \
        "for. The exit status is 0 when all of them know it."

/* Whether the peer knows the new key. */
static gboolean tell(const char *name, const char *problem)
{
        g_autofree char *line = g_strdup_printf("%s: %s\n", name, *problem ? problem : "told"), *clean = output_sanitize(line);

        output_write(clean);
        return *problem == '\0';
}

int verb_peer_renew(Invocation *call)
{
        g_autoptr(GError) error = NULL;
        const char *name, *problem;
        gboolean all = TRUE;
        GVariantIter iter;

        int status = verb_parse(call, NULL, DESCRIPTION, 0, 0);
        if (status >= 0)
                return status;

        g_autoptr(NtprofPeers) peers = verb_connect_peers(call, &status);
        if (!peers)
                return status;
        g_autoptr(GVariant) outcome = ntprof_peers_renew_sync(peers, NULL, &error);
        if (!outcome)
                return verb_fail(call, error);

        output_write("This machine has a new key ('ntprofctl peer show-identity' shows its fingerprint).\n");
        g_variant_iter_init(&iter, outcome);
        while (g_variant_iter_next(&iter, "(&s&s)", &name, &problem))
                all &= tell(name, problem);
        return all ? 0 : EXIT_STATUS_FAILED;
}
