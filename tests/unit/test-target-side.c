/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Both target-side and target-sides: the test is the other machine's ntprofd. */
#include "daemon/peer/target-sides.h"

#include <glib/gstdio.h>
#include <string.h>
#include <sys/socket.h>

#include "daemon/peer/wire-reader.h"
#include "daemon/peer/wire-writer.h"
#include "fake-backend.h"

#define FINGERPRINT "sha256-0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

/* What has come over one link. */
typedef struct Link {
        int fd;
        WireReader *reader;
        WireWriter *writer;
        bool eof, reset;
        unsigned n[WIRE_ENDED + 1];     /* frames by type */
        char *facts, *ended;
        struct wire_changed changed;    /* the last of each */
        struct wire_sync sync;
        uint64_t records;
        uint64_t last_t9;
} Link;

typedef struct Fixture {
        sd_event *event;
        FakeBackend *fake;
        char *folder;
        PeerPolicy policy;
        TargetSides *sides;
        GString *told;                  /* "host-a:why; ..." */
        TargetSideCounts counts;        /* of the last that ended */
        Link link;
} Fixture;

static const TargetSidePatience patience = {
        .settle_usec = 300 * USEC_PER_MSEC,
        .grace_usec = 100 * USEC_PER_MSEC,
        .close_usec = 300 * USEC_PER_MSEC,
};

static void on_ended(const TargetSidesEntry *entry, const char *why, void *userdata)
{
        Fixture *f = userdata;

        g_string_append_printf(f->told, "%s%s:%s", f->told->len ? "; " : "", entry->who.name, why);
        f->counts = *target_side_counts(entry->side);
}

static void put(Fixture *f, const char *name, const char *text)
{
        g_autofree char *path = g_build_filename(f->folder, name, NULL);

        g_assert_true(g_file_set_contents(path, text, -1, NULL));
        g_assert_cmpint(g_chmod(path, 0644), ==, 0);
}

static void set_up(Fixture *f, gconstpointer data)
{
        target_side_patience = patience;
        g_assert_cmpint(sd_event_new(&f->event), >=, 0);
        f->fake = fake_backend_new();
        f->told = g_string_new(NULL);
        f->folder = g_dir_make_tmp("ntprof-target.XXXXXX", NULL);
        f->policy = (PeerPolicy) { .folder = f->folder, .own_files = true, .machine = "stor-a" };
        f->sides = target_sides_new(f->event, &f->fake->backend, &f->policy,
                                    &(TargetSidesObserver) { .ended = on_ended, .userdata = f });
        f->link.fd = -1;
        put(f, "host-a.conf", "[Peer]\nHostNQN=nqn.host-a\n");
        put(f, "host-b.conf", "[Peer]\nHostNQN=nqn.host-b\n");
        put(f, "host-c.conf", "[Peer]\nHostNQN=nqn.host-c\n");
}

static void link_clear(Link *link)
{
        if (link->fd >= 0)
                close(link->fd);
        wire_reader_free(link->reader);
        wire_writer_free(link->writer);
        g_free(link->facts);
        g_free(link->ended);
        *link = (Link) { .fd = -1 };
}

static void run_once(Fixture *f)
{
        g_assert_cmpint(sd_event_run(f->event, 10 * USEC_PER_MSEC), >=, 0);
}

static void run_for(Fixture *f, unsigned msec)
{
        uint64_t until = now_ns(CLOCK_MONOTONIC) + msec * NSEC_PER_MSEC;

        while (now_ns(CLOCK_MONOTONIC) < until)
                run_once(f);
}

static void tear_down(Fixture *f, gconstpointer data)
{
        static const char *const names[] = { "host-a.conf", "host-b.conf", "host-c.conf" };

        link_clear(&f->link);
        for (int i = 0; i < 1000 && (target_sides_count(f->sides) > 0 || f->fake->open_captures > 0); i++)
                run_once(f);
        target_sides_free(f->sides);
        fake_backend_free(f->fake);
        for (size_t i = 0; i < ELEMENTSOF(names); i++) {
                g_autofree char *path = g_build_filename(f->folder, names[i], NULL);

                g_assert_cmpint(g_unlink(path), ==, 0);
        }
        g_assert_cmpint(g_rmdir(f->folder), ==, 0);
        g_free(f->folder);
        g_string_free(f->told, true);
        g_assert_null(sd_event_unref(f->event));
}

