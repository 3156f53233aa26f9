/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Namespaces by their subsystems' NQNs, in a tree as sysfs has it with native multipath and without. */
#include "local-namespaces.h"

#include <glib/gstdio.h>

static void make_folder(const char *root, const char *path)
{
        g_autofree char *full = g_build_filename(root, path, NULL);

        g_assert_cmpint(g_mkdir_with_parents(full, 0755), ==, 0);
}

static void make_subsystem(const char *root, const char *name, const char *nqn)
{
        g_autofree char *folder = g_strdup_printf("class/nvme-subsystem/%s", name), *text = g_strdup_printf("%s\n", nqn);
        g_autoptr(GError) error = NULL;

        make_folder(root, folder);
        g_autofree char *file = g_build_filename(root, folder, "subsysnqn", NULL);
        g_file_set_contents(file, text, -1, &error);
        g_assert_no_error(error);
}

static void remove_tree(const char *path)
{
        g_autoptr(GDir) dir = g_dir_open(path, 0, NULL);
        const char *entry;

        while (dir && (entry = g_dir_read_name(dir))) {
                g_autofree char *below = g_build_filename(path, entry, NULL);
                remove_tree(below);
        }
        g_assert_cmpint(g_remove(path), ==, 0);
}

static void check(const char *root, const char *nqn, const char *expected)
{
        const char *const nqns[] = { "nqn.2026-01.org.example:elsewhere", nqn, NULL };
        g_auto(GStrv) names = local_namespaces(root, nqns);
        g_autofree char *all = g_strjoinv(" ", names);

        g_assert_cmpstr(all, ==, expected);
}

static void test_tree(void)
{
        g_autofree char *root = g_dir_make_tmp("ntprof-sysfs.XXXXXX", NULL);

        /* native multipath: two paths of each; a partition; the tenth sorts behind the second */
        make_subsystem(root, "nvme-subsys2", "nqn.2026-01.org.example:a");
        make_folder(root, "class/nvme-subsystem/nvme-subsys2/nvme2n10");
        make_folder(root, "class/nvme-subsystem/nvme-subsys2/nvme2n2/nvme2n2p1");
        make_folder(root, "class/nvme-subsystem/nvme-subsys2/nvme2/nvme2c2n2");
        make_folder(root, "class/nvme-subsystem/nvme-subsys2/nvme3/nvme2c3n2");
        /* without */
        make_subsystem(root, "nvme-subsys4", "nqn.2026-01.org.example:b");
        make_folder(root, "class/nvme-subsystem/nvme-subsys4/nvme4/nvme4n1");
        make_folder(root, "class/nvme-subsystem/nvme-subsys4/nvme4/power");
        make_subsystem(root, "nvme-subsys5", "nqn.2026-01.org.example:none");

        check(root, "nqn.2026-01.org.example:a", "nvme2n2 nvme2n10");
        check(root, "nqn.2026-01.org.example:b", "nvme4n1");
        check(root, "nqn.2026-01.org.example:none", "");
        check(root, "nqn.2026-01.org.example", "");
        remove_tree(root);
        check(root, "nqn.2026-01.org.example:a", "");
}

int main(int argc, char *argv[])
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/local-namespaces/tree", test_tree);
        return g_test_run();
}
