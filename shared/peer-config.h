/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What this machine's administrator, or a pairing, says of another machine: one key file a peer, NAME.conf. ntprofd reads
 * those of /etc/ntprof/peers.d (what a peer may have), ntprof-peerd these and its own (whom to trust), ntprofctl writes them.
 *
 *     [Peer]
 *     Fingerprint=sha256-...           of its certificate; may be absent in /etc when pairing has pinned one
 *     Address=10.0.0.2:4425            to connect to; absent: only it connects
 *     HostNQN=nqn.2014-08....          whose commands it may have recorded here; more than one separated by blanks
 *     Allow=observe                    or none; default: observe when there is a HostNQN, else none
 *     MaxSampleRate=1/16               or all, the default
 *     MaxSessionSec=3600               default: 0, no limit
 *     ClaimedHostNQN=, LastSeen=, Subsystems=      by ntprof-peerd in its own folder only: nothing is granted by them
 */
#pragma once

#include <gio/gio.h>

G_BEGIN_DECLS

#define NP_PEERS_ETC "/etc/ntprof/peers.d"
#define NP_PEER_PORT 4425
#define NP_PEER_NAME_MAX 63

typedef enum {
        NP_PEER_ALLOW_NONE,
        NP_PEER_ALLOW_OBSERVE,
} NpPeerAllow;

typedef struct {
        char *name;                     /* of the file, without .conf */
        char *path;
        char *fingerprint;              /* np_fingerprint_valid(), or NULL */
        char *address;                  /* np_address_parse() takes it, or NULL */
        char **host_nqns;               /* never NULL */
        NpPeerAllow allow;
        guint32 max_threshold;          /* of sampling: G_MAXUINT32 = all */
        guint64 max_session_sec;        /* 0: no limit */
        char **claimed_host_nqns, **subsystems;         /* never NULL */
        gint64 last_seen_usec;          /* CLOCK_REALTIME, 0: never */
} NpPeerConfig;

/* Allows nothing, whatever host_nqns will be: who grants says NP_PEER_ALLOW_OBSERVE. */
NpPeerConfig *np_peer_config_new(const char *name);
void np_peer_config_free(NpPeerConfig *config);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(NpPeerConfig, np_peer_config_free)

/* An unknown key or a bad value is an error that names file, key and value, and what it must be. */
NpPeerConfig *np_peer_config_load(const char *path, GError **error);
/* One key as a line KEY=VALUE of a file would set it; the error names the value, and what it must be. */
gboolean np_peer_config_set(NpPeerConfig *config, const char *key, const char *value, GError **error);
/* "all" or "1/N": of max_threshold. */
char *np_peer_config_sample_rate(const NpPeerConfig *config);
/* Atomic, mode 0644; creates the folder (0755). Only what is set is written, and nothing that could not be read again. */
gboolean np_peer_config_save(const NpPeerConfig *config, const char *folder, GError **error);

/* All *.conf of a folder, by name; one that cannot be used is left out and told by problem() (it may be NULL). A folder that
 * is not there has none. trusted_uids: who may own folder and files, ended by (uid_t) -1, and nobody else may be able to
 * write them; NULL: not checked. */
typedef void (*NpPeerProblem)(const GError *error, gpointer data);
GPtrArray *np_peer_configs_load(const char *folder, const uid_t *trusted_uids, NpPeerProblem problem, gpointer data);

/* Letters, digits, '-', '_' and '.', not first '.' or '-', at most NP_PEER_NAME_MAX bytes. */
gboolean np_peer_name_valid(const char *name);
/* "sha256-" and 64 lower-case hex digits. */
gboolean np_fingerprint_valid(const char *text);
/* SHA-256 of a certificate's DER. */
char *np_fingerprint_of_der(gconstpointer der, gsize size);
/* "10.0.0.2:4425", "[fe80::1%eth0]:4425", "stor-a.example:4425", or without a port: NP_PEER_PORT. NULL, error: what is wrong
 * with it. */
GSocketConnectable *np_address_parse(const char *text, GError **error);
/* "nqn." and what NVMe Base Specification 2.0 section 4.5 allows: at most 223 bytes, UTF-8 without control characters or
 * blanks. */
gboolean np_nqn_valid(const char *nqn);
/* The same without "nqn.": a kernel takes any name for a subsystem, and people do call them "testnqn". */
gboolean np_subsystem_nqn_valid(const char *nqn);

G_END_DECLS
