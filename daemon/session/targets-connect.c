/* SPDX-License-Identifier: GPL-2.0-or-later */
/* From paths to recordings at other machines: which machine each is, one recording a machine, until all are ready or given up. */
#include "targets-internal.h"

void targets_cancel_lookups(Targets *t)
{
        for (size_t i = 0; i < ELEMENTSOF(t->lookups); i++) {
                if (t->lookups[i].pending)
                        t->finder->ops->cancel(t->finder, t->lookups[i].ticket);
                t->lookups[i].pending = false;
        }
}

void targets_set_why_not(Targets *t, size_t path, NtprofError code, const char *message)
{
        g_free(t->why_not[path]);
        t->why_not[path] = g_strdup(message);
        t->of_path[path] = NULL;
        /* Whoever named the machine wants it, or nothing. */
        if (t->peer && t->error.code == NTPROF_ERROR_NONE)
                error_set(&t->error, code, "%s", message);
}

static void open_target(SessionTarget *target)
{
        Targets *t = target->targets;
        const RemoteHandlers handlers = targets_remote_handlers(target);
        _cleanup_free_ char *why = NULL;
        int r;

        r = t->finder->ops->open(t->finder, target->peer, &target->request, &handlers, &target->remote);
        if (r >= 0)
                return;
        why = g_strdup_printf("%s cannot be asked to record: %s", target->peer, g_strerror(-r));
        targets_end_one(target, NTPROF_ERROR_PEER_UNREACHABLE, why);
}

static void add_filter(SessionTarget *target, const NamespaceInfo *info, const NamespacePath *path)
{
        RemoteRequest *request = &target->request;
        struct np_target_filter *filter = request->filters + request->n_filters;

        /* Several paths of one host are one pair of NQNs to the target. */
        for (unsigned i = 0; i < request->n_filters; i++)
                if (g_str_equal(request->filters[i].hostnqn, path->hostnqn))
                        return;

        namespace_target_filter(info, path, filter);
        request->n_filters++;
}

/* All paths of a machine are one recording there. */
static void open_targets(Targets *t)
{
        t->phase = PHASE_CONNECTING;
        for (size_t i = 0; i < t->info->n_paths; i++) {
                const char *peer = t->lookups[i].peer;

                if (!peer)
                        continue;
                t->of_path[i] = targets_find(t, peer) ?: targets_add(t, peer);
                t->of_path[i]->request.duration_usec = t->options.duration_usec;
                t->of_path[i]->request.owner = t->options.owner;
                t->of_path[i]->request.detail = t->options.detail;
                t->of_path[i]->request.transports |= transport_by_name(t->info->paths[i].transport)->transport;
                add_filter(t->of_path[i], t->info, t->info->paths + i);
        }

        for (guint i = 0; i < t->list->len; i++) {
                SessionTarget *target = t->list->pdata[i];

                if (target->peer)
                        open_target(target);
        }
}

static bool is_finding(const Targets *t)
{
        for (size_t i = 0; i < ELEMENTSOF(t->lookups); i++)
                if (t->lookups[i].pending)
                        return true;
        return false;
}

static void on_found(int r, const char *peer, const Error *error, void *userdata)
{
        Lookup *lookup = userdata;
        Targets *t = lookup->targets;

        lookup->pending = false;
        if (r < 0)
                targets_set_why_not(t, lookup->path, error->code, error->message);
        else
                lookup->peer = g_strdup(peer);

        if (is_finding(t))
                return;
        open_targets(t);
        targets_changed(t);
}

static int on_connect_timeout(sd_event_source *source, uint64_t usec, void *userdata)
{
        Targets *t = userdata;

        targets_give_up(t, "no answer in time; the journals of ntprof-peerd and ntprofd, here and there, may say why");
        targets_changed(t);
        return 0;
}

static void look_up(Targets *t, size_t path)
{
        Lookup *lookup = t->lookups + path;
        const RemoteWhere where = {
                .subsysnqn = t->info->subsystem_nqn,
                .traddr = t->info->paths[path].traddr,
                .trsvcid = t->info->paths[path].trsvcid,
                .peer = t->peer,
        };
        int r;

        *lookup = (Lookup) { .targets = t, .path = path };
        r = t->finder->ops->find(t->finder, &where, on_found, lookup, &lookup->ticket);
        if (r < 0)
                targets_set_why_not(t, path, NTPROF_ERROR_NO_PEER, g_strerror(-r));
        else
                lookup->pending = true;
}

void targets_connect(Targets *t, const TargetsOptions *options)
{
        t->phase = PHASE_FINDING;
        t->options = *options;
        t->peer = g_strdup(options->peer);

        for (size_t i = 0; t->finder && i < t->info->n_paths; i++)
                if (!t->info->paths[i].local && !t->info->paths[i].exported_here)
                        look_up(t, i);

        if (!is_finding(t))
                t->phase = PHASE_CONNECTING;
        else if (targets_arm(t, targets_patience.connect_usec, on_connect_timeout) < 0)
                targets_give_up(t, "no timer to wait for it");
}

void targets_give_up(Targets *t, const char *why)
{
        for (size_t i = 0; i < t->info->n_paths; i++)
                if (t->lookups[i].pending)
                        targets_set_why_not(t, i, NTPROF_ERROR_PEER_UNREACHABLE, why);
        if (t->phase < PHASE_CONNECTING) {
                targets_cancel_lookups(t);
                for (size_t i = 0; i < t->info->n_paths; i++)
                        if (t->lookups[i].peer)
                                targets_set_why_not(t, i, NTPROF_ERROR_PEER_UNREACHABLE, why);
                t->phase = PHASE_CONNECTING;
        }
        if (t->phase == PHASE_STARTING)
                t->phase = PHASE_RECORDING;
        for (guint i = 0; i < t->list->len; i++) {
                SessionTarget *target = t->list->pdata[i];
                _cleanup_free_ char *reason = NULL;

                if (target->state != TARGET_CONNECTING)
                        continue;
                reason = g_strdup_printf("%s: %s", target->peer, why);
                targets_end_one(target, NTPROF_ERROR_PEER_UNREACHABLE, reason);
        }
}
