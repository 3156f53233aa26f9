/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The machines whose side a session records besides the host's: this one, when a path's target is here, and those that a
 * RemoteFinder finds for the other paths. From "which machine is it" to its last record; records go to the analysis. What goes
 * wrong with one machine ends that one only, and is its reason.
 *
 *     connecting -> ready -> recording -> ended
 *          \___________\_________________>
 *
 * The session is called back when something has changed, from the event loop, and looks what it can go on with.
 */
#pragma once

#include <glib.h>
#include <systemd/sd-event.h>

#include "../../model/analysis.h"
#include "namespace.h"
#include "remote.h"
#include "session-hook.h"

typedef struct Targets Targets;

typedef enum TargetState {
        TARGET_CONNECTING,
        TARGET_READY,                   /* attached there */
        TARGET_RECORDING,
        TARGET_ENDED,
} TargetState;

typedef struct SessionTarget {
        Targets *targets;
        char *peer;                     /* its name here; NULL: it is this machine */
        TargetState state;
        char *machine, *kernel, *version;       /* as it calls itself; NULL before it is ready */
        GArray *hooks;                  /* of SessionHook; of another machine's */
        char *drive_hidden;             /* why the drive's own time can't be seen; NULL: it can, or is not known yet */
        int index;                      /* in the analysis; -1: it has not recorded */
        char *reason;                   /* a sentence, when it ended before it was told to */
        uint64_t recorded_ns;           /* until then */
        struct wire_sync sync;          /* what it counted, as last told */
        bool in_force;                  /* its first threshold is */

        RemoteRequest request;
        Remote *remote;
        uint64_t heard_usec;            /* CLOCK_MONOTONIC */
} SessionTarget;

typedef struct TargetsHandlers {
        /* Something is different. The session may free the targets from within. */
        void (*changed)(void *userdata);
        /* The host's clock, of its records; and how long the session has recorded by now. */
        uint64_t (*now_ns)(void *userdata);
        uint64_t (*recorded_ns)(void *userdata);
        void *userdata;
} TargetsHandlers;

/* How long is waited for other machines, us. Tests are less patient. */
typedef struct TargetsPatience {
        uint64_t connect_usec;          /* until a machine is ready */
        uint64_t start_usec;            /* until its first threshold is in force */
        uint64_t quiet_usec;            /* at the end, for the next it sends */
        uint64_t end_usec;              /* at the end, however much it sends */
} TargetsPatience;

extern TargetsPatience targets_patience;

/* finder may be NULL: no other machine is asked for. info must outlive it. */
Targets *targets_new(sd_event *event, RemoteFinder *finder, const NamespaceInfo *info, const TargetsHandlers *handlers);
Targets *targets_free(Targets *t);
DEFINE_CLEANUP_FUNC(Targets *, targets_free);

/* This machine is the target of the local paths. Before targets_connect(). */
void targets_add_local(Targets *t, const char *machine, const char *kernel, const char *version);

typedef struct TargetsOptions {
        const char *peer;               /* not NULL: the machine of all paths that are not local */
        uint64_t duration_usec;
        bool detail;
        uid_t owner;
} TargetsOptions;

/* Finds and opens; targets_settled() tells when that is through. */
void targets_connect(Targets *t, const TargetsOptions *options);
/* What is not ready by now will not be, and what has not begun by now is not waited for. */
void targets_give_up(Targets *t, const char *why);
bool targets_settled(const Targets *t);
/* The machine that was demanded by name cannot be had: code and message; NULL otherwise. */
const Error *targets_error(const Targets *t);
/* A machine has found that its records are worth nothing, those it has told of before included; NULL otherwise. */
const Error *targets_untrue(const Targets *t);

/* The number of targets that are ready: their indices in the analysis are 0.. in the order of the list. */
unsigned targets_n_ready(const Targets *t);
/* They begin to record; analysis must outlive the targets. Thereafter targets_started() when all have told that they do. */
void targets_begin(Targets *t, NpAnalysis *analysis, uint32_t threshold);
bool targets_started(const Targets *t);
void targets_set_threshold(Targets *t, uint32_t threshold);
/* This machine's: it has that threshold as of that time; and a record of its own. */
void targets_local_threshold(Targets *t, uint64_t since_ns, uint32_t threshold);
void targets_add_local_record(Targets *t, const struct np_target_record *record);

/* Begin nothing new; targets_ended() when the last record is here, or no more are waited for. */
void targets_end(Targets *t);
bool targets_ended(const Targets *t);

/* The session is over: nobody is asked or listened to any more, and the analysis is not used. What was is still told. */
void targets_drop(Targets *t);

/* Of SessionTarget. */
const GPtrArray *targets_list(const Targets *t);
/* Some machine's side is recorded, or can be. */
bool targets_any(const Targets *t);
/* Of that path; NULL when there is none, and why then. */
const SessionTarget *targets_of_path(const Targets *t, size_t path);
const char *targets_why_not(const Targets *t, size_t path);
