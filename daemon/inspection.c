/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "inspection-internal.h"

#include "../model/json-depth.h"
#include "kernel/plan.h"
#include "privileges.h"

#define SCHEMA "org.ntprof.inspection/1"

void inspection_add_string(JsonBuilder *b, const char *name, const char *value)
{
        json_builder_set_member_name(b, name);
        if (value)
                json_builder_add_string_value(b, value);
        else
                json_builder_add_null_value(b);
}

static const char *side_name(HookSides side)
{
        return side == HOOK_SIDE_HOST ? "host" : "target";
}

/* true, or the reason why not */
static void add_usable(JsonBuilder *b, const char *name, bool usable, const char *why)
{
        json_builder_set_member_name(b, name);
        if (usable)
                json_builder_add_boolean_value(b, true);
        else
                json_builder_add_string_value(b, why);
}

/* What of it is asked for. */
typedef struct Asked {
        HookScope scope;
        const char *no_target;          /* why there is no target's side of it on this machine */
} Asked;

static Asked asked(const Inspection *inspection)
{
        const NamespaceInfo *namespace = inspection->namespace;
        Asked a = { { HOOK_SIDE_HOST | HOOK_SIDE_TARGET, TRANSPORTS_ALL, true, inspection->capabilities } };

        if (!namespace)
                return a;
        a.scope.sides = HOOK_SIDE_HOST;
        a.scope.transports = 0;
        a.no_target = namespace->paths[0].no_target_reason ?: "whether the target is this machine is not known";
        for (size_t i = 0; i < namespace->n_paths; i++) {
                a.scope.transports |= transport_by_name(namespace->paths[i].transport)->transport;
                if (namespace->paths[i].local)
                        a.scope.sides |= HOOK_SIDE_TARGET;
        }
        return a;
}

static bool transport_usable(const HookPlan *plan, const Asked *a, HookSides side, Transports transport, const char **ret_why)
{
        if (a->scope.sides & side)
                return hook_plan_transport_usable(plan, side, transport, ret_why);
        *ret_why = a->no_target;
        return false;
}

static void add_transports(JsonBuilder *b, const HookPlan *plan, const Asked *a)
{
        json_builder_set_member_name(b, "transports");
        json_builder_begin_object(b);
        for (unsigned i = 0; i < n_transports; i++) {
                if (!(transports[i].transport & a->scope.transports))
                        continue;
                json_builder_set_member_name(b, transports[i].name);
                json_builder_begin_object(b);
                for (HookSides side = HOOK_SIDE_HOST; side <= HOOK_SIDE_TARGET; side <<= 1) {
                        const char *why = NULL;
                        bool usable = transport_usable(plan, a, side, transports[i].transport, &why);

                        add_usable(b, side_name(side), usable, why);
                }
                json_builder_end_object(b);
        }
        json_builder_end_object(b);
}

/* Of a machine a side is usable when one of the transports is: sessions are of those that their paths have. A session of a
 * namespace needs all of its paths'. */
static bool side_usable(const HookPlan *plan, const Asked *a, const NamespaceInfo *namespace, HookSides side,
                        const char **ret_why)
{
        bool usable;

        if (!(a->scope.sides & side)) {
                *ret_why = a->no_target;
                return false;
        }
        usable = hook_plan_usable(plan, side, ret_why);
        for (unsigned i = 0; !namespace && !usable && i < n_transports; i++)
                usable = hook_plan_transport_usable(plan, side, transports[i].transport, NULL);
        return usable;
}

static void add_sides(JsonBuilder *b, const HookPlan *plan, const Asked *a, const NamespaceInfo *namespace)
{
        json_builder_set_member_name(b, "usable");
        json_builder_begin_object(b);
        for (HookSides side = HOOK_SIDE_HOST; side <= HOOK_SIDE_TARGET; side <<= 1) {
                const char *why = NULL;
                bool usable = side_usable(plan, a, namespace, side, &why);

                add_usable(b, side_name(side), usable, why);
        }
        json_builder_end_object(b);
}

static void add_families(JsonBuilder *b, const HookPlan *plan, const Asked *a)
{
        json_builder_set_member_name(b, "programs");
        json_builder_begin_object(b);
        for (HookSides side = HOOK_SIDE_HOST; side <= HOOK_SIDE_TARGET; side <<= 1) {
                json_builder_set_member_name(b, side_name(side));
                if (!(a->scope.sides & side)) {
                        json_builder_add_null_value(b);
                        continue;
                }
                json_builder_begin_object(b);
                inspection_add_string(b, "family", hook_plan_family(plan, side) == HOOK_FAMILY_TYPED ? "typed" : "probes");
                inspection_add_string(b, "why_not_typed", hook_plan_why_not_typed(plan, side));
                json_builder_end_object(b);
        }
        json_builder_end_object(b);
}

static void add_set(JsonBuilder *b, const char *name, uint64_t set)
{
        g_auto(GStrv) names = privileges_names(set);

        json_builder_set_member_name(b, name);
        json_builder_begin_array(b);
        for (unsigned i = 0; names[i]; i++)
                json_builder_add_string_value(b, names[i]);
        json_builder_end_array(b);
}

