/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture-replay.h"

#include <glib.h>
#include <string.h>

/* So that the event loop comes round between two drains however fast the replay is. */
#define FRAMES_PER_DRAIN 8192
/* A command that began before pause() is looked for this long after. */
#define SETTLE_NS (5 * NSEC_PER_SEC)

typedef struct Threshold {
        uint64_t since_ns;
        uint32_t threshold;
} Threshold;

typedef struct CaptureReplay {
        Capture capture;
        const Recording *recording;
        RecordingReader *reader;
        double speed;
        GArray *thresholds;             /* of Threshold, in order of time */
        RecordingFrame pending;         /* read, and not yet its time */
        bool has_pending;
        bool running, paused;
        bool whole;                     /* paused when the recording itself ended */
        bool done;                      /* paused, and all that was under way then has been handed out */
        bool backlog;                   /* the last drain stopped because it had done enough */
        bool chosen_fewer;              /* by a lower threshold than the recording's */
        bool target_only;
        bool all_pairs;                 /* target_only: the filters are about all that was recorded */
        int filter_of_pair[NP_FILTERS_MAX];     /* target_only: the recording's filter to that of the capture, -1: none */
        uint64_t wall_start_ns;         /* CLOCK_MONOTONIC when it was resumed */
        uint64_t clock_ns;              /* of the recorded host */
        uint64_t handed_host, handed_target;
        CaptureCounters counters;       /* of the last such frame */
        struct replay_iostat iostat;
        char *iostat_reason;
        unsigned n_iostat;
        GHashTable *finishing;          /* commands under way at pause(): whose host records came since */
        GArray *target_held;            /* of struct np_target_record, come since */
} CaptureReplay;

static uint64_t command_key(const struct np_record_header *header)
{
        return (uint64_t) header->id.cntlid << 32 | header->hash;
}

static uint32_t threshold_at(const CaptureReplay *r, uint64_t time_ns)
{
        for (guint i = r->thresholds->len; i > 0; i--) {
                const Threshold *t = &g_array_index(r->thresholds, Threshold, i - 1);

                if (t->since_ns <= time_ns || i == 1)
                        return t->threshold;
        }
        return UINT32_MAX;
}

static bool is_chosen(uint32_t hash, uint32_t threshold)
{
        return threshold == UINT32_MAX || hash < threshold;
}

static void hand_out_host(CaptureReplay *r, const struct np_host_record *from)
{
        struct np_host_record record = *from;
        uint32_t threshold = threshold_at(r, record.h[NP_H2]);

        if (r->paused && record.h[NP_H2] > r->clock_ns)
                return;
        if (!is_chosen(record.header.hash, threshold)) {
                r->chosen_fewer = true;
                return;
        }

        record.header.threshold = MIN(record.header.threshold, threshold);
        if (r->paused)
                g_hash_table_add(r->finishing, g_memdup2(&(uint64_t) { command_key(&record.header) }, sizeof(uint64_t)));
        r->handed_host++;
        r->capture.handlers.host_record(&record, r->capture.handlers.userdata);
}

static void hand_out_target(CaptureReplay *r, const struct np_target_record *from)
{
        struct np_target_record record = *from;
        uint32_t threshold = threshold_at(r, record.t[NP_T1]);

        if (r->target_only) {
                if (record.header.filter >= NP_FILTERS_MAX || r->filter_of_pair[record.header.filter] < 0)
                        return;
                record.header.filter = r->filter_of_pair[record.header.filter];
        }
        if (!is_chosen(record.header.hash, threshold)) {
                r->chosen_fewer |= r->target_only;
                return;
        }

        record.header.threshold = MIN(record.header.threshold, threshold);
        r->handed_target++;
        r->capture.handlers.target_record(&record, r->capture.handlers.userdata);
}

static void handle_target_record(CaptureReplay *r, const struct np_target_record *record)
{
        if (!r->paused)
                hand_out_target(r, record);
        else if (!r->target_only)
                g_array_append_vals(r->target_held, record, 1);
        else if (record->t[NP_T1] <= r->clock_ns)
                hand_out_target(r, record);
}

static int handle_frame(CaptureReplay *r, const RecordingFrame *frame)
{
        switch (frame->type) {
        case REPLAY_HOST_RECORD:
                if (!r->target_only)
                        hand_out_host(r, frame->data);
                return 0;
        case REPLAY_TARGET_RECORD:
                handle_target_record(r, frame->data);
                return 0;
        case REPLAY_COUNTERS:
                return r->paused && !r->whole ? 0 : recording_frame_counters(frame, &r->counters);
        case REPLAY_IOSTAT:
                g_clear_pointer(&r->iostat_reason, g_free);
                r->n_iostat++;
                return recording_frame_iostat(frame, &r->iostat, &r->iostat_reason);
        case REPLAY_END:
                return 0;
        }
        return -EBADMSG;
}

