/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The commands of a session by queue, processor, size and process. Memory is bounded whatever the keys are: the rows of fewest
 * commands are summed up. Private to the analysis.
 */
#pragma once

#include "operation.h"
#include "report.h"

G_BEGIN_DECLS

typedef struct _NpViews NpViews;

NpViews *np_views_new(void);
void np_views_free(NpViews *views);

/* target is NULL for a command without one. */
void np_views_add(NpViews *views, const struct np_host_record *host, const struct np_target_record *target,
                  const NpStageTimes *times, double weight);

/* How many commands there were for each of the weight of a kind: all are counted by kind only. bucketed: blocks is a power of
 * two that stands for the sizes below it, too. */
typedef double (*NpKindScale)(const NpOperationKey *key, guint32 blocks, gboolean bucketed, gpointer data);

/* Adds the rows so far to the report, whose facts are there. */
void np_views_report(const NpViews *views, NpKindScale scale, gpointer data, NpReport *report);

G_END_DECLS
