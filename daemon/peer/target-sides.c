/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "target-sides.h"

#include <string.h>

#include "../session/capture-job.h"

struct TargetSides {
        sd_event *event;
        Backend *backend;
        const PeerPolicy *policy;
        TargetSidesObserver observer;
        GPtrArray *list;                /* of TargetSidesEntry */
};

static void entry_free(void *data)
{
        TargetSidesEntry *entry = data;

        target_side_free(entry->side);
        peer_who_clear(&entry->who);
        peer_request_clear(&entry->request);
        g_free(entry);
}

TargetSides *target_sides_new(sd_event *event, Backend *backend, const PeerPolicy *policy, const TargetSidesObserver *observer)
{
        TargetSides *sides = g_new0(TargetSides, 1);

        sides->event = sd_event_ref(event);
        sides->backend = backend;
        sides->policy = policy;
        sides->observer = *observer;
        sides->list = g_ptr_array_new_with_free_func(entry_free);
        return sides;
}

TargetSides *target_sides_free(TargetSides *sides)
{
        if (!sides)
                return NULL;
        g_ptr_array_unref(sides->list);
        sd_event_unref(sides->event);
        g_free(sides);
        return NULL;
}

static void on_gone(TargetSide *side, const char *why, void *userdata)
{
        TargetSidesEntry *entry = userdata;
        TargetSides *sides = entry->sides;

        sides->observer.ended(entry, why, sides->observer.userdata);
        g_ptr_array_remove(sides->list, entry);
}

static int check_limits(const TargetSides *sides, const PeerWho *who, Error *error)
{
        const char *machine = sides->policy->machine;
        unsigned ending = capture_jobs_abandoned(), n = 0;

        for (guint i = 0; i < sides->list->len; i++) {
                const TargetSidesEntry *entry = sides->list->pdata[i];

                n += g_str_equal(entry->who.name, who->name);
        }
        if (n >= TARGET_SIDES_PEER_MAX)
                return error_set(error, NTPROF_ERROR_TOO_MANY_SESSIONS,
                                 "%s: %u recordings for %s run there already: stop one first", machine, n, who->name);
        if (sides->list->len >= TARGET_SIDES_MAX)
                return error_set(error, NTPROF_ERROR_TOO_MANY_SESSIONS,
                                 "%s: %u recordings for other machines run there already: try again when one has ended",
                                 machine, sides->list->len);
        if (sides->list->len + ending >= 2 * TARGET_SIDES_MAX)
                return error_set(error, NTPROF_ERROR_TOO_MANY_SESSIONS,
                                 "%s: %u recordings that have ended are not detached there yet: try again in some seconds",
                                 machine, ending);
        return 0;
}

/* The seed is this machine's own sum of the host NQN, not what anybody says it is. */
static void make_config(const PeerRequest *request, CaptureConfig *ret)
{
        *ret = (CaptureConfig) { .n_target_filters = request->n_filters, .transports = request->transports,
                                 .detail = request->detail };

        for (unsigned i = 0; i < request->n_filters; i++) {
                const PeerFilter *from = request->filters + i;
                struct np_target_filter *filter = ret->target_filters + i;

                /* Their lengths were checked; zero padding is part of the contract. */
                strncpy(filter->subsysnqn, from->subsysnqn, sizeof(filter->subsysnqn) - 1);
                strncpy(filter->hostnqn, from->hostnqn, sizeof(filter->hostnqn) - 1);
                filter->seed = namespace_seed(from->hostnqn);
                filter->nsid = from->nsid;
        }
}

static TargetSidesEntry *entry_new(TargetSides *sides, const PeerWho *who, const PeerRequest *request)
{
        TargetSidesEntry *entry = g_new0(TargetSidesEntry, 1);

        entry->sides = sides;
        entry->who = (PeerWho) { g_strdup(who->name), g_strdup(who->fingerprint), g_strdup(who->address) };
        entry->request.user = g_strdup(request->user);
        entry->request.duration_usec = request->duration_usec;
        entry->request.transports = request->transports;
        entry->request.detail = request->detail;
        for (unsigned i = 0; i < request->n_filters; i++) {
                const PeerFilter *from = request->filters + i;

                entry->request.filters[entry->request.n_filters++] =
                        (PeerFilter) { g_strdup(from->subsysnqn), g_strdup(from->hostnqn), from->nsid };
        }
        entry->begun_usec = now_ns(CLOCK_MONOTONIC) / NSEC_PER_USEC;
        return entry;
}

int target_sides_open(TargetSides *sides, const PeerWho *who, const PeerRequest *request, int *ret_fd, char **ret_problems,
                      Error *error)
{
        _cleanup_(peer_grant_clear) PeerGrant grant = {};
        TargetSideHandlers handlers = { .gone = on_gone };
        TargetSidesEntry *entry;
        CaptureConfig config;
        int r;

        r = peer_policy_check(sides->policy, who, request, &grant, ret_problems, error);
        if (r < 0)
                return r;
        r = check_limits(sides, who, error);
        if (r < 0)
                return r;

        make_config(request, &config);
        entry = entry_new(sides, who, request);
        handlers.userdata = entry;
        r = target_side_new(sides->event, sides->backend, &config, &grant, request->duration_usec, &handlers, &entry->side,
                            ret_fd, error);
        if (r < 0) {
                entry_free(entry);
                return r;
        }
        g_ptr_array_add(sides->list, entry);
        return 0;
}

unsigned target_sides_count(const TargetSides *sides)
{
        return sides->list->len;
}

void target_sides_shutdown(TargetSides *sides)
{
        while (sides->list->len > 0) {
                TargetSidesEntry *entry = sides->list->pdata[sides->list->len - 1];

                target_side_shutdown(entry->side);
                sides->observer.ended(entry, "the service was ended", sides->observer.userdata);
                g_ptr_array_set_size(sides->list, sides->list->len - 1);
        }
}
