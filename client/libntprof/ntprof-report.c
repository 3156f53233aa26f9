/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "error-private.h"
#include "report-private.h"

/**
 * NtprofReport:
 *
 * The report of a session: where the time of its commands went.
 *
 * It wraps the service's JSON document (schema `org.ntprof.report/1`), has its text form, and gives access to its groups:
 * the commands of one operation, size and namespace, and of each the mean time in every stage. Times are ns, and the
 * stages' means add up to the group's mean latency.
 */
G_DEFINE_FINAL_TYPE(NtprofReport, ntprof_report, G_TYPE_OBJECT)

G_DEFINE_BOXED_TYPE(NtprofReportGroup, ntprof_report_group, ntprof_report_group_ref, ntprof_report_group_unref)

static void ntprof_report_init(NtprofReport *self)
{
}

static void ntprof_report_finalize(GObject *object)
{
        NtprofReport *self = NTPROF_REPORT(object);

        g_free(self->json);
        g_clear_pointer(&self->report, np_report_free);
        G_OBJECT_CLASS(ntprof_report_parent_class)->finalize(object);
}

static void ntprof_report_class_init(NtprofReportClass *class)
{
        G_OBJECT_CLASS(class)->finalize = ntprof_report_finalize;
}

/**
 * ntprof_report_new_from_json:
 * @json: a document of the schema `org.ntprof.report/1`
 * @length: its length in bytes, or -1 when it ends with a NUL
 * @error: return location
 *
 * Reads a report, e.g. one that was saved with [method@Report.to_json].
 *
 * Returns: (transfer full): the report; %NULL with @error set to %NTPROF_ERROR_INVALID_DOCUMENT when it isn't one
 */
NtprofReport *ntprof_report_new_from_json(const char *json, gssize length, GError **error)
{
        g_autoptr(GError) local_error = NULL;

        g_return_val_if_fail(json, NULL);

        NpReport *report = np_report_from_json(json, length, &local_error);
        if (!report) {
                g_set_error(error, NTPROF_ERROR, NTPROF_ERROR_INVALID_DOCUMENT, "not a report: %s", local_error->message);
                return NULL;
        }

        NtprofReport *self = g_object_new(NTPROF_TYPE_REPORT, NULL);
        self->json = length < 0 ? g_strdup(json) : g_strndup(json, (gsize) length);
        self->report = report;
        return self;
}

/**
 * ntprof_report_to_json:
 * @self: a report
 *
 * Returns: the JSON document it was read from
 */
const char *ntprof_report_to_json(NtprofReport *self)
{
        g_return_val_if_fail(NTPROF_IS_REPORT(self), NULL);
        return self->json;
}

/**
 * ntprof_report_to_text:
 * @self: a report
 *
 * Returns: (transfer full): the report as a text for people: times in us, 80 columns wide but for the titles of groups
 */
char *ntprof_report_to_text(NtprofReport *self)
{
        return ntprof_report_to_text_full(self, NTPROF_REPORT_TEXT_DEFAULT);
}

/**
 * ntprof_report_to_text_full:
 * @self: a report
 * @flags: what else to tell
 *
 * Returns: (transfer full): as [method@Report.to_text], with more or in another order
 */
char *ntprof_report_to_text_full(NtprofReport *self, NtprofReportTextFlags flags)
{
        G_STATIC_ASSERT((int) NTPROF_REPORT_TEXT_DETAIL == NP_REPORT_TEXT_DETAIL &&
                        (int) NTPROF_REPORT_TEXT_BY_PATH == NP_REPORT_TEXT_BY_PATH &&
                        (int) NTPROF_REPORT_TEXT_BY_QUEUE == NP_REPORT_TEXT_BY_QUEUE &&
                        (int) NTPROF_REPORT_TEXT_BY_CPU == NP_REPORT_TEXT_BY_CPU &&
                        (int) NTPROF_REPORT_TEXT_BY_SIZE == NP_REPORT_TEXT_BY_SIZE &&
                        (int) NTPROF_REPORT_TEXT_BY_PROCESS == NP_REPORT_TEXT_BY_PROCESS);

        g_return_val_if_fail(NTPROF_IS_REPORT(self), NULL);
        return np_report_to_text(self->report, (NpReportTextFlags) flags);
}

