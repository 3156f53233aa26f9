/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the session knows, in the words of the model: facts, counts of kinds, losses. */
#include "session-report.h"

#include <glib.h>
#include <string.h>

#include "../text.h"

static const struct {
        NpLoss loss;
        bool target;
        enum np_counter counter;
} counter_losses[] = {
        { NP_LOSS_HOST_RING_FULL,   false, NP_C_RING_FULL },
        { NP_LOSS_HOST_MAP_FULL,    false, NP_C_MAP_FULL },
        { NP_LOSS_HOST_STALE,       false, NP_C_STALE },
        { NP_LOSS_RETRIED,          false, NP_C_RETRIED },
        { NP_LOSS_PASSTHROUGH,      false, NP_C_PASSTHROUGH },
        { NP_LOSS_KIND_OVERFLOW,    false, NP_C_KIND_OVERFLOW },
        { NP_LOSS_WALK_TRUNCATED,   false, NP_C_WALK_TRUNCATED },
        { NP_LOSS_TARGET_RING_FULL, true,  NP_C_RING_FULL },
        { NP_LOSS_TARGET_MAP_FULL,  true,  NP_C_MAP_FULL },
        { NP_LOSS_TARGET_STALE,     true,  NP_C_STALE },
};

static void count_remote_losses(Session *s, uint64_t losses[NP_LOSS_COUNT])
{
        const GPtrArray *targets = targets_list(s->targets);

        for (guint i = 0; i < targets->len; i++) {
                const SessionTarget *target = targets->pdata[i];

                for (size_t k = 0; k < ELEMENTSOF(counter_losses); k++)
                        if (counter_losses[k].target)
                                losses[counter_losses[k].loss] += target->sync.counters[counter_losses[k].counter];
                losses[NP_LOSS_TARGET_RECURSION] += target->sync.recursion;
                losses[NP_LOSS_LINK_FULL] += target->sync.link_full;
        }
}

void session_count_losses(Session *s, uint64_t losses[NP_LOSS_COUNT])
{
        const CaptureCounters *c = s->counters;

        memset(losses, 0, NP_LOSS_COUNT * sizeof(losses[0]));
        for (size_t i = 0; i < ELEMENTSOF(counter_losses); i++)
                losses[counter_losses[i].loss] += (counter_losses[i].target ? c->target : c->host)[counter_losses[i].counter];

        losses[NP_LOSS_HOST_RECURSION] = c->host_recursion;
        losses[NP_LOSS_TARGET_RECURSION] = c->target_recursion;
        count_remote_losses(s, losses);
        /* While it records they are under way, not lost. */
        if (s->state == SESSION_JOINING)
                losses[NP_LOSS_IN_FLIGHT] = c->host_in_flight;
}

/* Why the target's side of a path is not recorded: what its target is, and why that machine can't be had. */
static char *why_not(const Session *s, size_t path)
{
        const NamespacePath *p = s->namespace->paths + path;
        const char *why = targets_why_not(s->targets, path);
        _cleanup_free_ char *reason = NULL;

        if (s->options.no_target)
                return g_strdup("the target's side was not asked for");

        reason = p->no_target_reason || s->no_target_reason ?
                        g_strdup(p->no_target_reason ?: s->no_target_reason) :
                        g_strdup_printf("the target is another machine (%s)", p->traddr);
        if (why) {
                char *both = g_strdup_printf("%s: %s", reason, why);

                g_free(TAKE_PTR(reason));
                reason = both;
        }
        return text_printable(reason, 0);
}

static void add_paths(const Session *s, NpReportFacts *facts)
{
        const NamespaceInfo *info = s->namespace;

        for (size_t i = 0; i < info->n_paths; i++) {
                const NamespacePath *path = info->paths + i;
                const SessionTarget *target = targets_of_path(s->targets, i);
                NpReportPath *added = np_report_path_new(info->name, path->disk, path->controller, path->transport,
                                                         path->traddr, info->block_size);

                added->target = target ? target->index : -1;
                if (added->target < 0)
                        added->no_target_reason = why_not(s, i);
                g_ptr_array_add(facts->paths, added);
        }
}

