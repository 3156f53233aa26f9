/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Between targets-connect.c, until the machines are ready, and targets.c, from then on. */
#pragma once

#include "targets.h"

typedef enum TargetsPhase {
        PHASE_NEW,
        PHASE_FINDING,                  /* which machines they are */
        PHASE_CONNECTING,               /* until each is ready or has ended */
        PHASE_STARTING,                 /* until each has its first threshold in force */
        PHASE_RECORDING,
        PHASE_ENDING,
} TargetsPhase;

/* One path's question to the finder. */
typedef struct Lookup {
        Targets *targets;
        size_t path;
        bool pending;
        void *ticket;
        char *peer;
} Lookup;

struct Targets {
        sd_event *event;
        RemoteFinder *finder;
        const NamespaceInfo *info;
        TargetsHandlers handlers;
        TargetsOptions options;
        char *peer;
        TargetsPhase phase;
        Error error;
        Error untrue;                   /* records that the analysis was given are worth nothing */
        GPtrArray *list;                /* of SessionTarget */
        Lookup lookups[NP_FILTERS_MAX];
        SessionTarget *of_path[NP_FILTERS_MAX];
        char *why_not[NP_FILTERS_MAX];
        NpAnalysis *analysis;
        sd_event_source *timer;
        uint64_t ending_usec;           /* CLOCK_MONOTONIC: since when */
};

SessionTarget *targets_add(Targets *t, const char *peer);
SessionTarget *targets_find(const Targets *t, const char *peer);
/* why NULL: it was told to. */
void targets_end_one(SessionTarget *target, NtprofError code, const char *why);
/* Tells the session, which may free the targets: nothing of them is touched after it. */
void targets_changed(Targets *t);
/* One timer at a time. */
int targets_arm(Targets *t, uint64_t usec, sd_event_time_handler_t on_time);
RemoteHandlers targets_remote_handlers(SessionTarget *target);

/* targets-connect.c */
void targets_cancel_lookups(Targets *t);
void targets_set_why_not(Targets *t, size_t path, NtprofError code, const char *message);
