/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Joins the two sides' records of a command. Pure: no clock, no I/O; time comes with the records.
 */
#pragma once

#include "stage.h"

G_BEGIN_DECLS

typedef struct _NpJoin NpJoin;

typedef enum {
        NP_UNJOINED_NO_TARGET,          /* no target record of that identity (lost there, or never came) */
        NP_UNJOINED_AMBIGUOUS,          /* several candidates, never guessed */
        NP_UNJOINED_THRESHOLD,          /* the target did not sample it: its threshold was lower then */
        NP_UNJOINED_TARGET_GONE,        /* the target's side had ended, or ended before it sent the record */
        NP_UNJOINED_COUNT,
} NpUnjoined;

/* target is NULL for a command that was not joined; why then says the reason, else it is NP_UNJOINED_COUNT. threshold is the
 * lower of those in force on the two sides, as far as known: what the command weighs. offset: of a joined command, bounds of
 * (target clock - host clock) at its time. Every host record comes exactly once, in no particular order. */
typedef void (*NpJoinFunc)(const struct np_host_record *host, const struct np_target_record *target, NpUnjoined why,
                           guint32 threshold, NpInterval offset, gpointer data);

/* One join of one host with one target machine: the clock offset is theirs. */
NpJoin *np_join_new(NpJoinFunc func, gpointer data);
void np_join_free(NpJoin *join);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(NpJoin, np_join_free)

/* The records must be valid (np_host_record_valid()). One with a defect takes part too, so that its partner is not taken for
 * another command's; it has no say in the clock offset. */
void np_join_add_host(NpJoin *join, const struct np_host_record *host);
void np_join_add_target(NpJoin *join, const struct np_target_record *target);

/* The target side changed its threshold at that time of the target's clock. Before the first change it sampled nothing;
 * when there never is one, it is taken to have sampled everything. */
void np_join_target_threshold(NpJoin *join, guint64 target_ns, guint32 threshold);

/* When the host's side recorded, by its own clock: it chose nothing that it sent before began_ns or after ended_ns. What only
 * the target saw of that time is no loss. Times that were not told are taken to be the first and the last there are. */
void np_join_host_began(NpJoin *join, guint64 host_ns);
void np_join_host_ended(NpJoin *join, guint64 host_ns);

/* A target whose records come later than the host's: those of all commands that it answered before target_ns (its clock) have
 * been added, which was learned at host_ns. Called first when the target is asked to begin, with a target_ns of 0. */
void np_join_target_synced(NpJoin *join, guint64 target_ns, guint64 host_ns);
/* It ended before it was asked to: what it did not say to have sent is NP_UNJOINED_TARGET_GONE when it is not there. */
void np_join_target_ended(NpJoin *join);

/* Joins the commands that ended before host_ns (host clock; all records of both sides up to then have been added), in windows
 * of at most 1 s, but none of which a target that syncs may still send a record. A host record that comes later all the same
 * is joined by the next call, as target records without a partner are kept for 5 s; a target record that comes later is too
 * late. np_join_finish() joins all the rest. */
void np_join_advance(NpJoin *join, guint64 host_ns);
void np_join_finish(NpJoin *join);

typedef struct {
        guint64 joined;
        guint64 unjoined[NP_UNJOINED_COUNT];
        guint64 target_without_host;            /* counted when no host record can come for it any more */
        guint64 target_not_chosen;              /* without one, and no loss: the host did not sample then, or less */
        gboolean offset_known;
        gint64 offset_min_ns, offset_max_ns;    /* bounds of (target clock - host clock) in the last window that had any */
} NpJoinStats;

void np_join_stats(NpJoin *join, NpJoinStats *ret);

G_END_DECLS
