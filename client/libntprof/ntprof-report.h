/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <gio/gio.h>

G_BEGIN_DECLS

#define NTPROF_TYPE_REPORT (ntprof_report_get_type())
G_DECLARE_FINAL_TYPE(NtprofReport, ntprof_report, NTPROF, REPORT, GObject)

/**
 * NtprofReportGroup:
 *
 * The commands of one operation, size and namespace in a [class@Report], told by the part of the way that was recorded.
 */
typedef struct _NtprofReportGroup NtprofReportGroup;

/**
 * NtprofReportStage:
 *
 * The share of one stage in the latency of a [struct@ReportGroup].
 */
typedef struct _NtprofReportStage NtprofReportStage;

/**
 * NtprofReportComponent:
 *
 * A part of a [struct@ReportStage], or of another component of it: those of one level add up to what they are part of.
 */
typedef struct _NtprofReportComponent NtprofReportComponent;

/**
 * NtprofReportTarget:
 *
 * A machine that recorded the target's side for a [class@Report].
 */
typedef struct _NtprofReportTarget NtprofReportTarget;

/**
 * NtprofReportRow:
 *
 * The commands of one queue, processor, size or process in a [class@Report].
 */
typedef struct _NtprofReportRow NtprofReportRow;

/**
 * NtprofReportView:
 * @NTPROF_REPORT_VIEW_QUEUE: by queue, of each path
 * @NTPROF_REPORT_VIEW_CPU: by the processor that submitted the commands
 * @NTPROF_REPORT_VIEW_SIZE: by size
 * @NTPROF_REPORT_VIEW_PROCESS: by the process that submitted the I/O
 *
 * By what [method@Report.get_row] tells the commands.
 */
typedef enum {
        NTPROF_REPORT_VIEW_QUEUE,
        NTPROF_REPORT_VIEW_CPU,
        NTPROF_REPORT_VIEW_SIZE,
        NTPROF_REPORT_VIEW_PROCESS,
} NtprofReportView;

/**
 * NtprofReportTextFlags:
 * @NTPROF_REPORT_TEXT_DEFAULT: the stages of each group
 * @NTPROF_REPORT_TEXT_DETAIL: below each stage what it consists of; of a view, the share of each stage
 * @NTPROF_REPORT_TEXT_BY_PATH: the groups of each path by themselves
 * @NTPROF_REPORT_TEXT_BY_QUEUE: in place of the groups, a line for each queue
 * @NTPROF_REPORT_TEXT_BY_CPU: in place of the groups, a line for each processor that submitted commands
 * @NTPROF_REPORT_TEXT_BY_SIZE: in place of the groups, a line for each size
 * @NTPROF_REPORT_TEXT_BY_PROCESS: in place of the groups, a line for each process
 *
 * What [method@Report.to_text_full] tells.
 */
typedef enum {
        NTPROF_REPORT_TEXT_DEFAULT = 0,
        NTPROF_REPORT_TEXT_DETAIL = 1 << 0,
        NTPROF_REPORT_TEXT_BY_PATH = 1 << 1,
        NTPROF_REPORT_TEXT_BY_QUEUE = 1 << 2,
        NTPROF_REPORT_TEXT_BY_CPU = 1 << 3,
        NTPROF_REPORT_TEXT_BY_SIZE = 1 << 4,
        NTPROF_REPORT_TEXT_BY_PROCESS = 1 << 5,
} NtprofReportTextFlags;

