/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A report on stdout. */
#pragma once

#include <ntprof.h>

/* flags matter for the text; the document has it all. */
void render_report(NtprofReport *report, gboolean json, NtprofReportTextFlags flags);
