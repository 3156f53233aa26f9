/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "report-private.h"

struct _NtprofReportRow {
        NtprofReport *report;
        const NpReportViewRow *row;
};

G_STATIC_ASSERT((int) NTPROF_REPORT_VIEW_QUEUE == NP_VIEW_QUEUE && (int) NTPROF_REPORT_VIEW_CPU == NP_VIEW_CPU &&
                (int) NTPROF_REPORT_VIEW_SIZE == NP_VIEW_SIZE && (int) NTPROF_REPORT_VIEW_PROCESS == NP_VIEW_PROCESS);

G_DEFINE_BOXED_TYPE(NtprofReportRow, ntprof_report_row, ntprof_report_row_ref, ntprof_report_row_unref)

/**
 * ntprof_report_get_n_rows:
 * @self: a report
 * @view: by what
 *
 * Returns: number of rows of the view; 0 also when the report was made by a version without views
 */
guint ntprof_report_get_n_rows(NtprofReport *self, NtprofReportView view)
{
        g_return_val_if_fail(NTPROF_IS_REPORT(self), 0);
        g_return_val_if_fail((guint) view < NP_VIEW_COUNT, 0);
        return self->report->views[view]->len;
}

/**
 * ntprof_report_get_row:
 * @self: a report
 * @view: by what
 * @index: from 0, the row with the most commands, to one less than [method@Report.get_n_rows]
 *
 * Returns: (transfer full): a row
 */
NtprofReportRow *ntprof_report_get_row(NtprofReport *self, NtprofReportView view, guint index)
{
        g_return_val_if_fail(NTPROF_IS_REPORT(self), NULL);
        g_return_val_if_fail((guint) view < NP_VIEW_COUNT, NULL);
        g_return_val_if_fail(index < self->report->views[view]->len, NULL);

        NtprofReportRow *row = g_atomic_rc_box_new0(NtprofReportRow);
        row->report = g_object_ref(self);
        row->row = self->report->views[view]->pdata[index];
        return row;
}

/**
 * ntprof_report_row_ref:
 * @self: a row
 *
 * Returns: (transfer full): the same row
 */
NtprofReportRow *ntprof_report_row_ref(NtprofReportRow *self)
{
        return g_atomic_rc_box_acquire(self);
}

static void row_clear(gpointer row)
{
        g_clear_object(&((NtprofReportRow *) row)->report);
}

/**
 * ntprof_report_row_unref:
 * @self: (transfer full): a row
 */
void ntprof_report_row_unref(NtprofReportRow *self)
{
        g_atomic_rc_box_release_full(self, row_clear);
}

/**
 * ntprof_report_row_get_namespace_name:
 * @self: a row
 *
 * Returns: the namespace, e.g. "nvme6n1"
 */
const char *ntprof_report_row_get_namespace_name(NtprofReportRow *self)
{
        return self->row->namespace_name;
}

/**
 * ntprof_report_row_get_path_name:
 * @self: a row
 *
 * Returns: (nullable): path device of a queue, e.g. "nvme6c6n1"; %NULL in other views, or when not known
 */
const char *ntprof_report_row_get_path_name(NtprofReportRow *self)
{
        const GPtrArray *paths = self->report->report->facts->paths;

        return self->row->path >= 0 ? ((const NpReportPath *) paths->pdata[self->row->path])->path_name : NULL;
}

/**
 * ntprof_report_row_is_others:
 * @self: a row
 *
 * Returns: whether it is the last row of a view with many, of all commands that are in no other; it has no key
 */
gboolean ntprof_report_row_is_others(NtprofReportRow *self)
{
        return self->row->others;
}

/**
 * ntprof_report_row_get_key:
 * @self: a row
 *
 * Returns: number of the queue, of the processor that submitted the commands, size in bytes (0: the operation has none), or
 *   number of the process (0: not known)
 */
guint64 ntprof_report_row_get_key(NtprofReportRow *self)
{
        return self->row->key;
}

/**
 * ntprof_report_row_get_process_name:
 * @self: a row
 *
 * Returns: (nullable): name of a process, as its thread calls itself; %NULL in other views, or when not known
 */
