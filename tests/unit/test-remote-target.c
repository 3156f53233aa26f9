/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The host's half of the frames: against a test that writes what it likes, and against the target's half itself. */
#include "daemon/peer/remote-target.h"

#include <sys/socket.h>

#include "daemon/peer/remote-facts.h"
#include "daemon/peer/target-side.h"
#include "fake-backend.h"

#define FACTS "{\"machine\":\"stor-a\",\"kernel\":\"6.1\",\"version\":\"1\",\"hooks\":[]}"

typedef enum Event { EVENT_READY, EVENT_CHANGED, EVENT_RECORD, EVENT_SYNCED, EVENT_ENDED, EVENT_COUNT } Event;

typedef struct Fixture {
        sd_event *event;
        FakeBackend *fake;              /* makes records */
        Remote *remote;
        int fd;                         /* the target's end */
        unsigned n[EVENT_COUNT];
        unsigned heard;
        int free_at;                    /* from within this handler; -1: never */
        NtprofError code;
        char *message;
        unsigned cancelled;
} Fixture;

static void happened(Fixture *f, Event event)
{
        f->n[event]++;
        if (f->free_at == (int) event && f->remote) {
                Remote *remote = TAKE_PTR(f->remote);

                remote->ops->free(remote);
        }
}

static void on_heard(Remote *remote, void *userdata)
{
        ((Fixture *) userdata)->heard++;
}

static void on_ready(Remote *remote, const RemoteFacts *facts, void *userdata)
{
        g_assert_cmpstr(facts->machine, ==, "stor-a");
        happened(userdata, EVENT_READY);
}

static void on_changed(Remote *remote, uint64_t target_ns, uint32_t threshold, void *userdata)
{
        happened(userdata, EVENT_CHANGED);
}

static void on_record(Remote *remote, const struct np_target_record *record, void *userdata)
{
        happened(userdata, EVENT_RECORD);
}

static void on_synced(Remote *remote, const struct wire_sync *sync, void *userdata)
{
        happened(userdata, EVENT_SYNCED);
}

static void on_ended(Remote *remote, NtprofError code, const char *message, void *userdata)
{
        Fixture *f = userdata;

        f->code = code;
        f->message = g_strdup(message);
        happened(f, EVENT_ENDED);
}

static void on_cancel(void *pending)
{
        ((Fixture *) pending)->cancelled++;
}

static RemoteTarget *make(Fixture *f)
{
        const RemoteHandlers handlers = { on_heard, on_ready, on_changed, on_record, on_synced, on_ended, f };
        RemoteRequest request = { .n_filters = 1 };
        RemoteTarget *r;

        namespace_target_filter(f->fake->info, f->fake->info->paths, request.filters);
        r = remote_target_new(f->event, "stor-a", &request, &handlers, on_cancel, f);
        f->remote = remote_target_remote(r);
        return r;
}

static void set_up(Fixture *f, gconstpointer data)
{
        g_assert_cmpint(sd_event_new(&f->event), >=, 0);
        f->fake = fake_backend_new();
        f->fake->handlers = (CaptureHandlers) {};
        f->fd = -1;
        f->free_at = -1;
}

static void tear_down(Fixture *f, gconstpointer data)
{
        if (f->remote)
                f->remote->ops->free(f->remote);
        if (f->fd >= 0)
                close(f->fd);
        g_free(f->message);
        fake_backend_free(f->fake);
        g_assert_null(sd_event_unref(f->event));
}

static void connect_target(Fixture *f)
{
        RemoteTarget *r = make(f);
        int fds[2];

        g_assert_cmpint(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, fds), ==, 0);
        f->fd = fds[0];
        remote_target_connected(r, fds[1]);
}

static void run_for(Fixture *f, unsigned msec)
{
        uint64_t until = now_ns(CLOCK_MONOTONIC) + msec * NSEC_PER_MSEC;

        while (now_ns(CLOCK_MONOTONIC) < until)
                g_assert_cmpint(sd_event_run(f->event, 2 * USEC_PER_MSEC), >=, 0);
}

static void say(Fixture *f, enum wire_type type, const void *data, size_t size)
{
        struct wire_frame header = { .type = type, .size = size };

        g_assert_cmpint(send(f->fd, &header, sizeof(header), MSG_NOSIGNAL), ==, sizeof(header));
        if (size > 0)
                g_assert_cmpint(send(f->fd, data, size, MSG_NOSIGNAL), ==, size);
}

