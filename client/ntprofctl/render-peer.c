/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "render-peer.h"

#include <unistd.h>

#include "duration.h"
#include "output.h"
#include "table.h"
#include "when.h"

gboolean peer_is_unconfirmed(NtprofPeer *peer)
{
        return ntprof_peer_get_claimed_host_nqns(peer)[0] && !ntprof_peer_get_host_nqns(peer)[0];
}

char *peer_limits(const char *max_sample_rate, guint64 max_session_usec)
{
        g_autoptr(GStrvBuilder) parts = g_strv_builder_new();

        if (*max_sample_rate && !g_str_equal(max_sample_rate, "all")) {
                g_autofree char *rate = g_strdup_printf("at most %s of the commands", max_sample_rate);
                g_strv_builder_add(parts, rate);
        }
        if (max_session_usec > 0) {
                g_autofree char *span = duration_format(max_session_usec);
                g_autofree char *session = g_strdup_printf("at most %s a recording", span);
                g_strv_builder_add(parts, session);
        }
        g_auto(GStrv) all = g_strv_builder_end(parts);
        return all[0] ? g_strjoinv(", ", all) : NULL;
}

static const char *link_state(NtprofPeer *peer)
{
        if (ntprof_peer_get_streams(peer) > 0)
                return "recording";
        return ntprof_peer_get_connected(peer) ? "connected" : "-";
}

enum { COLUMN_NAME, COLUMN_ADDRESS, COLUMN_LINK, COLUMN_SEEN, COLUMN_ALLOW, COLUMN_SUBSYSTEMS };

static const TableColumn columns[] = {
        [COLUMN_NAME] = { "NAME", FALSE },
        [COLUMN_ADDRESS] = { "ADDRESS", FALSE },
        [COLUMN_LINK] = { "LINK", FALSE },
        [COLUMN_SEEN] = { "SEEN", FALSE },
        [COLUMN_ALLOW] = { "ALLOW", FALSE },
        [COLUMN_SUBSYSTEMS] = { "SUBSYSTEMS", TRUE },
};

char *render_peers(GPtrArray *peers)
{
        if (peers->len == 0)
                return g_strdup("No peers. 'ntprofctl peer invite' on the target and 'ntprofctl peer join' on the host pair them.\n");

        struct libscols_table *table = table_new(columns, G_N_ELEMENTS(columns));
        for (guint i = 0; i < peers->len; i++) {
                NtprofPeer *peer = peers->pdata[i];
                struct libscols_line *line = table_add_line(table);
                const char *address = ntprof_peer_get_address(peer);
                const gboolean unconfirmed = peer_is_unconfirmed(peer);

                table_set(line, COLUMN_NAME, g_strdup(ntprof_peer_get_name(peer)));
                table_set(line, COLUMN_ADDRESS, g_strdup(*address ? address : "-"));
                table_set(line, COLUMN_LINK, g_strdup(link_state(peer)));
                table_set(line, COLUMN_SEEN, when_short(ntprof_peer_get_last_seen_usec(peer)));
                table_set(line, COLUMN_ALLOW, g_strdup(unconfirmed ? "unconfirmed" : ntprof_peer_get_allow(peer)));
                table_set(line, COLUMN_SUBSYSTEMS,
                          g_strdup_printf("%u", g_strv_length((char **) ntprof_peer_get_subsystems(peer))));
                if (ntprof_peer_get_connected(peer))
                        table_color(line, COLUMN_LINK, STYLE_GOOD);
                if (unconfirmed)
                        table_color(line, COLUMN_ALLOW, STYLE_BAD);
        }
        return table_free_to_text(table);
}

static void add_list(GString *text, const char *name, const char *const *values)
{
        if (!*values)
                output_row(text, name, "none");
        for (; *values; values++, name = "")
                output_row(text, name, "%s", *values);
}

char *render_peer(NtprofPeer *peer)
{
        GString *text = g_string_new(NULL);
        const char *address = ntprof_peer_get_address(peer), *fingerprint = ntprof_peer_get_fingerprint(peer);
        const char *const *claimed = ntprof_peer_get_claimed_host_nqns(peer);
        const guint streams = ntprof_peer_get_streams(peer);
        const guint64 seen = ntprof_peer_get_last_seen_usec(peer);
        g_autofree char *name = output_sanitize(ntprof_peer_get_name(peer));
        g_autofree char *limits = peer_limits(ntprof_peer_get_max_sample_rate(peer), ntprof_peer_get_max_session_usec(peer));

        g_string_append_printf(text, "%speer %s%s\n", output_style(STDOUT_FILENO, STYLE_BOLD), name,
                               output_style(STDOUT_FILENO, STYLE_NONE));
        output_row(text, "fingerprint", "%s", *fingerprint ? fingerprint : "none: it has not joined yet");
        output_row(text, "address", "%s", *address ? address : "none: only it connects");
        output_row(text, "known", "%s", ntprof_peer_get_origin(peer));
        if (streams)
                output_row(text, "link", "connected, %u recording%s", streams, streams == 1 ? "" : "s");
        else
                output_row(text, "link", "%s", ntprof_peer_get_connected(peer) ? "connected" : "none now (made when needed)");
        if (seen) {
                g_autofree char *when = when_long(seen);
                output_row(text, "seen", "%s", when);
        } else
                output_row(text, "seen", "never");
        output_row(text, "allow", "%s", ntprof_peer_get_allow(peer));
        if (limits)
                output_row(text, "limits", "%s", limits);
        add_list(text, "host NQNs", ntprof_peer_get_host_nqns(peer));
        if (*claimed)
                add_list(text, "claims", claimed);
        add_list(text, "exports", ntprof_peer_get_subsystems(peer));
        if (peer_is_unconfirmed(peer))
                g_string_append_printf(
                        text, "'ntprofctl peer confirm %s' lets it have commands of the NQNs that it claims recorded here\n",
                        name);
        return g_string_free(text, FALSE);
}

char *render_peer_answer(NtprofPeer *peer, const NtprofPeerAnswer *answer)
{
        GString *text = g_string_new(NULL);
        g_autofree char *name = output_sanitize(ntprof_peer_get_name(peer));

        g_string_append_printf(text, "%s answers in %.2f ms\n", name,
                               (double) ntprof_peer_answer_get_round_trip_usec(answer) / 1000.0);
        output_row(text, "machine", "%s", ntprof_peer_answer_get_machine(answer));
        output_row(text, "software", "%s", ntprof_peer_answer_get_software(answer));
        output_row(text, "protocol", "%u", ntprof_peer_answer_get_protocol(answer));
        add_list(text, "exports", ntprof_peer_answer_get_subsystems(answer));
        return g_string_free(text, FALSE);
}
