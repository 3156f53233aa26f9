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

typedef enum HookKind {
        HOOK_TRACEPOINT,        /* needs the tracepoint's prototype in BTF */
        HOOK_FUNCTION,          /* needs the function in BTF: inlined functions have none */
        HOOK_FIELD,             /* read from a structure by another boundary's program */
} HookKind;

typedef struct HookField {
        const char *module, *structure, *field;
} HookField;

typedef struct HookCandidate {
        HookKind kind;
        const char *mechanism;                          /* as shown to people: "fentry+fexit" */
        const char *module, *symbol;                    /* of a HOOK_FIELD: "request.start_time_ns" */
        const char *programs[HOOK_PROGRAMS_MAX];        /* in the skeleton of the row's side */
        const char *functions[HOOK_FUNCTIONS_MAX];      /* of module, when the programs hook more than symbol */
        HookField fields[HOOK_FIELDS_MAX];              /* that the programs read */
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

extern const HookRow hook_rows[];
extern const unsigned n_hook_rows;
