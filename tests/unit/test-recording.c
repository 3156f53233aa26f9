/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The recordings that the bus tests make in Python are what C reads: same layouts, same hash, same seed. */
#include "daemon/capture/backend-replay.h"
#include "daemon/capture/recording.h"

#include <glib.h>
#include <glib/gstdio.h>

#include "../../bpf/sample-hash.h"
#include "../../model/stage.h"

#define MAKE_REPLAY "/usr/bin/python3 '%s/../bus/make_replay.py' --seconds 0.1 --rate 100 %s '%s'"

static char *made, *made_in_detail;

static Recording *open_file(const char *path)
{
        _cleanup_error_ Error error = ERROR_INIT;
        Recording *recording = NULL;

        recording_open(path, &recording, &error);
        g_assert_cmpstr(error.message, ==, NULL);
        return recording;
}

static Recording *open_made(void)
{
        return open_file(made);
}

static void test_facts(void)
{
        _cleanup_(recording_freep) Recording *recording = open_made();
        const NamespacePath *path = recording->facts->namespace->paths;

        g_assert_cmpstr(recording->facts->machine, ==, "host-a");
        g_assert_cmpuint(recording->facts->start_ns, ==, 1000 * NSEC_PER_SEC);
        g_assert_cmpuint(recording->end_ns, ==, 1000 * NSEC_PER_SEC + 100 * NSEC_PER_MSEC);
        g_assert_cmpstr(recording->facts->namespace->name, ==, "nvme6n1");
        g_assert_cmpuint(recording->facts->namespace->n_paths, ==, 1);
        g_assert_cmpstr(path->disk, ==, "nvme6c6n1");
        g_assert_true(path->local);
        g_assert_cmpuint(recording->facts->n_hooks, ==, 5);
        g_assert_nonnull(recording->facts->inspection);
        g_assert_false(recording->facts->detail);
        g_assert_null(recording->facts->namespace->drive_hidden);
}

static void check_host(const RecordingFrame *frame, uint32_t seed)
{
        const struct np_host_record *host = frame->data;

        g_assert_cmpuint(frame->size, ==, sizeof(*host));
        g_assert_true(np_host_record_valid(host));
        g_assert_cmpint(np_host_record_defect(host), ==, NP_DEFECT_NONE);
        g_assert_cmphex(host->header.hash, ==, np_sample_hash(&host->header.id, seed));
        g_assert_cmpuint(host->h[NP_H1] - host->h[NP_H0], ==, 500);
        g_assert_cmpuint(host->r2t_rounds, ==, host->header.id.opcode == 1);
        g_assert_cmpuint(frame->time_ns, ==, host->h[NP_H8]);
}

static void check_target(const RecordingFrame *frame, uint32_t seed)
{
        const struct np_target_record *target = frame->data;

        g_assert_cmpuint(frame->size, ==, sizeof(*target));
        g_assert_true(np_target_record_valid(target));
        g_assert_cmpint(np_target_record_defect(target), ==, NP_DEFECT_NONE);
        g_assert_cmphex(target->header.hash, ==, np_sample_hash(&target->header.id, seed));
        g_assert_cmpuint(target->fetch_ns, ==, target->header.id.opcode == 1 ? 50000 : 0);
        g_assert_cmpuint(target->t[NP_T5], ==, 0);
        g_assert_cmpuint(target->ta, ==, 0);
        g_assert_cmphex(target->header.flags & NP_F_DATA_ARRIVAL, ==, 0);
}

static void check_host_in_detail(const struct np_host_record *host)
{
        bool write = host->header.id.opcode == 1;
        uint64_t start = host->h[NP_H0];

        g_assert_cmpint(np_host_record_defect(host), ==, NP_DEFECT_NONE);
        g_assert_cmpuint(host->h[NP_H6] - host->ha, ==, write ? 2000 : 1500);
        g_assert_cmpuint(host->ha, >, start);
        g_assert_cmpuint(host->receive_r2t_ns, ==, write ? 700 : 0);
        g_assert_cmphex(host->header.flags & NP_F_DATA_ARRIVAL, ==, write ? NP_F_DATA_ARRIVAL : 0);
        g_assert_cmpuint(host->released, ==, 0);
        g_assert_cmpuint(host->cpu, ==, host->header.id.qid - 1);
        g_assert_cmpuint(host->cpu_response, ==, host->header.id.qid + 1);
        g_assert_cmpstr(host->comm, ==, host->tgid == 1001 ? "fio" : "postgres: walwr");
}

