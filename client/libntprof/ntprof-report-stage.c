/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "report-private.h"

struct _NtprofReportStage {
        NtprofReport *report;
        const NpReportGroup *group;
        const NpReportStage *stage;
};

G_DEFINE_BOXED_TYPE(NtprofReportStage, ntprof_report_stage, ntprof_report_stage_ref, ntprof_report_stage_unref)

NtprofReportStage *np_report_stage_view(NtprofReportGroup *group, const NpReportStage *stage)
{
        NtprofReportStage *self = g_atomic_rc_box_new0(NtprofReportStage);

        self->report = g_object_ref(group->report);
        self->group = group->group;
        self->stage = stage;
        return self;
}

/**
 * ntprof_report_stage_ref:
 * @self: a stage
 *
 * Returns: (transfer full): the same stage
 */
NtprofReportStage *ntprof_report_stage_ref(NtprofReportStage *self)
{
        return g_atomic_rc_box_acquire(self);
}

static void stage_clear(gpointer stage)
{
        g_clear_object(&((NtprofReportStage *) stage)->report);
}

/**
 * ntprof_report_stage_unref:
 * @self: (transfer full): a stage
 */
void ntprof_report_stage_unref(NtprofReportStage *self)
{
        g_atomic_rc_box_release_full(self, stage_clear);
}

/**
 * ntprof_report_stage_get_id:
 * @self: a stage
 *
 * Returns: "host_block", "host_driver", "network", "target_driver", "storage", or "network_target" where there is no target
 *   side
 */
const char *ntprof_report_stage_get_id(NtprofReportStage *self)
{
        return np_stage_info(self->stage->stage)->id;
}

/**
 * ntprof_report_stage_get_name:
 * @self: a stage
 *
 * Returns: (transfer full): for people, e.g. "host driver (nvme-tcp)"
 */
char *ntprof_report_stage_get_name(NtprofReportStage *self)
{
        return np_stage_name(self->stage->stage, np_report_transport(self->report->report, self->group));
}

/**
 * ntprof_report_stage_get_mean_ns:
 * @self: a stage
 *
 * Returns: mean time of a command in the stage, ns; the network's can be slightly below zero over loopback
 */
double ntprof_report_stage_get_mean_ns(NtprofReportStage *self)
{
        return self->stage->mean_ns;
}

/**
 * ntprof_report_stage_get_p50_ns:
 * @self: a stage
 *
 * Returns: median of the commands' times in the stage, ns
 */
guint64 ntprof_report_stage_get_p50_ns(NtprofReportStage *self)
{
        return self->stage->p50_ns;
}

/**
 * ntprof_report_stage_get_p99_ns:
 * @self: a stage
 *
 * Returns: time in the stage that 99 % of the commands do not exceed, ns
 */
guint64 ntprof_report_stage_get_p99_ns(NtprofReportStage *self)
{
        return self->stage->p99_ns;
}

/**
 * ntprof_report_stage_get_share:
 * @self: a stage
 *
 * Returns: its share of the group's mean latency, 1 is all of it
 */
double ntprof_report_stage_get_share(NtprofReportStage *self)
{
        return self->stage->share;
}

/**
 * ntprof_report_stage_get_avg_qd:
 * @self: a stage
 *
 * Returns: commands in the stage at a time, on average (Little's law, of all commands of the group)
 */
double ntprof_report_stage_get_avg_qd(NtprofReportStage *self)
{
        return self->stage->avg_qd;
}

/**
 * ntprof_report_stage_get_n_components:
 * @self: a stage
 *
 * Returns: how many components it has, those that are not known among them
 */
guint ntprof_report_stage_get_n_components(NtprofReportStage *self)
{
        return self->stage->components->len;
}

/**
 * ntprof_report_stage_get_component:
 * @self: a stage
 * @index: below ntprof_report_stage_get_n_components()
 *
 * Returns: (transfer full): a component; what it consists of comes behind it
 */
NtprofReportComponent *ntprof_report_stage_get_component(NtprofReportStage *self, guint index)
{
        g_return_val_if_fail(index < self->stage->components->len, NULL);
        return np_report_component_view(self->report, self->stage->components->pdata[index],
                                        np_report_transport(self->report->report, self->group));
}
