/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Of the records of one identity: which host's and which target's can be one command, given the clock offset. Private to the
 * join.
 */
#pragma once

#include "join-records.h"
#include "offset.h"

G_BEGIN_DECLS

/* What the offset must be at reference_ns of the host's clock when these two are one command; FALSE when they can't be. */
gboolean np_join_pair_interval(const NpJoinHost *host, const NpJoinTarget *target, guint64 reference_ns, NpInterval *ret);

/* Hosts and targets that are possible for each other, directly or by way of others, form a knot. A knot is named by its root,
 * one of its nodes. Nodes below hosts->len are the hosts, the targets follow, both in the order of time. */
typedef struct {
        GPtrArray *hosts, *targets;
        guint64 reference_ns;
        NpInterval offset;              /* at reference_ns */
        GArray *nodes;
} NpKnots;

#define NP_KNOT_END G_MAXUINT

void np_knots_init(NpKnots *knots);
void np_knots_clear(NpKnots *knots);

/* Of all targets of the bucket and those hosts that were sent until then. */
void np_knots_build(NpKnots *knots, const NpJoinBucket *bucket, guint64 until_ns, guint64 reference_ns, NpInterval offset);

gboolean np_knots_is_root(const NpKnots *knots, guint node);
guint np_knot_hosts(const NpKnots *knots, guint root);
guint np_knot_targets(const NpKnots *knots, guint root);
/* The knot's nodes: hosts first, then targets, each in the order of time, then NP_KNOT_END. */
guint np_knot_first(const NpKnots *knots, guint root);
guint np_knot_first_target(const NpKnots *knots, guint root);
guint np_knot_next(const NpKnots *knots, guint node);
/* As many of the one as of the other, each pair in the order of time possible, and nothing left unexamined. */
gboolean np_knot_one_to_one(const NpKnots *knots, guint root);

NpJoinHost *np_knots_host(const NpKnots *knots, guint node);
NpJoinTarget *np_knots_target(const NpKnots *knots, guint node);

G_END_DECLS
