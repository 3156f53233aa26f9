/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "targets-internal.h"

#define TICK_USEC (100 * USEC_PER_MSEC)

TargetsPatience targets_patience = {
        .connect_usec = 30 * USEC_PER_SEC,
        .start_usec = 5 * USEC_PER_SEC,
        .quiet_usec = 5 * USEC_PER_SEC,
        .end_usec = 30 * USEC_PER_SEC,
};

static void disconnect(SessionTarget *target)
{
        if (target->remote)
                target->remote->ops->free(TAKE_PTR(target->remote));
}

static void session_target_free(void *data)
{
        SessionTarget *target = data;

        disconnect(target);
        g_array_unref(target->hooks);
        g_free(target->peer);
        g_free(target->machine);
        g_free(target->kernel);
        g_free(target->version);
        g_free(target->drive_hidden);
        g_free(target->reason);
        g_free(target);
}

SessionTarget *targets_add(Targets *t, const char *peer)
{
        SessionTarget *target = g_new0(SessionTarget, 1);

        target->targets = t;
        target->peer = g_strdup(peer);
        target->hooks = session_hooks_new();
        target->index = -1;
        g_ptr_array_add(t->list, target);
        return target;
}

SessionTarget *targets_find(const Targets *t, const char *peer)
{
        for (guint i = 0; i < t->list->len; i++) {
                SessionTarget *target = t->list->pdata[i];

                if (g_strcmp0(target->peer, peer) == 0)
                        return target;
        }
        return NULL;
}

Targets *targets_new(sd_event *event, RemoteFinder *finder, const NamespaceInfo *info, const TargetsHandlers *handlers)
{
        Targets *t = g_new0(Targets, 1);

        t->event = sd_event_ref(event);
        t->finder = finder;
        t->info = info;
        t->handlers = *handlers;
        t->list = g_ptr_array_new_with_free_func(session_target_free);
        return t;
}

Targets *targets_free(Targets *t)
{
        if (!t)
                return NULL;

        targets_cancel_lookups(t);
        g_ptr_array_unref(t->list);
        for (size_t i = 0; i < ELEMENTSOF(t->lookups); i++) {
                g_free(t->lookups[i].peer);
                g_free(t->why_not[i]);
        }
        sd_event_source_disable_unref(t->timer);
        sd_event_unref(t->event);
        error_clear(&t->error);
        error_clear(&t->untrue);
        g_free(t->peer);
        g_free(t);
        return NULL;
}

void targets_add_local(Targets *t, const char *machine, const char *kernel, const char *version)
{
        SessionTarget *target = targets_add(t, NULL);

        target->machine = g_strdup(machine);
        target->kernel = g_strdup(kernel);
        target->version = g_strdup(version);
        target->drive_hidden = g_strdup(t->info->drive_hidden);
        target->state = TARGET_READY;
        for (size_t i = 0; i < t->info->n_paths; i++)
                if (t->info->paths[i].local)
                        t->of_path[i] = target;
}

/* why NULL: it was told to. */
void targets_end_one(SessionTarget *target, NtprofError code, const char *why)
{
        Targets *t = target->targets;

        if (target->state == TARGET_ENDED)
                return;
        target->state = TARGET_ENDED;
        target->reason = g_strdup(why);
        disconnect(target);

        if (target->index >= 0) {
                target->recorded_ns = t->handlers.recorded_ns(t->handlers.userdata);
                if (why)
                        np_analysis_target_ended(t->analysis, target->index);
                return;
        }
        for (size_t i = 0; i < t->info->n_paths; i++)
                if (t->of_path[i] == target)
                        targets_set_why_not(t, i, code, why ?: "it ended before it recorded");
}

void targets_changed(Targets *t)
{
        t->handlers.changed(t->handlers.userdata);
}

static void on_ready(Remote *remote, const RemoteFacts *facts, void *userdata)
{
        SessionTarget *target = userdata;

        target->machine = g_strdup(facts->machine);
        target->kernel = g_strdup(facts->kernel);
        target->version = g_strdup(facts->version);
        target->drive_hidden = g_strdup(facts->drive_hidden);
        for (unsigned i = 0; i < facts->n_hooks; i++)
                session_hooks_add(target->hooks, facts->hooks[i].boundary, facts->hooks[i].mechanism, facts->hooks[i].symbol,
                                  true);
        target->state = TARGET_READY;
        targets_changed(target->targets);
}

static void on_heard(Remote *remote, void *userdata)
{
        SessionTarget *target = userdata;

        target->heard_usec = monotonic_usec();
}

