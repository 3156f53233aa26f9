/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "drive-hidden.h"

#include <glib.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "local-target.h"
#include "sysfs.h"

/* "nvme1n1" of "/dev/nvme1n1" or of a link to it; NULL: it does not lead to a device of sysfs. */
static char *device_name(const NamespaceRoots *roots, const char *path)
{
        _cleanup_free_ char *below = NULL, *name = NULL;
        char *real;

        if (!g_str_has_prefix(path, "/dev/"))
                return NULL;
        below = g_strconcat(roots->dev, path + strlen("/dev"), NULL);
        real = realpath(below, NULL);
        name = g_path_get_basename(real ?: below);
        free(real);
        return path_exists("%s/class/block/%s", roots->sys, name) ? TAKE_PTR(name) : NULL;
}

static char *disk_of(const NamespaceRoots *roots, const char *name)
{
        _cleanup_free_ char *link = g_strdup_printf("%s/class/block/%s/..", roots->sys, name);
        char *real, *disk;

        if (!path_exists("%s/class/block/%s/partition", roots->sys, name))
                return g_strdup(name);
        real = realpath(link, NULL);
        disk = real ? g_path_get_basename(real) : g_strdup(name);
        free(real);
        return disk;
}

/* A device with queues of requests has T5 and T6 of its own: a dm-multipath of requests, a loop device, too, whatever is below. The
 * bios of nvmet go through the head of NVMe's own multipath as they are. All others clone them, or complete them at once. */
static char *device_hides(const NamespaceRoots *roots, const char *name)
{
        _cleanup_free_ char *disk = disk_of(roots, name);
        unsigned instance, namespace;

        if (path_exists("%s/class/block/%s/mq", roots->sys, disk) || nvme_head_name_parse(disk, &instance, &namespace))
                return NULL;
        if (path_exists("%s/class/block/%s/dm", roots->sys, disk))
                return g_strdup("device-mapper device: its own requests below it are not told apart");
        if (path_exists("%s/class/block/%s/md", roots->sys, disk))
                return g_strdup("md device: its own requests below it are not told apart");
        return g_strdup("the namespace is on a device that makes no requests");
}

char *drive_hidden_read(const NamespaceRoots *roots, const char *subsysnqn, uint32_t nsid)
{
        _cleanup_free_ char *path = NULL, *name = NULL;
        struct stat st;

        /* An NQN is a name below a directory here; one with a slash cannot be a subsystem of configfs. */
        if (strchr(subsysnqn, '/'))
                return NULL;
        if (local_target_is_passthru(roots, subsysnqn))
                return g_strdup("passthru: commands go to the drive's own queue, unchanged");
        if (read_attribute(&path, "%s/nvmet/subsystems/%s/namespaces/%u/device_path", roots->configfs, subsysnqn, nsid) < 0)
                return NULL;

        name = device_name(roots, path);
        if (name)
                return device_hides(roots, name);
        /* A file may be where this service can't look (ProtectHome=). */
        if (g_str_has_prefix(path, "/dev/") || (stat(path, &st) >= 0 && !S_ISREG(st.st_mode)))
                return NULL;
        return *path == '/' ? g_strdup("the namespace is a file") : NULL;
}
