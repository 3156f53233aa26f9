/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "report-private.h"

struct _NtprofReportTarget {
        NtprofReport *report;
        const NpReportTarget *target;
};

G_DEFINE_BOXED_TYPE(NtprofReportTarget, ntprof_report_target, ntprof_report_target_ref, ntprof_report_target_unref)

NtprofReportTarget *np_report_target_view(NtprofReport *report, const NpReportTarget *target)
{
        NtprofReportTarget *self = g_atomic_rc_box_new0(NtprofReportTarget);

        self->report = g_object_ref(report);
        self->target = target;
        return self;
}

/**
 * ntprof_report_target_ref:
 * @self: a target
 *
 * Returns: (transfer full): the same target
 */
NtprofReportTarget *ntprof_report_target_ref(NtprofReportTarget *self)
{
        return g_atomic_rc_box_acquire(self);
}

static void target_clear(gpointer target)
{
        g_clear_object(&((NtprofReportTarget *) target)->report);
}

/**
 * ntprof_report_target_unref:
 * @self: (transfer full): a target
 */
void ntprof_report_target_unref(NtprofReportTarget *self)
{
        g_atomic_rc_box_release_full(self, target_clear);
}

/**
 * ntprof_report_target_get_peer:
 * @self: a target
 *
 * Returns: (nullable): the peer's name on the host, %NULL when it is the host itself
 */
const char *ntprof_report_target_get_peer(NtprofReportTarget *self)
{
        return self->target->peer;
}

/**
 * ntprof_report_target_get_machine:
 * @self: a target
 *
 * Returns: (nullable): the machine's name, as it calls itself
 */
const char *ntprof_report_target_get_machine(NtprofReportTarget *self)
{
        return self->target->name;
}

/**
 * ntprof_report_target_get_kernel:
 * @self: a target
 *
 * Returns: (nullable): the kernel's release
 */
const char *ntprof_report_target_get_kernel(NtprofReportTarget *self)
{
        return self->target->kernel;
}

/**
 * ntprof_report_target_get_recorded_ns:
 * @self: a target
 *
 * Returns: for how long it recorded, ns
 */
guint64 ntprof_report_target_get_recorded_ns(NtprofReportTarget *self)
{
        return self->target->recorded_ns;
}

/**
 * ntprof_report_target_get_ended_early:
 * @self: a target
 *
 * Returns: (nullable): why it ended before the session did, %NULL when it recorded to the end
 */
const char *ntprof_report_target_get_ended_early(NtprofReportTarget *self)
{
        return self->target->ended_reason;
}

/**
 * ntprof_report_target_get_drive_hidden:
 * @self: a target
 *
 * Returns: (nullable): why its block layer can't be told from its drive, %NULL when it can, as far as it knows
 */
const char *ntprof_report_target_get_drive_hidden(NtprofReportTarget *self)
{
        return self->target->drive_hidden;
}

/**
 * ntprof_report_target_get_clock_offset:
 * @self: a target
 * @min_ns: (out) (optional): by how much its clock is ahead of the host's at least, ns
 * @max_ns: (out) (optional): and at most
 *
 * Of CLOCK_MONOTONIC, which has another start on each machine, at the end of the session.
 *
 * Returns: whether it is known
 */
gboolean ntprof_report_target_get_clock_offset(NtprofReportTarget *self, gint64 *min_ns, gint64 *max_ns)
{
        if (min_ns)
                *min_ns = self->target->offset_min_ns;
        if (max_ns)
                *max_ns = self->target->offset_max_ns;
        return self->target->offset_known;
}