static void check_target_in_detail(const struct np_target_record *target)
{
        bool write = target->header.id.opcode == 1;

        g_assert_cmpint(np_target_record_defect(target), ==, NP_DEFECT_NONE);
        g_assert_cmpuint(target->t[NP_T1] - target->ta, ==, write ? 900 : 800);
        g_assert_cmpuint(target->receive_data_ns, ==, write ? 900 : 0);
        g_assert_cmphex(target->header.flags & NP_F_DATA_ARRIVAL, ==, write ? NP_F_DATA_ARRIVAL : 0);
        g_assert_cmpuint(target->ts, ==, 0);
        g_assert_cmpuint(target->t[NP_T5] - target->t[NP_T4], ==, 1000);
        g_assert_cmpuint(target->cpu, ==, target->header.id.qid + 3);
        g_assert_cmpuint(target->cpu_response, ==, target->header.id.qid + 5);
}

static void test_in_detail(void)
{
        _cleanup_(recording_freep) Recording *recording = open_file(made_in_detail);
        _cleanup_(recording_reader_freep) RecordingReader *reader = NULL;
        unsigned n[REPLAY_END + 1] = {};
        RecordingFrame frame;
        int r;

        g_assert_true(recording->facts->detail);
        g_assert_cmpint(recording_reader_new(recording, &reader, NULL), ==, 0);
        while ((r = recording_reader_next(reader, &frame, NULL)) > 0) {
                n[frame.type]++;
                if (frame.type == REPLAY_HOST_RECORD)
                        check_host_in_detail(frame.data);
                else if (frame.type == REPLAY_TARGET_RECORD)
                        check_target_in_detail(frame.data);
        }
        g_assert_cmpint(r, ==, 0);
        g_assert_cmpuint(n[REPLAY_HOST_RECORD], ==, 10);
        g_assert_cmpuint(n[REPLAY_TARGET_RECORD], ==, 10);
}

static void test_frames(void)
{
        _cleanup_(recording_freep) Recording *recording = open_made();
        _cleanup_(recording_reader_freep) RecordingReader *reader = NULL;
        uint32_t seed = namespace_seed(recording->facts->namespace->paths[0].hostnqn);
        unsigned n[REPLAY_END + 1] = {};
        g_autofree CaptureCounters *counters = g_new0(CaptureCounters, 1);
        struct replay_iostat iostat;
        RecordingFrame frame;
        int r;

        g_assert_cmpint(recording_reader_new(recording, &reader, NULL), ==, 0);
        while ((r = recording_reader_next(reader, &frame, NULL)) > 0) {
                n[frame.type]++;
                if (frame.type == REPLAY_HOST_RECORD)
                        check_host(&frame, seed);
                else if (frame.type == REPLAY_TARGET_RECORD)
                        check_target(&frame, seed);
                else if (frame.type == REPLAY_COUNTERS)
                        g_assert_cmpint(recording_frame_counters(&frame, counters), ==, 0);
                else if (frame.type == REPLAY_IOSTAT)
                        g_assert_cmpint(recording_frame_iostat(&frame, &iostat, NULL), ==, 0);
        }
        g_assert_cmpint(r, ==, 0);
        g_assert_cmpuint(n[REPLAY_HOST_RECORD], ==, 10);
        g_assert_cmpuint(n[REPLAY_TARGET_RECORD], ==, 10);
        g_assert_cmpuint(n[REPLAY_COUNTERS], ==, 2);
        g_assert_cmpuint(n[REPLAY_IOSTAT], ==, 2);
        g_assert_cmpuint(n[REPLAY_END], ==, 1);
        g_assert_cmpuint(counters->host[NP_C_COMMANDS], ==, 10);
        g_assert_cmpuint(counters->host[NP_C_EMITTED], ==, 10);
        g_assert_cmpuint(counters->n_kinds, ==, 2);
        g_assert_cmphex(counters->kinds[0].key, ==, NP_KIND_KEY(0, 1, 127));
        g_assert_cmpuint(counters->kinds[0].count, ==, 2);
        g_assert_cmpuint(iostat.ios, ==, 1010);
}

