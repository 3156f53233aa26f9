/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a peer may have recorded on this machine: a file of /etc/ntprof/peers.d, which only root's own hand writes. */
#pragma once

#include <glib.h>

/* As given on the command line; NULL or -1: as it is in the file, if there is one. */
typedef struct {
        char **host_nqns;
        char *allow;                    /* "observe" or "none"; NULL: observe when there is a host NQN */
        char *max_sample_rate;          /* "1/16", "all" */
        gint64 max_session_sec;         /* 0: no limit */
} PeerGrant;

#define PEER_GRANT_NONE { .max_session_sec = -1 }

void peer_grant_clear(PeerGrant *grant);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(PeerGrant, peer_grant_clear)

/* Whether name and grant can be written as they are: errors of usage. */
gboolean peer_grant_check(const char *name, const PeerGrant *grant, GError **error);

/* Whether peer_grant_write() will succeed, as far as can be known: none of the NQNs is another peer's, and this user may
 * write. */
gboolean peer_grant_possible(const char *name, const PeerGrant *grant, GError **error);

/* Writes the peer's file, or what the grant says of it; returns its path. */
char *peer_grant_write(const char *name, const PeerGrant *grant, GError **error);

/* What was written, as a sentence for a person. */
char *peer_grant_describe(const char *name, const PeerGrant *grant, const char *path);

/* Path of the peer's file, NULL when there is none. */
char *peer_grant_find(const char *name);

/* Removes the peer's file, if there is one; *ret_path is then its path, else NULL. */
gboolean peer_grant_remove(const char *name, char **ret_path, GError **error);
