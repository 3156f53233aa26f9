/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Sums over the commands of one table of the report.
 */
#pragma once

#include "histogram.h"
#include "report.h"

G_BEGIN_DECLS

typedef struct {
        gboolean with_target;
        guint64 records;
        double weight;
        guint64 network_negative;
        guint64 failed;                                 /* completed with an error status; counted by who adds a record */
        /* weighted sums, ns */
        double latency, tag_wait, uncounted;
        double stages[NP_STAGE_COUNT];
        double components[NP_COMPONENT_COUNT];
        double margin;                                  /* of the one-way components */
        guint64 without_component[NP_COMPONENT_COUNT];  /* records that did not tell it */
        NpHistogram *latencies;
        NpHistogram *stage_times[NP_STAGE_COUNT];
} NpTable;

NpTable *np_table_new(gboolean with_target);
void np_table_free(NpTable *table);

void np_table_add(NpTable *table, const NpStageTimes *times, double weight);
/* Both must be of the same kind, with target or without. transport: of all commands of the other, NULL when not known. */
void np_table_merge(NpTable *table, const NpTable *other, const char *transport);

/* Latency, stages and components of a group whose namespace and path are set; rate_per_s is of the commands that this table
 * stands for. */
void np_table_fill_group(const NpTable *table, const NpReportFacts *facts, double rate_per_s, NpReportGroup *group);

G_END_DECLS
