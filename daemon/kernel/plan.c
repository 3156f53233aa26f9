/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "plan-internal.h"

#include <string.h>

static void rejection_free(gpointer data)
{
        HookRejection *rejection = data;

        g_free(rejection->reason);
        g_free(rejection);
}

static void choice_free(gpointer data)
{
        HookChoice *choice = data;

        g_ptr_array_unref(choice->rejected);
        g_free(choice->why);
        g_free(choice->merged);
        g_free(choice);
}

static void obstacle_free(gpointer data)
{
        HookObstacle *obstacle = data;

        g_free(obstacle->why);
        g_free(obstacle->reason);
        g_free(obstacle);
}

/* Takes over reason. */
static void add_obstacle(GPtrArray *obstacles, HookSides side, Transports transport, bool absent, const char *why, char *reason)
{
        HookObstacle *obstacle = g_new(HookObstacle, 1);

        *obstacle = (HookObstacle) { side, transport, absent, g_strdup(why ?: reason), reason };
        g_ptr_array_add(obstacles, obstacle);
}

static const char *module_of(const TransportInfo *transport, HookSides side)
{
        return side == HOOK_SIDE_HOST ? transport->host_module : transport->target_module;
}

/* Those of the scope that are planned for a side: whose module is loaded, or all when none is. */
static Transports present(HookPlan *plan, const KernelInventory *inventory, const HookScope *scope, HookSides side)
{
        Transports loaded = 0;

        for (unsigned i = 0; i < n_transports; i++)
                if (kernel_inventory_module_loaded(inventory, module_of(&transports[i], side)))
                        loaded |= transports[i].transport & scope->transports;
        for (unsigned i = 0; loaded && i < n_transports; i++)
                if (transports[i].transport & scope->transports & ~loaded)
                        add_obstacle(plan->obstacles, side, transports[i].transport, true, NULL,
                                     hook_module_not_loaded(module_of(&transports[i], side)));
        return loaded ?: scope->transports;
}

static Transports transports_of(const HookRow *row)
{
        return row->transport ? transport_by_name(row->transport)->transport : TRANSPORTS_ALL;
}

/* A side's rows by one family. */
typedef struct Draft {
        HookFamily family;
        GPtrArray *choices;             /* of HookChoice */
        GPtrArray *obstacles;           /* of HookObstacle */
} Draft;

static void draft_done(Draft *draft)
{
        g_clear_pointer(&draft->choices, g_ptr_array_unref);
        g_clear_pointer(&draft->obstacles, g_ptr_array_unref);
}

/* What each candidate lacks, and no sentence twice. */
static char *reasons(const HookChoice *choice)
{
        GString *text = g_string_new(NULL);

        for (guint i = 0; i < choice->rejected->len; i++) {
                const char *reason = ((HookRejection *) choice->rejected->pdata[i])->reason;

                if (!strstr(text->str, reason))
                        g_string_append_printf(text, "%s%s", text->len > 0 ? "; " : "", reason);
        }
        return g_string_free(text, false);
}

/* A tracepoint's user takes a reference of its module, and so does a typed program on a function. A kprobe lets go of it once it is
 * there: it goes with the module. */
static void find_module(HookChoice *choice, const KernelInventory *inventory, HookFamily family)
{
        const HookCandidate *chosen = choice->chosen;

        if (chosen->kind == HOOK_FIELD || !kernel_inventory_module_unloadable(inventory, chosen->module))
                return;
        if (chosen->kind == HOOK_TRACEPOINT || family == HOOK_FAMILY_TYPED)
                choice->held = chosen->module;
        else
                choice->loose = chosen->module;
}

static HookChoice *choose(const KernelInventory *inventory, HookFamily family, const HookRow *row)
{
        HookChoice *choice = g_new0(HookChoice, 1);

        choice->row = row;
        choice->rejected = g_ptr_array_new_with_free_func(rejection_free);
        for (unsigned i = 0; i < HOOK_CANDIDATES_MAX && row->candidates[i].symbol; i++) {
                char *why_not = hook_candidate_why_not(inventory, family, &row->candidates[i]);
                HookRejection *rejection;

                if (!why_not) {
                        choice->chosen = &row->candidates[i];
                        choice->mechanism = hook_mechanism(choice->chosen, family);
                        find_module(choice, inventory, family);
                        break;
                }
                rejection = g_new(HookRejection, 1);
                *rejection = (HookRejection) { &row->candidates[i], family, why_not };
                g_ptr_array_add(choice->rejected, rejection);
        }
        if (!choice->chosen) {
                choice->why = reasons(choice);
                choice->merged = row->essential ? g_strdup_printf("none: %s", choice->why) :
                        g_strdup_printf("merged into %s: %s", row->merged, choice->why);
        }
        return choice;
}

