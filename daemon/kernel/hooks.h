/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The table of boundaries and, for each, the hooks that can take it, best first. The next kernel and the next transport
 * are rows here and programs under bpf/, not branches.
 */
#pragma once

#include <stdbool.h>

#include "plan.h"

#define HOOK_CANDIDATES_MAX 3
#define HOOK_PROGRAMS_MAX 8
#define HOOK_FUNCTIONS_MAX 4
#define HOOK_FIELDS_MAX 6

#define HOOK_ARGUMENTS_MAX 2

typedef enum HookKind {
        HOOK_TRACEPOINT,        /* typed: needs its prototype in BTF; by probes: its symbol */
        HOOK_FUNCTION,          /* typed: needs it in BTF; by probes: its symbol. Inlined functions have neither */
        HOOK_FIELD,             /* read from a structure by another boundary's program */
} HookKind;

/* In one structure or, on other kernels, in another one of the same module. */
typedef struct HookField {
        const char *module, *structure, *field;
        const char *or_structure, *or_field;
} HookField;

typedef struct HookCandidate {
        HookKind kind;
        const char *mechanism;                          /* of the typed family, as shown to people: "fentry+fexit" */
        const char *module, *symbol;                    /* of a HOOK_FIELD: "request.start_time_ns" */
        const char *programs[HOOK_PROGRAMS_MAX];        /* in the skeleton of the row's side */
        const char *functions[HOOK_FUNCTIONS_MAX];      /* of module, when the programs hook more than symbol */
        HookField fields[HOOK_FIELDS_MAX];              /* that the programs read */
        int arguments[HOOK_ARGUMENTS_MAX];              /* of a tracepoint, as its programs take it; the others: by probes only */
} HookCandidate;

typedef struct HookRow {
        const char *boundary;                           /* "H3" */
        HookSides side;
        const char *transport;                          /* NULL: any */
        const char *covers;                             /* when not all commands: which; else NULL */
        bool essential;                                 /* no stages without it */
        const char *merged;                             /* what its time is merged into when it has no hook */
        HookCandidate candidates[HOOK_CANDIDATES_MAX];
        bool detail;                                    /* only for a session in detail */
        bool optional;                                  /* what it covers is there only with the function: no row without it */
} HookRow;

/* "raw_tp" for a "tp_btf" by probes, and so on. */
const char *hook_mechanism(const HookCandidate *candidate, HookFamily family);

extern const HookRow hook_rows[];
extern const unsigned n_hook_rows;
