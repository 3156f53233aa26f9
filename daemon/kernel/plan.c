/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "plan-internal.h"

#include <string.h>

static char *no_function(const KernelInventory *inventory, const char *module, const char *function)
{
        if (kernel_inventory_has_btf_function(inventory, module, function))
                return NULL;
        if (!kernel_inventory_module_has_btf(inventory, module))
                return g_strdup_printf("%s has no BTF", module);
        return g_strdup_printf("no function %s in the BTF of %s (inlined by the compiler, or not in this version)", function, module);
}

static char *not_loaded(const char *module)
{
        return g_strdup_printf("module %s is not loaded (%s a namespace, or load it)", module,
                               g_str_has_prefix(module, "nvmet") ? "export" : "connect");
}

/* NULL when the kernel has all the candidate needs, else why it is out. */
static char *why_not(const KernelInventory *inventory, const HookCandidate *candidate)
{
        const char *module = candidate->module, *symbol = candidate->symbol;

        if (!kernel_inventory_module_loaded(inventory, module))
                return not_loaded(module);

        if (candidate->kind == HOOK_TRACEPOINT && !kernel_inventory_has_tracepoint(inventory, module, symbol))
                return kernel_inventory_module_has_btf(inventory, module) ?
                        g_strdup_printf("no tracepoint %s in the BTF of %s", symbol, module) :
                        g_strdup_printf("%s has no BTF", module);
        if (candidate->kind == HOOK_FUNCTION) {
                char *reason = no_function(inventory, module, symbol);

                for (unsigned i = 0; !reason && i < HOOK_FUNCTIONS_MAX && candidate->functions[i]; i++)
                        reason = no_function(inventory, module, candidate->functions[i]);
                if (reason)
                        return reason;
        }

        for (unsigned i = 0; i < HOOK_FIELDS_MAX && candidate->fields[i].field; i++) {
                const HookField *field = &candidate->fields[i];

                if (!kernel_inventory_has_field(inventory, field->module, field->structure, field->field))
                        return g_strdup_printf("struct %s of %s has no field %s", field->structure, field->module, field->field);
        }
        return NULL;
}

static HookChoice *choose(const KernelInventory *inventory, const HookRow *row)
{
        HookChoice *choice = g_new0(HookChoice, 1);

        choice->row = row;
        for (unsigned i = 0; i < HOOK_CANDIDATES_MAX && row->candidates[i].symbol; i++) {
                choice->why_not[i] = why_not(inventory, &row->candidates[i]);
                if (!choice->why_not[i]) {
                        choice->chosen = &row->candidates[i];
                        break;
                }
        }
        if (!choice->chosen)
                choice->merged = row->essential ? g_strdup_printf("none: %s", choice->why_not[0]) :
                        g_strdup_printf("merged into %s: %s", row->merged, choice->why_not[0]);
        return choice;
}

static void choice_free(gpointer data)
{
        HookChoice *choice = data;

        for (unsigned i = 0; i < HOOK_CANDIDATES_MAX; i++)
                g_free(choice->why_not[i]);
        g_free(choice->merged);
        g_free(choice);
}

static void obstacle_free(gpointer data)
{
        HookObstacle *obstacle = data;

        g_free(obstacle->reason);
        g_free(obstacle);
}

static void add_obstacle(HookPlan *plan, HookSides side, Transports transport, bool absent, char *reason)
{
        HookObstacle *obstacle = g_new(HookObstacle, 1);

        *obstacle = (HookObstacle) { side, transport, absent, reason };
        g_ptr_array_add(plan->obstacles, obstacle);
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
                        add_obstacle(plan, side, transports[i].transport, true, not_loaded(module_of(&transports[i], side)));
        return loaded ?: scope->transports;
}

static Transports transports_of(const HookRow *row)
{
        return row->transport ? transport_by_name(row->transport)->transport : TRANSPORTS_ALL;
}

