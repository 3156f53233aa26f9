/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/session/namespace.h"

#include <glib.h>

#include "fake-tree.h"

#define NQN "nqn.2026-11.test:sub"
#define HOST "nqn.2026-11.test:host"

static NamespaceInfo *resolve(FakeTree *tree, const char *name)
{
        _cleanup_error_ Error error = ERROR_INIT;
        NamespaceInfo *info = NULL;
        int r;

        r = namespace_resolve(&tree->roots, name, &info, &error);
        if (r < 0)
                g_error("%s: %s", name, error.message);
        g_assert_cmpint(r, ==, 0);
        return info;
}

static void refused(FakeTree *tree, const char *name, NtprofError code, const char *message)
{
        _cleanup_error_ Error error = ERROR_INIT;
        NamespaceInfo *info = NULL;
        int r;

        r = namespace_resolve(&tree->roots, name, &info, &error);
        g_assert_cmpstr(error.message, ==, message);
        g_assert_cmpint(error.code, ==, code);
        g_assert_cmpint(r, ==, -ntprof_error_errno(code));
        g_assert_null(info);
}

static FakeTree *usual(void)
{
        FakeTree *tree = fake_tree_new();

        fake_controller(tree, 6, "tcp", "10.0.0.2", HOST);
        fake_controller(tree, 10, "tcp", "10.0.1.2", HOST);
        fake_namespace(tree, 6, 1, NQN, (int[]) { 10, 6, -1 });
        fake_controller(tree, 0, "pcie", NULL, NULL);
        fake_single_namespace(tree, 0, 1);
        return tree;
}

static void check_usual(const NamespaceInfo *info)
{
        g_assert_cmpstr(info->name, ==, "nvme6n1");
        g_assert_cmpuint(info->major, ==, 259);
        g_assert_cmpuint(info->minor, ==, 6);
        g_assert_cmpuint(info->nsid, ==, 1);
        g_assert_cmpuint(info->block_size, ==, 4096);
        g_assert_cmpstr(info->subsystem_nqn, ==, NQN);
        g_assert_cmpuint(info->n_paths, ==, 2);
        g_assert_cmpstr(info->paths[0].disk, ==, "nvme6c6n1");
        g_assert_cmpstr(info->paths[0].controller, ==, "nvme6");
        g_assert_cmpstr(info->paths[0].transport, ==, "tcp");
        g_assert_cmpstr(info->paths[0].traddr, ==, "10.0.0.2");
        g_assert_cmpstr(info->paths[0].trsvcid, ==, "4420");
        g_assert_cmpstr(info->paths[0].hostnqn, ==, HOST);
        g_assert_cmpint(info->paths[0].cntlid, ==, 7);
        g_assert_cmpstr(info->paths[0].state, ==, "live");
        g_assert_false(info->paths[0].local);
        g_assert_cmpstr(info->paths[1].disk, ==, "nvme6c10n1");
        g_assert_cmpstr(info->paths[1].traddr, ==, "10.0.1.2");
        g_assert_cmpstr(info->paths[0].no_target_reason, ==, "the target is another machine (10.0.0.2)");
}

static void test_every_name_of_it(void)
{
        static const char *const names[] = { "nvme6n1", "/dev/nvme6n1", "nvme6c6n1", "nvme6c10n1", "/dev/nvme6c6n1",
                                             "/dev/disk/by-id/nvme-Linux_1234" };
        FakeTree *tree = usual();

        fake_link(tree, "../../nvme6n1", "dev/disk/by-id/nvme-Linux_1234");
        for (size_t i = 0; i < ELEMENTSOF(names); i++) {
                _cleanup_(namespace_info_freep) NamespaceInfo *info = resolve(tree, names[i]);

                check_usual(info);
        }
        fake_tree_free(tree);
}

static void test_copy(void)
{
        FakeTree *tree = usual();
        NamespaceInfo *info = resolve(tree, "nvme6n1");
        _cleanup_(namespace_info_freep) NamespaceInfo *copy = namespace_info_copy(info);

        namespace_info_free(info);
        check_usual(copy);
        fake_tree_free(tree);
}

