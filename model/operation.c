/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <math.h>

#include "operation.h"

/* An operation with more sizes than these is told by powers of two. */
#define SIZES_MAX 12

static NpCell *cell_new(guint32 blocks)
{
        NpCell *cell = g_new0(NpCell, 1);

        cell->blocks = blocks;
        cell->joined = np_table_new(TRUE);
        cell->rest = np_table_new(FALSE);
        return cell;
}

static void cell_free(gpointer p)
{
        NpCell *cell = p;

        np_table_free(cell->joined);
        np_table_free(cell->rest);
        g_free(cell);
}

double np_cell_weight(const NpCell *cell)
{
        return cell->joined->weight + cell->rest->weight;
}

double np_cell_uncounted(const NpCell *cell)
{
        return MAX(0, np_cell_weight(cell) - cell->commands);
}

guint64 np_cell_commands(const NpCell *cell, double overflow)
{
        guint64 commands = cell->commands + (guint64) llround(np_cell_uncounted(cell) * overflow);

        /* No kinds were counted at all. */
        return commands > 0 ? commands : (guint64) llround(np_cell_weight(cell));
}

NpOperation *np_operation_new(NpOperationKey key)
{
        NpOperation *op = g_new0(NpOperation, 1);

        op->key = key;
        op->cells = g_hash_table_new_full(NULL, NULL, NULL, cell_free);
        return op;
}

void np_operation_free(gpointer p)
{
        NpOperation *op = p;

        g_hash_table_unref(op->cells);
        g_free(op);
}

guint32 np_power_of_two(guint32 blocks)
{
        return blocks > 1 ? 1u << (32 - __builtin_clz(blocks - 1)) : blocks;
}

NpCell *np_operation_cell(NpOperation *op, guint32 blocks)
{
        guint32 size = op->bucketed ? np_power_of_two(blocks) : blocks;
        NpCell *cell = g_hash_table_lookup(op->cells, GUINT_TO_POINTER(size));

        if (!cell) {
                cell = cell_new(size);
                g_hash_table_insert(op->cells, GUINT_TO_POINTER(size), cell);
        }
        return cell;
}

void np_operation_add_cell(NpOperation *op, const NpCell *other, const char *transport)
{
        NpCell *cell = np_operation_cell(op, other->blocks);

        cell->commands += other->commands;
        np_table_merge(cell->joined, other->joined, transport);
        np_table_merge(cell->rest, other->rest, transport);
}

/* A bucketed operation never needs its exact sizes again. */
void np_operation_bucket_when_many(NpOperation *op)
{
        g_autoptr(GHashTable) exact = NULL;
        GHashTableIter iter;
        gpointer cell;

        if (op->bucketed || g_hash_table_size(op->cells) <= SIZES_MAX)
                return;

        exact = g_steal_pointer(&op->cells);
        op->cells = g_hash_table_new_full(NULL, NULL, NULL, cell_free);
        op->bucketed = TRUE;
        g_hash_table_iter_init(&iter, exact);
        while (g_hash_table_iter_next(&iter, NULL, &cell))
                np_operation_add_cell(op, cell, NULL);
}

double np_operation_scale(const NpOperation *op, guint32 blocks, gboolean bucketed, double overflow)
{
        gboolean rounded = bucketed || op->bucketed;
        double commands = 0, weight = 0;
        GHashTableIter iter;
        gpointer value;

        g_hash_table_iter_init(&iter, op->cells);
        while (g_hash_table_iter_next(&iter, NULL, &value)) {
                const NpCell *cell = value;

                if (np_cell_weight(cell) == 0)
                        continue;
                if (rounded ? np_power_of_two(cell->blocks) != np_power_of_two(blocks) : cell->blocks != blocks)
                        continue;
                commands += np_cell_commands(cell, overflow);
                weight += np_cell_weight(cell);
        }
        return weight > 0 ? commands / weight : 1;
}