static int open_for(Fixture *f, const char *name, uint64_t duration_usec, Link *link, Error *error)
{
        g_autofree char *hostnqn = g_strdup_printf("nqn.%s", name);
        PeerWho who = { .name = (char *) name, .fingerprint = (char *) FINGERPRINT, .address = (char *) "10.0.0.1" };
        PeerRequest request = {
                .n_filters = 1,
                .filters = { { .subsysnqn = (char *) "nqn.sub", .hostnqn = hostnqn, .nsid = 7 } },
                .duration_usec = duration_usec,
                .user = (char *) "alice",
        };
        _cleanup_free_ char *problems = NULL;
        int r;

        r = target_sides_open(f->sides, &who, &request, &link->fd, &problems, error);
        g_assert_cmpstr(problems, ==, NULL);
        if (r < 0)
                return r;
        link->reader = wire_reader_new(WIRE_SIDE_TARGET);
        link->writer = wire_writer_new();
        return 0;
}

static void begin(Fixture *f)
{
        _cleanup_error_ Error error = ERROR_INIT;

        g_assert_cmpint(open_for(f, "host-a", 0, &f->link, &error), ==, 0);
        g_assert_cmpstr(error.message, ==, NULL);
}

static void take_frame(Link *link, const WireFrame *frame)
{
        const struct np_target_record *records = frame->data;

        link->n[frame->type]++;
        switch (frame->type) {
        case WIRE_FACTS:
                link->facts = g_strndup(frame->data, frame->size);
                break;
        case WIRE_CHANGED:
                link->changed = *(const struct wire_changed *) frame->data;
                break;
        case WIRE_RECORDS:
                link->records += frame->size / sizeof(*records);
                link->last_t9 = records[frame->size / sizeof(*records) - 1].t[NP_T9];
                break;
        case WIRE_SYNC: {
                const struct wire_sync *sync = frame->data;

                g_assert_cmpuint(sync->target_ns, >=, link->sync.target_ns);
                link->sync = *sync;
                break;
        }
        case WIRE_ENDED:
                link->ended = g_strndup(frame->data, frame->size);
                break;
        default:
                g_assert_not_reached();
        }
}

static void receive(Link *link)
{
        g_autofree unsigned char *buffer = g_malloc(1 << 16);
        WireFrame frame;
        const char *why;
        ssize_t n;
        int r;

        while (!link->eof && (n = recv(link->fd, buffer, 1 << 16, MSG_DONTWAIT)) >= 0) {
                const void *data = buffer;
                size_t size = n;

                link->eof = n == 0;
                while ((r = wire_reader_next(link->reader, &data, &size, &frame, &why)) > 0)
                        take_frame(link, &frame);
                g_assert_cmpint(r, ==, 0);
        }
        if (!link->eof && errno == ECONNRESET)
                link->eof = link->reset = true;
}

static void say(Link *link, enum wire_type type, const void *data, size_t size)
{
        wire_writer_add(link->writer, type, data, size);
        (void) wire_writer_flush(link->writer, link->fd);
}

static void say_threshold(Link *link, uint32_t threshold)
{
        say(link, WIRE_THRESHOLD, &(struct wire_threshold) { .threshold = threshold }, sizeof(struct wire_threshold));
}

/* Until so many frames of the type have come over the link. */
static void wait_frames(Fixture *f, enum wire_type type, unsigned n)
{
        for (int i = 0; i < 1000 && f->link.n[type] < n && !f->link.eof; i++) {
                run_once(f);
                receive(&f->link);
        }
        g_assert_cmpuint(f->link.n[type], >=, n);
}