static void test_without_native_multipath(void)
{
        FakeTree *tree = fake_tree_new();
        _cleanup_(namespace_info_freep) NamespaceInfo *info = NULL;

        fake_controller(tree, 3, "tcp", "fe80::1%eth0", HOST);
        fake_single_namespace(tree, 3, 2);
        info = resolve(tree, "nvme3n2");
        g_assert_cmpuint(info->n_paths, ==, 1);
        g_assert_cmpstr(info->paths[0].disk, ==, "nvme3n2");
        g_assert_cmpstr(info->paths[0].controller, ==, "nvme3");
        g_assert_cmpstr(info->paths[0].traddr, ==, "fe80::1%eth0");
        fake_tree_free(tree);
}

static void test_other_things(void)
{
        FakeTree *tree = usual();

        fake_file(tree, "1", "sys/devices/subsystem/nvme-subsys6/nvme6n1/nvme6n1p1/partition");
        fake_link(tree, "../../devices/subsystem/nvme-subsys6/nvme6n1/nvme6n1p1", "sys/class/block/nvme6n1p1");
        fake_file(tree, "", "dev/nvme6n1p1");
        fake_directory(tree, "sys/class/block/sda");
        fake_file(tree, "", "dev/sda");
        fake_directory(tree, "sys/class/block/dm-0/slaves/nvme6n1");
        fake_file(tree, "", "dev/dm-0");
        fake_link(tree, "../dm-0", "dev/mapper/volume");
        fake_controller(tree, 11, "tcp", "10.0.0.3", HOST);

        refused(tree, "nvme0n1", NTPROF_ERROR_NOT_FABRICS, "nvme0n1: PCIe namespace, not NVMe-oF (transport pcie)");
        refused(tree, "nvme9n9", NTPROF_ERROR_NO_SUCH_NAMESPACE, "nvme9n9: no such block device");
        refused(tree, "/dev/nvme9n9", NTPROF_ERROR_NO_SUCH_NAMESPACE, "nvme9n9: no such block device");
        refused(tree, "nvme6c9n1", NTPROF_ERROR_NO_SUCH_NAMESPACE, "nvme6c9n1: no such block device");
        refused(tree, "/dev/disk/by-id/none", NTPROF_ERROR_NO_SUCH_NAMESPACE, "\"/dev/disk/by-id/none\": no such device");
        refused(tree, "nvme6n1p1", NTPROF_ERROR_NO_SUCH_NAMESPACE, "nvme6n1p1 is a partition of nvme6n1: give the namespace");
        refused(tree, "/dev/nvme6n1p1", NTPROF_ERROR_NO_SUCH_NAMESPACE, "nvme6n1p1 is a partition of nvme6n1: give the namespace");
        refused(tree, "/dev/sda", NTPROF_ERROR_NO_SUCH_NAMESPACE, "sda is not an NVMe namespace");
        refused(tree, "/dev/mapper/volume", NTPROF_ERROR_NO_SUCH_NAMESPACE, "dm-0 is not an NVMe namespace; it lies on nvme6n1");
        refused(tree, "nvme6", NTPROF_ERROR_NO_SUCH_NAMESPACE, "nvme6 is a controller; its namespaces: nvme6n1");
        refused(tree, "nvme10", NTPROF_ERROR_NO_SUCH_NAMESPACE, "nvme10 is a controller; its namespaces: nvme6n1");
        refused(tree, "nvme11", NTPROF_ERROR_NO_SUCH_NAMESPACE, "nvme11 is a controller; its namespaces: none");
        refused(tree, "nvme0", NTPROF_ERROR_NO_SUCH_NAMESPACE, "nvme0 is a controller; its namespaces: nvme0n1");
        refused(tree, "ng6n1", NTPROF_ERROR_NO_SUCH_NAMESPACE,
                "ng6n1 is the character device of a namespace: give the block device, nvme6n1");
        fake_tree_free(tree);
}