/* What the target still had to say of the commands that were under way. */
static void hand_out_held(CaptureReplay *r)
{
        for (guint i = 0; i < r->target_held->len; i++) {
                const struct np_target_record *record = &g_array_index(r->target_held, struct np_target_record, i);

                if (g_hash_table_contains(r->finishing, &(uint64_t) { command_key(&record->header) }))
                        hand_out_target(r, record);
        }
        g_array_set_size(r->target_held, 0);
}

static int read_frames(CaptureReplay *r, uint64_t until_ns)
{
        unsigned n;
        int k;

        for (n = 0; n < FRAMES_PER_DRAIN; n++) {
                if (!r->has_pending) {
                        k = recording_reader_next(r->reader, &r->pending, NULL);
                        if (k < 0)
                                return k;
                        if (k == 0)
                                return n;
                        r->has_pending = true;
                }
                if (r->pending.time_ns > until_ns)
                        return n;

                k = handle_frame(r, &r->pending);
                if (k < 0)
                        return k;
                r->has_pending = false;
                if (!r->paused)
                        r->clock_ns = MAX(r->clock_ns, r->pending.time_ns);
        }

        r->backlog = true;
        return n;
}

static int replay_drain(Capture *c)
{
        CaptureReplay *r = (CaptureReplay *) c;
        uint64_t wall_ns, now;
        int n;

        if (!r->running || r->done)
                return 0;

        r->backlog = false;
        if (r->paused) {
                n = read_frames(r, r->clock_ns + SETTLE_NS);
                if (n >= 0 && !r->backlog) {
                        hand_out_held(r);
                        r->done = true;
                }
                return n;
        }

        wall_ns = now_ns(CLOCK_MONOTONIC) - r->wall_start_ns;
        now = r->recording->facts->start_ns + (uint64_t) MIN(wall_ns * r->speed, (double) (INT64_MAX / 2));
        now = MIN(now, r->recording->end_ns);
        n = read_frames(r, now);
        if (n >= 0 && !r->backlog)
                r->clock_ns = MAX(r->clock_ns, now);
        return n;
}

static int replay_attach(Capture *c, const char **ret_error)
{
        return 0;
}

static int replay_resume(Capture *c)
{
        CaptureReplay *r = (CaptureReplay *) c;
        int k;

        r->running = true;
        r->wall_start_ns = now_ns(CLOCK_MONOTONIC);
        k = read_frames(r, r->clock_ns);
        return MIN(k, 0);
}

static int replay_pause(Capture *c)
{
        CaptureReplay *r = (CaptureReplay *) c;

        r->paused = true;
        r->whole = r->clock_ns >= r->recording->end_ns;
        return 0;
}

static int replay_set_threshold(Capture *c, uint32_t threshold)
{
        CaptureReplay *r = (CaptureReplay *) c;
        Threshold t = { .since_ns = r->clock_ns, .threshold = threshold };

        g_array_append_val(r->thresholds, t);
        return 0;
}

static int replay_get_fd(Capture *c)
{
        return -1;
}

/* What a recording counted is of all its controllers. */
static void get_target_counters(const CaptureReplay *r, CaptureCounters *ret)
{
        *ret = (CaptureCounters) {};
        if (r->all_pairs) {
                memcpy(ret->target, r->counters.target, sizeof(ret->target));
                ret->target_recursion = r->counters.target_recursion;
                ret->target_in_flight = r->counters.target_in_flight;
        }
        if (!r->all_pairs || r->chosen_fewer || (r->paused && !r->whole)) {
                ret->target[NP_C_SAMPLED] = ret->target[NP_C_EMITTED] = r->handed_target;
                ret->target[NP_C_COMMANDS] = MAX(ret->target[NP_C_COMMANDS], r->handed_target);
                ret->target_in_flight = 0;
        }
        if (r->paused && !r->done)
                ret->target_in_flight = MAX(ret->target_in_flight, 1U);
}

static int replay_get_counters(Capture *c, CaptureCounters *ret)
{
        CaptureReplay *r = (CaptureReplay *) c;

        if (r->target_only) {
                get_target_counters(r, ret);
                return 0;
        }

        *ret = r->counters;
        if (r->chosen_fewer || (r->paused && !r->whole)) {
                ret->host[NP_C_SAMPLED] = ret->host[NP_C_EMITTED] = r->handed_host;
                ret->target[NP_C_SAMPLED] = ret->target[NP_C_EMITTED] = r->handed_target;
                ret->host[NP_C_COMMANDS] = MAX(ret->host[NP_C_COMMANDS], r->handed_host);
                ret->host_in_flight = ret->target_in_flight = 0;
        }
        if (r->paused && !r->done)
                ret->host_in_flight = MAX(ret->host_in_flight, 1U);
        return 0;
}