/**
 * ntprof_report_get_session_id:
 * @self: a report
 *
 * Returns: (nullable): id of the session
 */
const char *ntprof_report_get_session_id(NtprofReport *self)
{
        g_return_val_if_fail(NTPROF_IS_REPORT(self), NULL);
        return self->report->facts->session_id;
}

/**
 * ntprof_report_get_duration_ns:
 * @self: a report
 *
 * Returns: how long was recorded, ns
 */
guint64 ntprof_report_get_duration_ns(NtprofReport *self)
{
        g_return_val_if_fail(NTPROF_IS_REPORT(self), 0);
        return self->report->facts->duration_ns;
}

/**
 * ntprof_report_get_commands:
 * @self: a report
 *
 * Returns: commands of the namespace, sampled or not
 */
guint64 ntprof_report_get_commands(NtprofReport *self)
{
        g_return_val_if_fail(NTPROF_IS_REPORT(self), 0);
        return self->report->facts->commands;
}

/**
 * ntprof_report_get_sampled:
 * @self: a report
 *
 * Returns: commands chosen by the sampling hash
 */
guint64 ntprof_report_get_sampled(NtprofReport *self)
{
        g_return_val_if_fail(NTPROF_IS_REPORT(self), 0);
        return self->report->facts->sampled;
}

/**
 * ntprof_report_get_detail:
 * @self: a report
 *
 * Returns: whether what only the components of the stages need was recorded, too
 */
gboolean ntprof_report_get_detail(NtprofReport *self)
{
        g_return_val_if_fail(NTPROF_IS_REPORT(self), FALSE);
        return self->report->facts->detail;
}

/**
 * ntprof_report_has_target:
 * @self: a report
 *
 * Returns: whether a target recorded its side, of one path at least
 */
gboolean ntprof_report_has_target(NtprofReport *self)
{
        g_return_val_if_fail(NTPROF_IS_REPORT(self), FALSE);
        return self->report->facts->targets->len > 0;
}

/**
 * ntprof_report_get_n_targets:
 * @self: a report
 *
 * Returns: number of machines that recorded the target's side
 */
guint ntprof_report_get_n_targets(NtprofReport *self)
{
        g_return_val_if_fail(NTPROF_IS_REPORT(self), 0);
        return self->report->facts->targets->len;
}

/**
 * ntprof_report_get_target:
 * @self: a report
 * @index: from 0 to one less than [method@Report.get_n_targets]
 *
 * Returns: (transfer full): a machine that recorded the target's side
 */
NtprofReportTarget *ntprof_report_get_target(NtprofReport *self, guint index)
{
        g_return_val_if_fail(NTPROF_IS_REPORT(self), NULL);
        g_return_val_if_fail(index < self->report->facts->targets->len, NULL);

        return np_report_target_view(self, self->report->facts->targets->pdata[index]);
}

/**
 * ntprof_report_get_warnings:
 * @self: a report
 *
 * Returns: (transfer full): what a reader should know before trusting the numbers, complete sentences
 */
char **ntprof_report_get_warnings(NtprofReport *self)
{
        g_return_val_if_fail(NTPROF_IS_REPORT(self), NULL);

        g_autoptr(GStrvBuilder) builder = g_strv_builder_new();
        for (guint i = 0; i < self->report->warnings->len; i++)
                g_strv_builder_add(builder, self->report->warnings->pdata[i]);
        return g_strv_builder_end(builder);
}

/**
 * ntprof_report_get_n_groups:
 * @self: a report
 *
 * Returns: number of groups
 */
guint ntprof_report_get_n_groups(NtprofReport *self)
{
        g_return_val_if_fail(NTPROF_IS_REPORT(self), 0);
        return self->report->groups->len;
}

static NtprofReportGroup *new_group(NtprofReport *report, const NpReportGroup *group)
{
        NtprofReportGroup *self = g_atomic_rc_box_new0(NtprofReportGroup);

        self->report = g_object_ref(report);
        self->group = group;
        return self;
}