static void on_changed(Remote *remote, uint64_t target_ns, uint32_t threshold, void *userdata)
{
        SessionTarget *target = userdata;
        bool first = !target->in_force;

        if (target->index < 0)
                return;
        np_analysis_target_threshold(target->targets->analysis, target->index, target_ns, threshold);
        target->in_force = true;
        if (first)
                targets_changed(target->targets);
}

static void on_record(Remote *remote, const struct np_target_record *record, void *userdata)
{
        SessionTarget *target = userdata;

        if (target->index >= 0)
                np_analysis_add_target(target->targets->analysis, target->index, record);
}

static void on_synced(Remote *remote, const struct wire_sync *sync, void *userdata)
{
        SessionTarget *target = userdata;
        Targets *t = target->targets;

        target->sync = *sync;
        if (target->index >= 0)
                np_analysis_target_synced(t->analysis, target->index, sync->target_ns,
                                          t->handlers.now_ns(t->handlers.userdata));
}

static void on_ended(Remote *remote, NtprofError code, const char *message, void *userdata)
{
        SessionTarget *target = userdata;
        Targets *t = target->targets;
        _cleanup_free_ char *unasked = NULL;

        /* What it read of its kernel while it recorded was not what it took it for. */
        if (code == NTPROF_ERROR_KERNEL_UNSUPPORTED && target->index >= 0 && message && !targets_untrue(t))
                error_set(&t->untrue, code, "%s", message);
        if (!message && t->phase != PHASE_ENDING)
                message = unasked = g_strdup_printf("%s ended the recording by itself", target->peer);
        targets_end_one(target, code == NTPROF_ERROR_NONE ? NTPROF_ERROR_CAPTURE_FAILED : code, message);
        targets_changed(t);
}

int targets_arm(Targets *t, uint64_t usec, sd_event_time_handler_t on_time)
{
        t->timer = sd_event_source_disable_unref(t->timer);
        return sd_event_add_time_relative(t->event, &t->timer, CLOCK_MONOTONIC, usec, USEC_PER_MSEC, on_time, t);
}

static bool none_is(const Targets *t, TargetState state)
{
        for (guint i = 0; i < t->list->len; i++)
                if (((const SessionTarget *) t->list->pdata[i])->state == state)
                        return false;
        return true;
}

bool targets_settled(const Targets *t)
{
        return t->phase >= PHASE_CONNECTING && none_is(t, TARGET_CONNECTING);
}

const Error *targets_error(const Targets *t)
{
        return t->error.code == NTPROF_ERROR_NONE ? NULL : &t->error;
}

const Error *targets_untrue(const Targets *t)
{
        return t->untrue.code == NTPROF_ERROR_NONE ? NULL : &t->untrue;
}

unsigned targets_n_ready(const Targets *t)
{
        unsigned n = 0;

        for (guint i = 0; i < t->list->len; i++)
                n += ((const SessionTarget *) t->list->pdata[i])->state == TARGET_READY;
        return n;
}

static int on_start_timeout(sd_event_source *source, uint64_t usec, void *userdata)
{
        Targets *t = userdata;

        if (t->phase == PHASE_STARTING)
                t->phase = PHASE_RECORDING;
        targets_changed(t);
        return 0;
}

RemoteHandlers targets_remote_handlers(SessionTarget *target)
{
        return (RemoteHandlers) {
                .heard = on_heard,
                .ready = on_ready,
                .changed = on_changed,
                .record = on_record,
                .synced = on_synced,
                .ended = on_ended,
                .userdata = target,
        };
}

void targets_begin(Targets *t, NpAnalysis *analysis, uint32_t threshold)
{
        int n = 0;

        t->analysis = analysis;
        t->phase = PHASE_STARTING;
        for (guint i = 0; i < t->list->len; i++) {
                SessionTarget *target = t->list->pdata[i];

                if (target->state != TARGET_READY)
                        continue;
                target->index = n++;
                target->state = TARGET_RECORDING;
                if (!target->remote) {
                        np_analysis_target_same_clock(analysis, target->index);
                        target->in_force = true;
                        continue;
                }
                np_analysis_target_synced(analysis, target->index, 0, t->handlers.now_ns(t->handlers.userdata));
                target->remote->ops->set_threshold(target->remote, threshold);
                target->remote->ops->resume(target->remote);
        }

        for (size_t i = 0; i < t->info->n_paths; i++)
                if (t->of_path[i])
                        np_analysis_set_target(analysis, i, t->of_path[i]->index);

        if (targets_started(t) || targets_arm(t, targets_patience.start_usec, on_start_timeout) < 0) {
                t->phase = PHASE_RECORDING;
                t->timer = sd_event_source_disable_unref(t->timer);
        }
}