NtprofReport *ntprof_report_new_from_json(const char *json, gssize length, GError **error);
const char *ntprof_report_to_json(NtprofReport *self);
char *ntprof_report_to_text(NtprofReport *self);
char *ntprof_report_to_text_full(NtprofReport *self, NtprofReportTextFlags flags);
const char *ntprof_report_get_session_id(NtprofReport *self);
guint64 ntprof_report_get_duration_ns(NtprofReport *self);
guint64 ntprof_report_get_commands(NtprofReport *self);
guint64 ntprof_report_get_sampled(NtprofReport *self);
gboolean ntprof_report_get_detail(NtprofReport *self);
gboolean ntprof_report_has_target(NtprofReport *self);
guint ntprof_report_get_n_targets(NtprofReport *self);
NtprofReportTarget *ntprof_report_get_target(NtprofReport *self, guint index);
char **ntprof_report_get_warnings(NtprofReport *self);
guint ntprof_report_get_n_groups(NtprofReport *self);
NtprofReportGroup *ntprof_report_get_group(NtprofReport *self, guint index);
guint ntprof_report_get_n_groups_by_path(NtprofReport *self);
NtprofReportGroup *ntprof_report_get_group_by_path(NtprofReport *self, guint index);
guint ntprof_report_get_n_rows(NtprofReport *self, NtprofReportView view);
NtprofReportRow *ntprof_report_get_row(NtprofReport *self, NtprofReportView view, guint index);

