/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which hook takes which boundary on this kernel: the first candidate of the table (hooks.c) whose requirements the
 * inventory meets. Pure: decided from the inventory alone, so that it can be tested on recorded ones.
 */
#pragma once

#include "inventory.h"
#include "../transport.h"

typedef struct HookPlan HookPlan;

typedef enum HookSides {
        HOOK_SIDE_HOST = 1 << 0,
        HOOK_SIDE_TARGET = 1 << 1,
} HookSides;

/* What is to be recorded. */
typedef struct HookScope {
        HookSides sides;
        Transports transports;
        bool detail;                            /* what only the components of stages need, too */
} HookScope;

/* Never fails for lack of hooks: hook_plan_usable() says whether a session can run on it. */
int hook_plan_make(const KernelInventory *inventory, const HookScope *scope, HookPlan **ret);
void hook_plan_free(HookPlan *plan);

/* False when a boundary without which there are no stages has no hook; *ret_reason (owned by the plan) says which and why. */
bool hook_plan_usable(const HookPlan *plan, HookSides side, const char **ret_reason);
/* Array of {boundary, side, description, chosen: {mechanism, module, symbol} or null, merged_into, rejected: [{mechanism, module, symbol, reason}]}. */
JsonNode *hook_plan_to_json(const HookPlan *plan);
