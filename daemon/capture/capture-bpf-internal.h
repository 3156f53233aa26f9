/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What records from the programs in the kernel are made with: how programs get there, and how they are read. */
#pragma once

#include <bpf/libbpf.h>

#include "capture-bpf.h"
#include "loose-modules.h"
#include "program-set.h"
#include "type-check.h"

/* The programs of a side, and what is read and written of them while they run. */
typedef struct Side {
        ProgramSet *programs;           /* NULL: nothing of this side is recorded */
        const char *name;               /* "host", "target" */
        struct bpf_map *ring, *cpus;    /* NULL, and so what follows, until it is loaded */
        volatile uint32_t *recording, *threshold;
        volatile int64_t *under_way;
        const volatile struct np_checks *checks_seen;
        TypeChecks checks;              /* none of typed programs: their types are the kernel's */
} Side;

typedef struct CaptureBpf {
        Capture capture;
        CaptureConfig config;
        Side host, target;
        struct ring_buffer *ring;
        LooseModules *loose;
        CaptureHook *hooks;
        unsigned n_hooks;
        uint32_t threshold;
        bool pausing;
        uint64_t privileges;            /* that attaching takes */
        bool privileged_reads;          /* the kernel lets nobody read who has not CAP_BPF */
        char error[1024];
} CaptureBpf;

/* libbpf tells why by printing: from now on that is kept, for each thread. */
void capture_bpf_keep_printed(void);
void capture_bpf_forget_printed(void);

/* The config's sides, and which of their programs are the plan's. Nothing is loaded. */
int capture_bpf_open(CaptureBpf *b, const HookPlan *plan);
/* The target's side first: so it has seen whatever the host's has. On error *ret_error (b's) is a sentence. */
int capture_bpf_load(CaptureBpf *b, const char **ret_error);
/* Makes such a sentence of what libbpf printed and an errno, and returns r. */
int capture_bpf_fail(CaptureBpf *b, const char **ret_error, int r, const char *what, const char *side);
