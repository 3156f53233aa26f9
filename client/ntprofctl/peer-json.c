/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "peer-json.h"

#include "json-add.h"

static void add_peer(JsonBuilder *builder, NtprofPeer *peer)
{
        json_add_string(builder, "name", ntprof_peer_get_name(peer));
        json_add_string(builder, "fingerprint", ntprof_peer_get_fingerprint(peer));
        json_add_string(builder, "address", ntprof_peer_get_address(peer));
        json_add_string(builder, "origin", ntprof_peer_get_origin(peer));
        json_add_strings(builder, "claimed_host_nqns", ntprof_peer_get_claimed_host_nqns(peer));
        json_add_strings(builder, "host_nqns", ntprof_peer_get_host_nqns(peer));
        json_add_string(builder, "allow", ntprof_peer_get_allow(peer));
        json_add_string(builder, "max_sample_rate", ntprof_peer_get_max_sample_rate(peer));
        json_add_number(builder, "max_session_usec", ntprof_peer_get_max_session_usec(peer));
        json_add_strings(builder, "subsystems", ntprof_peer_get_subsystems(peer));
        json_add_boolean(builder, "connected", ntprof_peer_get_connected(peer));
        json_add_number(builder, "streams", ntprof_peer_get_streams(peer));
        json_add_number(builder, "last_seen_usec", ntprof_peer_get_last_seen_usec(peer));
}

char *peer_to_json(NtprofPeer *peer)
{
        g_autoptr(JsonBuilder) builder = json_add_document("org.ntprof.peer/1");

        add_peer(builder, peer);
        return json_add_end(builder);
}

char *peers_to_json(GPtrArray *peers)
{
        g_autoptr(JsonBuilder) builder = json_add_document("org.ntprof.peers/1");

        json_builder_set_member_name(builder, "peers");
        json_builder_begin_array(builder);
        for (guint i = 0; i < peers->len; i++) {
                json_builder_begin_object(builder);
                add_peer(builder, peers->pdata[i]);
                json_builder_end_object(builder);
        }
        json_builder_end_array(builder);
        return json_add_end(builder);
}

char *peer_answer_to_json(NtprofPeer *peer, const NtprofPeerAnswer *answer)
{
        g_autoptr(JsonBuilder) builder = json_add_document("org.ntprof.peer-answer/1");

        json_add_string(builder, "name", ntprof_peer_get_name(peer));
        json_add_number(builder, "round_trip_usec", ntprof_peer_answer_get_round_trip_usec(answer));
        json_add_string(builder, "machine", ntprof_peer_answer_get_machine(answer));
        json_add_string(builder, "software", ntprof_peer_answer_get_software(answer));
        json_add_number(builder, "protocol", ntprof_peer_answer_get_protocol(answer));
        json_add_strings(builder, "subsystems", ntprof_peer_answer_get_subsystems(answer));
        return json_add_end(builder);
}

char *identity_to_json(NtprofPeers *peers)
{
        g_autoptr(JsonBuilder) builder = json_add_document("org.ntprof.identity/1");

        json_add_string(builder, "fingerprint", ntprof_peers_get_fingerprint(peers));
        json_add_string(builder, "certificate", ntprof_peers_get_certificate(peers));
        json_add_strings(builder, "listening", ntprof_peers_get_listening(peers));
        return json_add_end(builder);
}
