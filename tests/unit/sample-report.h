/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Reports made by hand. The expected forms of them are tests/fixtures/report/NAME.txt and NAME.json.
 */
#pragma once

#include "report.h"

typedef struct {
        const char *name;
        NpReport *(*make)(void);
} SampleReport;

extern const SampleReport sample_reports[];
extern const gsize n_sample_reports;

/* Without paths: add them, and call sample_target() for each. */
NpReportFacts *sample_facts(gboolean with_target);
void sample_target(NpReportFacts *facts, guint path, gboolean recorded);

/* The text of the file, or, when NTPROF_WRITE_FIXTURES is set, what is written there as such now. */
char *sample_fixture(const char *name, const char *suffix, const char *actual);