/* All that a target says, in order. */
static void say_all(Fixture *f)
{
        struct np_target_record record;
        struct wire_sync sync = {};
        struct wire_changed changed = { .threshold = UINT32_MAX };

        fake_command_on(f->fake, 0, &record);
        say(f, WIRE_FACTS, FACTS, strlen(FACTS));
        say(f, WIRE_CHANGED, &changed, sizeof(changed));
        say(f, WIRE_RECORDS, &record, sizeof(record));
        say(f, WIRE_SYNC, &sync, sizeof(sync));
        say(f, WIRE_ENDED, "{\"error\":null}", strlen("{\"error\":null}"));
}

static void begin(Fixture *f)
{
        connect_target(f);
        f->remote->ops->set_threshold(f->remote, UINT32_MAX);
        f->remote->ops->resume(f->remote);
}

static void test_all_is_told(Fixture *f, gconstpointer data)
{
        begin(f);
        say_all(f);
        run_for(f, 50);
        for (int i = 0; i < EVENT_COUNT; i++)
                g_assert_cmpuint(f->n[i], ==, 1);
        g_assert_null(f->message);
        /* and nothing after it */
        g_assert_cmpint(send(f->fd, "x", 1, MSG_NOSIGNAL), ==, -1);
}

/* A frame that is long on its way is heard of before it is there. */
static void test_part_is_heard(Fixture *f, gconstpointer data)
{
        begin(f);
        run_for(f, 20);
        g_assert_cmpuint(f->heard, ==, 0);
        for (unsigned i = 1; i <= 3; i++) {
                g_assert_cmpint(send(f->fd, &(struct wire_frame) { .type = WIRE_FACTS, .size = 9 }, 1, MSG_NOSIGNAL), ==, 1);
                run_for(f, 20);
                g_assert_cmpuint(f->heard, ==, i);
        }
        for (int i = 0; i < EVENT_COUNT; i++)
                g_assert_cmpuint(f->n[i], ==, 0);
}

static void test_freed_from_within(Fixture *f, gconstpointer data)
{
        f->free_at = GPOINTER_TO_INT(data);
        begin(f);
        say_all(f);
        run_for(f, 50);
        for (int i = 0; i < EVENT_COUNT; i++)
                g_assert_cmpuint(f->n[i], ==, i <= f->free_at);
        g_assert_null(f->remote);
}

static void test_freed_while_it_waits(Fixture *f, gconstpointer data)
{
        make(f);
        f->remote->ops->free(TAKE_PTR(f->remote));
        g_assert_cmpuint(f->cancelled, ==, 1);
}

static void test_fails_before_it_is_there(Fixture *f, gconstpointer data)
{
        remote_target_failed(make(f), NTPROF_ERROR_PEER_REFUSED, "stor-a allows nothing");
        g_assert_cmpuint(f->n[EVENT_ENDED], ==, 1);
        g_assert_cmpint(f->code, ==, NTPROF_ERROR_PEER_REFUSED);
        g_assert_cmpstr(f->message, ==, "stor-a allows nothing");
        g_assert_cmpuint(f->cancelled, ==, 0);
}

/* A target that reads nothing: what waits for it is bounded. */
static void test_it_does_not_read(Fixture *f, gconstpointer data)
{
        begin(f);
        for (int i = 0; i < 200000 && f->n[EVENT_ENDED] == 0; i++) {
                f->remote->ops->set_threshold(f->remote, i);
                if (i % 1000 == 0)
                        run_for(f, 2);
        }
        g_assert_cmpuint(f->n[EVENT_ENDED], ==, 1);
        g_assert_cmpint(f->code, ==, NTPROF_ERROR_PEER_UNREACHABLE);
}

