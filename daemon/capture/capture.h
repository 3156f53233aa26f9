/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A source of records. Two kinds: the programs in the kernel (capture-bpf.c) and a recorded file (capture-replay.c).
 * The session knows only this header. Nothing here blocks longer than attaching takes; all calls come from one thread.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <linux/types.h>

#include "../../bpf/record.h"
#include "../transport.h"
#include "../util.h"

typedef struct Capture Capture;
typedef struct HookPlan HookPlan;

typedef struct CapturePath {
        Transports transport;
        bool to_target;                         /* its target is this machine, and one of the target's filters */
} CapturePath;

typedef struct CaptureConfig {
        unsigned n_host_filters;                /* 0: no host side */
        struct np_host_filter host_filters[NP_FILTERS_MAX];
        CapturePath host_paths[NP_FILTERS_MAX]; /* of each filter */
        uint32_t head_major, head_minor;        /* of the block device applications open: nvme6n1 */
        unsigned n_target_filters;              /* 0: no target side */
        struct np_target_filter target_filters[NP_FILTERS_MAX];
        Transports transports;                  /* of the paths */
        bool detail;                            /* record what the components of the stages need, too */
} CaptureConfig;

typedef struct CaptureHandlers {
        void (*host_record)(const struct np_host_record *record, void *userdata);
        void (*target_record)(const struct np_target_record *record, void *userdata);
        void *userdata;
} CaptureHandlers;

typedef struct CaptureKind {
        uint64_t key;                           /* NP_KIND_KEY() */
        uint64_t count;
} CaptureKind;

typedef struct CaptureCounters {
        uint64_t host[NP_C_COUNT];              /* summed over CPUs */
        uint64_t target[NP_C_COUNT];
        uint64_t host_recursion, target_recursion;      /* program runs the kernel skipped */
        uint64_t host_in_flight, target_in_flight;      /* sampled and not yet emitted */
        unsigned n_kinds;
        CaptureKind kinds[NP_KIND_SLOTS * 4];
} CaptureCounters;

/* For the report and for Session.Hooks. */
typedef struct CaptureHook {
        const char *boundary;                   /* "H3" */
        const char *mechanism;                  /* "tp_btf", "fentry", "fexit", "fentry+fexit", "field", "merged" */
        const char *symbol;                     /* or, when merged, why */
        bool target;
        const char *held;                       /* module that cannot be unloaded while this is attached; NULL: none */
} CaptureHook;

/* Thresholds: a command is sampled iff threshold == UINT32_MAX or hash < threshold; 0 samples none. */
typedef struct CaptureOps {
        const char *name;
        /* Attaches everything; nothing is counted or sampled before resume(). On a thread, but of all captures only one at a
         * time. On error *ret_error (static or until
         * free()) says what failed on what and what to do. */
        int (*attach)(Capture *c, const char **ret_error);
        /* From now on commands are counted and sampled. */
        int (*resume)(Capture *c);
        /* From now on none is; those under way still complete and are emitted. The target goes on until none of the
         * host's is under way (get_counters() looks), unless it is without a host side. */
        int (*pause)(Capture *c);
        /* The target first when raised, the host first when lowered: the target's set is never the smaller. */
        int (*set_threshold)(Capture *c, uint32_t threshold);
        /* Hands out all records that are there. Returns the number, or negative errno. */
        int (*drain)(Capture *c);
        /* Readable when records should be drained soon, or -1: then by timer only. */
        int (*get_fd)(Capture *c);
        int (*get_counters)(Capture *c, CaptureCounters *ret);
        unsigned (*get_hooks)(Capture *c, const CaptureHook **ret);
        /* NULL, or a sentence: a structure of the kernel's is not as was believed, so no record is worth anything, nor is one that
         * was handed out before. To be asked after each get_counters(). May be NULL: never. */
        const char *(*wrong_types)(Capture *c);
        /* NULL, or a sentence: what it was attached to is no longer there, and whatever may be there instead, it does not see; so
         * nothing that comes now is worth anything. To be asked after each get_counters(). May be NULL: never. */
        const char *(*gone)(Capture *c);
        /* The clock of the host's records, ns; NULL: CLOCK_MONOTONIC. A replay has its own. */
        uint64_t (*now)(Capture *c);
        /* True when a replay has no more records; always false for a live capture, which may leave it NULL. */
        bool (*at_end)(Capture *c);
        /* Detaches everything. Idempotent. */
        void (*detach)(Capture *c);
        void (*free)(Capture *c);
} CaptureOps;

struct Capture {
        const CaptureOps *ops;
        CaptureHandlers handlers;
};

/* The operations that a capture may leave out. */
static inline const char *capture_wrong_types(Capture *c)
{
        return c->ops->wrong_types ? c->ops->wrong_types(c) : NULL;
}

static inline const char *capture_gone(Capture *c)
{
        return c->ops->gone ? c->ops->gone(c) : NULL;
}

static inline uint64_t capture_now(Capture *c)
{
        return c->ops->now ? c->ops->now(c) : now_ns(CLOCK_MONOTONIC);
}

static inline bool capture_at_end(Capture *c)
{
        return c->ops->at_end && c->ops->at_end(c);
}

