/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "report.h"

static const NpLossInfo losses[NP_LOSS_COUNT] = {
        [NP_LOSS_HOST_RING_FULL] = { "ring_full", "no room in the host's ring buffer", TRUE },
        [NP_LOSS_HOST_MAP_FULL] = { "map_full", "no room in the host's map of commands under way", TRUE },
        [NP_LOSS_HOST_STALE] = { "stale", "the host's programs missed the completion", TRUE },
        [NP_LOSS_HOST_BOUNDARY_MISSING] = { "boundary_missing", "a boundary is missing in the host's record", TRUE },
        [NP_LOSS_HOST_OUT_OF_ORDER] = { "out_of_order", "the boundaries of the host's record are not in order", TRUE },
        [NP_LOSS_RETRIED] = { "retried", "sent again by the host", TRUE },
        [NP_LOSS_CANCELLED] = { "cancelled", "cancelled by a controller reset or a timeout", TRUE },
        [NP_LOSS_IN_FLIGHT] = { "in_flight", "under way when the session ended", TRUE },
        [NP_LOSS_NO_TARGET] = { "no_target", "no record of the target", TRUE },
        [NP_LOSS_AMBIGUOUS] = { "ambiguous", "several records of the target could be its own", TRUE },
        [NP_LOSS_THRESHOLD] = { "threshold", "not sampled by the target, whose rate was lower: by its administrator, or as the rate changed", TRUE },
        [NP_LOSS_TARGET_GONE] = { "target_gone", "sent after the target's side had ended", TRUE },
        [NP_LOSS_TARGET_DEFECT] = { "target_defect", "a boundary is missing or out of order in the target's record", TRUE },
        [NP_LOSS_MALFORMED] = { "malformed", "malformed records", TRUE },
        [NP_LOSS_HOST_RECURSION] = { "host_recursion", "runs of host programs that the kernel skipped", FALSE },
        [NP_LOSS_TARGET_RECURSION] = { "target_recursion", "runs of target programs that the kernel skipped", FALSE },
        [NP_LOSS_TARGET_RING_FULL] = { "target_ring_full", "no room in the target's ring buffer", FALSE },
        [NP_LOSS_TARGET_MAP_FULL] = { "target_map_full", "no room in the target's map of commands under way", FALSE },
        [NP_LOSS_TARGET_STALE] = { "target_stale", "the target's programs missed the completion", FALSE },
        [NP_LOSS_LINK_FULL] = { "link_full", "records of the target that the link to it did not take in time", FALSE },
        [NP_LOSS_TARGET_WITHOUT_HOST] = { "target_without_host", "records of the target without one of the host", FALSE },
        [NP_LOSS_PASSTHROUGH] = { "passthrough", "passthrough commands, not measured", FALSE },
        [NP_LOSS_WALK_TRUNCATED] = { "walk_truncated", "sends of a queue with too many requests waiting to tell which was sent", FALSE },
        [NP_LOSS_KIND_OVERFLOW] = { "kind_overflow", "commands counted in total but not by operation and size", FALSE },
};

G_DEFINE_QUARK(np-report-error-quark, np_report_error)

const NpLossInfo *np_loss_info(NpLoss loss)
{
        g_return_val_if_fail((guint) loss < NP_LOSS_COUNT, NULL);

        return &losses[loss];
}

int np_loss_by_key(const char *key)
{
        for (int i = 0; i < NP_LOSS_COUNT; i++)
                if (g_str_equal(losses[i].key, key))
                        return i;
        return -1;
}

NpReportHook *np_report_hook_new(const char *boundary, const char *mechanism, const char *symbol)
{
        NpReportHook *hook = g_new0(NpReportHook, 1);

        hook->boundary = g_strdup(boundary);
        hook->mechanism = g_strdup(mechanism);
        hook->symbol = g_strdup(symbol);
        return hook;
}

static void hook_free(gpointer p)
{
        NpReportHook *hook = p;

        g_free(hook->boundary);
        g_free(hook->mechanism);
        g_free(hook->symbol);
        g_free(hook);
}

static gpointer hook_copy(gconstpointer p, gpointer data)
{
        const NpReportHook *hook = p;

        return np_report_hook_new(hook->boundary, hook->mechanism, hook->symbol);
}