/* One of before a counter was added can be read still; one of a counter that is not known cannot. */
static void test_other_counters(void)
{
        struct {
                struct replay_counters head;
                __u64 host[2], target[2];
        } fewer = { .head = { .n_counters = 2 }, .host = { 7, 8 }, .target = { 9, 10 } };
        struct {
                struct replay_counters head;
                __u64 values[2 * (NP_C_COUNT + 1)];
        } more = { .head = { .n_counters = NP_C_COUNT + 1 } };
        RecordingFrame frame = { .type = REPLAY_COUNTERS, .size = sizeof(fewer), .data = &fewer };
        g_autofree CaptureCounters *counters = g_new0(CaptureCounters, 1);

        counters->host[NP_C_EMITTED] = 99;
        g_assert_cmpint(recording_frame_counters(&frame, counters), ==, 0);
        g_assert_cmpuint(counters->host[NP_C_COMMANDS], ==, 7);
        g_assert_cmpuint(counters->host[NP_C_SAMPLED], ==, 8);
        g_assert_cmpuint(counters->target[NP_C_COMMANDS], ==, 9);
        g_assert_cmpuint(counters->target[NP_C_SAMPLED], ==, 10);
        g_assert_cmpuint(counters->host[NP_C_EMITTED], ==, 0);

        frame.size--;
        g_assert_cmpint(recording_frame_counters(&frame, counters), ==, -EBADMSG);
        frame = (RecordingFrame) { .type = REPLAY_COUNTERS, .size = sizeof(more), .data = &more };
        g_assert_cmpint(recording_frame_counters(&frame, counters), ==, -EBADMSG);
}

static void test_facts_round_trip(void)
{
        _cleanup_(recording_freep) Recording *recording = open_made();
        g_autofree char *json = recording_facts_to_json(recording->facts), *again = NULL, *why = NULL;
        _cleanup_(recording_facts_freep) RecordingFacts *read = NULL;

        g_assert_cmpint(recording_facts_from_json(json, strlen(json), &read, &why), ==, 0);
        again = recording_facts_to_json(read);
        g_assert_cmpstr(json, ==, again);
}

static void no_host_record(const struct np_host_record *record, void *userdata)
{
        g_assert_not_reached();
}

static void count_target_record(const struct np_target_record *record, void *userdata)
{
        unsigned *n = userdata;

        n[record->header.filter]++;
}

typedef struct TargetReplay {
        Backend *backend;
        Capture *capture;
        unsigned n[NP_FILTERS_MAX];     /* records by filter */
        CaptureCounters counters;
} TargetReplay;

/* The target's side alone, of a filter that is about nothing, and then of the recording's with other in it. */
static void open_target(TargetReplay *t, double speed, const char *subsysnqn, const char *hostnqn, uint32_t nsid)
{
        _cleanup_(recording_freep) Recording *recording = open_made();
        const NamespaceInfo *info = recording->facts->namespace;
        CaptureHandlers handlers = { .host_record = no_host_record, .target_record = count_target_record, .userdata = t->n };
        CaptureConfig config = { .n_target_filters = 2 };

        g_assert_cmpint(backend_replay_new(made, speed, &t->backend, NULL), ==, 0);
        g_strlcpy(config.target_filters[0].subsysnqn, "nqn.another", NP_NQN_LEN);
        g_strlcpy(config.target_filters[1].subsysnqn, subsysnqn ?: info->subsystem_nqn, NP_NQN_LEN);
        g_strlcpy(config.target_filters[1].hostnqn, hostnqn ?: info->paths[0].hostnqn, NP_NQN_LEN);
        config.target_filters[1].nsid = nsid;
        g_assert_cmpint(t->backend->ops->open_target(t->backend, &config, &handlers, &t->capture, NULL), ==, 0);
        g_assert_cmpint(t->capture->ops->attach(t->capture, NULL), ==, 0);
        g_assert_cmpint(t->capture->ops->set_threshold(t->capture, UINT32_MAX), ==, 0);
        g_assert_cmpint(t->capture->ops->resume(t->capture), ==, 0);
}

static void close_target(TargetReplay *t)
{
        t->capture->ops->free(t->capture);
        backend_free(t->backend);
}

static void replay_to_end(TargetReplay *t)
{
        while (!t->capture->ops->at_end(t->capture))
                g_assert_cmpint(t->capture->ops->drain(t->capture), >=, 0);
        g_assert_cmpint(t->capture->ops->pause(t->capture), ==, 0);
        g_assert_cmpint(t->capture->ops->drain(t->capture), >=, 0);
        g_assert_cmpint(t->capture->ops->get_counters(t->capture, &t->counters), ==, 0);
}