static void wait_eof(Fixture *f)
{
        for (int i = 0; i < 1000 && !(f->link.eof && target_sides_count(f->sides) == 0 && f->fake->open_captures == 0); i++) {
                run_once(f);
                receive(&f->link);
        }
        g_assert_true(f->link.eof);
        g_assert_cmpuint(target_sides_count(f->sides), ==, 0);
        g_assert_cmpint(f->fake->open_captures, ==, 0);
}

static void record_all(Fixture *f)
{
        wait_frames(f, WIRE_FACTS, 1);
        say_threshold(&f->link, UINT32_MAX);
        say(&f->link, WIRE_RESUME, NULL, 0);
        wait_frames(f, WIRE_CHANGED, 1);
}

static unsigned to_emit;

static void emit(FakeBackend *fake)
{
        for (; to_emit > 0; to_emit--) {
                fake_command(fake, true);
                fake->counters.target[NP_C_COMMANDS]++;
                fake->counters.target[NP_C_SAMPLED]++;
                fake->counters.target[NP_C_EMITTED]++;
        }
}

static void test_conversation(Fixture *f, gconstpointer data)
{
        begin(f);
        wait_frames(f, WIRE_FACTS, 1);
        g_assert_nonnull(strstr(f->link.facts, "\"machine\":\"host-a\",\"kernel\":\"6.1.0-test\",\"version\":\""));
        g_assert_nonnull(strstr(f->link.facts,
                                "\"hooks\":[{\"boundary\":\"T1\",\"mechanism\":\"tp_btf\",\"symbol\":\"nvmet_req_init\"}]"));
        g_assert_cmpuint(target_sides_count(f->sides), ==, 1);

        g_assert_cmpuint(f->fake->config.n_host_filters, ==, 0);
        g_assert_cmpuint(f->fake->config.n_target_filters, ==, 1);
        g_assert_cmpstr(f->fake->config.target_filters[0].subsysnqn, ==, "nqn.sub");
        g_assert_cmpstr(f->fake->config.target_filters[0].hostnqn, ==, "nqn.host-a");
        g_assert_cmpuint(f->fake->config.target_filters[0].nsid, ==, 7);
        g_assert_cmphex(f->fake->config.target_filters[0].seed, ==, namespace_seed("nqn.host-a"));

        record_all(f);
        g_assert_cmpuint(f->link.changed.target_ns, ==, 0);
        g_assert_cmphex(f->link.changed.threshold, ==, UINT32_MAX);
        g_assert_cmpstr(f->fake->calls->str, ==, "open attach threshold resume");

        /* 1000 records are more than a frame takes */
        f->fake->on_drain = emit;
        to_emit = 1000;
        while (f->link.records < 1000)
                wait_frames(f, WIRE_RECORDS, f->link.n[WIRE_RECORDS] + 1);
        g_assert_cmpuint(f->link.n[WIRE_RECORDS], ==, 3);
        /* it came with them, but is of a time before they were drained */
        wait_frames(f, WIRE_SYNC, 1);
        g_assert_cmpuint(f->link.sync.target_ns, <, f->link.last_t9);
        g_assert_cmpuint(f->link.sync.counters[NP_C_EMITTED], ==, 1000);
        g_assert_cmpuint(f->link.sync.link_full, ==, 0);

        to_emit = 5;
        say(&f->link, WIRE_PAUSE, NULL, 0);
        wait_eof(f);
        g_assert_false(f->link.reset);
        g_assert_cmpuint(f->link.records, ==, 1005);
        g_assert_cmpuint(f->link.sync.counters[NP_C_EMITTED], ==, 1005);
        g_assert_cmpuint(f->link.sync.target_ns, >, 0);
        g_assert_cmpstr(f->link.ended, ==, "{\"error\":null,\"message\":null}");
        g_assert_cmpstr(f->fake->calls->str, ==, "open attach threshold resume pause detach free");
        g_assert_cmpstr(f->told->str, ==, "host-a:ended as the host asked");
        g_assert_cmpuint(f->counts.records, ==, 1005);
        g_assert_cmpuint(f->counts.commands, ==, 1005);
}

