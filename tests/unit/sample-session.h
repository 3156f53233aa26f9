/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Made-up sessions for the tests of the analysis.
 */
#pragma once

#include "analysis.h"
#include "records.h"
#include "sample-report.h"

#define SECOND G_GUINT64_CONSTANT(1000000000)
#define READ 0x02
#define FLUSH 0x00

/* Of ten seconds on two paths of nvme6n1 (filters 0, 1) and one of nvme7n1 (filter 2), 512-byte blocks. */
NpReportFacts *sample_session_facts(gboolean with_target);

/* The i-th command, at its own time and address; storage takes extra_ns longer than in records.c. */
TestCommand sample_command(TestKind kind, guint i, guint64 extra_ns);

/* With one target that records all paths, or with none. */
NpAnalysis *sample_analysis(gboolean with_target);

/* Finishes and reports. */
NpReport *sample_report_of(NpAnalysis *a, gboolean with_target);
const NpReportGroup *sample_group(const NpReport *report, guint i);
