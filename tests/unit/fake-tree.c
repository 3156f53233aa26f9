/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fake-tree.h"

#include <glib/gstdio.h>
#include <stdarg.h>

#define FROM_FORMAT(tree, format)                                               \
        ({                                                                      \
                va_list _ap_;                                                   \
                va_start(_ap_, format);                                         \
                g_autofree char *_path_ = g_strdup_vprintf(format, _ap_);       \
                va_end(_ap_);                                                   \
                g_build_filename((tree)->root, _path_, NULL);                   \
        })

FakeTree *fake_tree_new(void)
{
        FakeTree *tree = g_new0(FakeTree, 1);
        g_autofree char *made = g_dir_make_tmp("ntprof-tree.XXXXXX", NULL);

        g_assert_nonnull(made);
        tree->root = realpath(made, NULL);
        tree->sys = g_build_filename(tree->root, "sys", NULL);
        tree->dev = g_build_filename(tree->root, "dev", NULL);
        tree->configfs = g_build_filename(tree->root, "config", NULL);
        tree->roots = (NamespaceRoots) { .sys = tree->sys, .dev = tree->dev, .configfs = tree->configfs };
        fake_directory(tree, "sys/block");
        fake_directory(tree, "sys/class/block");
        fake_directory(tree, "dev");
        return tree;
}

static void remove_all(const char *path)
{
        GDir *dir = g_file_test(path, G_FILE_TEST_IS_SYMLINK) ? NULL : g_dir_open(path, 0, NULL);
        const char *name;

        while (dir && (name = g_dir_read_name(dir))) {
                g_autofree char *child = g_build_filename(path, name, NULL);

                remove_all(child);
        }
        if (dir)
                g_dir_close(dir);
        g_assert_cmpint(g_remove(path), ==, 0);
}

void fake_tree_free(FakeTree *tree)
{
        remove_all(tree->root);
        g_free(tree->root);
        g_free(tree->sys);
        g_free(tree->dev);
        g_free(tree->configfs);
        g_free(tree);
}

static void make_parents(const char *path)
{
        g_autofree char *parent = g_path_get_dirname(path);

        g_assert_cmpint(g_mkdir_with_parents(parent, 0700), ==, 0);
}

void fake_file(FakeTree *tree, const char *contents, const char *path_format, ...)
{
        g_autofree char *path = FROM_FORMAT(tree, path_format), *line = g_strconcat(contents, "\n", NULL);

        make_parents(path);
        g_assert_true(g_file_set_contents(path, line, -1, NULL));
}

void fake_directory(FakeTree *tree, const char *path_format, ...)
{
        g_autofree char *path = FROM_FORMAT(tree, path_format);

        g_assert_cmpint(g_mkdir_with_parents(path, 0700), ==, 0);
}

void fake_link(FakeTree *tree, const char *target, const char *path_format, ...)
{
        g_autofree char *path = FROM_FORMAT(tree, path_format);

        make_parents(path);
        g_assert_cmpint(symlink(target, path), ==, 0);
}

const char *fake_below(FakeTree *tree, const char *name)
{
        g_autofree char *path = g_build_filename(tree->root, name, NULL);

        return g_intern_string(path);
}

void fake_remove(FakeTree *tree, const char *path_format, ...)
{
        g_autofree char *path = FROM_FORMAT(tree, path_format);

        remove_all(path);
}

void fake_controller(FakeTree *tree, int controller, const char *transport, const char *traddr, const char *hostnqn)
{
        g_autofree char *at = g_strdup_printf("sys/devices/ctl/nvme%d", controller),
                        *address = traddr ? g_strdup_printf("traddr=%s,trsvcid=4420,src_addr=10.0.0.1", traddr) : g_strdup("0000:01:00.0");

        fake_file(tree, transport, "%s/transport", at);
        fake_file(tree, address, "%s/address", at);
        fake_file(tree, "live", "%s/state", at);
        fake_file(tree, "7", "%s/cntlid", at);
        fake_file(tree, "nqn.2026-11.test:sub", "%s/subsysnqn", at);
        if (hostnqn)
                fake_file(tree, hostnqn, "%s/hostnqn", at);
        g_free(at);
        at = g_strdup_printf("../../devices/ctl/nvme%d", controller);
        fake_link(tree, at, "sys/class/nvme/nvme%d", controller);
}