/* What a target tells of thresholds is kept, so it may tell no more than it was given. */
static void test_thresholds_that_nobody_gave(Fixture *f, gconstpointer data)
{
        struct wire_changed changed = { .threshold = UINT32_MAX };

        begin(f);
        f->remote->ops->set_threshold(f->remote, 1);
        say(f, WIRE_FACTS, FACTS, strlen(FACTS));
        for (int i = 0; i < 2; i++)
                say(f, WIRE_CHANGED, &changed, sizeof(changed));
        run_for(f, 50);
        g_assert_cmpuint(f->n[EVENT_CHANGED], ==, 2);
        g_assert_cmpuint(f->n[EVENT_ENDED], ==, 0);
        say(f, WIRE_CHANGED, &changed, sizeof(changed));
        run_for(f, 50);
        g_assert_cmpuint(f->n[EVENT_CHANGED], ==, 2);
        g_assert_cmpuint(f->n[EVENT_ENDED], ==, 1);
        g_assert_cmpint(f->code, ==, NTPROF_ERROR_PEER_VERSION);
}

/* The join subtracts them as signed numbers. */
static void test_times_of_no_clock(Fixture *f, gconstpointer data)
{
        struct wire_changed changed = { .target_ns = data ? 0 : UINT64_MAX, .threshold = UINT32_MAX };
        struct wire_sync sync = { .target_ns = 1ULL << 62 };

        begin(f);
        say(f, WIRE_FACTS, FACTS, strlen(FACTS));
        say(f, WIRE_CHANGED, &changed, sizeof(changed));
        if (data)
                say(f, WIRE_SYNC, &sync, sizeof(sync));
        run_for(f, 50);
        g_assert_cmpuint(f->n[EVENT_CHANGED], ==, data ? 1 : 0);
        g_assert_cmpuint(f->n[EVENT_SYNCED], ==, 0);
        g_assert_cmpint(f->code, ==, NTPROF_ERROR_PEER_VERSION);
}

static void test_facts_of_the_drive(void)
{
        g_autofree char *longest = g_strnfill(10000, 'x');
        const struct {
                const char *value;
                const char *expected;   /* NULL: it is seen */
                bool refused;
        } cases[] = {
                { NULL, NULL, false },
                { "null", NULL, false },
                { "\"the namespace is a file\"", "the namespace is a file", false },
                { "\"a\\u001b[31mb\\u007fc\"", "a?[31mb?c", false },
                { "\"\"", NULL, true },
                { "7", NULL, true },
                { "true", NULL, true },
                { "[\"x\"]", NULL, true },
                { "{\"a\":null}", NULL, true },
                { longest, NULL, false },
        };

        for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
                const char *quote = cases[i].value == longest ? "\"" : "";
                g_autofree char *drive = cases[i].value ? g_strdup_printf(",\"drive_hidden\":%s%s%s", quote, cases[i].value, quote) : NULL,
                                *json = g_strdup_printf("{\"machine\":\"a\",\"kernel\":\"b\",\"version\":\"c\",\"hooks\":[]%s}",
                                                        drive ?: "");
                const char *why = NULL;
                _cleanup_(remote_facts_freep) ParsedFacts *facts = remote_facts_parse(json, strlen(json), &why);

                g_test_message("%.80s", json);
                g_assert_cmpstr(why, ==, cases[i].refused ? "its facts say of the drive what is no text" : NULL);
                if (cases[i].refused)
                        continue;
                if (cases[i].value == longest)
                        g_assert_cmpuint(strlen(facts->drive_hidden), <=, 256);
                else
                        g_assert_cmpstr(facts->drive_hidden, ==, cases[i].expected);
        }
}

static void test_facts_of_any_bytes(void)
{
        static const char good[] = "{\"machine\":\"a\",\"kernel\":\"b\",\"version\":\"c\",\"hooks\":[{\"boundary\":\"T1\","
                                   "\"mechanism\":\"tp_btf\",\"symbol\":\"x\"},{\"boundary\":\"T9\",\"mechanism\":\"m\","
                                   "\"symbol\":\"\\u00e9\"}],\"drive_hidden\":\"d\"}";
        static const char alphabet[] = "{}[]\",:\\u0x/*'\n\200\377ntf";
        unsigned taken = 0;

        for (int i = 0; i < 20000; i++) {
                g_autofree char *bytes = g_strdup(good);
                size_t size = strlen(good);
                _cleanup_free_ char *message = NULL;
                const char *why = NULL;
                ParsedFacts *facts;
                NtprofError code;

                for (int k = g_test_rand_int_range(0, 4); k > 0; k--)
                        bytes[g_test_rand_int_range(0, size)] = alphabet[g_test_rand_int_range(0, sizeof(alphabet) - 1)];
                if (i % 4 == 0)
                        size = g_test_rand_int_range(0, size);
                facts = remote_facts_parse(bytes, size, &why);
                g_assert_true(!facts == !!why);
                if (facts) {
                        taken++;
                        g_assert_true(g_utf8_validate(facts->machine, -1, NULL));
                        g_assert_cmpuint(facts->n_hooks, ==, 2);
                }
                remote_facts_free(facts);
                if (!remote_ended_parse(bytes, size, &code, &message, &why))
                        g_assert_nonnull(why);
        }
        g_assert_cmpuint(taken, >, 1000);
}