/**
 * ntprof_report_get_group:
 * @self: a report
 * @index: from 0, the group with the most commands, to one less than [method@Report.get_n_groups]
 *
 * Returns: (transfer full): a group
 */
NtprofReportGroup *ntprof_report_get_group(NtprofReport *self, guint index)
{
        g_return_val_if_fail(NTPROF_IS_REPORT(self), NULL);
        g_return_val_if_fail(index < self->report->groups->len, NULL);

        return new_group(self, self->report->groups->pdata[index]);
}

/**
 * ntprof_report_get_n_groups_by_path:
 * @self: a report
 *
 * Returns: number of groups when they are told by path; 0 when there is one path
 */
guint ntprof_report_get_n_groups_by_path(NtprofReport *self)
{
        g_return_val_if_fail(NTPROF_IS_REPORT(self), 0);
        return self->report->groups_by_path->len;
}

/**
 * ntprof_report_get_group_by_path:
 * @self: a report
 * @index: from 0, the group with the most commands, to one less than [method@Report.get_n_groups_by_path]
 *
 * The same commands as those of [method@Report.get_group], but those of each path by themselves.
 *
 * Returns: (transfer full): a group
 */
NtprofReportGroup *ntprof_report_get_group_by_path(NtprofReport *self, guint index)
{
        g_return_val_if_fail(NTPROF_IS_REPORT(self), NULL);
        g_return_val_if_fail(index < self->report->groups_by_path->len, NULL);

        return new_group(self, self->report->groups_by_path->pdata[index]);
}

/**
 * ntprof_report_group_ref:
 * @self: a group
 *
 * Returns: (transfer full): the same group
 */
NtprofReportGroup *ntprof_report_group_ref(NtprofReportGroup *self)
{
        return g_atomic_rc_box_acquire(self);
}

static void group_clear(gpointer group)
{
        g_clear_object(&((NtprofReportGroup *) group)->report);
}

/**
 * ntprof_report_group_unref:
 * @self: (transfer full): a group
 */
void ntprof_report_group_unref(NtprofReportGroup *self)
{
        g_atomic_rc_box_release_full(self, group_clear);
}

/**
 * ntprof_report_group_get_operation:
 * @self: a group
 *
 * Returns: "read", "write", "flush", ...
 */
const char *ntprof_report_group_get_operation(NtprofReportGroup *self)
{
        return self->group->op;
}

/**
 * ntprof_report_group_get_size_bytes:
 * @self: a group
 *
 * Returns: bytes of a command, 0 where the operation has no length; the upper end when the report has so many sizes that
 *   they are put together by powers of two
 */
guint64 ntprof_report_group_get_size_bytes(NtprofReportGroup *self)
{
        return self->group->size_bytes;
}

/**
 * ntprof_report_group_is_fua:
 * @self: a group
 *
 * Returns: whether it is of writes with Force Unit Access, which are a group of their own
 */
gboolean ntprof_report_group_is_fua(NtprofReportGroup *self)
{
        return self->group->fua;
}

/**
 * ntprof_report_group_get_namespace_name:
 * @self: a group
 *
 * Returns: e.g. "nvme6n1"
 */
const char *ntprof_report_group_get_namespace_name(NtprofReportGroup *self)
{
        return self->group->namespace_name;
}

/**
 * ntprof_report_group_get_path_name:
 * @self: a group
 *
 * Returns: (nullable): path device, e.g. "nvme6c6n1", of a group by path; %NULL for a group of all paths, or when not known
 */
const char *ntprof_report_group_get_path_name(NtprofReportGroup *self)
{
        const GPtrArray *paths = self->report->report->facts->paths;

        return self->group->path >= 0 ? ((const NpReportPath *) paths->pdata[self->group->path])->path_name : NULL;
}

/**
 * ntprof_report_group_has_target:
 * @self: a group
 *
 * Returns: whether this is a group of joined commands, with five stages; else network and target are one stage
 */
gboolean ntprof_report_group_has_target(NtprofReportGroup *self)
{
        return self->group->with_target;
}