/* A whole disk at a place below sys/devices, linked as the kernel does. */
static void fake_disk(FakeTree *tree, const char *place, const char *disk, int minor)
{
        g_autofree char *dev = g_strdup_printf("259:%d", minor), *block = g_strdup_printf("../devices/%s/%s", place, disk),
                        *class = g_strdup_printf("../../devices/%s/%s", place, disk),
                        *stat = g_strdup("  10 0 80 5 20 0 160 15 0 30 120 2 0 16 1 3 4");

        fake_file(tree, dev, "sys/devices/%s/%s/dev", place, disk);
        fake_file(tree, "1", "sys/devices/%s/%s/nsid", place, disk);
        fake_file(tree, "4096", "sys/devices/%s/%s/queue/logical_block_size", place, disk);
        fake_file(tree, "1", "sys/devices/%s/%s/queue/iostats", place, disk);
        fake_file(tree, stat, "sys/devices/%s/%s/stat", place, disk);
        fake_link(tree, block, "sys/block/%s", disk);
        fake_link(tree, class, "sys/class/block/%s", disk);
}

void fake_namespace(FakeTree *tree, int subsystem, int n, const char *nqn, const int *controllers)
{
        g_autofree char *head = g_strdup_printf("nvme%dn%d", subsystem, n), *place = g_strdup_printf("subsystem/nvme-subsys%d", subsystem);

        fake_file(tree, nqn, "sys/devices/%s/subsysnqn", place);
        fake_disk(tree, place, head, subsystem);
        fake_link(tree, "..", "sys/devices/%s/%s/device", place, head);
        fake_file(tree, "", "dev/%s", head);
        for (; *controllers >= 0; controllers++) {
                g_autofree char *disk = g_strdup_printf("nvme%dc%dn%d", subsystem, *controllers, n),
                                *at = g_strdup_printf("ctl/nvme%d", *controllers), *device = g_strdup_printf("../../nvme%d", *controllers);

                fake_disk(tree, at, disk, 100 + *controllers);
                fake_link(tree, device, "sys/devices/%s/%s/device", at, disk);
        }
}

void fake_single_namespace(FakeTree *tree, int controller, int n)
{
        g_autofree char *disk = g_strdup_printf("nvme%dn%d", controller, n), *at = g_strdup_printf("ctl/nvme%d", controller),
                        *device = g_strdup_printf("../../nvme%d", controller);

        fake_disk(tree, at, disk, controller);
        fake_link(tree, device, "sys/devices/%s/%s/device", at, disk);
        fake_file(tree, "", "dev/%s", disk);
}

void fake_port(FakeTree *tree, int port, const char *trtype, const char *traddr, const char *trsvcid, const char *nqn)
{
        fake_file(tree, trtype, "config/nvmet/ports/%d/addr_trtype", port);
        fake_file(tree, traddr, "config/nvmet/ports/%d/addr_traddr", port);
        fake_file(tree, trsvcid, "config/nvmet/ports/%d/addr_trsvcid", port);
        fake_directory(tree, "config/nvmet/ports/%d/subsystems", port);
        if (nqn) {
                g_autofree char *target = g_strdup_printf("../../../../nvmet/subsystems/%s", nqn);

                fake_directory(tree, "config/nvmet/subsystems/%s", nqn);
                fake_link(tree, target, "config/nvmet/ports/%d/subsystems/%s", port, nqn);
        }
}

void fake_exported_namespace(FakeTree *tree, const char *nqn, int nsid, bool enabled)
{
        fake_file(tree, enabled ? "1" : "0", "config/nvmet/subsystems/%s/namespaces/%d/enable", nqn, nsid);
}