static void draft_make(Draft *draft, const KernelInventory *inventory, const HookScope *scope, HookSides side,
                       Transports wanted, HookFamily family)
{
        g_autofree char *why_not = hook_family_why_not(inventory, family, scope->capabilities);

        draft->family = family;
        draft->choices = g_ptr_array_new_with_free_func(choice_free);
        draft->obstacles = g_ptr_array_new_with_free_func(obstacle_free);
        if (why_not)
                add_obstacle(draft->obstacles, side, TRANSPORTS_ALL, false, NULL, g_steal_pointer(&why_not));

        for (unsigned i = 0; i < n_hook_rows; i++) {
                const HookRow *row = &hook_rows[i];
                HookChoice *choice;

                if (row->side != side || (row->detail && !scope->detail) || !(transports_of(row) & wanted))
                        continue;
                choice = choose(inventory, family, row);
                g_ptr_array_add(draft->choices, choice);
                if (choice->chosen || !row->essential)
                        continue;
                add_obstacle(draft->obstacles, side, transports_of(row), false, choice->why,
                             g_strdup_printf("no hook for %s%s%s%s on kernel %s: %s", row->boundary, row->covers ? " (" : "",
                                             row->covers ?: "", row->covers ? ")" : "",
                                             kernel_inventory_release(inventory), choice->why));
        }
}

static const HookObstacle *obstacle_of(const GPtrArray *obstacles, HookSides side, Transports of, bool with_absent)
{
        for (guint i = 0; i < obstacles->len; i++) {
                const HookObstacle *obstacle = obstacles->pdata[i];

                if (obstacle->side == side && obstacle->transport & of && (with_absent || !obstacle->absent))
                        return obstacle;
        }
        return NULL;
}

static unsigned count_usable(const Draft *draft, HookSides side, Transports wanted)
{
        unsigned n = 0;

        for (unsigned i = 0; i < n_transports; i++)
                n += transports[i].transport & wanted && !obstacle_of(draft->obstacles, side, transports[i].transport, false);
        return n;
}

/* Why typed hooks are not taken is told before those by probes: they are better. */
static void reject_typed(HookChoice *choice, const HookChoice *typed, const char *why_not_typed)
{
        unsigned at = 0;

        for (unsigned i = 0; i < HOOK_CANDIDATES_MAX && choice->row->candidates[i].symbol; i++) {
                const HookCandidate *candidate = &choice->row->candidates[i];
                const HookRejection *known = i < typed->rejected->len ? typed->rejected->pdata[i] : NULL;
                HookRejection *rejection;

                /* A field has no mechanism of its own, and a tracepoint of another prototype is the same. */
                if (candidate->kind == HOOK_FIELD || (i > 0 && g_str_equal(candidate->symbol, candidate[-1].symbol)))
                        continue;
                rejection = g_new(HookRejection, 1);
                *rejection = (HookRejection) { candidate, HOOK_FAMILY_TYPED, g_strdup(known ? known->reason : why_not_typed) };
                g_ptr_array_insert(choice->rejected, at++, rejection);
        }
}

/* "no hook for H2 on kernel 6.12: " need not be said of both. */
static bool same_row(const HookObstacle *a, const char *a_reason, const HookObstacle *b)
{
        size_t of_a = strlen(a_reason) - strlen(a->why), of_b = strlen(b->reason) - strlen(b->why);

        return of_a == of_b && strncmp(a_reason, b->reason, of_a) == 0;
}

/* What would have to be otherwise for either family. */
static void tell_both(Draft *typed, const Draft *probes, HookSides side)
{
        for (guint i = 0; i < typed->obstacles->len; i++) {
                HookObstacle *obstacle = typed->obstacles->pdata[i];
                const HookObstacle *other = obstacle_of(probes->obstacles, side, obstacle->transport, false);
                g_autofree char *reason = obstacle->reason;

                if (!other || g_str_equal(other->reason, reason))
                        obstacle->reason = g_steal_pointer(&reason);
                else
                        obstacle->reason = g_strdup_printf("%s; nor by probes: %s", reason,
                                                           same_row(obstacle, reason, other) ? other->why : other->reason);
        }
}

static void take(GPtrArray *to, GPtrArray *from)
{
        while (from->len > 0)
                g_ptr_array_add(to, g_ptr_array_steal_index(from, 0));
}

/* What not every kernel has is not told of as missing. */
static void drop_optional(GPtrArray *choices)
{
        for (guint i = choices->len; i-- > 0;) {
                const HookChoice *choice = choices->pdata[i];

                if (!choice->chosen && choice->row->optional)
                        g_ptr_array_remove_index(choices, i);
        }
}

