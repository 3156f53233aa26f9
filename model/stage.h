/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Stages of a command, their components and their arithmetic. docs/model.md has the formulas and why they need no
 * common clock.
 */
#pragma once

#include <glib.h>
#include <linux/types.h>

#include "../bpf/record.h"
#include "offset.h"

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

/* What the %s of a stage's name stands for: a column of the table of transports. */
typedef enum {
        NP_STAGE_WORD_NONE,
        NP_STAGE_WORD_HOST_DRIVER,      /* nvme-tcp */
        NP_STAGE_WORD_TRANSPORT,        /* TCP */
        NP_STAGE_WORD_TARGET_DRIVER,    /* nvmet-tcp */
} NpStageWord;

/* One row a stage: the only list of them. */
typedef struct {
        NpStage stage;
        const char *id;         /* "host_block", as in the JSON report */
        const char *name;       /* "host driver (%s)": use np_stage_name() */
        NpStageWord word;
} NpStageInfo;

const NpStageInfo *np_stage_info(NpStage stage);
/* NULL when there is none. */
const NpStageInfo *np_stage_by_id(const char *id);

/* "host driver (nvme-tcp)"; transport as in sysfs ("tcp", "rdma"), or NULL when not known. */
char *np_stage_name(NpStage stage, const char *transport);

typedef enum {
        NP_COMPONENT_TAG_WAIT,
        NP_COMPONENT_DISPATCH,
        NP_COMPONENT_BLOCK_COMPLETION,
        NP_COMPONENT_SUBMISSION,
        NP_COMPONENT_R2T,
        NP_COMPONENT_DRIVER_COMPLETION,
        NP_COMPONENT_REQUEST_WAY,
        NP_COMPONENT_TRANSFER,
        NP_COMPONENT_RESPONSE_WAY,
        NP_COMPONENT_HOST_RECEIVE,
        NP_COMPONENT_TARGET_RECEIVE,
        NP_COMPONENT_WIRE,
        NP_COMPONENT_TO_STORAGE,
        NP_COMPONENT_RESPONSE,
        NP_COMPONENT_TARGET_BLOCK,
        NP_COMPONENT_DRIVE,
        NP_COMPONENT_COUNT,
} NpComponent;

typedef struct {
        NpComponent component;
        NpStage stage;
        const char *id;                 /* unique within its stage, as in the JSON report */
        const char *name;               /* "wait for a tag" */
        const char *boundaries;         /* those that delimit it, "H0 H1" */
        const char *never;              /* why no record tells it, or NULL when records can */
        gboolean one_way;               /* between two clocks: known but for a margin */
} NpComponentInfo;

const NpComponentInfo *np_component_info(NpComponent component);

/* What every time is below, 146 years: differences of two, and sums of a few differences, fit a gint64. */
#define NP_TIME_MAX (G_GUINT64_CONSTANT(1) << 62)

/* Kind, version and size are those of this version, the threshold is not 0, and no time is NP_TIME_MAX or more: everything
 * else of this library asks for records of which this is true. */
gboolean np_host_record_valid(const struct np_host_record *host);
gboolean np_target_record_valid(const struct np_target_record *target);

/* Why a record can't be used; NP_DEFECT_NONE when it can. */
typedef enum {
        NP_DEFECT_NONE,
        NP_DEFECT_CANCELLED,            /* NP_F_CANCELLED */
        NP_DEFECT_RETRIED,              /* NP_F_RETRIED */
        NP_DEFECT_BOUNDARY_MISSING,     /* a boundary this kind of command must have is 0 (a program missed it) */
        NP_DEFECT_OUT_OF_ORDER,         /* boundaries of one machine are not in order, or a sum is longer than what it is a part of */
        NP_DEFECT_COUNT,
} NpDefect;

NpDefect np_host_record_defect(const struct np_host_record *host);
NpDefect np_target_record_defect(const struct np_target_record *target);

/* Stages of one command, ns, signed: the network of a command over loopback can come out slightly below zero. They add
 * up to latency_ns = H8 - H0 exactly. Without target, stage_ns[NP_STAGE_NETWORK] holds network + target as one and the
 * last two are 0. Both records must be without defect. The components that are known of a stage add up to it when all of
 * them are. */
typedef struct {
        gint64 stage_ns[NP_STAGE_COUNT];
        gint64 latency_ns;
        gint64 tag_wait_ns;             /* H1 - H0, part of host_block: not in what diskstats counts */
        gint64 component_ns[NP_COMPONENT_COUNT];
        guint32 components_known;       /* bit 1 << NpComponent */
        gint64 margin_ns;               /* by which the one-way components can be off, one up by what the other is down */
} NpStageTimes;

void np_stage_times(const struct np_host_record *host, const struct np_target_record *target, NpStageTimes *ret);

/* Adds the ways of request and response to the times of a joined command; together with the transfer of write data they are the
 * network stage exactly. offset: bounds of (target clock - host clock) when the command was under way. */
void np_stage_one_way(const struct np_host_record *host, const struct np_target_record *target, NpInterval offset,
                      NpStageTimes *times);

/* How many commands one record of that threshold stands for: 2^32 / threshold, 1 when all are sampled. */
double np_threshold_weight(guint32 threshold);

G_END_DECLS