/**
 * ntprof_report_group_is_part_of_other:
 * @self: a group
 *
 * Commands of one operation, size and namespace have a second group when some of them have no record of the target's side.
 * The joined ones' group then stands for all of them, so sums over all commands leave this one out.
 *
 * Returns: whether this group's commands are counted in another group too
 */
gboolean ntprof_report_group_is_part_of_other(NtprofReportGroup *self)
{
        return self->group->part_of_other;
}

/**
 * ntprof_report_group_get_commands:
 * @self: a group
 *
 * Returns: all commands of the group, sampled or not
 */
guint64 ntprof_report_group_get_commands(NtprofReportGroup *self)
{
        return self->group->commands;
}

/**
 * ntprof_report_group_get_rate:
 * @self: a group
 *
 * Returns: rate of all commands of the group, sampled or not, commands/s
 */
double ntprof_report_group_get_rate(NtprofReportGroup *self)
{
        return self->group->rate_per_s;
}

/**
 * ntprof_report_group_get_sampled:
 * @self: a group
 *
 * Returns: sampled commands of the group
 */
guint64 ntprof_report_group_get_sampled(NtprofReportGroup *self)
{
        return self->group->sampled;
}

/**
 * ntprof_report_group_get_joined:
 * @self: a group
 *
 * Returns: sampled commands of the group that have both sides' records
 */
guint64 ntprof_report_group_get_joined(NtprofReportGroup *self)
{
        return self->group->joined;
}

/**
 * ntprof_report_group_get_failed:
 * @self: a group
 *
 * Returns: sampled commands of the group that ended with an error status
 */
guint64 ntprof_report_group_get_failed(NtprofReportGroup *self)
{
        return self->group->failed;
}

/**
 * ntprof_report_group_get_mean_ns:
 * @self: a group
 *
 * Returns: mean latency, ns
 */
double ntprof_report_group_get_mean_ns(NtprofReportGroup *self)
{
        return self->group->mean_ns;
}

/**
 * ntprof_report_group_get_p50_ns:
 * @self: a group
 *
 * Returns: median of the latency, ns
 */
guint64 ntprof_report_group_get_p50_ns(NtprofReportGroup *self)
{
        return self->group->p50_ns;
}

/**
 * ntprof_report_group_get_p99_ns:
 * @self: a group
 *
 * Returns: latency that 99 % of the commands do not exceed, ns
 */
guint64 ntprof_report_group_get_p99_ns(NtprofReportGroup *self)
{
        return self->group->p99_ns;
}

/**
 * ntprof_report_group_get_p999_ns:
 * @self: a group
 *
 * Returns: latency that 99.9 % of the commands do not exceed, ns
 */
guint64 ntprof_report_group_get_p999_ns(NtprofReportGroup *self)
{
        return self->group->p999_ns;
}

/**
 * ntprof_report_group_get_max_ns:
 * @self: a group
 *
 * Returns: largest latency, ns
 */
guint64 ntprof_report_group_get_max_ns(NtprofReportGroup *self)
{
        return self->group->max_ns;
}

/**
 * ntprof_report_group_get_n_stages:
 * @self: a group
 *
 * Returns: number of stages
 */
guint ntprof_report_group_get_n_stages(NtprofReportGroup *self)
{
        return self->group->stages->len;
}

/**
 * ntprof_report_group_get_stage:
 * @self: a group
 * @index: from 0, the host block layer, in the order of a command's way
 *
 * Returns: (transfer full): a stage
 */
NtprofReportStage *ntprof_report_group_get_stage(NtprofReportGroup *self, guint index)
{
        g_return_val_if_fail(index < self->group->stages->len, NULL);
        return np_report_stage_view(self, self->group->stages->pdata[index]);
}

/**
 * ntprof_report_group_get_largest_stage:
 * @self: a group
 *
 * Returns: (transfer full) (nullable): the stage with the largest share of the latency
 */
NtprofReportStage *ntprof_report_group_get_largest_stage(NtprofReportGroup *self)
{
        for (guint i = 0; i < self->group->stages->len; i++) {
                const NpReportStage *stage = self->group->stages->pdata[i];
                if (stage->stage == self->group->largest)
                        return np_report_stage_view(self, stage);
        }
        return NULL;
}
