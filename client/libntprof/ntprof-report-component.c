/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "report-private.h"

struct _NtprofReportComponent {
        NtprofReport *report;
        const NpReportComponent *component;
        const char *transport;          /* the report's */
};

G_DEFINE_BOXED_TYPE(NtprofReportComponent, ntprof_report_component, ntprof_report_component_ref, ntprof_report_component_unref)

NtprofReportComponent *np_report_component_view(NtprofReport *report, const NpReportComponent *component, const char *transport)
{
        NtprofReportComponent *self = g_atomic_rc_box_new0(NtprofReportComponent);

        self->report = g_object_ref(report);
        self->component = component;
        self->transport = transport;
        return self;
}

/**
 * ntprof_report_component_ref:
 * @self: a component
 *
 * Returns: (transfer full): the same component
 */
NtprofReportComponent *ntprof_report_component_ref(NtprofReportComponent *self)
{
        return g_atomic_rc_box_acquire(self);
}

static void component_clear(gpointer component)
{
        g_clear_object(&((NtprofReportComponent *) component)->report);
}

/**
 * ntprof_report_component_unref:
 * @self: (transfer full): a component
 */
void ntprof_report_component_unref(NtprofReportComponent *self)
{
        g_atomic_rc_box_release_full(self, component_clear);
}

/**
 * ntprof_report_component_get_id:
 * @self: a component
 *
 * Returns: unique within its stage, e.g. "tag_wait"
 */
const char *ntprof_report_component_get_id(NtprofReportComponent *self)
{
        return np_component_info(self->component->component)->id;
}

/**
 * ntprof_report_component_get_parent:
 * @self: a component
 *
 * Returns: (nullable): id of the component whose part it is, %NULL when it is a part of the stage itself
 */
const char *ntprof_report_component_get_parent(NtprofReportComponent *self)
{
        NpComponent parent = np_component_info(self->component->component)->parent;

        return parent == NP_COMPONENT_NONE ? NULL : np_component_info(parent)->id;
}

/**
 * ntprof_report_component_get_name:
 * @self: a component
 *
 * Returns: for people, e.g. "wait for a tag"
 */
const char *ntprof_report_component_get_name(NtprofReportComponent *self)
{
        return np_component_name(self->component->component, self->transport);
}

/**
 * ntprof_report_component_get_reason:
 * @self: a component
 *
 * Returns: (nullable): why its time is not known, a sentence; %NULL: it is
 */
const char *ntprof_report_component_get_reason(NtprofReportComponent *self)
{
        return self->component->reason;
}

/**
 * ntprof_report_component_get_mean_ns:
 * @self: a component
 *
 * Returns: mean time of a command in the component, ns; 0 when it is not known. One-way times can be slightly below zero
 */
double ntprof_report_component_get_mean_ns(NtprofReportComponent *self)
{
        return self->component->reason ? 0 : self->component->mean_ns;
}

/**
 * ntprof_report_component_get_margin_ns:
 * @self: a component
 *
 * Returns: by how much the mean can be off, ns: not 0 of what lies between the clocks of two machines
 */
double ntprof_report_component_get_margin_ns(NtprofReportComponent *self)
{
        return self->component->margin_ns;
}

/**
 * ntprof_report_component_is_information:
 * @self: a component
 *
 * Returns: whether it is not among what adds up to its stage, because it overlaps other components
 */
gboolean ntprof_report_component_is_information(NtprofReportComponent *self)
{
        return np_component_info(self->component->component)->information;
}