static unsigned replay_get_hooks(Capture *c, const CaptureHook **ret)
{
        CaptureReplay *r = (CaptureReplay *) c;

        *ret = r->recording->facts->hooks;
        return r->recording->facts->n_hooks;
}

static uint64_t replay_now(Capture *c)
{
        return ((CaptureReplay *) c)->clock_ns;
}

static bool replay_at_end(Capture *c)
{
        CaptureReplay *r = (CaptureReplay *) c;

        return r->clock_ns >= r->recording->end_ns;
}

static void replay_detach(Capture *c)
{
}

static void replay_free(Capture *c)
{
        CaptureReplay *r = (CaptureReplay *) c;

        recording_reader_free(r->reader);
        g_array_unref(r->thresholds);
        g_array_unref(r->target_held);
        g_hash_table_unref(r->finishing);
        g_free(r->iostat_reason);
        g_free(r);
}

void capture_replay_read_iostat(Capture *c, IoStat *ret)
{
        CaptureReplay *r = (CaptureReplay *) c;

        *ret = (IoStat) {};
        if (r->n_iostat < (r->whole ? 2 : 1))
                ret->reason = g_strdup("the recording does not have it");
        else if (r->clock_ns != r->recording->facts->start_ns && !r->whole)
                ret->reason = g_strdup("a recording has the disk's counts of its whole time only");
        else if (!r->iostat.valid)
                ret->reason = g_strdup(r->iostat_reason ?: "not read");
        else {
                ret->valid = true;
                ret->ios = r->iostat.ios;
                ret->weighted_ms = r->iostat.weighted_ms;
        }
}

int capture_replay_new(const Recording *recording, double speed, const CaptureHandlers *handlers, Capture **ret, Error *error)
{
        static const CaptureOps ops = {
                .name = "replay",
                .attach = replay_attach,
                .resume = replay_resume,
                .pause = replay_pause,
                .set_threshold = replay_set_threshold,
                .drain = replay_drain,
                .get_fd = replay_get_fd,
                .get_counters = replay_get_counters,
                .get_hooks = replay_get_hooks,
                .now = replay_now,
                .at_end = replay_at_end,
                .detach = replay_detach,
                .free = replay_free,
        };
        CaptureReplay *r;
        RecordingReader *reader;
        int k;

        k = recording_reader_new(recording, &reader, error);
        if (k < 0)
                return k;

        r = g_new0(CaptureReplay, 1);
        r->capture.ops = &ops;
        r->capture.handlers = *handlers;
        r->recording = recording;
        r->reader = reader;
        r->speed = speed;
        r->clock_ns = recording->facts->start_ns;
        r->thresholds = g_array_new(false, true, sizeof(Threshold));
        r->target_held = g_array_new(false, true, sizeof(struct np_target_record));
        r->finishing = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);
        *ret = &r->capture;
        return 0;
}

static int find_filter(const CaptureConfig *config, const NamespaceInfo *info, const char *hostnqn)
{
        for (unsigned i = 0; i < config->n_target_filters; i++) {
                const struct np_target_filter *filter = config->target_filters + i;

                if (g_str_equal(filter->subsysnqn, info->subsystem_nqn) && g_str_equal(filter->hostnqn, hostnqn) &&
                    filter->nsid == info->nsid)
                        return i;
        }
        return -1;
}

/* The recording's filters are the host NQNs of its local paths, each once, as session.c makes them. */
static void map_pairs(CaptureReplay *r, const NamespaceInfo *info, const CaptureConfig *config)
{
        const char *pairs[NP_FILTERS_MAX];
        unsigned n = 0;

        r->all_pairs = true;
        for (size_t i = 0; i < info->n_paths; i++) {
                const NamespacePath *path = info->paths + i;
                bool known = false;

                for (unsigned j = 0; j < n; j++)
                        known |= g_str_equal(pairs[j], path->hostnqn);
                if (!path->local || known)
                        continue;
                r->filter_of_pair[n] = find_filter(config, info, path->hostnqn);
                r->all_pairs &= r->filter_of_pair[n] >= 0;
                pairs[n++] = path->hostnqn;
        }
        while (n < NP_FILTERS_MAX)
                r->filter_of_pair[n++] = -1;
}

int capture_replay_new_target(const Recording *recording, double speed, const CaptureConfig *config,
                              const CaptureHandlers *handlers, Capture **ret, Error *error)
{
        CaptureReplay *replay;
        Capture *capture;
        int r;

        r = capture_replay_new(recording, speed, handlers, &capture, error);
        if (r < 0)
                return r;

        replay = (CaptureReplay *) capture;
        replay->target_only = true;
        map_pairs(replay, recording->facts->namespace, config);
        *ret = capture;
        return 0;
}
