/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "iostat.h"

#include <glib.h>
#include <inttypes.h>
#include <stdio.h>

#include "sysfs.h"

void iostat_clear(IoStat *stat)
{
        g_free(stat->reason);
        *stat = (IoStat) {};
}

static int iostat_add_disk(const NamespaceRoots *roots, const char *disk, IoStat *stat)
{
        _cleanup_free_ char *line = NULL, *iostats = NULL;
        uint64_t f[17] = {};
        char **fields;
        int r;

        r = read_attribute(&iostats, "%s/block/%s/queue/iostats", roots->sys, disk);
        if (r >= 0 && g_str_equal(iostats, "0")) {
                stat->reason = g_strdup_printf("%s: the kernel does not count (queue/iostats is 0)", disk);
                return -ENODATA;
        }

        r = read_attribute(&line, "%s/block/%s/stat", roots->sys, disk);
        if (r < 0) {
                stat->reason = g_strdup_printf("%s: its counts cannot be read (%s)", disk, g_strerror(-r));
                return r;
        }

        /* Documentation/block/stat.rst: 11 fields, 15 since Linux 4.18, 17 since 5.5 */
        fields = g_strsplit_set(line, " \t", -1);
        r = 0;
        for (char **field = fields; *field && r < (int) ELEMENTSOF(f); field++)
                if (**field)
                        f[r++] = g_ascii_strtoull(*field, NULL, 10);
        g_strfreev(fields);
        if (r < 11) {
                stat->reason = g_strdup_printf("%s: its counts are not understood", disk);
                return -EBADMSG;
        }

        /* Flushes, the last two, are left out: the I/O that asked for one is counted too, and its time has the flush's in it. */
        stat->ios += f[0] + f[4] + f[11];
        stat->weighted_ms += f[10] > f[16] ? f[10] - f[16] : 0;
        return 0;
}

void iostat_read(const NamespaceRoots *roots, const NamespaceInfo *info, IoStat *ret)
{
        *ret = (IoStat) {};
        for (size_t i = 0; i < info->n_paths; i++)
                if (iostat_add_disk(roots, info->paths[i].disk, ret) < 0)
                        return;
        ret->valid = true;
}
