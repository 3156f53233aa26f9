/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "model/report.h"
#include "ntprof-report.h"

struct _NtprofReport {
        GObject parent;
        char *json;
        NpReport *report;
};

/* Views into a report. */
struct _NtprofReportGroup {
        NtprofReport *report;
        const NpReportGroup *group;
};

NtprofReportStage *np_report_stage_view(NtprofReportGroup *group, const NpReportStage *stage);
NtprofReportComponent *np_report_component_view(NtprofReport *report, const NpReportComponent *component,
                                                const char *transport);
NtprofReportTarget *np_report_target_view(NtprofReport *report, const NpReportTarget *target);
