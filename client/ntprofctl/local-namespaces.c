/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "local-namespaces.h"

#include <stdio.h>
#include <string.h>

static gboolean is_wanted(const char *subsystem, const char *const *nqns)
{
        g_autofree char *path = g_build_filename(subsystem, "subsysnqn", NULL), *nqn = NULL;

        return g_file_get_contents(path, &nqn, NULL, NULL) && g_strv_contains(nqns, g_strchomp(nqn));
}

/* "nvme6n1": no controller, no path device, no partition. */
static gboolean is_namespace(const char *name)
{
        unsigned instance, namespace;
        int length = 0;

        return sscanf(name, "nvme%un%u%n", &instance, &namespace, &length) == 2 && name[length] == '\0';
}

static gboolean is_controller(const char *name)
{
        unsigned instance;
        int length = 0;

        return sscanf(name, "nvme%u%n", &instance, &length) == 1 && name[length] == '\0';
}

/* With native multipath a namespace is the subsystem's, without it one of a controller. */
static void collect(const char *folder, gboolean controllers, GPtrArray *names)
{
        g_autoptr(GDir) dir = g_dir_open(folder, 0, NULL);
        const char *entry;

        while (dir && (entry = g_dir_read_name(dir))) {
                if (is_namespace(entry) && !g_ptr_array_find_with_equal_func(names, entry, g_str_equal, NULL))
                        g_ptr_array_add(names, g_strdup(entry));
                else if (controllers && is_controller(entry)) {
                        g_autofree char *below = g_build_filename(folder, entry, NULL);
                        collect(below, FALSE, names);
                }
        }
}

static int by_number(gconstpointer a, gconstpointer b)
{
        return strverscmp(*(const char *const *) a, *(const char *const *) b);
}

char **local_namespaces(const char *sysfs, const char *const *nqns)
{
        g_autofree char *class = g_build_filename(sysfs, "class/nvme-subsystem", NULL);
        GPtrArray *names = g_ptr_array_new();
        g_autoptr(GDir) dir = g_dir_open(class, 0, NULL);
        const char *entry;

        while (dir && (entry = g_dir_read_name(dir))) {
                g_autofree char *subsystem = g_build_filename(class, entry, NULL);
                if (is_wanted(subsystem, nqns))
                        collect(subsystem, TRUE, names);
        }
        g_ptr_array_sort(names, by_number);
        g_ptr_array_add(names, NULL);
        return (char **) g_ptr_array_free(names, FALSE);
}
