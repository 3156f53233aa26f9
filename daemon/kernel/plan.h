/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which hook takes which boundary on this kernel: the first candidate of the table (hooks.c) whose requirements the
 * inventory meets, and whether a side's programs are typed or probes. Pure: decided from the inventory and the scope alone,
 * so that it can be tested on recorded ones.
 */
#pragma once

#include "inventory.h"
#include "../transport.h"

typedef struct HookPlan HookPlan;

typedef enum HookSides {
        HOOK_SIDE_HOST = 1 << 0,
        HOOK_SIDE_TARGET = 1 << 1,
} HookSides;

/* The same programs, compiled twice (bpf/hook.h). A side is all of one family. */
typedef enum HookFamily {
        HOOK_FAMILY_TYPED,                      /* tp_btf, fentry, fexit: the kernel knows all types */
        HOOK_FAMILY_PROBES,                     /* raw_tp, kprobe, kretprobe: offsets may be from elsewhere */
} HookFamily;

/* Sets of capabilities have bits by number, as CapPrm in /proc/PID/status. */
#define CAPABILITIES_ALL (~UINT64_C(0))

/* What is to be recorded. A transport whose module is not loaded on a side has no connection there: there is nothing of it in
 * the plan of that side, unless that is so of all of them. */
typedef struct HookScope {
        HookSides sides;
        Transports transports;
        bool detail;                            /* what only the components of stages need, too */
        uint64_t capabilities;                  /* that ntprofd may use */
} HookScope;

/* Never fails for lack of hooks: hook_plan_usable() says whether a session can run on it. */
int hook_plan_make(const KernelInventory *inventory, const HookScope *scope, HookPlan **ret);
/* The plan of the kernel that roots are of. What takes longest to read of it, its symbols, only probes need: they are read only
 * when not all of the scope can be typed. */
int hook_plan_read(const KernelRoots *roots, const HookScope *scope, HookPlan **ret);
void hook_plan_free(HookPlan *plan);

/* False when a boundary without which there are no stages has no hook, of any transport in the plan; *ret_reason (owned by the
 * plan) says which and why. */
bool hook_plan_usable(const HookPlan *plan, HookSides side, const char **ret_reason);
/* Of one transport of the scope alone. False also when its module is not loaded. */
bool hook_plan_transport_usable(const HookPlan *plan, HookSides side, Transports transport, const char **ret_reason);
/* Typed when all that is essential can be had so, else probes when it can, else typed with what is missing. Of a plan that has
 * several transports the family by which more of them can be recorded. */
HookFamily hook_plan_family(const HookPlan *plan, HookSides side);
/* NULL when it is typed, else a sentence (owned by the plan). */
const char *hook_plan_why_not_typed(const HookPlan *plan, HookSides side);
/* What loading and attaching the programs of these sides takes. */
uint64_t hook_plan_capabilities(const HookPlan *plan, HookSides sides);

/* Names of the modules that cannot be unloaded while the programs of these sides are attached; the list is to be freed with
 * g_free(). */
const char **hook_plan_holds(const HookPlan *plan, HookSides sides);
/* Of those that can be, and then take their hooks with them. */
const char **hook_plan_loose(const HookPlan *plan);

/* Array of the rows, as docs/inspection.md describes them. */
JsonNode *hook_plan_to_json(const HookPlan *plan);
