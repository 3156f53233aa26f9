/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/session/iostat.h"

#include <glib.h>

#include "fake-tree.h"

typedef struct Fixture {
        FakeTree *tree;
        NamespaceInfo *info;
        IoStat stat;
} Fixture;

static void set_up(Fixture *f, gconstpointer data)
{
        f->tree = fake_tree_new();
        fake_controller(f->tree, 6, "tcp", "10.0.0.2", "nqn.host");
        fake_controller(f->tree, 7, "tcp", "10.0.0.3", "nqn.host");
        fake_namespace(f->tree, 6, 1, "nqn.sub", (int[]) { 6, 7, -1 });
        g_assert_cmpint(namespace_resolve(&f->tree->roots, "nvme6n1", &f->info, NULL), ==, 0);
}

static void tear_down(Fixture *f, gconstpointer data)
{
        iostat_clear(&f->stat);
        namespace_info_free(f->info);
        fake_tree_free(f->tree);
}

/* Summed over the paths, not the head; reads, writes and discards. What a flush takes is in the I/O that asked for it. */
static void test_sum(Fixture *f, gconstpointer data)
{
        fake_file(f->tree, "1 0 0 0 2 0 0 0 0 0 1000 4 0 0 0 8 70", "sys/block/nvme6c6n1/stat");
        fake_file(f->tree, "       100        0        0        0      200        0        0        0        0        0       30",
                  "sys/block/nvme6c7n1/stat");
        iostat_read(&f->tree->roots, f->info, &f->stat);
        g_assert_true(f->stat.valid);
        g_assert_cmpuint(f->stat.ios, ==, 1 + 2 + 4 + 300);
        g_assert_cmpuint(f->stat.weighted_ms, ==, 960);
}

static void test_off(Fixture *f, gconstpointer data)
{
        fake_file(f->tree, "0", "sys/block/nvme6c7n1/queue/iostats");
        iostat_read(&f->tree->roots, f->info, &f->stat);
        g_assert_false(f->stat.valid);
        g_assert_cmpstr(f->stat.reason, ==, "nvme6c7n1: the kernel does not count (queue/iostats is 0)");
}

static void test_gone(Fixture *f, gconstpointer data)
{
        fake_remove(f->tree, "sys/block/nvme6c6n1");
        iostat_read(&f->tree->roots, f->info, &f->stat);
        g_assert_false(f->stat.valid);
        g_assert_cmpstr(f->stat.reason, ==, "nvme6c6n1: its counts cannot be read (No such file or directory)");
}

static void test_not_understood(Fixture *f, gconstpointer data)
{
        fake_file(f->tree, "1 2 3", "sys/block/nvme6c6n1/stat");
        iostat_read(&f->tree->roots, f->info, &f->stat);
        g_assert_false(f->stat.valid);
        g_assert_cmpstr(f->stat.reason, ==, "nvme6c6n1: its counts are not understood");
}

int main(int argc, char **argv)
{
        g_test_init(&argc, &argv, NULL);
        g_test_add("/iostat/sum", Fixture, NULL, set_up, test_sum, tear_down);
        g_test_add("/iostat/off", Fixture, NULL, set_up, test_off, tear_down);
        g_test_add("/iostat/gone", Fixture, NULL, set_up, test_gone, tear_down);
        g_test_add("/iostat/not-understood", Fixture, NULL, set_up, test_not_understood, tear_down);
        return g_test_run();
}