/* Without records it says once a second that there were none. */
static void test_quiet(Fixture *f, gconstpointer data)
{
        begin(f);
        record_all(f);
        run_for(f, 2300);
        receive(&f->link);
        g_assert_cmpuint(f->link.n[WIRE_SYNC], >=, 1);
        g_assert_cmpuint(f->link.n[WIRE_SYNC], <=, 3);
        g_assert_cmpuint(f->link.n[WIRE_RECORDS], ==, 0);
}

static void test_thresholds(Fixture *f, gconstpointer data)
{
        uint64_t before;

        put(f, "host-a.conf", "[Peer]\nHostNQN=nqn.host-a\nMaxSampleRate=1/16\n");
        begin(f);
        record_all(f);
        g_assert_cmpuint(f->link.changed.target_ns, ==, 0);
        g_assert_cmphex(f->link.changed.threshold, ==, 1U << 28);
        g_assert_cmphex(f->fake->threshold, ==, 1U << 28);

        before = now_ns(CLOCK_MONOTONIC);
        say_threshold(&f->link, 77);
        wait_frames(f, WIRE_CHANGED, 2);
        g_assert_cmpuint(f->link.changed.target_ns, >=, before);
        g_assert_cmpuint(f->link.changed.target_ns, <=, now_ns(CLOCK_MONOTONIC));
        g_assert_cmphex(f->link.changed.threshold, ==, 77);
        g_assert_cmphex(f->fake->threshold, ==, 77);
}

static void test_announced(Fixture *f, gconstpointer data)
{
        f->fake->with_fd = true;
        begin(f);
        record_all(f);
        f->fake->on_drain = emit;
        to_emit = 3;
        fake_announce(f->fake);
        run_once(f);
        run_once(f);
        receive(&f->link);
        g_assert_cmpuint(f->link.records, ==, 3);
}

static void check_failed(Fixture *f, const char *message, const char *calls)
{
        g_autofree char *json = g_strdup_printf("{\"error\":\"CaptureFailed\",\"message\":\"host-a: %s\"}", message),
                        *told = g_strdup_printf("host-a:host-a: %s", message);

        wait_eof(f);
        g_assert_cmpstr(f->link.ended, ==, json);
        g_assert_cmpstr(f->told->str, ==, told);
        g_assert_cmpstr(f->fake->calls->str, ==, calls);
}

static void test_attach_fails(Fixture *f, gconstpointer data)
{
        f->fake->attach_error = -EPERM;
        f->fake->attach_why = "can't load the target's programs";
        begin(f);
        check_failed(f, "can't load the target's programs", "open attach detach free");
        g_assert_null(f->link.facts);
}

static void test_resume_fails(Fixture *f, gconstpointer data)
{
        f->fake->resume_error = -EIO;
        begin(f);
        wait_frames(f, WIRE_FACTS, 1);
        say_threshold(&f->link, 1);
        say(&f->link, WIRE_RESUME, NULL, 0);
        check_failed(f, "the recording could not be started: Input/output error", "open attach threshold resume detach free");
}

static void test_drain_fails(Fixture *f, gconstpointer data)
{
        begin(f);
        record_all(f);
        f->fake->drain_error = -EIO;
        check_failed(f, "reading records failed: Input/output error", "open attach threshold resume detach free");
}

static void test_cannot_open(Fixture *f, gconstpointer data)
{
        _cleanup_error_ Error error = ERROR_INIT;

        f->fake->open_error = -EOPNOTSUPP;
        g_assert_cmpint(open_for(f, "host-a", 0, &f->link, &error), ==, -EOPNOTSUPP);
        g_assert_cmpint(error.code, ==, NTPROF_ERROR_KERNEL_UNSUPPORTED);
        g_assert_cmpuint(target_sides_count(f->sides), ==, 0);
        f->link.fd = -1;
}