const char *ntprof_report_row_get_process_name(NtprofReportRow *self)
{
        return self->row->comm;
}

/**
 * ntprof_report_row_get_commands:
 * @self: a row
 *
 * Returns: all its commands, sampled or not, as estimated from those sampled
 */
guint64 ntprof_report_row_get_commands(NtprofReportRow *self)
{
        return self->row->commands;
}

/**
 * ntprof_report_row_get_rate:
 * @self: a row
 *
 * Returns: commands per second
 */
double ntprof_report_row_get_rate(NtprofReportRow *self)
{
        return self->row->rate_per_s;
}

/**
 * ntprof_report_row_get_avg_qd:
 * @self: a row
 *
 * Returns: commands under way at a time, on average, including those that wait for a tag
 */
double ntprof_report_row_get_avg_qd(NtprofReportRow *self)
{
        return self->row->avg_qd;
}

/**
 * ntprof_report_row_has_target:
 * @self: a row
 *
 * Returns: whether latency and stages are of commands with the target's side; else the target is one stage with the network
 */
gboolean ntprof_report_row_has_target(NtprofReportRow *self)
{
        return self->row->with_target;
}

/**
 * ntprof_report_row_get_mean_ns:
 * @self: a row
 *
 * Returns: mean latency, ns
 */
double ntprof_report_row_get_mean_ns(NtprofReportRow *self)
{
        return self->row->mean_ns;
}

/**
 * ntprof_report_row_get_p50_ns:
 * @self: a row
 *
 * Returns: median latency, ns
 */
guint64 ntprof_report_row_get_p50_ns(NtprofReportRow *self)
{
        return self->row->p50_ns;
}

/**
 * ntprof_report_row_get_p99_ns:
 * @self: a row
 *
 * Returns: latency that 99 % of the commands do not exceed, ns
 */
guint64 ntprof_report_row_get_p99_ns(NtprofReportRow *self)
{
        return self->row->p99_ns;
}

/**
 * ntprof_report_row_get_max_ns:
 * @self: a row
 *
 * Returns: latency of the slowest command, ns
 */
guint64 ntprof_report_row_get_max_ns(NtprofReportRow *self)
{
        return self->row->max_ns;
}

/**
 * ntprof_report_row_get_stage_mean_ns:
 * @self: a row
 * @stage: id of a stage, as [method@ReportStage.get_id] has it
 * @mean_ns: (out): mean time of a command in the stage, ns
 *
 * Returns: whether the row has that stage
 */
gboolean ntprof_report_row_get_stage_mean_ns(NtprofReportRow *self, const char *stage, double *mean_ns)
{
        g_return_val_if_fail(stage && mean_ns, FALSE);

        *mean_ns = 0;
        for (guint i = 0; i < self->row->n_stages; i++)
                if (g_str_equal(np_stage_info(self->row->stages[i].stage)->id, stage)) {
                        *mean_ns = self->row->stages[i].mean_ns;
                        return TRUE;
                }
        return FALSE;
}

/**
 * ntprof_report_row_get_largest_stage:
 * @self: a row
 *
 * Returns: id of the stage with the largest mean
 */
const char *ntprof_report_row_get_largest_stage(NtprofReportRow *self)
{
        return np_stage_info(self->row->largest)->id;
}

/**
 * ntprof_report_row_get_host_cores:
 * @self: a row
 *
 * Returns: (nullable): processors that submitted the commands, e.g. "0-3,7"; %NULL when not known
 */
const char *ntprof_report_row_get_host_cores(NtprofReportRow *self)
{
        return self->row->host_cores.list;
}

/**
 * ntprof_report_row_get_response_cores:
 * @self: a row
 *
 * Returns: (nullable): processors of the host that took the responses; %NULL when not known
 */
const char *ntprof_report_row_get_response_cores(NtprofReportRow *self)
{
        return self->row->response_cores.list;
}

/**
 * ntprof_report_row_get_target_cores:
 * @self: a row
 *
 * Returns: (nullable): processors of the target that took the commands in or answered them; %NULL when not known
 */
const char *ntprof_report_row_get_target_cores(NtprofReportRow *self)
{
        return self->row->target_cores.list;
}
