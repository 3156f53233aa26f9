/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Views of a report: the same commands by another key than operation and size.
 */
#pragma once

#include "stage.h"

G_BEGIN_DECLS

typedef enum {
        NP_VIEW_QUEUE,
        NP_VIEW_CPU,                    /* that submitted the command */
        NP_VIEW_SIZE,
        NP_VIEW_PROCESS,
        NP_VIEW_COUNT,
} NpView;

/* One row a view: the only list of them. */
typedef struct {
        NpView view;
        const char *id;                 /* "queue", as in the JSON report and after --by */
        const char *key;                /* of a row in the JSON report, "qid" */
} NpViewInfo;

const NpViewInfo *np_view_info(NpView view);

/* Rows of a view; what is beyond them is summed in one more. */
#define NP_VIEW_ROWS 64

/* Processors, by the commands that they had to do with. */
typedef struct {
        char *list;                     /* "0-3,7", as the kernel writes lists of processors; NULL: none was told */
        guint busiest;
        double busiest_share;           /* of the commands */
        double others_share;            /* of the commands: of processors that are not in the list, which is bounded */
} NpReportCores;

typedef struct {
        NpStage stage;
        double mean_ns;
        double share;                   /* of the mean latency */
        double avg_qd;
} NpReportViewStage;

typedef struct {
        char *namespace_name;
        gint path;                      /* index in paths, of a queue; else -1: all of the namespace */
        gboolean others;                /* the commands that are in no other row of the view */
        guint64 key;                    /* qid, processor, bytes (0: the operation has no length) or process (0: not known) */
        char *comm;                     /* of a process; NULL: not known */
        guint64 commands;               /* all, sampled or not: estimated */
        double rate_per_s;
        double avg_qd;
        guint64 sampled;
        guint64 joined;
        gboolean with_target;           /* latency and stages are of the joined commands, else of all, with three stages */
        double mean_ns;
        guint64 p50_ns, p99_ns, max_ns;
        NpReportViewStage stages[NP_STAGE_COUNT];
        guint n_stages;
        NpStage largest;
        NpReportCores host_cores;       /* that submitted */
        NpReportCores response_cores;   /* of the host, that handled the responses */
        NpReportCores target_cores;     /* that took the commands in, or answered them */
} NpReportViewRow;

NpReportViewRow *np_report_view_row_new(const char *namespace_name);
void np_report_view_row_free(gpointer row);

/* The stage of that place in a table with the target's side, or without. */
NpStage np_view_stage(gboolean with_target, guint i);

G_END_DECLS
