/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/session/local-target.h"

#include <glib.h>

#include "fake-tree.h"

#define NQN "nqn.2026-11.test:sub"
#define HOST "nqn.2026-11.test:host"
#define ELSEWHERE "the target is another machine (%s)"

static FakeTree *connected_to(const char *traddr)
{
        FakeTree *tree = fake_tree_new();

        fake_controller(tree, 6, "tcp", traddr, HOST);
        fake_namespace(tree, 6, 1, NQN, (int[]) { 6, -1 });
        return tree;
}

/* Takes the tree. reason NULL: it is local. */
static void check(FakeTree *tree, const char *reason)
{
        _cleanup_(namespace_info_freep) NamespaceInfo *info = NULL;

        g_assert_cmpint(namespace_resolve(&tree->roots, "nvme6n1", &info, NULL), ==, 0);
        g_assert_cmpstr(info->paths[0].no_target_reason, ==, reason);
        g_assert_cmpint(info->paths[0].local, ==, reason == NULL);
        fake_tree_free(tree);
}

static void test_no_nvmet(void)
{
        check(connected_to("10.0.0.2"), "the target is another machine (10.0.0.2)");
}

/* The address need not be ours: the target's port may be in another network namespace. */
static void test_exported_here(void)
{
        FakeTree *tree = connected_to("10.0.0.2");

        fake_port(tree, 3, "rdma", "10.0.0.2", "4420", NQN);
        fake_port(tree, 7, "tcp", "10.0.0.2", "4420", NQN);
        fake_exported_namespace(tree, NQN, 1, true);
        check(tree, NULL);
}

static void test_another_port(void)
{
        static const char *const others[][3] = {
                { "tcp", "10.0.0.3", "4420" }, { "tcp", "10.0.0.2", "4421" }, { "rdma", "10.0.0.2", "4420" }, { "tcp", "", "4420" },
        };

        for (size_t i = 0; i < ELEMENTSOF(others); i++) {
                FakeTree *tree = connected_to("10.0.0.2");

                fake_port(tree, 1, others[i][0], others[i][1], others[i][2], NQN);
                fake_exported_namespace(tree, NQN, 1, true);
                check(tree, "the target is another machine (10.0.0.2)");
        }
}

static void test_another_subsystem(void)
{
        FakeTree *tree = connected_to("10.0.0.2");

        fake_port(tree, 1, "tcp", "10.0.0.2", "4420", "nqn.2026-11.test:other");
        fake_exported_namespace(tree, "nqn.2026-11.test:other", 1, true);
        check(tree, "the target is another machine (10.0.0.2)");
}

static void test_not_enabled(void)
{
        FakeTree *tree = connected_to("10.0.0.2");

        fake_port(tree, 1, "tcp", "10.0.0.2", "4420", NQN);
        fake_exported_namespace(tree, NQN, 1, false);
        check(tree, "this machine exports subsystem " NQN ", but namespace 1 of it is not enabled");
}

/* Two machines may export the same subsystem, so a wildcard counts only with an address that is ours. */
static void test_wildcards(void)
{
        static const struct {
                const char *traddr, *listens;
                bool local;
        } cases[] = {
                { "127.0.0.1", "0.0.0.0", true }, { "127.8.8.8", "0.0.0.0", true }, { "::1", "::", true },
                { "192.0.2.77", "0.0.0.0", false }, { "2001:db8::77", "::", false }, { "::1", "0:0:0:0:0:0:0:1", true },
                { "2001:db8::77", "2001:0db8:0:0::77", true }, { "fe80::1%eth0", "fe80::1", true }, { "name.example", "0.0.0.0", false },
        };

        for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
                FakeTree *tree = connected_to(cases[i].traddr);
                g_autofree char *elsewhere = g_strdup_printf(ELSEWHERE, cases[i].traddr);

                fake_port(tree, 1, "tcp", cases[i].listens, "4420", NQN);
                fake_exported_namespace(tree, NQN, 1, true);
                g_test_message("%s to %s", cases[i].traddr, cases[i].listens);
                check(tree, cases[i].local ? NULL : elsewhere);
        }
}

static void test_one_of_two_paths(void)
{
        FakeTree *tree = fake_tree_new();
        _cleanup_(namespace_info_freep) NamespaceInfo *info = NULL;

        fake_controller(tree, 6, "tcp", "10.0.0.2", HOST);
        fake_controller(tree, 7, "tcp", "10.0.0.3", HOST);
        fake_namespace(tree, 6, 1, NQN, (int[]) { 6, 7, -1 });
        fake_port(tree, 1, "tcp", "10.0.0.3", "4420", NQN);
        fake_exported_namespace(tree, NQN, 1, true);
        g_assert_cmpint(namespace_resolve(&tree->roots, "nvme6n1", &info, NULL), ==, 0);
        g_assert_false(info->paths[0].local);
        g_assert_true(info->paths[1].local);
        g_assert_cmpstr(info->paths[0].no_target_reason, ==, "the target is another machine (10.0.0.2)");
        g_assert_null(info->paths[1].no_target_reason);
        g_assert_false(info->paths[0].exported_here);
        fake_tree_free(tree);
}

int main(int argc, char **argv)
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/local-target/no-nvmet", test_no_nvmet);
        g_test_add_func("/local-target/exported-here", test_exported_here);
        g_test_add_func("/local-target/another-port", test_another_port);
        g_test_add_func("/local-target/another-subsystem", test_another_subsystem);
        g_test_add_func("/local-target/not-enabled", test_not_enabled);
        g_test_add_func("/local-target/wildcards", test_wildcards);
        g_test_add_func("/local-target/one-of-two-paths", test_one_of_two_paths);
        return g_test_run();
}