static void test_target_alone(void)
{
        TargetReplay t = {};

        open_target(&t, 1000, NULL, NULL, 1);
        replay_to_end(&t);
        g_assert_cmpuint(t.n[0], ==, 0);
        g_assert_cmpuint(t.n[1], ==, 10);
        g_assert_cmpuint(t.counters.target[NP_C_COMMANDS], ==, 10);
        g_assert_cmpuint(t.counters.target[NP_C_EMITTED], ==, 10);
        g_assert_cmpuint(t.counters.target_in_flight, ==, 0);
        g_assert_cmpuint(t.counters.host[NP_C_COMMANDS], ==, 0);
        close_target(&t);
}

static void test_target_of_others(void)
{
        static const struct { const char *subsysnqn, *hostnqn; uint32_t nsid; } cases[] = {
                { "nqn.other", NULL, 1 }, { NULL, "nqn.other", 1 }, { NULL, NULL, 2 },
        };

        for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
                TargetReplay t = {};

                open_target(&t, 1000, cases[i].subsysnqn, cases[i].hostnqn, cases[i].nsid);
                replay_to_end(&t);
                g_assert_cmpuint(t.n[1], ==, 0);
                g_assert_cmpuint(t.counters.target[NP_C_COMMANDS], ==, 0);
                close_target(&t);
        }
}

/* One command each 10 ms: of those that begin after pause() none is handed out, and none is under way in the end. */
static void test_target_paused(void)
{
        TargetReplay t = {};

        open_target(&t, 1, NULL, NULL, 1);
        while (t.n[1] < 3)
                g_assert_cmpint(t.capture->ops->drain(t.capture), >=, 0);
        g_assert_cmpint(t.capture->ops->pause(t.capture), ==, 0);
        g_assert_cmpint(t.capture->ops->get_counters(t.capture, &t.counters), ==, 0);
        g_assert_cmpuint(t.counters.target_in_flight, >, 0);
        g_assert_cmpint(t.capture->ops->drain(t.capture), >=, 0);
        g_assert_cmpint(t.capture->ops->get_counters(t.capture, &t.counters), ==, 0);
        g_assert_cmpuint(t.counters.target_in_flight, ==, 0);
        g_assert_cmpuint(t.n[1], <, 10);
        g_assert_cmpuint(t.counters.target[NP_C_EMITTED], ==, t.n[1]);
        close_target(&t);
}

static void test_describe(void)
{
        _cleanup_(backend_freep) Backend *backend = NULL;
        _cleanup_(machine_facts_freep) MachineFacts *facts = NULL;

        g_assert_cmpint(backend_replay_new(made, 1, &backend, NULL), ==, 0);
        facts = backend->ops->describe(backend);
        g_assert_cmpstr(facts->subsystems[0], ==, "nqn.2026-11.org.ntprof:test");
        g_assert_cmpstr(facts->addresses[0], ==, "10.0.0.2");
        g_assert_true(g_str_has_prefix(facts->host_nqns[0], "nqn.2014-08.org.nvmexpress:uuid:"));
}

static char *make(const char *dir, const char *name, const char *options)
{
        char *path = g_build_filename(dir, name, NULL);
        g_autofree char *command = g_strdup_printf(MAKE_REPLAY, g_test_get_dir(G_TEST_DIST), options, path);
        int status;

        g_assert_true(g_spawn_command_line_sync(command, NULL, NULL, &status, NULL));
        g_assert_cmpint(status, ==, 0);
        return path;
}

int main(int argc, char **argv)
{
        g_autofree char *dir = NULL;
        int r;

        g_test_init(&argc, &argv, NULL);
        dir = g_dir_make_tmp("ntprof-recording.XXXXXX", NULL);
        made = make(dir, "made.ntprof", "");
        made_in_detail = make(dir, "detail.ntprof", "--detail");

        g_test_add_func("/recording/facts", test_facts);
        g_test_add_func("/recording/frames", test_frames);
        g_test_add_func("/recording/other-counters", test_other_counters);
        g_test_add_func("/recording/in-detail", test_in_detail);
        g_test_add_func("/recording/facts-round-trip", test_facts_round_trip);
        g_test_add_func("/recording/target-alone", test_target_alone);
        g_test_add_func("/recording/target-of-others", test_target_of_others);
        g_test_add_func("/recording/target-paused", test_target_paused);
        g_test_add_func("/recording/describe", test_describe);
        r = g_test_run();
        g_remove(made);
        g_remove(made_in_detail);
        g_rmdir(dir);
        g_free(made);
        g_free(made_in_detail);
        return r;
}