static void add_hooks(const GArray *hooks, bool target, GPtrArray *to)
{
        for (guint i = 0; i < hooks->len; i++) {
                const SessionHook *hook = &g_array_index(hooks, SessionHook, i);

                if (hook->target == target)
                        g_ptr_array_add(to, np_report_hook_new(hook->boundary, hook->mechanism, hook->symbol));
        }
}

/* In the order of their indices in the analysis. */
static void add_targets(const Session *s, NpReportFacts *facts)
{
        const GPtrArray *targets = targets_list(s->targets);

        for (guint i = 0; i < targets->len; i++) {
                const SessionTarget *target = targets->pdata[i];
                NpReportTarget *added;

                if (target->index < 0)
                        continue;
                added = np_report_target_new(target->machine, target->kernel, target->version, target->peer);
                added->ended_reason = g_strdup(target->reason);
                added->drive_hidden = g_strdup(target->drive_hidden);
                added->recorded_ns = target->reason ? target->recorded_ns : s->recorded_ns;
                add_hooks(target->peer ? target->hooks : s->hooks, true, added->hooks);
                g_ptr_array_add(facts->targets, added);
        }
}

static void set_diskstats(const IoStat *start, const IoStat *end, uint64_t elapsed_ns, NpReportDiskstats *ret)
{
        if (!start->valid || !end->valid) {
                ret->reason = g_strdup(start->reason ?: end->reason ?: "not read");
                return;
        }
        if (end->weighted_ms < start->weighted_ms || end->ios < start->ios) {
                ret->reason = g_strdup("the kernel's counts began anew: a path was replaced");
                return;
        }
        if (elapsed_ns == 0) {
                ret->reason = g_strdup("no time passed");
                return;
        }

        ret->valid = true;
        ret->ios = end->ios - start->ios;
        ret->avg_qd = (end->weighted_ms - start->weighted_ms) * (double) NSEC_PER_MSEC / elapsed_ns;
}

static NpReportFacts *make_facts(Session *s)
{
        NpReportFacts *facts = np_report_facts_new();
        IoStat now = {};
        const IoStat *end = &s->iostat_end;

        facts->session_id = g_strdup(s->id);
        facts->ntprof_version = g_strdup(NTPROF_VERSION);
        facts->host_name = g_strdup(s->backend->machine);
        facts->host_kernel = g_strdup(s->backend->kernel);
        facts->host_nqn = text_printable(s->namespace->paths[0].hostnqn, 0);
        facts->subsystem_nqn = text_printable(s->namespace->subsystem_nqn, 0);
        facts->started_realtime_us = s->started_realtime_usec;
        facts->duration_ns = s->recorded_ns;
        facts->ended_reason = g_strdup(s->ended_reason);
        facts->seed = namespace_seed(s->namespace->paths[0].hostnqn);
        facts->threshold = s->sampling.threshold;
        facts->detail = s->options.detail;
        facts->threshold_fixed = s->options.sample.mode != SAMPLE_AUTO;
        facts->commands = s->counters->host[NP_C_COMMANDS];
        facts->sampled = s->counters->host[NP_C_SAMPLED];

        add_paths(s, facts);
        add_targets(s, facts);
        add_hooks(s->hooks, false, facts->host_hooks);
        session_count_losses(s, facts->losses);

        if (s->state == SESSION_RECORDING) {
                s->backend->ops->read_iostat(s->backend, s->capture, s->namespace, &now);
                end = &now;
        }
        set_diskstats(&s->iostat_start, end, s->recorded_ns, &facts->diskstats);
        iostat_clear(&now);

        return facts;
}

NpReport *session_make_report(Session *s)
{
        g_autoptr(NpReportFacts) facts = make_facts(s);

        for (unsigned i = 0; i < s->counters->n_kinds; i++) {
                const CaptureKind *kind = s->counters->kinds + i;

                np_analysis_set_commands(s->analysis, (kind->key >> 32) - 1, kind->key >> 16, !!(kind->key & NP_KIND_FUA),
                                         kind->key, kind->count);
        }

        return np_analysis_report(s->analysis, facts);
}
