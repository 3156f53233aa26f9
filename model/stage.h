/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Stages of a command, their components and their arithmetic. docs/model.md has the formulas and why they need no
 * common clock.
 */
#pragma once

#include <glib.h>

#include "offset.h"
#include "record-check.h"

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

/* In the order of the report's rows. */
typedef enum {
        NP_COMPONENT_TAG_WAIT,
        NP_COMPONENT_DISPATCH,
        NP_COMPONENT_BLOCK_COMPLETION,
        NP_COMPONENT_SUBMISSION,
        NP_COMPONENT_R2T,
        NP_COMPONENT_INVALIDATION,
        NP_COMPONENT_DRIVER_COMPLETION,
        NP_COMPONENT_REQUEST_WAY,
        NP_COMPONENT_REQUEST_WIRE,
        NP_COMPONENT_TARGET_RECEIVE,
        NP_COMPONENT_TRANSFER,
        NP_COMPONENT_TRANSFER_WIRE,
        NP_COMPONENT_TRANSFER_HOST_RECEIVE,
        NP_COMPONENT_TRANSFER_TARGET_RECEIVE,
        NP_COMPONENT_RESPONSE_WAY,
        NP_COMPONENT_RESPONSE_WIRE,
        NP_COMPONENT_HOST_RECEIVE,
        NP_COMPONENT_TO_STORAGE,
        NP_COMPONENT_RESPONSE,
        NP_COMPONENT_SEND_COMPLETION,
        NP_COMPONENT_TARGET_BLOCK,
        NP_COMPONENT_DRIVE,
        NP_COMPONENT_COUNT,
        NP_COMPONENT_NONE = NP_COMPONENT_COUNT,
} NpComponent;

/* One row a component: the only list of them. */
typedef struct {
        NpComponent component;
        NpStage stage;
        NpComponent parent;             /* whose part it is; NP_COMPONENT_NONE: of the stage itself */
        const char *id;                 /* unique within its stage, as in the JSON report */
        const char *name;               /* "wait for a tag": use np_component_name() */
        const char *boundaries;         /* those that delimit it, "H0 H1" */
        const char *transport;          /* the only one that has it, or NULL */
        gboolean detail;                /* told by sessions in detail only */
        gboolean one_way;               /* between two clocks: known but for a margin */
        gboolean information;           /* overlaps others, so it is never added */
        gboolean to_target;             /* of data that the host sends: 0 of commands without */
} NpComponentInfo;

const NpComponentInfo *np_component_info(NpComponent component);
/* NP_COMPONENT_NONE when the stage has none of that id. */
NpComponent np_component_by_id(NpStage stage, const char *id);
/* For people; transport as for np_stage_name(). */
const char *np_component_name(NpComponent component, const char *transport);

/* Stages of one command, ns, signed: the network of a command over loopback can come out slightly below zero. They add
 * up to latency_ns = H8 - H0 exactly. Without target, stage_ns[NP_STAGE_NETWORK] holds network + target as one and the
 * last two are 0. Both records must be without defect.
 *
 * Of a joined command with its one-way times the components of a stage add up to it, and the parts of a component to that,
 * always: what the record does not tell is 0 in one of them, and with the other. Only a component whose bit is set is what it
 * says. Information is left out of the sums. */
typedef struct {
        gint64 stage_ns[NP_STAGE_COUNT];
        gint64 latency_ns;
        gint64 tag_wait_ns;             /* H1 - H0, part of host_block */
        gint64 uncounted_ns;            /* not in what diskstats counts: tag_wait_ns; all of a flush that a write waits for */
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