/* Whoever goes away, at whatever time: what was attached is detached at once, and no more is said. */
static void test_host_goes_away(Fixture *f, gconstpointer data)
{
        enum { WHILE_ATTACHING, READY, RECORDING, SETTLING, N_TIMES };
        static const char *const told[] = {
                "host-a:the host went away before it was attached", "host-a:the host went away", "host-a:the host went away",
                "host-a:the host went away",
        };

        for (int when = 0; when < N_TIMES; when++) {
                g_string_truncate(f->told, 0);
                g_string_truncate(f->fake->calls, 0);
                f->fake->counters.target_in_flight = 1;
                g_atomic_int_set(&f->fake->hold_attach, when == WHILE_ATTACHING);
                begin(f);
                if (when == WHILE_ATTACHING)
                        run_for(f, 50);
                else
                        wait_frames(f, WIRE_FACTS, 1);
                if (when >= RECORDING)
                        record_all(f);
                if (when == SETTLING) {
                        say(&f->link, WIRE_PAUSE, NULL, 0);
                        run_for(f, 50);
                }
                link_clear(&f->link);
                for (int i = 0; i < 100 && target_sides_count(f->sides) > 0; i++)
                        run_once(f);
                g_assert_cmpstr(f->told->str, ==, told[when]);
                g_atomic_int_set(&f->fake->hold_attach, false);
                for (int i = 0; i < 500 && f->fake->open_captures > 0; i++)
                        run_once(f);
                g_assert_cmpint(f->fake->open_captures, ==, 0);
                g_assert_true(g_str_has_suffix(f->fake->calls->str, "detach free"));
        }
}

static void test_protocol_broken(Fixture *f, gconstpointer data)
{
        begin(f);
        record_all(f);
        say(&f->link, WIRE_RESUME, NULL, 0);
        wait_eof(f);
        g_assert_null(f->link.ended);
        g_assert_cmpstr(f->told->str, ==, "host-a:the host broke the protocol: a frame came twice that comes once");
        g_assert_cmpstr(f->fake->calls->str, ==, "open attach threshold resume detach free");
}

/* What the link does not take is dropped and counted, and what was not dropped arrives. */
static void test_link_full(Fixture *f, gconstpointer data)
{
        const unsigned all = 4 * 20000;

        begin(f);
        record_all(f);
        f->fake->on_drain = emit;
        for (int i = 0; i < 4; i++) {
                to_emit = 20000;
                for (int j = 0; j < 100 && to_emit > 0; j++)
                        run_once(f);
                g_assert_cmpuint(to_emit, ==, 0);
        }
        g_assert_cmpuint(f->link.records, ==, 0);
        say(&f->link, WIRE_PAUSE, NULL, 0);
        wait_eof(f);
        g_assert_cmpstr(f->link.ended, ==, "{\"error\":null,\"message\":null}");
        g_assert_cmpuint(f->link.sync.link_full, >, 0);
        g_assert_cmpuint(f->link.records + f->link.sync.link_full, ==, all);
        g_assert_cmpuint(f->link.records * sizeof(struct np_target_record), <=, TARGET_SIDE_BUFFER_MAX + (1U << 20));
        g_assert_cmpuint(f->link.records * sizeof(struct np_target_record), >, TARGET_SIDE_BUFFER_MAX - (1U << 20));
        g_assert_cmpuint(f->link.sync.counters[NP_C_EMITTED], ==, all);
        g_assert_cmpuint(f->counts.link_full, ==, f->link.sync.link_full);
}

/* Who reads nothing of the rest is not waited for. */
static void test_rest_not_taken(Fixture *f, gconstpointer data)
{
        begin(f);
        record_all(f);
        f->fake->on_drain = emit;
        to_emit = 20000;
        say(&f->link, WIRE_PAUSE, NULL, 0);
        for (int i = 0; i < 300 && target_sides_count(f->sides) > 0; i++)
                run_once(f);
        g_assert_cmpuint(target_sides_count(f->sides), ==, 0);
        g_assert_true(g_str_has_prefix(f->told->str, "host-a:the link did not take the last "));
}

