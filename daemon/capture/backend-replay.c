/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "backend-replay.h"

#include <glib.h>
#include <string.h>

#include "capture-replay.h"

typedef struct BackendReplay {
        Backend backend;
        Recording *recording;
        double speed;
} BackendReplay;

static int replay_resolve(Backend *b, const char *name, NamespaceInfo **ret, Error *error)
{
        const NamespaceInfo *info = ((BackendReplay *) b)->recording->facts->namespace;
        const char *base = g_str_has_prefix(name, "/dev/") ? name + strlen("/dev/") : name;
        _cleanup_free_ char *quoted = NULL;
        bool found = g_str_equal(base, info->name);

        for (size_t i = 0; i < info->n_paths; i++)
                found |= g_str_equal(base, info->paths[i].disk);
        if (!found) {
                quoted = error_quote(name);
                return error_set(error, NTPROF_ERROR_NO_SUCH_NAMESPACE, "%s is not in the recording, which is of %s", quoted,
                                 info->name);
        }

        *ret = namespace_info_copy(info);
        return 0;
}

static int replay_open(Backend *b, const NamespaceInfo *info, CaptureConfig *config, const CaptureHandlers *handlers,
                       Capture **ret, char **ret_no_target_reason, Error *error)
{
        BackendReplay *replay = (BackendReplay *) b;
        const RecordingFacts *facts = replay->recording->facts;

        if (config->detail && !facts->detail)
                return error_set(error, NTPROF_ERROR_INVALID_OPTION, "detail: the recording of %s was made without", info->name);
        if (!facts->has_target) {
                config->n_target_filters = 0;
                *ret_no_target_reason = g_strdup(facts->no_target_reason ?: "the recording has the host's side only");
        }

        return capture_replay_new(replay->recording, replay->speed, handlers, ret, error);
}

static int replay_open_target(Backend *b, const CaptureConfig *config, const CaptureHandlers *handlers, Capture **ret,
                              Error *error)
{
        BackendReplay *replay = (BackendReplay *) b;

        if (!replay->recording->facts->has_target)
                return error_set(error, NTPROF_ERROR_KERNEL_UNSUPPORTED,
                                 "%s: the recording it replays has the host's side only", b->machine);
        if (config->detail && !replay->recording->facts->detail)
                return error_set(error, NTPROF_ERROR_KERNEL_UNSUPPORTED,
                                 "%s: the recording it replays was made without detail", b->machine);
        return capture_replay_new_target(replay->recording, replay->speed, config, handlers, ret, error);
}

static char *replay_drive_hidden(Backend *b, const char *subsysnqn, uint32_t nsid)
{
        return g_strdup(((BackendReplay *) b)->recording->facts->namespace->drive_hidden);
}

static MachineFacts *replay_describe(Backend *b)
{
        const RecordingFacts *recorded = ((BackendReplay *) b)->recording->facts;
        const NamespaceInfo *info = recorded->namespace;
        MachineFacts *facts = machine_facts_new();

        for (size_t i = 0; i < info->n_paths; i++) {
                machine_facts_add(&facts->host_nqns, info->paths[i].hostnqn);
                if (recorded->has_target && info->paths[i].local) {
                        machine_facts_add(&facts->subsystems, info->subsystem_nqn);
                        machine_facts_add(&facts->addresses, info->paths[i].traddr);
                }
        }
        return facts;
}

static void replay_read_iostat(Backend *b, Capture *capture, const NamespaceInfo *info, IoStat *ret)
{
        capture_replay_read_iostat(capture, ret);
}

/* What is recorded is of the whole machine, whatever namespace is asked for. */
static int replay_inspect(Backend *b, const char *namespace, bool as_service, JsonNode **ret, Error *error)
{
        const RecordingFacts *facts = ((BackendReplay *) b)->recording->facts;
        _cleanup_(namespace_info_freep) NamespaceInfo *info = NULL;
        int r;

        r = namespace ? b->ops->resolve(b, namespace, &info, error) : 0;
        if (r < 0)
                return r;
        if (!facts->inspection)
                return error_set(error, NTPROF_ERROR_KERNEL_UNSUPPORTED, "The recording holds no inspection of its kernel");

        *ret = json_node_copy(facts->inspection);
        return 0;
}

static void replay_free(Backend *b)
{
        BackendReplay *replay = (BackendReplay *) b;

        recording_free(replay->recording);
        g_free(b->machine);
        g_free(b->kernel);
        g_free(replay);
}

int backend_replay_new(const char *path, double speed, Backend **ret, Error *error)
{
        static const BackendOps ops = {
                .resolve = replay_resolve,
                .open = replay_open,
                .open_target = replay_open_target,
                .drive_hidden = replay_drive_hidden,
                .describe = replay_describe,
                .read_iostat = replay_read_iostat,
                .inspect = replay_inspect,
                .free = replay_free,
        };
        BackendReplay *replay;
        Recording *recording;
        int r;

        r = recording_open(path, &recording, error);
        if (r < 0)
                return r;

        replay = g_new0(BackendReplay, 1);
        replay->backend.ops = &ops;
        replay->backend.machine = g_strdup(recording->facts->machine);
        replay->backend.kernel = g_strdup(recording->facts->kernel);
        replay->recording = recording;
        replay->speed = speed;
        *ret = &replay->backend;
        return 0;
}