static void test_other_transports(void)
{
        FakeTree *tree = usual();

        fake_controller(tree, 2, "fc", "nn-0x1000000044001123:pn-0x2000000055001123", HOST);
        fake_namespace(tree, 2, 1, NQN, (int[]) { 2, -1 });
        refused(tree, "nvme2n1", NTPROF_ERROR_TRANSPORT_UNSUPPORTED,
                "nvme2n1: transport fc (controller nvme2) cannot be measured, only tcp, rdma");

        /* one subsystem by two transports */
        fake_controller(tree, 4, "tcp", "10.0.0.2", HOST);
        fake_controller(tree, 5, "fc", "nn-0x1:pn-0x2", HOST);
        fake_namespace(tree, 4, 1, NQN, (int[]) { 4, 5, -1 });
        refused(tree, "nvme4n1", NTPROF_ERROR_TRANSPORT_UNSUPPORTED,
                "nvme4n1: transport fc (controller nvme5) cannot be measured, only tcp, rdma");

        /* a drive with two PCIe ports has a head too */
        fake_controller(tree, 20, "pcie", NULL, NULL);
        fake_namespace(tree, 20, 1, NQN, (int[]) { 20, -1 });
        refused(tree, "nvme20n1", NTPROF_ERROR_NOT_FABRICS, "nvme20n1: PCIe namespace, not NVMe-oF (transport pcie)");
        fake_tree_free(tree);
}

static void test_hostile_names(void)
{
        FakeTree *tree = usual();
        g_autofree char *long_name = g_strnfill(100000, 'n'), *long_path = g_strconcat("/dev/", long_name, NULL),
                        *outside = g_build_filename(tree->root, "outside", NULL);

        fake_file(tree, "", "outside");
        fake_link(tree, outside, "dev/escape");
        refused(tree, "", NTPROF_ERROR_INVALID_OPTION, "namespace: \"\" cannot be the name of a device: give one like nvme6n1");
        refused(tree, ".", NTPROF_ERROR_INVALID_OPTION, "namespace: \".\" cannot be the name of a device: give one like nvme6n1");
        refused(tree, "nvme6n1\n", NTPROF_ERROR_INVALID_OPTION,
                "namespace: \"nvme6n1\\n\" cannot be the name of a device: give one like nvme6n1");
        refused(tree, "nvme6n1\303\244", NTPROF_ERROR_INVALID_OPTION,
                "namespace: \"nvme6n1\\303\\244\" cannot be the name of a device: give one like nvme6n1");
        refused(tree, long_name, NTPROF_ERROR_INVALID_OPTION,
                "namespace: \"nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn...\" cannot be the name of a device: "
                "give one like nvme6n1");
        refused(tree, long_path, NTPROF_ERROR_INVALID_OPTION,
                "namespace: \"/dev/nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn...\" is not a path below /dev: give a "
                "device like nvme6n1 or /dev/nvme6n1");
        for (const char *const *name = (const char *const[]) { "../..", "/etc/passwd", "/dev/../etc/passwd", "/dev/..", "a/b",
                                                               "/devil", NULL }; *name; name++) {
                _cleanup_error_ Error error = ERROR_INIT;
                NamespaceInfo *info;

                g_assert_cmpint(namespace_resolve(&tree->roots, *name, &info, &error), ==, -EINVAL);
                g_assert_true(g_str_has_suffix(error.message, "is not a path below /dev: give a device like nvme6n1 or /dev/nvme6n1"));
        }
        /* A link that leads out tells nothing of what is there. */
        refused(tree, "/dev/escape", NTPROF_ERROR_NO_SUCH_NAMESPACE, "\"/dev/escape\" does not lead to a block device in /dev");
        refused(tree, "/dev/", NTPROF_ERROR_NO_SUCH_NAMESPACE, "\"/dev/\" does not lead to a block device in /dev");
        fake_tree_free(tree);
}

