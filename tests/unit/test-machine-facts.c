/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/session/machine-facts.h"

#include <glib.h>

#include "fake-tree.h"

static void check(char **list, const char *expected)
{
        g_autofree char *joined = g_strjoinv(" ", list);

        g_assert_cmpstr(joined, ==, expected);
}

static void test_nothing(void)
{
        FakeTree *tree = fake_tree_new();
        _cleanup_(machine_facts_freep) MachineFacts *facts = machine_facts_read(&tree->roots);

        check(facts->subsystems, "");
        check(facts->addresses, "");
        check(facts->host_nqns, "");
        fake_tree_free(tree);
}

static void test_host(void)
{
        FakeTree *tree = fake_tree_new();
        _cleanup_(machine_facts_freep) MachineFacts *facts = NULL;

        fake_controller(tree, 0, "pcie", NULL, NULL);
        fake_controller(tree, 6, "tcp", "10.0.0.2", "nqn.host-b");
        fake_controller(tree, 7, "tcp", "10.0.0.3", "nqn.host-a");
        fake_controller(tree, 8, "tcp", "10.0.0.4", "nqn.host-b");
        facts = machine_facts_read(&tree->roots);
        check(facts->host_nqns, "nqn.host-a nqn.host-b");
        check(facts->subsystems, "");
        fake_tree_free(tree);
}

/* What no port has is not exported; wildcards and loop ports are no addresses. */
static void test_target(void)
{
        FakeTree *tree = fake_tree_new();
        _cleanup_(machine_facts_freep) MachineFacts *facts = NULL;

        fake_port(tree, 1, "tcp", "10.0.0.2", "4420", "nqn.sub-b");
        fake_port(tree, 2, "tcp", "10.0.0.2", "4421", "nqn.sub-a");
        fake_port(tree, 3, "tcp", "0.0.0.0", "4420", "nqn.sub-a");
        fake_port(tree, 4, "tcp", "::", "4422", "nqn.sub-c");
        fake_port(tree, 5, "tcp", "2001:db8::1", "4420", "nqn.sub-a");
        fake_port(tree, 6, "tcp", "10.9.9.9", "4420", NULL);
        fake_port(tree, 7, "loop", "", "", "nqn.loop");
        fake_exported_namespace(tree, "nqn.nowhere", 1, true);
        facts = machine_facts_read(&tree->roots);
        check(facts->subsystems, "nqn.loop nqn.sub-a nqn.sub-b nqn.sub-c");
        check(facts->addresses, "10.0.0.2 2001:db8::1");
        check(facts->host_nqns, "");
        fake_tree_free(tree);
}

int main(int argc, char **argv)
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/machine-facts/nothing", test_nothing);
        g_test_add_func("/machine-facts/host", test_host);
        g_test_add_func("/machine-facts/target", test_target);
        return g_test_run();
}
