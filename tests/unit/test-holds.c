/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which modules a session keeps from being unloaded, and which of the others are noticed when they are. */
#include "daemon/capture/loose-modules.h"

#include <linux/capability.h>
#include <string.h>

#include "fake-tree.h"
#include "kernel-fixture.h"

#define WITHOUT_ADMIN (UINT64_C(1) << CAP_BPF | UINT64_C(1) << CAP_PERFMON)

/* Of NVMe/TCP on Debian's 6.12. */
static HookPlan *plan_of(JsonNode *node, HookSides sides, Transports over, bool typed)
{
        json_object_set_int_member(kernel_fixture_settings(node), "perf_event_paranoid", 2);
        return kernel_fixture_plan(node, (HookScope) { sides, over, false, typed ? CAPABILITIES_ALL : WITHOUT_ADMIN });
}

static void assert_names(const char **names, const char *expected)
{
        g_autofree char *found = g_strjoinv(" ", (char **) names);

        g_assert_cmpstr(found, ==, expected);
        g_free(names);
}

static void test_typed(void)
{
        g_autoptr(JsonNode) node = kernel_fixture_load("6.12");
        HookPlan *plan = plan_of(node, BOTH_SIDES, TRANSPORT_TCP, true);

        assert_names(hook_plan_holds(plan, BOTH_SIDES), "nvme_core nvme_tcp nvmet nvmet_tcp");
        assert_names(hook_plan_holds(plan, HOOK_SIDE_HOST), "nvme_core nvme_tcp");
        assert_names(hook_plan_holds(plan, HOOK_SIDE_TARGET), "nvmet nvmet_tcp");
        assert_names(hook_plan_loose(plan), "");
        hook_plan_free(plan);

        plan = plan_of(node, HOOK_SIDE_HOST, TRANSPORT_RDMA, true);
        assert_names(hook_plan_holds(plan, BOTH_SIDES), "nvme_core nvme_rdma");
        hook_plan_free(plan);
}

/* kprobes hold nothing, tracepoints do. */
static void test_probes(void)
{
        g_autoptr(JsonNode) node = kernel_fixture_load("6.12");
        HookPlan *plan = plan_of(node, BOTH_SIDES, TRANSPORT_TCP, false);

        assert_names(hook_plan_holds(plan, BOTH_SIDES), "nvme_core nvmet");
        assert_names(hook_plan_loose(plan), "nvme_tcp nvmet_tcp");
        hook_plan_free(plan);
}

/* What is part of the kernel cannot be unloaded anyway. */
static void test_built_in(void)
{
        g_autoptr(JsonNode) node = kernel_fixture_load("6.12");
        HookPlan *plan;

        kernel_fixture_set_boolean(node, "nvme_core", "built_in", true);
        kernel_fixture_set_boolean(node, "nvmet_tcp", "built_in", true);
        plan = plan_of(node, BOTH_SIDES, TRANSPORT_TCP, true);
        assert_names(hook_plan_holds(plan, BOTH_SIDES), "nvme_tcp nvmet");
        hook_plan_free(plan);

        plan = plan_of(node, BOTH_SIDES, TRANSPORT_TCP, false);
        assert_names(hook_plan_holds(plan, BOTH_SIDES), "nvmet");
        assert_names(hook_plan_loose(plan), "nvme_tcp");
        hook_plan_free(plan);
}

/* What sysfs does to a file that is open when a module goes is the kernel's: tests/vm/cases/modules_come_and_go.py. */
static void test_gone(void)
{
        g_autoptr(JsonNode) node = kernel_fixture_load("6.12");
        HookPlan *probes = plan_of(node, BOTH_SIDES, TRANSPORT_TCP, false),
                 *typed = plan_of(node, BOTH_SIDES, TRANSPORT_TCP, true);
        FakeTree *tree = fake_tree_new();
        LooseModules *modules;

        g_assert_null(loose_modules_open(tree->sys, typed));
        g_assert_null(loose_modules_gone(NULL));

        fake_file(tree, "live", "sys/module/nvme_tcp/initstate");
        fake_file(tree, "live", "sys/module/nvmet_tcp/initstate");
        modules = loose_modules_open(tree->sys, probes);
        g_assert_nonnull(modules);
        g_assert_null(loose_modules_gone(modules));
        loose_modules_free(modules);

        /* between planning and attaching */
        fake_remove(tree, "sys/module/nvmet_tcp/initstate");
        modules = loose_modules_open(tree->sys, probes);
        g_assert_cmpstr(loose_modules_gone(modules), ==, "module nvmet_tcp, which it recorded by kprobes, was unloaded");
        g_assert_cmpstr(loose_modules_gone(modules), ==, "module nvmet_tcp, which it recorded by kprobes, was unloaded");
        loose_modules_free(modules);

        hook_plan_free(probes);
        hook_plan_free(typed);
        fake_tree_free(tree);
}

int main(int argc, char **argv)
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/holds/typed", test_typed);
        g_test_add_func("/holds/probes", test_probes);
        g_test_add_func("/holds/built-in", test_built_in);
        g_test_add_func("/holds/gone", test_gone);
        return g_test_run();
}
