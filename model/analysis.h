/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * From records to a report: joins, groups, weighs, counts. The daemon feeds it while a session runs; nothing here
 * knows where the records come from.
 */
#pragma once

#include "join.h"
#include "report.h"

G_BEGIN_DECLS

typedef struct _NpAnalysis NpAnalysis;

/* n_targets: machines that record a target's side. Each has a clock, and so a join, of its own. */
NpAnalysis *np_analysis_new(guint n_targets);
void np_analysis_free(NpAnalysis *a);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(NpAnalysis, np_analysis_free)

/* Which target machine (0 .. n_targets - 1) a path's commands go to; -1 (the default): none records them, so that they go into
 * the tables without the target's side and are no loss. path is what the host's records call filter. */
void np_analysis_set_target(NpAnalysis *a, guint path, gint target);

/* Records that are not valid (np_host_record_valid()) are counted as malformed and dropped. */
void np_analysis_add_host(NpAnalysis *a, const struct np_host_record *host);
void np_analysis_add_target(NpAnalysis *a, guint target, const struct np_target_record *record);
void np_analysis_target_threshold(NpAnalysis *a, guint target, guint64 target_ns, guint32 threshold);
/* Of a target whose records come later than the host's: all those of commands answered before target_ns (its clock) have been
 * added; it was learned at host_ns. Call it first when the target is asked to begin, with a target_ns of 0. A target of which
 * it is never told is as near as the host's own capture. */
void np_analysis_target_synced(NpAnalysis *a, guint target, guint64 target_ns, guint64 host_ns);
/* It is the host itself, so that the clocks are one and no way is uncertain. */
void np_analysis_target_same_clock(NpAnalysis *a, guint target);
/* It ended before it was asked to: nothing comes from it any more, and what it had not sent by its last sync is lost as
 * NP_LOSS_TARGET_GONE. */
void np_analysis_target_ended(NpAnalysis *a, guint target);
/* See np_join_host_began(). */
void np_analysis_host_began(NpAnalysis *a, guint64 host_ns);
void np_analysis_host_ended(NpAnalysis *a, guint64 host_ns);
/* All host records of commands that ended before host_ns have been added. Of a target that syncs no command is decided that it
 * may still send a record of. */
void np_analysis_advance(NpAnalysis *a, guint64 host_ns);
void np_analysis_finish(NpAnalysis *a);

/* Sampled commands joined so far, for progress. */
guint64 np_analysis_joined(NpAnalysis *a);

/* Sets the count of all commands (sampled or not) of one kind: filter is the index in facts->namespaces' paths,
 * see NpReportFacts. Called with the final sums before np_analysis_report(). */
void np_analysis_set_commands(NpAnalysis *a, guint filter, guint8 opcode, gboolean fua, guint16 nlb, guint64 count);

/* The report so far. facts is copied. Losses counted by the analysis are added to facts->losses. */
NpReport *np_analysis_report(NpAnalysis *a, const NpReportFacts *facts);

G_END_DECLS
