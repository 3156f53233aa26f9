/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Bounds of the offset of two clocks (target - host), from commands that both sides saw: the command left the host before
 * the target had it, and the response the other way round. Nothing is assumed of the network but that.
 */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* Two crystals of +-50 ppm each, or one that NTP slews gently. The bounds recover from more, see np_offset_update(). */
#define NP_DRIFT_PPM 100

/* By how much the offset can have changed over so long. */
gint64 np_offset_slack(guint64 ns);

typedef struct {
        gint64 min, max;
} NpInterval;

/* The place where most of the intervals overlap (Marzullo 1984): the first of them when there are several as good. */
typedef struct {
        NpInterval best;
        guint votes;                    /* intervals that contain it */
        guint opposed;                  /* the most that overlap among those which don't */
} NpConsensus;

/* Sorts intervals; FALSE when there are none. */
gboolean np_consensus(NpInterval *intervals, guint n, NpConsensus *ret);

/* Sorts intervals and makes one of those that overlap; returns how many are left. */
guint np_merge_intervals(NpInterval *intervals, guint n);

typedef struct {
        gboolean known;
        NpInterval bounds;              /* at host time at_ns */
        guint64 at_ns;
} NpOffset;

/* Bounds at another time of the host's clock; only when known. */
NpInterval np_offset_at(const NpOffset *offset, guint64 host_ns);

/* Takes a window's votes (sorted by it), each widened to be valid at host_ns. A window without votes, or one that a few
 * strays voted for, carries the last bounds on. One whose majority contradicts them replaces them: a machine was
 * suspended, or its clock slewed faster than NP_DRIFT_PPM. Returns whether the offset is known at host_ns. */
gboolean np_offset_update(NpOffset *offset, guint64 host_ns, NpInterval *votes, guint n_votes);

G_END_DECLS
