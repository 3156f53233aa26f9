/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What another machine may have recorded here: what root wrote into /etc/ntprof/peers.d, read anew for each request, and
 * nothing else. What ntprof-peerd says, or the other machine, is only compared with it.
 */
#pragma once

#include <linux/types.h>

#include "../../bpf/record.h"
#include "../error.h"
#include "../transport.h"

/* Whom ntprof-peerd has authenticated. */
typedef struct PeerWho {
        char *name;                     /* np_peer_name_valid() */
        char *fingerprint;              /* np_fingerprint_valid() */
        char *address;                  /* as ntprof-peerd wrote it */
} PeerWho;

typedef struct PeerFilter {
        char *subsysnqn, *hostnqn;      /* np_nqn_valid() */
        uint32_t nsid;
} PeerFilter;

typedef struct PeerRequest {
        unsigned n_filters;
        PeerFilter filters[NP_FILTERS_MAX];
        Transports transports;          /* that may be those of its commands */
        bool detail;                    /* what the components of the stages need, too */
        uint64_t duration_usec;         /* 0: until it is told to pause */
        char *user;                     /* who asked, in the other machine's words; may be NULL */
} PeerRequest;

void peer_who_clear(PeerWho *who);
void peer_request_clear(PeerRequest *request);

typedef struct PeerGrant {
        uint32_t max_threshold;         /* the highest that may be in force */
        uint64_t max_usec;              /* the longest that it may stay attached, 0: no limit */
        char *limit;                    /* what says so: "MaxSessionSec=60 in /etc/..."; NULL without a limit */
} PeerGrant;

void peer_grant_clear(PeerGrant *grant);

typedef struct PeerPolicy {
        const char *folder;             /* NULL: NP_PEERS_ETC */
        bool own_files;                 /* files of the daemon's own user count like root's: for tests */
        const char *machine;            /* what this one is called, for the messages */
} PeerPolicy;

/* The error is for a person at the other machine, and says what this one's administrator can do. *ret_problems (to be freed) is
 * for this machine's journal only: what is wrong with files of the folder; NULL: nothing. Errors: PEER_REFUSED */
int peer_policy_check(const PeerPolicy *policy, const PeerWho *who, const PeerRequest *request, PeerGrant *ret,
                      char **ret_problems, Error *error);
