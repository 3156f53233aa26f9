/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "sample-session.h"

NpReportFacts *sample_session_facts(gboolean with_target)
{
        NpReportFacts *facts = sample_facts(with_target);

        facts->duration_ns = 10 * SECOND;
        facts->diskstats.valid = FALSE;
        g_ptr_array_add(facts->paths, np_report_path_new("nvme6n1", "nvme6c6n1", "nvme6", "tcp", "192.0.2.7", 512));
        g_ptr_array_add(facts->paths, np_report_path_new("nvme6n1", "nvme6c7n1", "nvme7", "tcp", "192.0.2.8", 512));
        g_ptr_array_add(facts->paths, np_report_path_new("nvme7n1", "nvme7n1", "nvme8", "tcp", "192.0.2.9", 512));
        for (guint i = 0; i < facts->paths->len; i++)
                sample_target(facts, i, with_target);
        return facts;
}

NpAnalysis *sample_analysis(gboolean with_target)
{
        NpAnalysis *a = np_analysis_new(with_target ? 1 : 0);

        for (guint i = 0; with_target && i < NP_FILTERS_MAX; i++)
                np_analysis_set_target(a, i, 0);
        return a;
}

TestCommand sample_command(TestKind kind, guint i, guint64 extra_ns)
{
        TestCommand c;

        test_command(&c, kind, SECOND + (guint64) i * 1000000);
        c.host.header.id.slba = i * 4096;
        for (guint h = NP_H6; h < NP_H_COUNT; h++)
                c.host.h[h] += extra_ns;
        for (guint t = kind == TEST_FLUSH ? NP_T7 : NP_T6; t < NP_T_COUNT; t++)
                if (c.target.t[t])
                        c.target.t[t] += extra_ns;
        test_rehash(&c);
        return c;
}

NpReport *sample_report_of(NpAnalysis *a, gboolean with_target)
{
        g_autoptr(NpReportFacts) facts = sample_session_facts(with_target);

        np_analysis_finish(a);
        return np_analysis_report(a, facts);
}

const NpReportGroup *sample_group(const NpReport *report, guint i)
{
        g_assert_cmpuint(i, <, report->groups->len);
        return report->groups->pdata[i];
}
