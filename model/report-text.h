/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * How the report words numbers; shared by its text form and its warnings.
 */
#pragma once

#include "report.h"

G_BEGIN_DECLS

/* "4KiB", "512B", "4.5KiB" */
char *np_text_size(guint64 bytes);
/* "13.3k", "812", "0.5" */
char *np_text_rate(double per_s);
/* "read 4KiB nvme6n1", "read 32KiB-64KiB nvme6n1", "flush nvme6n1" */
char *np_text_group(const NpReportGroup *group);
/* "0.12 %": two significant digits, whole numbers from 10 on */
char *np_text_percent(double share);

G_END_DECLS