bool targets_started(const Targets *t)
{
        if (t->phase >= PHASE_RECORDING)
                return true;
        for (guint i = 0; i < t->list->len; i++) {
                const SessionTarget *target = t->list->pdata[i];

                if (target->state == TARGET_RECORDING && !target->in_force)
                        return false;
        }
        return t->phase == PHASE_STARTING;
}

void targets_add_local_record(Targets *t, const struct np_target_record *record)
{
        const SessionTarget *local = targets_find(t, NULL);

        if (local && local->index >= 0)
                np_analysis_add_target(t->analysis, local->index, record);
}

void targets_set_threshold(Targets *t, uint32_t threshold)
{
        for (guint i = 0; i < t->list->len; i++) {
                SessionTarget *target = t->list->pdata[i];

                if (target->remote && target->state == TARGET_RECORDING)
                        target->remote->ops->set_threshold(target->remote, threshold);
        }
}

void targets_local_threshold(Targets *t, uint64_t since_ns, uint32_t threshold)
{
        const SessionTarget *local = targets_find(t, NULL);

        if (local && local->index >= 0)
                np_analysis_target_threshold(t->analysis, local->index, since_ns, threshold);
}

static void give_up(SessionTarget *target, const char *what)
{
        _cleanup_free_ char *why = g_strdup_printf("%s %s", target->peer, what);

        targets_end_one(target, NTPROF_ERROR_PEER_UNREACHABLE, why);
}

/* One that has ended stays as it did. */
static void give_up_all(Targets *t)
{
        for (guint i = 0; i < t->list->len; i++)
                give_up(t->list->pdata[i], "cannot be waited for: no timer");
}

static void give_up_late(Targets *t)
{
        uint64_t now = monotonic_usec();

        for (guint i = 0; i < t->list->len; i++) {
                SessionTarget *target = t->list->pdata[i];

                if (target->state == TARGET_ENDED)
                        continue;
                if (now - t->ending_usec >= targets_patience.end_usec)
                        give_up(target, "took too long to send what it still had at the end");
                else if (now - MAX(target->heard_usec, t->ending_usec) >= targets_patience.quiet_usec)
                        give_up(target, "did not answer at the end");
        }
}

static int on_ending(sd_event_source *source, uint64_t usec, void *userdata)
{
        Targets *t = userdata;

        give_up_late(t);
        if (!targets_ended(t) && (sd_event_source_set_time_relative(source, TICK_USEC) < 0 ||
                                  sd_event_source_set_enabled(source, SD_EVENT_ONESHOT) < 0))
                give_up_all(t);
        targets_changed(t);
        return 0;
}

void targets_end(Targets *t)
{
        t->phase = PHASE_ENDING;
        t->ending_usec = monotonic_usec();
        for (guint i = 0; i < t->list->len; i++) {
                SessionTarget *target = t->list->pdata[i];

                if (target->state != TARGET_RECORDING)
                        continue;
                if (target->remote)
                        target->remote->ops->pause(target->remote);
                else
                        targets_end_one(target, NTPROF_ERROR_NONE, NULL);
        }
        if (!targets_ended(t) && targets_arm(t, MIN(TICK_USEC, targets_patience.quiet_usec), on_ending) < 0)
                give_up_all(t);
}

bool targets_ended(const Targets *t)
{
        return none_is(t, TARGET_CONNECTING) && none_is(t, TARGET_READY) && none_is(t, TARGET_RECORDING);
}

void targets_drop(Targets *t)
{
        targets_cancel_lookups(t);
        t->timer = sd_event_source_disable_unref(t->timer);
        t->phase = PHASE_ENDING;
        t->analysis = NULL;
        for (guint i = 0; i < t->list->len; i++) {
                SessionTarget *target = t->list->pdata[i];

                disconnect(target);
                target->state = TARGET_ENDED;
        }
}

const GPtrArray *targets_list(const Targets *t)
{
        return t->list;
}

bool targets_any(const Targets *t)
{
        for (guint i = 0; i < t->list->len; i++) {
                const SessionTarget *target = t->list->pdata[i];

                if (target->index >= 0 || target->state == TARGET_READY)
                        return true;
        }
        return false;
}

const SessionTarget *targets_of_path(const Targets *t, size_t path)
{
        return t->of_path[path];
}

const char *targets_why_not(const Targets *t, size_t path)
{
        return t->why_not[path];
}