NpReportPath *np_report_path_new(const char *namespace_name, const char *path_name, const char *controller,
                                 const char *transport, const char *traddr, guint32 block_size)
{
        NpReportPath *path = g_new0(NpReportPath, 1);

        path->namespace_name = g_strdup(namespace_name);
        path->path_name = g_strdup(path_name);
        path->controller = g_strdup(controller);
        path->transport = g_strdup(transport);
        path->traddr = g_strdup(traddr);
        path->block_size = block_size;
        path->target = -1;
        return path;
}

static void path_free(gpointer p)
{
        NpReportPath *path = p;

        g_free(path->namespace_name);
        g_free(path->path_name);
        g_free(path->controller);
        g_free(path->transport);
        g_free(path->traddr);
        g_free(path->no_target_reason);
        g_free(path);
}

static gpointer path_copy(gconstpointer p, gpointer data)
{
        const NpReportPath *path = p;
        NpReportPath *copy = np_report_path_new(path->namespace_name, path->path_name, path->controller, path->transport,
                                                path->traddr, path->block_size);

        copy->target = path->target;
        copy->no_target_reason = g_strdup(path->no_target_reason);
        return copy;
}

NpReportTarget *np_report_target_new(const char *name, const char *kernel, const char *version, const char *peer)
{
        NpReportTarget *target = g_new0(NpReportTarget, 1);

        target->name = g_strdup(name);
        target->kernel = g_strdup(kernel);
        target->version = g_strdup(version);
        target->peer = g_strdup(peer);
        target->hooks = g_ptr_array_new_with_free_func(hook_free);
        return target;
}

static void target_free(gpointer p)
{
        NpReportTarget *target = p;

        g_free(target->name);
        g_free(target->kernel);
        g_free(target->version);
        g_free(target->peer);
        g_ptr_array_unref(target->hooks);
        g_free(target->drive_hidden);
        g_free(target->ended_reason);
        g_free(target);
}

static gpointer target_copy(gconstpointer p, gpointer data)
{
        const NpReportTarget *target = p;
        NpReportTarget *copy = g_memdup2(target, sizeof(*target));

        copy->name = g_strdup(target->name);
        copy->kernel = g_strdup(target->kernel);
        copy->version = g_strdup(target->version);
        copy->peer = g_strdup(target->peer);
        copy->drive_hidden = g_strdup(target->drive_hidden);
        copy->ended_reason = g_strdup(target->ended_reason);
        copy->hooks = g_ptr_array_copy(target->hooks, hook_copy, NULL);
        g_ptr_array_set_free_func(copy->hooks, hook_free);
        return copy;
}

NpReportFacts *np_report_facts_new(void)
{
        NpReportFacts *facts = g_new0(NpReportFacts, 1);

        facts->paths = g_ptr_array_new_with_free_func(path_free);
        facts->host_hooks = g_ptr_array_new_with_free_func(hook_free);
        facts->targets = g_ptr_array_new_with_free_func(target_free);
        return facts;
}

NpReportFacts *np_report_facts_copy(const NpReportFacts *facts)
{
        NpReportFacts *copy = g_memdup2(facts, sizeof(*facts));

        copy->session_id = g_strdup(facts->session_id);
        copy->ntprof_version = g_strdup(facts->ntprof_version);
        copy->host_name = g_strdup(facts->host_name);
        copy->host_kernel = g_strdup(facts->host_kernel);
        copy->host_nqn = g_strdup(facts->host_nqn);
        copy->subsystem_nqn = g_strdup(facts->subsystem_nqn);
        copy->ended_reason = g_strdup(facts->ended_reason);
        copy->diskstats.reason = g_strdup(facts->diskstats.reason);

        copy->paths = g_ptr_array_copy(facts->paths, path_copy, NULL);
        copy->host_hooks = g_ptr_array_copy(facts->host_hooks, hook_copy, NULL);
        copy->targets = g_ptr_array_copy(facts->targets, target_copy, NULL);
        g_ptr_array_set_free_func(copy->paths, path_free);
        g_ptr_array_set_free_func(copy->host_hooks, hook_free);
        g_ptr_array_set_free_func(copy->targets, target_free);
        return copy;
}