static void test_asks_and_reads_nothing(Fixture *f, gconstpointer data)
{
        begin(f);
        record_all(f);
        f->fake->on_drain = emit;
        to_emit = 100000;
        for (int i = 0; i < 100 && to_emit > 0; i++)
                run_once(f);
        for (int i = 0; i < 100000 && target_sides_count(f->sides) > 0; i++) {
                for (int j = 0; j < 100; j++)
                        say_threshold(&f->link, i + 1);
                run_once(f);
        }
        g_assert_cmpstr(f->told->str, ==, "host-a:the host asks for more than it reads");
}

static void test_session_limit(Fixture *f, gconstpointer data)
{
        put(f, "host-a.conf", "[Peer]\nHostNQN=nqn.host-a\nMaxSessionSec=1\n");
        begin(f);
        record_all(f);
        run_for(f, 500);
        /* one that comes while it settles is no fault */
        f->fake->counters.target_in_flight = 1;
        for (int i = 0; i < 200 && !strstr(f->fake->calls->str, "pause"); i++)
                run_once(f);
        say_threshold(&f->link, 1);
        wait_eof(f);
        g_assert_nonnull(
                strstr(f->link.ended, "{\"error\":null,\"message\":\"host-a ended the recording: MaxSessionSec=1 in "));
        g_assert_true(g_str_has_prefix(f->told->str, "host-a:host-a ended the recording: MaxSessionSec=1 in "));
        g_assert_cmpuint(f->link.n[WIRE_CHANGED], ==, 1);
        g_assert_cmpstr(f->fake->calls->str, ==, "open attach threshold resume pause detach free");
}

/* A host that attaches only, and never begins, is bound by it too. */
static void test_session_limit_unused(Fixture *f, gconstpointer data)
{
        put(f, "host-a.conf", "[Peer]\nHostNQN=nqn.host-a\nMaxSessionSec=1\n");
        begin(f);
        wait_eof(f);
        g_assert_nonnull(strstr(f->link.ended, "MaxSessionSec=1 in "));
        g_assert_cmpstr(f->fake->calls->str, ==, "open attach detach free");
}

static void test_duration(Fixture *f, gconstpointer data)
{
        uint64_t from;

        g_assert_cmpint(open_for(f, "host-a", 300 * USEC_PER_MSEC, &f->link, NULL), ==, 0);
        record_all(f);
        from = now_ns(CLOCK_MONOTONIC);
        wait_eof(f);
        g_assert_cmpuint(now_ns(CLOCK_MONOTONIC) - from, >=, 350 * NSEC_PER_MSEC);
        g_assert_nonnull(strstr(f->link.ended, "though the time that it asked for is over"));
}

/* What is under way is waited for, but not longer than that. */
static void test_settles(Fixture *f, gconstpointer data)
{
        uint64_t from;

        for (int i = 0; i < 2; i++) {
                begin(f);
                record_all(f);
                f->fake->counters.target_in_flight = 1;
                from = now_ns(CLOCK_MONOTONIC);
                say(&f->link, WIRE_PAUSE, NULL, 0);
                if (i == 0) {
                        run_for(f, 100);
                        receive(&f->link);
                        g_assert_null(f->link.ended);
                        f->fake->counters.target_in_flight = 0;
                }
                wait_eof(f);
                g_assert_cmpuint(f->link.sync.in_flight, ==, i);
                if (i == 0)
                        g_assert_cmpuint(now_ns(CLOCK_MONOTONIC) - from, <, patience.settle_usec * NSEC_PER_USEC);
                else
                        g_assert_cmpuint(now_ns(CLOCK_MONOTONIC) - from, >=, patience.settle_usec * NSEC_PER_USEC);
                f->fake->counters.target_in_flight = 0;
                link_clear(&f->link);
        }
}

static void test_paused_before_begun(Fixture *f, gconstpointer data)
{
        begin(f);
        say(&f->link, WIRE_PAUSE, NULL, 0);
        wait_eof(f);
        g_assert_cmpstr(f->link.ended, ==, "{\"error\":null,\"message\":null}");
        g_assert_cmpuint(f->link.n[WIRE_SYNC], ==, 0);
        g_assert_cmpstr(f->fake->calls->str, ==, "open attach detach free");
}

