/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <stdlib.h>

#include "offset.h"

/* So many must agree before they overrule what earlier windows said. */
#define OVERRULE_VOTES 3

typedef struct {
        gint64 at;
        int step;                       /* +1 an interval begins, -1 it has ended */
} Edge;

/* At the same place beginnings come first: intervals are closed. */
static int compare_edges(const void *a, const void *b)
{
        const Edge *x = a, *y = b;

        if (x->at != y->at)
                return x->at < y->at ? -1 : 1;
        return y->step - x->step;
}

gint64 np_offset_slack(guint64 ns)
{
        return (gint64) (ns / (1000000 / NP_DRIFT_PPM)) + 1;
}

static guint most_overlap(const NpInterval *intervals, guint n, NpInterval *ret)
{
        g_autofree Edge *edges = g_new(Edge, 2 * (gsize) n);
        guint open = 0, most = 0;

        for (guint i = 0; i < n; i++) {
                edges[2 * i] = (Edge) { intervals[i].min, +1 };
                edges[2 * i + 1] = (Edge) { intervals[i].max, -1 };
        }
        qsort(edges, 2 * (gsize) n, sizeof(*edges), compare_edges);
        *ret = intervals[0];

        for (guint i = 0; i < 2 * n; i++) {
                if (edges[i].step < 0) {
                        open--;
                        continue;
                }
                if (++open > most) {
                        most = open;
                        /* After the last beginning the next edge is the first end. */
                        *ret = (NpInterval) { edges[i].at, edges[i + 1].at };
                }
        }
        return most;
}

static gboolean meet(NpInterval a, NpInterval b)
{
        return a.min <= b.max && b.min <= a.max;
}

gboolean np_consensus(NpInterval *intervals, guint n, NpConsensus *ret)
{
        NpInterval ignored;
        guint n_opposed = 0;

        if (n == 0)
                return FALSE;

        ret->votes = most_overlap(intervals, n, &ret->best);

        for (guint i = 0; i < n; i++)
                if (!meet(intervals[i], ret->best)) {
                        NpInterval opposed = intervals[i];

                        intervals[i] = intervals[n_opposed];
                        intervals[n_opposed++] = opposed;
                }
        ret->opposed = n_opposed > 0 ? most_overlap(intervals, n_opposed, &ignored) : 0;
        return TRUE;
}

static int compare_intervals(const void *a, const void *b)
{
        const NpInterval *x = a, *y = b;

        return x->min < y->min ? -1 : x->min > y->min;
}

guint np_merge_intervals(NpInterval *intervals, guint n)
{
        guint kept = 0;

        qsort(intervals, n, sizeof(*intervals), compare_intervals);
        for (guint i = 0; i < n; i++)
                if (kept > 0 && intervals[i].min <= intervals[kept - 1].max)
                        intervals[kept - 1].max = MAX(intervals[kept - 1].max, intervals[i].max);
                else
                        intervals[kept++] = intervals[i];
        return kept;
}

NpInterval np_offset_at(const NpOffset *offset, guint64 host_ns)
{
        gint64 slack = np_offset_slack(host_ns > offset->at_ns ? host_ns - offset->at_ns : offset->at_ns - host_ns);

        return (NpInterval) { offset->bounds.min - slack, offset->bounds.max + slack };
}

gboolean np_offset_update(NpOffset *offset, guint64 host_ns, NpInterval *votes, guint n_votes)
{
        NpInterval carried = { 0, 0 };
        NpConsensus consensus;

        if (offset->known)
                carried = np_offset_at(offset, host_ns);

        if (!np_consensus(votes, n_votes, &consensus)) {
                if (!offset->known)
                        return FALSE;
                offset->bounds = carried;
        } else if (!offset->known) {
                if (consensus.votes * 2 <= n_votes || consensus.opposed >= consensus.votes)
                        return FALSE;
                offset->bounds = consensus.best;
                offset->known = TRUE;
        } else if (meet(consensus.best, carried))
                offset->bounds = (NpInterval) { MAX(consensus.best.min, carried.min), MIN(consensus.best.max, carried.max) };
        else if (consensus.votes >= OVERRULE_VOTES && consensus.votes * 2 > n_votes)
                offset->bounds = consensus.best;
        else
                offset->bounds = carried;

        offset->at_ns = host_ns;
        return TRUE;
}