static void test_broken_sysfs(void)
{
        FakeTree *tree = usual();

        fake_file(tree, "0", "sys/block/nvme6n1/nsid");
        refused(tree, "nvme6n1", NTPROF_ERROR_NO_SUCH_NAMESPACE,
                "nvme6n1: its namespace id cannot be read: Numerical result out of range");
        fake_file(tree, "x", "sys/block/nvme6n1/nsid");
        refused(tree, "nvme6n1", NTPROF_ERROR_NO_SUCH_NAMESPACE, "nvme6n1: its namespace id cannot be read: Bad message");
        fake_file(tree, "5", "sys/block/nvme6n1/nsid");

        /* it reconnects: no cntlid, no address field of it is missed */
        fake_remove(tree, "sys/devices/ctl/nvme6/cntlid");
        {
                _cleanup_(namespace_info_freep) NamespaceInfo *info = resolve(tree, "nvme6n1");

                g_assert_cmpint(info->paths[0].cntlid, ==, -1);
                g_assert_cmpuint(info->nsid, ==, 5);
        }
        fake_remove(tree, "sys/devices/ctl/nvme6/hostnqn");
        refused(tree, "nvme6n1", NTPROF_ERROR_NO_SUCH_NAMESPACE, "nvme6n1: controller nvme6 does not tell its address and host NQN");
        fake_remove(tree, "sys/block/nvme6c6n1");
        fake_remove(tree, "sys/block/nvme6c10n1");
        refused(tree, "nvme6n1", NTPROF_ERROR_NO_SUCH_NAMESPACE, "nvme6n1: no controller has a path to it at the moment");
        fake_tree_free(tree);
}

static void test_too_many_paths(void)
{
        FakeTree *tree = fake_tree_new();
        int controllers[] = { 0, 1, 2, 3, 4, 5, 6, 7, 8, -1 };

        for (int i = 0; i < 9; i++)
                fake_controller(tree, i, "tcp", "10.0.0.2", HOST);
        fake_namespace(tree, 0, 1, NQN, controllers);
        refused(tree, "nvme0n1", NTPROF_ERROR_CAPTURE_FAILED, "nvme0n1 has 9 paths, at most 8 can be recorded");
        fake_tree_free(tree);
}

static void test_names(void)
{
        unsigned a, b, c;

        g_assert_true(nvme_head_name_parse("nvme12n345", &a, &b));
        g_assert_cmpuint(a, ==, 12);
        g_assert_cmpuint(b, ==, 345);
        g_assert_true(nvme_path_name_parse("nvme1c2n3", &a, &b, &c));
        g_assert_cmpuint(b, ==, 2);
        for (const char *const *name = (const char *const[]) { "nvme", "nvme1", "nvmen1", "nvme1n", "nvme1n1p1", "nvme-1n1", "nvme 1n1",
                                                               "nvme1n99999999999999999999", "xnvme1n1", "nvme1c1n1", "", NULL }; *name; name++)
                g_assert_false(nvme_head_name_parse(*name, &a, &b));
        g_assert_false(nvme_path_name_parse("nvme1n1", &a, &b, &c));
        g_assert_false(nvme_path_name_parse("nvme1c1n1x", &a, &b, &c));
}

/* Part of what two machines agree on: tests/bus/make_replay.py computes the same. */
static void test_seed_is_pinned(void)
{
        g_assert_cmphex(namespace_seed("nqn.2014-08.org.nvmexpress:uuid:0b6bd2a5-2d2c-4c0c-9f4f-4a8d6f2f7a01"), ==, 1036035476);
        g_assert_cmphex(namespace_seed("a"), !=, namespace_seed("b"));
}

int main(int argc, char **argv)
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/namespace/every-name-of-it", test_every_name_of_it);
        g_test_add_func("/namespace/copy", test_copy);
        g_test_add_func("/namespace/without-native-multipath", test_without_native_multipath);
        g_test_add_func("/namespace/other-things", test_other_things);
        g_test_add_func("/namespace/other-transports", test_other_transports);
        g_test_add_func("/namespace/hostile-names", test_hostile_names);
        g_test_add_func("/namespace/broken-sysfs", test_broken_sysfs);
        g_test_add_func("/namespace/too-many-paths", test_too_many_paths);
        g_test_add_func("/namespace/names", test_names);
        g_test_add_func("/namespace/seed-is-pinned", test_seed_is_pinned);
        return g_test_run();
}