static void test_limits(Fixture *f, gconstpointer data)
{
        static const char *const names[] = { "host-a", "host-b" };
        Link links[2 * TARGET_SIDES_PEER_MAX] = {}, one = { .fd = -1 };
        _cleanup_error_ Error of_peer = ERROR_INIT, of_all = ERROR_INIT, other = ERROR_INIT;
        unsigned n = 0;

        for (size_t i = 0; i < ELEMENTSOF(names); i++)
                for (int j = 0; j < TARGET_SIDES_PEER_MAX; j++)
                        g_assert_cmpint(open_for(f, names[i], 0, &links[n++], NULL), ==, 0);
        g_assert_cmpuint(target_sides_count(f->sides), ==, TARGET_SIDES_MAX);

        g_assert_cmpint(open_for(f, "host-a", 0, &one, &of_peer), ==, -EUSERS);
        g_assert_cmpstr(of_peer.message, ==, "stor-a: 4 recordings for host-a run there already: stop one first");
        g_assert_cmpint(open_for(f, "host-c", 0, &one, &of_all), ==, -EUSERS);
        g_assert_cmpstr(of_all.message, ==,
                        "stor-a: 8 recordings for other machines run there already: try again when one has ended");
        /* who may have none is told that first */
        g_assert_cmpint(open_for(f, "host-d", 0, &one, &other), ==, -EPERM);

        for (unsigned i = 0; i < n; i++)
                link_clear(&links[i]);
        for (int i = 0; i < 500 && target_sides_count(f->sides) > 0; i++)
                run_once(f);
        g_assert_cmpint(open_for(f, "host-a", 0, &one, NULL), ==, 0);
        link_clear(&one);
}

static void test_shutdown(Fixture *f, gconstpointer data)
{
        begin(f);
        record_all(f);
        target_sides_shutdown(f->sides);
        g_assert_cmpuint(target_sides_count(f->sides), ==, 0);
        g_assert_cmpstr(f->told->str, ==, "host-a:the service was ended");
        receive(&f->link);
        g_assert_true(f->link.eof);
        g_assert_cmpstr(f->link.ended, ==,
                        "{\"error\":\"ShuttingDown\",\"message\":\"host-a: its ntprofd was ended while it recorded\"}");
}

/* The thread that attaches is waited for: nothing stays attached, and it does not outlive what it works on. */
static void test_shutdown_while_attaching(Fixture *f, gconstpointer data)
{
        begin(f);
        target_sides_shutdown(f->sides);
        g_assert_cmpint(f->fake->open_captures, ==, 0);
        g_assert_true(g_str_has_suffix(f->fake->calls->str, "detach free"));
        receive(&f->link);
        g_assert_true(f->link.eof);
        g_assert_nonnull(strstr(f->link.ended, "ShuttingDown"));
}

int main(int argc, char **argv)
{
        g_test_init(&argc, &argv, NULL);
#define ADD(path, function) g_test_add("/target-side/" path, Fixture, NULL, set_up, function, tear_down)
        ADD("conversation", test_conversation);
        ADD("quiet", test_quiet);
        ADD("thresholds", test_thresholds);
        ADD("announced", test_announced);
        ADD("attach-fails", test_attach_fails);
        ADD("resume-fails", test_resume_fails);
        ADD("drain-fails", test_drain_fails);
        ADD("cannot-open", test_cannot_open);
        ADD("host-goes-away", test_host_goes_away);
        ADD("protocol-broken", test_protocol_broken);
        ADD("link-full", test_link_full);
        ADD("rest-not-taken", test_rest_not_taken);
        ADD("asks-and-reads-nothing", test_asks_and_reads_nothing);
        ADD("session-limit", test_session_limit);
        ADD("session-limit-unused", test_session_limit_unused);
        ADD("duration", test_duration);
        ADD("settles", test_settles);
        ADD("paused-before-begun", test_paused_before_begun);
        ADD("limits", test_limits);
        ADD("shutdown", test_shutdown);
        ADD("shutdown-while-attaching", test_shutdown_while_attaching);
        return g_test_run();
}
