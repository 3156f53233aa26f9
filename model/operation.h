/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Sums over the commands of one operation, by size: what the groups of a report are made from. Private to the analysis.
 */
#pragma once

#include "table.h"

G_BEGIN_DECLS

/* Commands of one operation and size. */
typedef struct {
        guint32 blocks;
        guint64 commands;               /* all, sampled or not; only while a report is made */
        NpTable *joined;
        NpTable *rest;                  /* without the target's side */
} NpCell;

double np_cell_weight(const NpCell *cell);
/* All commands: those counted by kind, and of those that the samples say are missing there the given part. */
guint64 np_cell_commands(const NpCell *cell, double overflow);
/* What the samples say is missing of the counts. */
double np_cell_uncounted(const NpCell *cell);

typedef struct {
        guint filter;
        guint8 opcode;
        gboolean fua;
} NpOperationKey;

typedef struct {
        NpOperationKey key;
        const char *namespace_name;     /* only while a report is made */
        guint32 block_size;
        gboolean bucketed;              /* sizes are rounded up to powers of two */
        GHashTable *cells;              /* of NpCell, by blocks */
} NpOperation;

NpOperation *np_operation_new(NpOperationKey key);
/* For lists of them. */
void np_operation_free(gpointer op);

/* Makes it when there is none. */
NpCell *np_operation_cell(NpOperation *op, guint32 blocks);
void np_operation_add_cell(NpOperation *op, const NpCell *other, const char *transport);
/* Call after each cell that may be new: memory stays bounded however many sizes there are. */
void np_operation_bucket_when_many(NpOperation *op);

/* How many commands there were for each of the weight of those of that size; of a power of two that stands for the sizes
 * below it, too, when bucketed. */
double np_operation_scale(const NpOperation *op, guint32 blocks, gboolean bucketed, double overflow);

guint32 np_power_of_two(guint32 blocks);

G_END_DECLS
