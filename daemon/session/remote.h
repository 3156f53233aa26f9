/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The target's side of a session when the target is another machine: who finds and reaches that machine (RemoteFinder; the
 * bus's, by ntprof-peerd) and one recording there (Remote). The session knows neither D-Bus nor the wire. Nothing blocks:
 * answers come by the handlers, from the event loop, never from within a call.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include <linux/types.h>

#include "../../bpf/record.h"
#include "../error.h"
#include "../peer/wire.h"
#include "../transport.h"

typedef struct Remote Remote;
typedef struct RemoteFinder RemoteFinder;

typedef struct RemoteHook {
        const char *boundary, *mechanism, *symbol;
} RemoteHook;

typedef struct RemoteFacts {
        const char *peer;                       /* its name here: "stor-a" */
        const char *machine, *kernel, *version; /* as it calls itself: printable UTF-8, bounded */
        const RemoteHook *hooks;
        unsigned n_hooks;
        const char *drive_hidden;               /* why the drive's own time can't be seen there, printable, bounded; NULL: it can */
} RemoteFacts;

typedef struct RemoteHandlers {
        /* Bytes of its came: a part of what the others tell of, which may take long. */
        void (*heard)(Remote *remote, void *userdata);
        /* Attached there; facts are valid during the call. Once, before all others but ended. */
        void (*ready)(Remote *remote, const RemoteFacts *facts, void *userdata);
        void (*changed)(Remote *remote, uint64_t target_ns, uint32_t threshold, void *userdata);
        /* Checked: np_target_record_valid() */
        void (*record)(Remote *remote, const struct np_target_record *record, void *userdata);
        void (*synced)(Remote *remote, const struct wire_sync *sync, void *userdata);
        /* The last call: message is NULL after remote_pause() has been carried out, else what happened, a sentence. */
        void (*ended)(Remote *remote, NtprofError code, const char *message, void *userdata);
        void *userdata;
} RemoteHandlers;

/* What is to be recorded there. */
typedef struct RemoteRequest {
        unsigned n_filters;
        struct np_target_filter filters[NP_FILTERS_MAX];
        Transports transports;                  /* of the paths there */
        bool detail;                            /* what the components of the stages need, too */
        uint64_t duration_usec;                 /* 0: until paused */
        uid_t owner;                            /* of the session, for the target's journal */
} RemoteRequest;

/* Which machine a path leads to. */
typedef struct RemoteWhere {
        const char *subsysnqn, *traddr, *trsvcid;
        const char *peer;                       /* not NULL: this one, whatever the rest says */
} RemoteWhere;

/* r < 0: error has code and message (NO_PEER, PEER_UNREACHABLE, ...); else peer is its name. */
typedef void (*RemoteFound)(int r, const char *peer, const Error *error, void *userdata);

typedef struct RemoteFinderOps {
        /* Calls found once, unless cancelled; a finder without a way to peers says NO_PEER. */
        int (*find)(RemoteFinder *f, const RemoteWhere *where, RemoteFound found, void *userdata, void **ret_ticket);
        void (*cancel)(RemoteFinder *f, void *ticket);
        /* Begins: all that can go wrong comes by handlers->ended. */
        int (*open)(RemoteFinder *f, const char *peer, const RemoteRequest *request, const RemoteHandlers *handlers,
                    Remote **ret);
} RemoteFinderOps;

struct RemoteFinder {
        const RemoteFinderOps *ops;
};

typedef struct RemoteOps {
        /* After ready. */
        void (*set_threshold)(Remote *remote, uint32_t threshold);
        void (*resume)(Remote *remote);
        /* No new commands; ended comes when the last record has. */
        void (*pause)(Remote *remote);
        /* At any time, from within a handler, too; no handler is called any more, and the target ends its recording. */
        void (*free)(Remote *remote);
} RemoteOps;

struct Remote {
        const RemoteOps *ops;
        RemoteHandlers handlers;
};
