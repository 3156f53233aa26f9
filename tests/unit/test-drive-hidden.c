/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/session/drive-hidden.h"

#include <glib.h>
#include <glib/gstdio.h>

#include "fake-tree.h"

#define NQN "nqn.2026-11.test:sub"

/* nvmet exports namespace 1 on it. */
static FakeTree *on(const char *device_path)
{
        FakeTree *tree = fake_tree_new();

        fake_exported_namespace(tree, NQN, 1, true);
        fake_file(tree, device_path, "config/nvmet/subsystems/" NQN "/namespaces/1/device_path");
        fake_file(tree, "0", "config/nvmet/subsystems/" NQN "/passthru/enable");
        return tree;
}

/* kind: the directory that says what it is, "mq", "dm", "md". */
static void add_disk(FakeTree *tree, const char *disk, const char *kind)
{
        g_autofree char *link = g_strdup_printf("../../devices/virtual/block/%s", disk);

        fake_directory(tree, "sys/devices/virtual/block/%s/%s", disk, kind);
        fake_link(tree, link, "sys/class/block/%s", disk);
        fake_file(tree, "", "dev/%s", disk);
}

static void add_partition(FakeTree *tree, const char *disk, const char *partition)
{
        g_autofree char *link = g_strdup_printf("../../devices/virtual/block/%s/%s", disk, partition);

        fake_file(tree, "1", "sys/devices/virtual/block/%s/%s/partition", disk, partition);
        fake_link(tree, link, "sys/class/block/%s", partition);
        fake_file(tree, "", "dev/%s", partition);
}

/* Takes the tree. */
static void check(FakeTree *tree, const char *expected)
{
        g_autofree char *why = drive_hidden_read(&tree->roots, NQN, 1);

        g_assert_cmpstr(why, ==, expected);
        fake_tree_free(tree);
}

static void test_drives(void)
{
        FakeTree *tree = on("/dev/vdb");

        add_disk(tree, "vdb", "mq");
        check(tree, NULL);

        tree = on("/dev/vdb1");
        add_disk(tree, "vdb", "mq");
        add_partition(tree, "vdb", "vdb1");
        check(tree, NULL);

        /* NVMe's own multipath hands nvmet's bios on as they are */
        tree = on("/dev/nvme1n1");
        add_disk(tree, "nvme1n1", "size");
        check(tree, NULL);

        /* a loop device has a queue, whatever its file is on */
        tree = on("/dev/loop0");
        add_disk(tree, "loop0", "mq");
        fake_file(tree, "/srv/image", "sys/devices/virtual/block/loop0/loop/backing_file");
        check(tree, NULL);

        /* so has a dm-multipath of requests */
        tree = on("/dev/dm-1");
        add_disk(tree, "dm-1", "mq");
        fake_directory(tree, "sys/devices/virtual/block/dm-1/dm");
        check(tree, NULL);
}

static void test_mapped(void)
{
        static const char *const dm = "device-mapper device: its own requests below it are not told apart",
                                 *const md = "md device: its own requests below it are not told apart";
        FakeTree *tree = on("/dev/dm-0");

        add_disk(tree, "dm-0", "dm");
        check(tree, dm);

        tree = on("/dev/mapper/vg-lv");
        add_disk(tree, "dm-0", "dm");
        fake_link(tree, "../dm-0", "dev/mapper/vg-lv");
        check(tree, dm);

        tree = on("/dev/md0");
        add_disk(tree, "md0", "md");
        check(tree, md);

        tree = on("/dev/md0p1");
        add_disk(tree, "md0", "md");
        add_partition(tree, "md0", "md0p1");
        check(tree, md);

        tree = on("/dev/zram0");
        add_disk(tree, "zram0", "size");
        check(tree, "the namespace is on a device that makes no requests");
}

static void test_files(void)
{
        FakeTree *tree = on("");
        g_autofree char *image = g_build_filename(tree->root, "image", NULL);

        fake_file(tree, "", "image");
        fake_file(tree, image, "config/nvmet/subsystems/" NQN "/namespaces/1/device_path");
        check(tree, "the namespace is a file");

        /* where the service can't look; nvmet could */
        check(on("/home/alice/image"), "the namespace is a file");

        tree = on("");
        fake_directory(tree, "image");
        fake_file(tree, tree->root, "config/nvmet/subsystems/" NQN "/namespaces/1/device_path");
        check(tree, NULL);
}

static void test_passthru(void)
{
        FakeTree *tree = fake_tree_new();

        fake_file(tree, "1", "config/nvmet/subsystems/" NQN "/passthru/enable");
        check(tree, "passthru: commands go to the drive's own queue, unchanged");
}

static void test_not_known(void)
{
        FakeTree *tree = fake_tree_new();
        g_autofree char *why = drive_hidden_read(&tree->roots, "nqn/../../../etc", 1);

        g_assert_null(why);
        check(tree, NULL);                      /* no nvmet */
        check(on(""), NULL);
        check(on("(null)"), NULL);
        check(on("/dev/gone"), NULL);
}

/* What a session's own machine exports: of a path that is local only. */
static void test_session(void)
{
        for (int local = 0; local < 2; local++) {
                _cleanup_(namespace_info_freep) NamespaceInfo *info = NULL;
                FakeTree *tree = fake_tree_new();

                fake_controller(tree, 6, "tcp", "10.0.0.2", "nqn.2026-11.test:host");
                fake_namespace(tree, 6, 1, NQN, (int[]) { 6, -1 });
                fake_port(tree, 1, "tcp", local ? "10.0.0.2" : "10.0.0.3", "4420", NQN);
                fake_file(tree, "1", "config/nvmet/subsystems/" NQN "/passthru/enable");
                g_assert_cmpint(namespace_resolve(&tree->roots, "nvme6n1", &info, NULL), ==, 0);
                g_assert_cmpint(info->paths[0].local, ==, local);
                g_assert_cmpstr(info->drive_hidden, ==,
                                local ? "passthru: commands go to the drive's own queue, unchanged" : NULL);
                fake_tree_free(tree);
        }
}

int main(int argc, char **argv)
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/drive-hidden/drives", test_drives);
        g_test_add_func("/drive-hidden/mapped", test_mapped);
        g_test_add_func("/drive-hidden/files", test_files);
        g_test_add_func("/drive-hidden/passthru", test_passthru);
        g_test_add_func("/drive-hidden/not-known", test_not_known);
        g_test_add_func("/drive-hidden/session", test_session);
        return g_test_run();
}
