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

/* with_target: a target side records too, so every sampled command should join; else all go into the host-only tables. */
NpAnalysis *np_analysis_new(gboolean with_target);
void np_analysis_free(NpAnalysis *a);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(NpAnalysis, np_analysis_free)

/* Records that are not valid (np_host_record_valid()) are counted as malformed and dropped. */
void np_analysis_add_host(NpAnalysis *a, const struct np_host_record *host);
void np_analysis_add_target(NpAnalysis *a, const struct np_target_record *target);
void np_analysis_target_threshold(NpAnalysis *a, guint64 target_ns, guint32 threshold);
/* See np_join_host_began(). */
void np_analysis_host_began(NpAnalysis *a, guint64 host_ns);
void np_analysis_host_ended(NpAnalysis *a, guint64 host_ns);
void np_analysis_advance(NpAnalysis *a, guint64 host_ns);
void np_analysis_finish(NpAnalysis *a);

/* Sampled commands joined so far, for progress. */
guint64 np_analysis_joined(NpAnalysis *a);

/* Sets the count of all commands (sampled or not) of one kind: filter is the index in facts->namespaces' paths,
 * see NpReportFacts. Called with the final sums before np_analysis_report(). */
void np_analysis_set_commands(NpAnalysis *a, guint filter, guint8 opcode, guint16 nlb, guint64 count);

/* The report so far. facts is copied. Losses counted by the analysis are added to facts->losses. */
NpReport *np_analysis_report(NpAnalysis *a, const NpReportFacts *facts);

G_END_DECLS
