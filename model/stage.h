/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Stages of a command and their arithmetic. docs/model.md has the formulas and why they need no common clock.
 */
#pragma once

#include <glib.h>
#include <linux/types.h>

#include "../bpf/record.h"

G_BEGIN_DECLS

typedef enum {
        NP_STAGE_HOST_BLOCK,
        NP_STAGE_HOST_DRIVER,
        NP_STAGE_NETWORK,
        NP_STAGE_TARGET_DRIVER,
        NP_STAGE_STORAGE,
        NP_STAGE_COUNT,
        /* of a command without its target record: stands for the last three */
        NP_STAGE_NETWORK_TARGET = NP_STAGE_COUNT,
        NP_STAGE_COUNT_ALL,
} NpStage;

/* One row a stage: the only list of them. */
typedef struct {
        NpStage stage;
        const char *id;         /* "host_block", as in the JSON report */
        const char *name;       /* "host driver (%s)": %s is the driver's name, e.g. nvme-tcp */
} NpStageInfo;

const NpStageInfo *np_stage_info(NpStage stage);

/* Why a record can't be used; NP_DEFECT_NONE when it can. */
typedef enum {
        NP_DEFECT_NONE,
        NP_DEFECT_CANCELLED,            /* NP_F_CANCELLED */
        NP_DEFECT_RETRIED,              /* NP_F_RETRIED */
        NP_DEFECT_BOUNDARY_MISSING,     /* a boundary this kind of command must have is 0 (a program missed it) */
        NP_DEFECT_OUT_OF_ORDER,         /* boundaries of one machine are not in order */
        NP_DEFECT_COUNT,
} NpDefect;

NpDefect np_host_record_defect(const struct np_host_record *host);
NpDefect np_target_record_defect(const struct np_target_record *target);

/* Stages of one command, ns, signed: the network of a command over loopback can come out slightly below zero. They add
 * up to latency_ns = H8 - H0 exactly. Without target, stage_ns[NP_STAGE_NETWORK] holds network + target as one and the
 * last two are 0. Both records must be without defect. */
typedef struct {
        gint64 stage_ns[NP_STAGE_COUNT];
        gint64 latency_ns;
        gint64 tag_wait_ns;             /* H1 - H0, part of host_block: not in what diskstats counts */
} NpStageTimes;

void np_stage_times(const struct np_host_record *host, const struct np_target_record *target, NpStageTimes *ret);

G_END_DECLS