#define NTPROF_TYPE_REPORT_TARGET (ntprof_report_target_get_type())
GType ntprof_report_target_get_type(void) G_GNUC_CONST;
NtprofReportTarget *ntprof_report_target_ref(NtprofReportTarget *self);
void ntprof_report_target_unref(NtprofReportTarget *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(NtprofReportTarget, ntprof_report_target_unref)
const char *ntprof_report_target_get_peer(NtprofReportTarget *self);
const char *ntprof_report_target_get_machine(NtprofReportTarget *self);
const char *ntprof_report_target_get_kernel(NtprofReportTarget *self);
guint64 ntprof_report_target_get_recorded_ns(NtprofReportTarget *self);
const char *ntprof_report_target_get_ended_early(NtprofReportTarget *self);
const char *ntprof_report_target_get_drive_hidden(NtprofReportTarget *self);
gboolean ntprof_report_target_get_clock_offset(NtprofReportTarget *self, gint64 *min_ns, gint64 *max_ns);

#define NTPROF_TYPE_REPORT_GROUP (ntprof_report_group_get_type())
GType ntprof_report_group_get_type(void) G_GNUC_CONST;
NtprofReportGroup *ntprof_report_group_ref(NtprofReportGroup *self);
void ntprof_report_group_unref(NtprofReportGroup *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(NtprofReportGroup, ntprof_report_group_unref)
const char *ntprof_report_group_get_operation(NtprofReportGroup *self);
guint64 ntprof_report_group_get_size_bytes(NtprofReportGroup *self);
gboolean ntprof_report_group_is_fua(NtprofReportGroup *self);
const char *ntprof_report_group_get_namespace_name(NtprofReportGroup *self);
const char *ntprof_report_group_get_path_name(NtprofReportGroup *self);
gboolean ntprof_report_group_has_target(NtprofReportGroup *self);
gboolean ntprof_report_group_is_part_of_other(NtprofReportGroup *self);
guint64 ntprof_report_group_get_commands(NtprofReportGroup *self);
double ntprof_report_group_get_rate(NtprofReportGroup *self);
guint64 ntprof_report_group_get_sampled(NtprofReportGroup *self);
guint64 ntprof_report_group_get_joined(NtprofReportGroup *self);
guint64 ntprof_report_group_get_failed(NtprofReportGroup *self);
double ntprof_report_group_get_mean_ns(NtprofReportGroup *self);
guint64 ntprof_report_group_get_p50_ns(NtprofReportGroup *self);
guint64 ntprof_report_group_get_p99_ns(NtprofReportGroup *self);
guint64 ntprof_report_group_get_p999_ns(NtprofReportGroup *self);
guint64 ntprof_report_group_get_max_ns(NtprofReportGroup *self);
guint ntprof_report_group_get_n_stages(NtprofReportGroup *self);
NtprofReportStage *ntprof_report_group_get_stage(NtprofReportGroup *self, guint index);
NtprofReportStage *ntprof_report_group_get_largest_stage(NtprofReportGroup *self);

#define NTPROF_TYPE_REPORT_STAGE (ntprof_report_stage_get_type())
GType ntprof_report_stage_get_type(void) G_GNUC_CONST;
NtprofReportStage *ntprof_report_stage_ref(NtprofReportStage *self);
void ntprof_report_stage_unref(NtprofReportStage *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(NtprofReportStage, ntprof_report_stage_unref)
const char *ntprof_report_stage_get_id(NtprofReportStage *self);
char *ntprof_report_stage_get_name(NtprofReportStage *self);
double ntprof_report_stage_get_mean_ns(NtprofReportStage *self);
guint64 ntprof_report_stage_get_p50_ns(NtprofReportStage *self);
guint64 ntprof_report_stage_get_p99_ns(NtprofReportStage *self);
double ntprof_report_stage_get_share(NtprofReportStage *self);
double ntprof_report_stage_get_avg_qd(NtprofReportStage *self);
guint ntprof_report_stage_get_n_components(NtprofReportStage *self);
NtprofReportComponent *ntprof_report_stage_get_component(NtprofReportStage *self, guint index);

#define NTPROF_TYPE_REPORT_COMPONENT (ntprof_report_component_get_type())
GType ntprof_report_component_get_type(void) G_GNUC_CONST;
NtprofReportComponent *ntprof_report_component_ref(NtprofReportComponent *self);
void ntprof_report_component_unref(NtprofReportComponent *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(NtprofReportComponent, ntprof_report_component_unref)
const char *ntprof_report_component_get_id(NtprofReportComponent *self);
const char *ntprof_report_component_get_parent(NtprofReportComponent *self);
const char *ntprof_report_component_get_name(NtprofReportComponent *self);
const char *ntprof_report_component_get_reason(NtprofReportComponent *self);
double ntprof_report_component_get_mean_ns(NtprofReportComponent *self);
double ntprof_report_component_get_margin_ns(NtprofReportComponent *self);
gboolean ntprof_report_component_is_information(NtprofReportComponent *self);

#define NTPROF_TYPE_REPORT_ROW (ntprof_report_row_get_type())
GType ntprof_report_row_get_type(void) G_GNUC_CONST;
NtprofReportRow *ntprof_report_row_ref(NtprofReportRow *self);
void ntprof_report_row_unref(NtprofReportRow *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(NtprofReportRow, ntprof_report_row_unref)
const char *ntprof_report_row_get_namespace_name(NtprofReportRow *self);
const char *ntprof_report_row_get_path_name(NtprofReportRow *self);
gboolean ntprof_report_row_is_others(NtprofReportRow *self);
guint64 ntprof_report_row_get_key(NtprofReportRow *self);
const char *ntprof_report_row_get_process_name(NtprofReportRow *self);
guint64 ntprof_report_row_get_commands(NtprofReportRow *self);
double ntprof_report_row_get_rate(NtprofReportRow *self);
double ntprof_report_row_get_avg_qd(NtprofReportRow *self);
gboolean ntprof_report_row_has_target(NtprofReportRow *self);
double ntprof_report_row_get_mean_ns(NtprofReportRow *self);
guint64 ntprof_report_row_get_p50_ns(NtprofReportRow *self);
guint64 ntprof_report_row_get_p99_ns(NtprofReportRow *self);
guint64 ntprof_report_row_get_max_ns(NtprofReportRow *self);
gboolean ntprof_report_row_get_stage_mean_ns(NtprofReportRow *self, const char *stage, double *mean_ns);
const char *ntprof_report_row_get_largest_stage(NtprofReportRow *self);
const char *ntprof_report_row_get_host_cores(NtprofReportRow *self);
const char *ntprof_report_row_get_response_cores(NtprofReportRow *self);
const char *ntprof_report_row_get_target_cores(NtprofReportRow *self);

G_END_DECLS