static void test_ends_of_all_kinds(void)
{
        static const struct {
                const char *json;
                bool good;
                NtprofError code;
                const char *message;
        } cases[] = {
                { "{\"error\":null,\"message\":null}", true, NTPROF_ERROR_NONE, NULL },
                { "{\"error\":null,\"message\":\"MaxSessionSec=2\"}", true, NTPROF_ERROR_NONE, "MaxSessionSec=2" },
                { "{\"error\":null,\"message\":7}", true, NTPROF_ERROR_NONE, NULL },
                { "{\"error\":\"PeerRefused\",\"message\":\"no\"}", true, NTPROF_ERROR_PEER_REFUSED, "no" },
                { "{\"error\":\"Later\",\"message\":\"a\\nb\"}", true, NTPROF_ERROR_CAPTURE_FAILED, "a?b" },
                { "{\"error\":7}", true, NTPROF_ERROR_CAPTURE_FAILED, "it ended without a reason" },
                { "{\"error\":{\"a\":[]},\"message\":[]}", true, NTPROF_ERROR_CAPTURE_FAILED, "it ended without a reason" },
                { "{}", false, 0, NULL },
                { "[]", false, 0, NULL },
                { "null", false, 0, NULL },
                { "", false, 0, NULL },
        };

        for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
                _cleanup_free_ char *message = NULL;
                const char *why = NULL;
                NtprofError code;

                g_assert_cmpint(remote_ended_parse(cases[i].json, strlen(cases[i].json), &code, &message, &why), ==,
                                cases[i].good);
                g_assert_true(cases[i].good == !why);
                if (cases[i].good)
                        g_assert_cmpint(code, ==, cases[i].code);
                g_assert_cmpstr(message, ==, cases[i].message);
        }
}

/* Two machines in one process: a session, and the target's half with a source of records of its own. */
typedef struct Pair {
        RemoteFinder finder;
        sd_event *event;
        FakeBackend *here, *there;
        FakeObserver observer;
        TargetSide *side;
        RemoteFound found;
        void *found_userdata;
        RemoteTarget *target;
        CaptureConfig config;
        char *gone;
} Pair;

static int pair_find(RemoteFinder *finder, const RemoteWhere *where, RemoteFound found, void *userdata, void **ret_ticket)
{
        Pair *p = (Pair *) finder;

        p->found = found;
        p->found_userdata = userdata;
        return 0;
}

static void pair_cancel(RemoteFinder *finder, void *ticket)
{
        ((Pair *) finder)->found = NULL;
}

static void pair_nothing(void *pending)
{
}

static int pair_open(RemoteFinder *finder, const char *peer, const RemoteRequest *request, const RemoteHandlers *handlers,
                     Remote **ret)
{
        Pair *p = (Pair *) finder;

        p->config.n_target_filters = request->n_filters;
        memcpy(p->config.target_filters, request->filters, sizeof(p->config.target_filters));
        p->target = remote_target_new(p->event, peer, request, handlers, pair_nothing, p);
        *ret = remote_target_remote(p->target);
        return 0;
}

static void on_side_gone(TargetSide *side, const char *why, void *userdata)
{
        ((Pair *) userdata)->gone = g_strdup(why);
}

