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

/* What is to be recorded. A transport whose module is not loaded on a side has no connection there: there is nothing of it in
 * the plan of that side, unless that is so of all of them. */
typedef struct HookScope {
        HookSides sides;
        Transports transports;
        bool detail;                            /* what only the components of stages need, too */
} HookScope;

/* Never fails for lack of hooks: hook_plan_usable() says whether a session can run on it. */
int hook_plan_make(const KernelInventory *inventory, const HookScope *scope, HookPlan **ret);
void hook_plan_free(HookPlan *plan);

/* False when a boundary without which there are no stages has no hook, of any transport in the plan; *ret_reason (owned by the
 * plan) says which and why. */
bool hook_plan_usable(const HookPlan *plan, HookSides side, const char **ret_reason);
/* Of one transport of the scope alone. False also when its module is not loaded. */
bool hook_plan_transport_usable(const HookPlan *plan, HookSides side, Transports transport, const char **ret_reason);
/* Array of {boundary, side, description, transport, chosen: {mechanism, module, symbol} or null, merged_into, rejected: [{mechanism, module, symbol, reason}]}. */
JsonNode *hook_plan_to_json(const HookPlan *plan);
