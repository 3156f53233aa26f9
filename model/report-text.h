/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * How the report words numbers; shared by its text form and its warnings.
 */
#pragma once

#include <locale.h>

#include "report.h"

G_BEGIN_DECLS

/* Between the two, this thread prints numbers with a point, whatever the user's language: scripts read reports. */
locale_t np_text_begin(void);
void np_text_end(locale_t before);

/* "4KiB", "512B", "4.5KiB" */
char *np_text_size(guint64 bytes);
/* "13.3k", "812", "0.5" */
char *np_text_rate(double per_s);
/* "read 4KiB nvme6n1", "write 4KiB FUA nvme6n1", "read 32KiB-64KiB nvme6n1", "flush nvme6n1" */
char *np_text_group(const NpReportGroup *group);
/* "0.12 %": two significant digits, whole numbers from 10 on */
char *np_text_percent(double share);

/* A view as a table, an empty line before it (report-text-views.c). */
void np_text_append_view(GString *out, const NpReport *report, NpView view, gboolean detail);

G_END_DECLS
