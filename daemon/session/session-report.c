/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the session knows, in the words of the model: facts, counts of kinds, losses. */
#include "session-report.h"

#include <glib.h>
#include <string.h>

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

void session_count_losses(Session *s, uint64_t losses[NP_LOSS_COUNT])
{
        const CaptureCounters *c = s->counters;

        memset(losses, 0, NP_LOSS_COUNT * sizeof(losses[0]));
        for (size_t i = 0; i < ELEMENTSOF(counter_losses); i++)
                losses[counter_losses[i].loss] += (counter_losses[i].target ? c->target : c->host)[counter_losses[i].counter];

        losses[NP_LOSS_HOST_RECURSION] = c->host_recursion;
        losses[NP_LOSS_TARGET_RECURSION] = c->target_recursion;
        /* While it records they are under way, not lost. */
        if (s->state == SESSION_JOINING)
                losses[NP_LOSS_IN_FLIGHT] = c->host_in_flight;
}

/* What another machine calls itself may be any bytes, and a report with those is refused by who reads it. */
static char *printable(const char *text)
{
        _cleanup_free_ char *valid = g_utf8_make_valid(text, -1);
        GString *result = g_string_new(NULL);

        for (const char *s = valid; *s; s = g_utf8_next_char(s))
                if (g_unichar_iscntrl(g_utf8_get_char(s)))
                        g_string_append_c(result, '?');
                else
                        g_string_append_unichar(result, g_utf8_get_char(s));
        return g_string_free(result, false);
}

static void add_paths(const Session *s, NpReportFacts *facts)
{
        const NamespaceInfo *info = s->namespace;

        for (size_t i = 0; i < info->n_paths; i++) {
                const NamespacePath *path = info->paths + i;

                NpReportPath *reported = np_report_path_new(info->name, path->disk, path->controller, path->transport,
                                                            path->traddr, info->block_size);

                if (s->has_target)
                        reported->target = 0;
                else
                        reported->no_target_reason = printable(s->no_target_reason);
                g_ptr_array_add(facts->paths, reported);
        }
}

/* A local target only, so far. */
static void add_target(const Session *s, NpReportFacts *facts)
{
        NpReportTarget *target;

        if (!s->has_target)
                return;
        target = np_report_target_new(s->backend->machine, s->backend->kernel, NTPROF_VERSION, NULL);
        target->recorded_ns = s->recorded_ns;
        g_ptr_array_add(facts->targets, target);
}

static void add_hooks(const Session *s, NpReportFacts *facts)
{
        NpReportTarget *target = facts->targets->len > 0 ? facts->targets->pdata[0] : NULL;

        for (guint i = 0; i < s->hooks->len; i++) {
                const SessionHook *hook = &g_array_index(s->hooks, SessionHook, i);

                if (hook->target && !target)
                        continue;
                g_ptr_array_add(hook->target ? target->hooks : facts->host_hooks,
                                np_report_hook_new(hook->boundary, hook->mechanism, hook->symbol));
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
        facts->host_nqn = printable(s->namespace->paths[0].hostnqn);
        facts->subsystem_nqn = printable(s->namespace->subsystem_nqn);
        facts->started_realtime_us = s->started_realtime_usec;
        facts->duration_ns = s->recorded_ns;
        facts->seed = namespace_seed(s->namespace->paths[0].hostnqn);
        facts->threshold = s->sampling.threshold;
        facts->threshold_fixed = s->options.sample.mode != SAMPLE_AUTO;
        facts->commands = s->counters->host[NP_C_COMMANDS];
        facts->sampled = s->counters->host[NP_C_SAMPLED];

        add_paths(s, facts);
        add_target(s, facts);
        add_hooks(s, facts);
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

                np_analysis_set_commands(s->analysis, (kind->key >> 32) - 1, kind->key >> 16, kind->key, kind->count);
        }

        return np_analysis_report(s->analysis, facts);
}