static void test_both_halves(Fixture *f, gconstpointer data)
{
        static const RemoteFinderOps ops = { pair_find, pair_cancel, pair_open };
        Pair p = { .finder.ops = &ops, .event = f->event, .here = f->fake, .there = fake_backend_new() };
        const SessionOptions options = { .namespace = (char *) "nvme6n1", .sample = { .mode = SAMPLE_ALL } };
        PeerGrant grant = { .max_threshold = UINT32_MAX };
        Session *s;
        int fd;

        fake_observer_init(&p.observer);
        /* One path, to another machine. */
        p.here->info->paths[0].local = p.here->info->paths[1].local = false;
        p.here->info->paths[1].exported_here = true;
        g_assert_cmpint(session_new(f->event, &p.here->backend, &p.finder, &p.observer.observer, "1", 0, &options, &s, NULL), ==,
                        0);
        run_for(f, 20);
        p.found(0, "stor-a", NULL, p.found_userdata);
        g_assert_cmpint(target_side_new(f->event, &p.there->backend, &p.config, &grant, 0,
                                        &(TargetSideHandlers) { .gone = on_side_gone, .userdata = &p }, &p.side, &fd,
                                        NULL), ==, 0);
        remote_target_connected(p.target, fd);
        run_for(f, 300);
        g_assert_cmpint(s->state, ==, SESSION_RECORDING);
        g_assert_cmpstr(p.there->calls->str, ==, "open attach threshold resume");
        g_assert_cmpuint(p.there->threshold, ==, UINT32_MAX);

        for (int i = 0; i < 1000; i++) {
                struct np_target_record record;

                fake_command_on(p.here, 0, &record);
                p.there->handlers.target_record(&record, p.there->handlers.userdata);
        }
        p.there->counters.target[NP_C_STALE] = 3;
        run_for(f, 300);
        session_stop(s);
        for (int i = 0; i < 1000 && s->state != SESSION_FINISHED; i++)
                run_for(f, 5);
        g_assert_cmpint(s->state, ==, SESSION_FINISHED);
        g_assert_cmpuint(s->joined, ==, 1000);
        g_assert_cmpuint(s->losses[NP_LOSS_NO_TARGET], ==, 0);
        g_assert_cmpuint(s->losses[NP_LOSS_TARGET_GONE], ==, 0);
        g_assert_cmpuint(s->losses[NP_LOSS_TARGET_STALE], ==, 3);
        g_assert_null(((const SessionTarget *) targets_list(s->targets)->pdata[0])->reason);

        for (int i = 0; i < 1000 && !p.gone; i++)
                run_for(f, 5);
        g_assert_nonnull(p.gone);
        session_free(s);
        target_side_free(p.side);
        for (int i = 0; i < 1000 && p.here->open_captures + p.there->open_captures > 0; i++)
                run_for(f, 5);
        fake_backend_free(p.there);
        fake_observer_clear(&p.observer);
        g_free(p.gone);
}

int main(int argc, char **argv)
{
#define TEST(name, function) g_test_add("/remote-target/" name, Fixture, NULL, set_up, function, tear_down)
        static const char *const names[EVENT_COUNT] = { "ready", "changed", "record", "synced", "ended" };

        g_test_init(&argc, &argv, NULL);
        TEST("part-is-heard", test_part_is_heard);
        TEST("all-is-told", test_all_is_told);
        for (int i = 0; i < EVENT_COUNT; i++) {
                g_autofree char *name = g_strdup_printf("/remote-target/freed-from-within/%s", names[i]);

                g_test_add(name, Fixture, GINT_TO_POINTER(i), set_up, test_freed_from_within, tear_down);
        }
        TEST("freed-while-it-waits", test_freed_while_it_waits);
        TEST("fails-before-it-is-there", test_fails_before_it_is_there);
        TEST("it-does-not-read", test_it_does_not_read);
        TEST("thresholds-that-nobody-gave", test_thresholds_that_nobody_gave);
        TEST("times-of-no-clock/changed", test_times_of_no_clock);
        g_test_add("/remote-target/times-of-no-clock/sync", Fixture, GINT_TO_POINTER(true), set_up, test_times_of_no_clock,
                   tear_down);
        TEST("both-halves", test_both_halves);
        g_test_add_func("/remote-target/facts-of-the-drive", test_facts_of_the_drive);
        g_test_add_func("/remote-target/facts-of-any-bytes", test_facts_of_any_bytes);
        g_test_add_func("/remote-target/ends-of-all-kinds", test_ends_of_all_kinds);
        return g_test_run();
}
