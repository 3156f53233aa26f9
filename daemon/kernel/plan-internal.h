/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "../../model/boundary.h"
#include "hooks.h"

typedef struct HookChoice {
        const HookRow *row;
        const HookCandidate *chosen;                    /* NULL: none can be had */
        char *why_not[HOOK_CANDIDATES_MAX];             /* of the candidates before it */
        char *merged;                                   /* when none: into what, and why */
} HookChoice;

/* Why a transport of a side cannot be recorded. */
typedef struct HookObstacle {
        HookSides side;
        Transports transport;                           /* TRANSPORTS_ALL: none of them */
        bool absent;                                    /* its module is not there, and so nothing of it in the plan */
        char *reason;
} HookObstacle;

struct HookPlan {
        GPtrArray *choices;                             /* of HookChoice, in the table's order */
        GPtrArray *obstacles;                           /* of HookObstacle */
};

/* Whether the plan uses this program of the side's skeleton. */
bool hook_plan_has_program(const HookPlan *plan, HookSides side, const char *program);
