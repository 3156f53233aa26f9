/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "report-view.h"

static const NpViewInfo views[NP_VIEW_COUNT] = {
        { NP_VIEW_QUEUE,   "queue",   "qid" },
        { NP_VIEW_CPU,     "cpu",     "cpu" },
        { NP_VIEW_SIZE,    "size",    "size_bytes" },
        { NP_VIEW_PROCESS, "process", "tgid" },
};

const NpViewInfo *np_view_info(NpView view)
{
        g_return_val_if_fail((guint) view < NP_VIEW_COUNT, NULL);

        return &views[view];
}

NpReportViewRow *np_report_view_row_new(const char *namespace_name)
{
        NpReportViewRow *row = g_new0(NpReportViewRow, 1);

        row->namespace_name = g_strdup(namespace_name);
        row->path = -1;
        return row;
}

void np_report_view_row_free(gpointer p)
{
        NpReportViewRow *row = p;

        g_free(row->namespace_name);
        g_free(row->comm);
        g_free(row->host_cores.list);
        g_free(row->response_cores.list);
        g_free(row->target_cores.list);
        g_free(row);
}

NpStage np_view_stage(gboolean with_target, guint i)
{
        return !with_target && i == NP_STAGE_NETWORK ? NP_STAGE_NETWORK_TARGET : i;
}
