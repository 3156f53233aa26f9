/* SPDX-License-Identifier: GPL-2.0-or-later */
/* All recordings of this machine's side for others: who may have one, and how many there are. */
#pragma once

#include <glib.h>

#include "target-side.h"

/* At once, on this machine and of one peer. */
#define TARGET_SIDES_MAX 8
#define TARGET_SIDES_PEER_MAX 4

typedef struct TargetSides TargetSides;

typedef struct TargetSidesEntry {
        TargetSides *sides;
        PeerWho who;
        PeerRequest request;
        uint64_t begun_usec;            /* CLOCK_MONOTONIC */
        TargetSide *side;
} TargetSidesEntry;

typedef struct TargetSidesObserver {
        /* why: a sentence. entry is gone thereafter. */
        void (*ended)(const TargetSidesEntry *entry, const char *why, void *userdata);
        void *userdata;
} TargetSidesObserver;

/* backend, and policy with all it points to, must outlive it. */
TargetSides *target_sides_new(sd_event *event, Backend *backend, const PeerPolicy *policy, const TargetSidesObserver *observer);
TargetSides *target_sides_free(TargetSides *sides);
DEFINE_CLEANUP_FUNC(TargetSides *, target_sides_free);

/* Copies what it keeps of who and request. *ret_problems as of peer_policy_check(). Errors: PEER_REFUSED, TOO_MANY_SESSIONS and
 * those of target_side_new(). */
int target_sides_open(TargetSides *sides, const PeerWho *who, const PeerRequest *request, int *ret_fd, char **ret_problems,
                      Error *error);
unsigned target_sides_count(const TargetSides *sides);
/* Ends all, and tells the other machines and the observer. */
void target_sides_shutdown(TargetSides *sides);
