/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "../../model/boundary.h"
#include "hooks.h"

typedef struct HookRejection {
        const HookCandidate *candidate;
        HookFamily family;
        char *reason;
} HookRejection;

typedef struct HookChoice {
        const HookRow *row;
        const HookCandidate *chosen;                    /* NULL: none can be had */
        const char *mechanism;                          /* of the chosen one */
        const char *held;                               /* the module that cannot be unloaded while it is attached; NULL: none */
        const char *loose;                              /* the module that can, and takes its hook with it; NULL: none */
        GPtrArray *rejected;                            /* of HookRejection: what is better than it, best first */
        char *why;                                      /* when none: what each candidate lacks */
        char *merged;                                   /* and into what it is merged, for people */
} HookChoice;

/* Why a transport of a side cannot be recorded. */
typedef struct HookObstacle {
        HookSides side;
        Transports transport;                           /* TRANSPORTS_ALL: none of them */
        bool absent;                                    /* its module is not there, and so nothing of it in the plan */
        char *why;
        char *reason;                                   /* why, and of what */
} HookObstacle;

typedef struct HookSidePlan {
        HookFamily family;
        char *why_not_typed;
        uint64_t capabilities;
} HookSidePlan;

struct HookPlan {
        HookSidePlan host, target;
        GPtrArray *choices;                             /* of HookChoice, in the table's order */
        GPtrArray *obstacles;                           /* of HookObstacle */
};

/* NULL when a family's programs can be loaded and attached on this machine at all, else why not. */
char *hook_family_why_not(const KernelInventory *inventory, HookFamily family, uint64_t capabilities);
/* What that takes. */
uint64_t hook_family_capabilities(const KernelInventory *inventory, HookFamily family);
/* NULL when the kernel has all that a candidate needs, else why it is out. */
char *hook_candidate_why_not(const KernelInventory *inventory, HookFamily family, const HookCandidate *candidate);
/* "module nvmet is not loaded (export a namespace, or load it)" */
char *hook_module_not_loaded(const char *module);

/* Whether the plan uses this program of the side's skeleton. */
bool hook_plan_has_program(const HookPlan *plan, HookSides side, const char *program);