static void plan_side(HookPlan *plan, const KernelInventory *inventory, const HookScope *scope, HookSides side)
{
        HookSidePlan *of = side == HOOK_SIDE_HOST ? &plan->host : &plan->target;
        Transports wanted = present(plan, inventory, scope, side);
        Draft typed = {}, probes = {}, *chosen = &typed;
        const HookObstacle *obstacle;

        draft_make(&typed, inventory, scope, side, wanted, HOOK_FAMILY_TYPED);
        obstacle = obstacle_of(typed.obstacles, side, wanted, false);
        if (obstacle) {
                draft_make(&probes, inventory, scope, side, wanted, HOOK_FAMILY_PROBES);
                if (count_usable(&probes, side, wanted) > count_usable(&typed, side, wanted)) {
                        chosen = &probes;
                        of->why_not_typed = g_strdup(obstacle->why);
                        for (guint i = 0; i < probes.choices->len; i++)
                                reject_typed(probes.choices->pdata[i], typed.choices->pdata[i], of->why_not_typed);
                } else
                        tell_both(&typed, &probes, side);
        }

        of->family = chosen->family;
        of->capabilities = hook_family_capabilities(inventory, chosen->family);
        drop_optional(chosen->choices);
        take(plan->choices, chosen->choices);
        take(plan->obstacles, chosen->obstacles);
        draft_done(&typed);
        draft_done(&probes);
}

int hook_plan_make(const KernelInventory *inventory, const HookScope *scope, HookPlan **ret)
{
        HookPlan *plan = g_new0(HookPlan, 1);

        plan->choices = g_ptr_array_new_with_free_func(choice_free);
        plan->obstacles = g_ptr_array_new_with_free_func(obstacle_free);
        for (HookSides side = HOOK_SIDE_HOST; side <= HOOK_SIDE_TARGET; side <<= 1)
                if (side & scope->sides)
                        plan_side(plan, inventory, scope, side);
        *ret = plan;
        return 0;
}

void hook_plan_free(HookPlan *plan)
{
        if (!plan)
                return;
        g_free(plan->host.why_not_typed);
        g_free(plan->target.why_not_typed);
        g_ptr_array_unref(plan->choices);
        g_ptr_array_unref(plan->obstacles);
        g_free(plan);
}

static bool usable(const HookPlan *plan, HookSides side, Transports of, bool with_absent, const char **ret_reason)
{
        const HookObstacle *obstacle = obstacle_of(plan->obstacles, side, of, with_absent);

        if (ret_reason)
                *ret_reason = obstacle ? obstacle->reason : NULL;
        return !obstacle;
}

bool hook_plan_usable(const HookPlan *plan, HookSides side, const char **ret_reason)
{
        return usable(plan, side, TRANSPORTS_ALL, false, ret_reason);
}

bool hook_plan_transport_usable(const HookPlan *plan, HookSides side, Transports transport, const char **ret_reason)
{
        return usable(plan, side, transport, true, ret_reason);
}

static const HookSidePlan *side_plan(const HookPlan *plan, HookSides side)
{
        return side == HOOK_SIDE_HOST ? &plan->host : &plan->target;
}

HookFamily hook_plan_family(const HookPlan *plan, HookSides side)
{
        return side_plan(plan, side)->family;
}

const char *hook_plan_why_not_typed(const HookPlan *plan, HookSides side)
{
        return side_plan(plan, side)->why_not_typed;
}

uint64_t hook_plan_capabilities(const HookPlan *plan, HookSides sides)
{
        return (sides & HOOK_SIDE_HOST ? plan->host.capabilities : 0) |
                (sides & HOOK_SIDE_TARGET ? plan->target.capabilities : 0);
}

bool hook_plan_has_program(const HookPlan *plan, HookSides side, const char *program)
{
        for (guint i = 0; i < plan->choices->len; i++) {
                const HookChoice *choice = plan->choices->pdata[i];

                if (choice->row->side != side || !choice->chosen)
                        continue;
                for (unsigned j = 0; j < HOOK_PROGRAMS_MAX && choice->chosen->programs[j]; j++)
                        if (strcmp(choice->chosen->programs[j], program) == 0)
                                return true;
        }
        return false;
}

static void add_once(GPtrArray *names, const char *name)
{
        if (name && !g_ptr_array_find_with_equal_func(names, name, g_str_equal, NULL))
                g_ptr_array_add(names, (char *) name);
}

static GPtrArray *held_by(const HookPlan *plan, HookSides sides)
{
        GPtrArray *names = g_ptr_array_new();

        for (guint i = 0; i < plan->choices->len; i++) {
                const HookChoice *choice = plan->choices->pdata[i];

                if (choice->row->side & sides)
                        add_once(names, choice->held);
        }
        return names;
}

static const char **as_list(GPtrArray *names)
{
        g_ptr_array_add(names, NULL);
        return (const char **) g_ptr_array_free(names, false);
}

const char **hook_plan_holds(const HookPlan *plan, HookSides sides)
{
        return as_list(held_by(plan, sides));
}

const char **hook_plan_loose(const HookPlan *plan)
{
        g_autoptr(GPtrArray) held = held_by(plan, HOOK_SIDE_HOST | HOOK_SIDE_TARGET);
        GPtrArray *names = g_ptr_array_new();

        for (guint i = 0; i < plan->choices->len; i++) {
                const HookChoice *choice = plan->choices->pdata[i];

                if (choice->loose && !g_ptr_array_find_with_equal_func(held, choice->loose, g_str_equal, NULL))
                        add_once(names, choice->loose);
        }
        return as_list(names);
}
