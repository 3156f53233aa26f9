/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "plan.h"

static bool is_typed(const HookPlan *plan, const HookScope *scope)
{
        for (HookSides side = HOOK_SIDE_HOST; side <= HOOK_SIDE_TARGET; side <<= 1) {
                if (!(scope->sides & side))
                        continue;
                if (hook_plan_family(plan, side) != HOOK_FAMILY_TYPED)
                        return false;
                for (unsigned i = 0; i < n_transports; i++)
                        if (scope->transports & transports[i].transport &&
                            !hook_plan_transport_usable(plan, side, transports[i].transport, NULL))
                                return false;
        }
        return true;
}

int hook_plan_read(const KernelRoots *roots, const HookScope *scope, HookPlan **ret)
{
        KernelInventory *inventory;
        HookPlan *plan;
        int r;

        r = kernel_inventory_read_types(roots, &inventory);
        if (r < 0)
                return r;
        r = hook_plan_make(inventory, scope, &plan);
        if (r >= 0 && !is_typed(plan, scope)) {
                hook_plan_free(plan);
                kernel_inventory_read_symbols(inventory, roots);
                r = hook_plan_make(inventory, scope, &plan);
        }
        kernel_inventory_free(inventory);
        if (r >= 0)
                *ret = plan;
        return r;
}
