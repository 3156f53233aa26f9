/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One recording, from options to report. Knows neither D-Bus nor BPF: records come from a Backend, who watches is a
 * SessionObserver.
 *
 *     preparing -> recording -> joining -> finished
 *          \____________\__________\_____> failed
 *
 * Cancel leads to finished from anywhere.
 */
#pragma once

#include <systemd/sd-event.h>
#include <sys/types.h>

#include "../../model/analysis.h"
#include "backend.h"
#include "capture-job.h"
#include "sampling.h"
#include "targets.h"

typedef struct Session Session;

typedef enum SessionState {
        SESSION_PREPARING,
        SESSION_RECORDING,
        SESSION_JOINING,
        SESSION_FINISHED,
        SESSION_FAILED,
} SessionState;

typedef struct SessionOptions {
        char *namespace;                /* as the caller wrote it */
        uint64_t duration_usec;         /* 0: until session_stop() */
        SampleOption sample;
        bool keep;
        char *peer;                     /* the other machine of all paths whose target isn't this one; NULL: to be found */
        bool no_target;                 /* the host's side only */
        bool detail;                    /* record what only the components of the stages need, too */
} SessionOptions;

void session_options_clear(SessionOptions *options);

typedef enum SessionChange {
        SESSION_CHANGED_STATE = 1 << 0,         /* state, result, message, when it started */
        SESSION_CHANGED_COUNTERS = 1 << 1,
        SESSION_CHANGED_HOOKS = 1 << 2,
        SESSION_CHANGED_TARGETS = 1 << 3,       /* whose side is recorded, and their hooks */
} SessionChange;

typedef struct SessionObserver {
        void (*added)(Session *s, void *userdata);
        /* The last call for this session. */
        void (*removed)(Session *s, void *userdata);
        void (*changed)(Session *s, SessionChange what, void *userdata);
        void *userdata;
} SessionObserver;

struct Session {
        /* Constant */
        char *id;
        uid_t owner;
        SessionOptions options;
        NamespaceInfo *namespace;
        char *no_target_reason;         /* of paths whose target is this machine or that tell none themselves; NULL: none */

        SessionState state;
        NtprofError error;              /* when failed */
        bool cancelled;
        char *message;                  /* when failed */

        uint64_t started_realtime_usec;
        uint64_t recorded_ns;
        uint64_t commands, sampled, joined;
        uint64_t losses[NP_LOSS_COUNT];
        GArray *hooks;                  /* of SessionHook, this machine's */
        GPtrArray *holds;               /* of char*: modules that cannot be unloaded while it is attached */
        char *ended_reason;             /* when it ended before it was to; else NULL */
        char *report_json;              /* when finished and not cancelled */

        /* How it works */
        sd_event *event;
        Backend *backend;
        const SessionObserver *observer;
        sd_event_source *start_source, *tick_source, *fd_source;
        Capture *capture;
        CaptureJob *job;                /* attaches or detaches capture, which is the job's meanwhile */
        CaptureCounters *counters;      /* as last read */
        NpAnalysis *analysis;           /* from when the targets are ready */
        Targets *targets;
        Sampling sampling;
        bool stop_requested;
        bool attached;
        bool begun;                     /* the targets were told to record */
        bool ending_targets;            /* and not to go on */
        uint64_t resumed_ns, paused_ns; /* clock of the capture */
        uint64_t settle_deadline_usec;  /* CLOCK_MONOTONIC: then joining goes on without what is still under way */
        uint64_t announced_usec;        /* CLOCK_MONOTONIC: when the counters were last told */
        IoStat iostat_start, iostat_end;
};

/* Prepares: resolves the namespace and opens the source of records; attaches, and asks other machines for the target's side,
 * from the event loop. finder may be NULL: no other machine is asked. Errors: see Backend; INVALID_OPTION. */
int session_new(sd_event *event, Backend *backend, RemoteFinder *finder, const SessionObserver *observer, const char *id,
                uid_t owner, const SessionOptions *options, Session **ret, Error *error);
Session *session_free(Session *s);
DEFINE_CLEANUP_FUNC(Session *, session_free);

bool session_has_ended(const Session *s);
bool session_has_target(const Session *s);
/* Ends the recording; the end is told to the observer. On a session that has ended these do nothing. */
void session_stop(Session *s);
void session_cancel(Session *s);
/* Failed, in the caller's words. */
void session_fail(Session *s, NtprofError code, const char *format, ...) _printf_(3, 4);

/* The report, or while it records the report so far, as JSON. Errors: NO_REPORT */
int session_report(Session *s, char **ret_json, Error *error);

const char *session_state_to_string(SessionState state);
/* "", "done", "cancelled" or the name of an error. */
const char *session_result(const Session *s);