void np_report_facts_free(NpReportFacts *facts)
{
        if (!facts)
                return;

        g_free(facts->session_id);
        g_free(facts->ntprof_version);
        g_free(facts->host_name);
        g_free(facts->host_kernel);
        g_free(facts->host_nqn);
        g_free(facts->subsystem_nqn);
        g_free(facts->ended_reason);
        g_free(facts->diskstats.reason);
        g_ptr_array_unref(facts->paths);
        g_ptr_array_unref(facts->host_hooks);
        g_ptr_array_unref(facts->targets);
        g_free(facts);
}

NpReportComponent *np_report_component_new(NpComponent component, double mean_ns, const char *reason)
{
        NpReportComponent *c = g_new0(NpReportComponent, 1);

        c->component = component;
        c->mean_ns = reason ? 0 : mean_ns;
        c->reason = g_strdup(reason);
        return c;
}

static void component_free(gpointer p)
{
        NpReportComponent *c = p;

        g_free(c->reason);
        g_free(c);
}

NpReportStage *np_report_stage_new(NpStage stage)
{
        NpReportStage *s = g_new0(NpReportStage, 1);

        s->stage = stage;
        s->components = g_ptr_array_new_with_free_func(component_free);
        return s;
}

static void stage_free(gpointer p)
{
        NpReportStage *s = p;

        g_ptr_array_unref(s->components);
        g_free(s);
}

NpReportGroup *np_report_group_new(const char *op, const char *namespace_name)
{
        NpReportGroup *group = g_new0(NpReportGroup, 1);

        group->op = g_strdup(op);
        group->namespace_name = g_strdup(namespace_name);
        group->path = -1;
        group->stages = g_ptr_array_new_with_free_func(stage_free);
        return group;
}

static void group_free(gpointer p)
{
        NpReportGroup *group = p;

        g_free(group->op);
        g_free(group->namespace_name);
        g_ptr_array_unref(group->stages);
        g_free(group);
}

NpReport *np_report_new(const NpReportFacts *facts)
{
        NpReport *report = g_new0(NpReport, 1);

        report->facts = np_report_facts_copy(facts);
        report->groups = g_ptr_array_new_with_free_func(group_free);
        report->groups_by_path = g_ptr_array_new_with_free_func(group_free);
        for (guint i = 0; i < NP_VIEW_COUNT; i++)
                report->views[i] = g_ptr_array_new_with_free_func(np_report_view_row_free);
        report->warnings = g_ptr_array_new_with_free_func(g_free);
        return report;
}

void np_report_free(NpReport *report)
{
        if (!report)
                return;

        np_report_facts_free(report->facts);
        g_ptr_array_unref(report->groups);
        g_ptr_array_unref(report->groups_by_path);
        for (guint i = 0; i < NP_VIEW_COUNT; i++)
                g_ptr_array_unref(report->views[i]);
        g_ptr_array_unref(report->warnings);
        g_free(report);
}

gboolean np_report_path_is_of_group(const NpReportFacts *facts, guint path, const NpReportGroup *group)
{
        const NpReportPath *p = facts->paths->pdata[path];

        return group->path >= 0 ? path == (guint) group->path : g_strcmp0(p->namespace_name, group->namespace_name) == 0;
}

const char *np_report_no_target_reason(const NpReport *report, const NpReportGroup *group)
{
        const char *reason = NULL;

        for (guint i = 0; i < report->facts->paths->len; i++) {
                const NpReportPath *path = report->facts->paths->pdata[i];

                if (!np_report_path_is_of_group(report->facts, i, group))
                        continue;
                if (path->target >= 0)
                        return NULL;
                if (!reason)
                        reason = path->no_target_reason;
        }
        return reason ? reason : "not known";
}

const char *np_report_transport(const NpReport *report, const NpReportGroup *group)
{
        const NpReportPath *first = NULL;

        for (guint i = 0; i < report->facts->paths->len; i++) {
                const NpReportPath *path = report->facts->paths->pdata[i];

                if (!np_report_path_is_of_group(report->facts, i, group))
                        continue;
                if (first && g_strcmp0(first->transport, path->transport) != 0)
                        return NULL;
                first = path;
        }
        return first ? first->transport : NULL;
}

const char *np_report_target_name(const NpReportTarget *target)
{
        return target->peer ? target->peer : target->name;
}