static void add_privileges(JsonBuilder *b, const Inspection *inspection, uint64_t needed)
{
        uint64_t permitted = inspection->capabilities & PRIVILEGES_ALL, lacking = privileges_lacking(needed, permitted);
        g_autofree char *advice = privileges_advice(lacking);

        json_builder_set_member_name(b, "privileges");
        json_builder_begin_object(b);
        add_set(b, "needed", needed);
        add_set(b, "permitted", permitted);
        add_set(b, "effective", inspection->effective);
        add_set(b, "lacking", lacking);
        inspection_add_string(b, "advice", advice);
        json_builder_end_object(b);
}

static void add_holds(JsonBuilder *b, const HookPlan *plan, const Asked *a, const NamespaceInfo *namespace)
{
        g_autofree const char **names = NULL;
        HookSides sides = 0;
        const char *why;

        for (HookSides side = HOOK_SIDE_HOST; side <= HOOK_SIDE_TARGET; side <<= 1)
                if (side_usable(plan, a, namespace, side, &why))
                        sides |= side;
        names = hook_plan_holds(plan, sides);
        json_builder_set_member_name(b, "holds");
        json_builder_begin_array(b);
        for (unsigned i = 0; names[i]; i++)
                json_builder_add_string_value(b, names[i]);
        json_builder_end_array(b);
}

JsonNode *inspection_build(const Inspection *inspection)
{
        g_autoptr(JsonBuilder) b = json_builder_new();
        Asked a = asked(inspection);
        HookPlan *plan;

        (void) hook_plan_make(inspection->inventory, &a.scope, &plan);
        json_builder_begin_object(b);
        inspection_add_string(b, "schema", SCHEMA);
        inspection_add_string(b, "ntprof_version", NTPROF_VERSION);
        inspection_add_string(b, "kernel", kernel_inventory_release(inspection->inventory));
        if (kernel_inventory_label(inspection->inventory))
                inspection_add_string(b, "label", kernel_inventory_label(inspection->inventory));
        inspection_add_namespace(b, inspection->namespace);
        add_sides(b, plan, &a, inspection->namespace);
        add_transports(b, plan, &a);
        add_families(b, plan, &a);
        add_privileges(b, inspection, hook_plan_capabilities(plan, a.scope.sides));
        add_holds(b, plan, &a, inspection->namespace);
        inspection_add_lacks(b, inspection, plan);
        inspection_add_notes(b, inspection, plan);
        json_builder_set_member_name(b, "plan");
        json_builder_add_value(b, hook_plan_to_json(plan));
        json_builder_set_member_name(b, "inventory");
        json_builder_add_value(b, kernel_inventory_to_json(inspection->inventory));
        json_builder_end_object(b);
        hook_plan_free(plan);
        return json_builder_get_root(b);
}

int inspection_make(const NamespaceInfo *namespace, bool as_service, JsonNode **ret)
{
        g_auto(GStrv) iostats_off = inspection_iostats_off(&namespace_roots_default, namespace);
        KernelInventory *inventory;
        Inspection inspection;
        int r;

        r = kernel_inventory_read(&kernel_roots_default, &inventory);
        if (r < 0)
                return r;
        inspection = (Inspection) {
                .inventory = inventory,
                .namespace = namespace,
                .iostats_off = iostats_off,
                .capabilities = as_service ? PRIVILEGES_ALL : privileges_permitted(),
                .effective = as_service ? 0 : privileges_effective(),
                .as_service = as_service,
        };
        *ret = inspection_build(&inspection);
        kernel_inventory_free(inventory);
        return 0;
}

#define INVENTORY_DEPTH_MAX 16

/* A whole inspection has one in it. */
static JsonNode *inventory_in(JsonNode *node)
{
        JsonObject *object = JSON_NODE_HOLDS_OBJECT(node) ? json_node_get_object(node) : NULL;
        JsonNode *schema = object ? json_object_get_member(object, "schema") : NULL;

        if (!schema || !JSON_NODE_HOLDS_VALUE(schema) || g_strcmp0(json_node_get_string(schema), SCHEMA) != 0)
                return node;
        return json_object_get_member(object, "inventory");
}

int inspection_of_inventory(const char *path, JsonNode **ret, Error *error)
{
        g_autofree char *text = NULL, *wrong = NULL;
        g_autoptr(JsonNode) node = NULL;
        g_autoptr(GError) gerror = NULL;
        KernelInventory *inventory;
        gsize length;

        if (!g_file_get_contents(path, &text, &length, &gerror))
                return error_set(error, NTPROF_ERROR_INVALID_OPTION, "%s", gerror->message);
        if (!np_json_nests_at_most(text, length, INVENTORY_DEPTH_MAX))
                return error_set(error, NTPROF_ERROR_INVALID_OPTION, "%s: no kernel inventory", path);
        node = json_from_string(text, &gerror);
        if (!node)
                return error_set(error, NTPROF_ERROR_INVALID_OPTION, "%s: %s", path, gerror ? gerror->message : "empty");
        if (kernel_inventory_from_json(inventory_in(node), &inventory, &wrong) < 0)
                return error_set(error, NTPROF_ERROR_INVALID_OPTION, "%s: %s", path, wrong);

        *ret = inspection_build(&(Inspection) { .inventory = inventory, .capabilities = CAPABILITIES_ALL, .as_service = true });
        kernel_inventory_free(inventory);
        return 0;
}
