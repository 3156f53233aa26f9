/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the kernel itself counts for a namespace: the independent check of what ntprof measured. */
#pragma once

#include "namespace.h"

typedef struct IoStat {
        bool valid;
        char *reason;                   /* when not valid */
        uint64_t ios;                   /* completed: read, write, discard, flush */
        uint64_t weighted_ms;           /* sum over all I/Os of their time in flight */
} IoStat;

void iostat_clear(IoStat *stat);
/* Summed over the namespace's path devices: /sys/block/DISK/stat. Never fails: what prevents it is ret->reason. */
void iostat_read(const NamespaceRoots *roots, const NamespaceInfo *info, IoStat *ret);