static void plan_side(HookPlan *plan, const KernelInventory *inventory, const HookScope *scope, HookSides side)
{
        Transports wanted = present(plan, inventory, scope, side);

        for (unsigned i = 0; i < n_hook_rows; i++) {
                const HookRow *row = &hook_rows[i];
                HookChoice *choice;

                if (row->side != side || (row->detail && !scope->detail) || !(transports_of(row) & wanted))
                        continue;
                choice = choose(inventory, row);
                if (!choice->chosen && row->optional) {
                        choice_free(choice);
                        continue;
                }
                g_ptr_array_add(plan->choices, choice);
                if (!choice->chosen && row->essential)
                        add_obstacle(plan, side, transports_of(row), false,
                                     g_strdup_printf("no hook for %s%s%s%s on kernel %s: %s", row->boundary,
                                                     row->covers ? " (" : "", row->covers ?: "", row->covers ? ")" : "",
                                                     kernel_inventory_release(inventory), choice->why_not[0]));
        }
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
        g_ptr_array_unref(plan->choices);
        g_ptr_array_unref(plan->obstacles);
        g_free(plan);
}

static bool usable(const HookPlan *plan, HookSides side, Transports of, bool with_absent, const char **ret_reason)
{
        const char *reason = NULL;

        for (guint i = 0; !reason && i < plan->obstacles->len; i++) {
                const HookObstacle *obstacle = plan->obstacles->pdata[i];

                if (obstacle->side == side && obstacle->transport & of && (with_absent || !obstacle->absent))
                        reason = obstacle->reason;
        }
        if (ret_reason)
                *ret_reason = reason;
        return !reason;
}

bool hook_plan_usable(const HookPlan *plan, HookSides side, const char **ret_reason)
{
        return usable(plan, side, TRANSPORTS_ALL, false, ret_reason);
}

bool hook_plan_transport_usable(const HookPlan *plan, HookSides side, Transports transport, const char **ret_reason)
{
        return usable(plan, side, transport, true, ret_reason);
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

static void add_member(JsonBuilder *builder, const char *name, const char *value)
{
        json_builder_set_member_name(builder, name);
        if (value)
                json_builder_add_string_value(builder, value);
        else
                json_builder_add_null_value(builder);
}

static void add_candidate(JsonBuilder *builder, const HookCandidate *candidate, const char *reason)
{
        json_builder_begin_object(builder);
        add_member(builder, "mechanism", candidate->mechanism);
        add_member(builder, "module", candidate->module);
        add_member(builder, "symbol", candidate->symbol);
        if (reason)
                add_member(builder, "reason", reason);
        json_builder_end_object(builder);
}

JsonNode *hook_plan_to_json(const HookPlan *plan)
{
        g_autoptr(JsonBuilder) builder = json_builder_new();

        json_builder_begin_array(builder);
        for (guint i = 0; i < plan->choices->len; i++) {
                const HookChoice *choice = plan->choices->pdata[i];
                const HookRow *row = choice->row;

                json_builder_begin_object(builder);
                add_member(builder, "boundary", row->boundary);
                add_member(builder, "side", row->side == HOOK_SIDE_HOST ? "host" : "target");
                add_member(builder, "description", np_boundary_by_id(row->boundary)->what);
                add_member(builder, "covers", row->covers);
                add_member(builder, "transport", row->transport);
                json_builder_set_member_name(builder, "essential");
                json_builder_add_boolean_value(builder, row->essential);
                json_builder_set_member_name(builder, "detail");
                json_builder_add_boolean_value(builder, row->detail);
                json_builder_set_member_name(builder, "chosen");
                if (choice->chosen)
                        add_candidate(builder, choice->chosen, NULL);
                else
                        json_builder_add_null_value(builder);
                add_member(builder, "merged_into", choice->chosen ? NULL : row->merged);
                json_builder_set_member_name(builder, "rejected");
                json_builder_begin_array(builder);
                for (unsigned j = 0; j < HOOK_CANDIDATES_MAX && choice->why_not[j]; j++)
                        add_candidate(builder, &row->candidates[j], choice->why_not[j]);
                json_builder_end_array(builder);
                json_builder_end_object(builder);
        }
        json_builder_end_array(builder);
        return json_builder_get_root(builder);
}
