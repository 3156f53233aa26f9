/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One recording of this machine's side for another: the conversation, and what breaks it. */
#include <string.h>
#include <sys/socket.h>

#include "target-fixture.h"

static void test_conversation(Fixture *f, gconstpointer data)
{
        f->fake->drive_hidden = "the namespace\nis a file";
        fixture_begin(f);
        fixture_wait_frames(f, WIRE_FACTS, 1);
        g_assert_nonnull(strstr(f->link.facts, "\"machine\":\"host-a\",\"kernel\":\"6.1.0-test\",\"version\":\""));
        g_assert_nonnull(strstr(f->link.facts,
                                "\"hooks\":[{\"boundary\":\"T1\",\"mechanism\":\"tp_btf\",\"symbol\":\"nvmet_req_init\"}],"
                                "\"drive_hidden\":\"the namespace?is a file\"}"));
        g_assert_cmpuint(target_sides_count(f->sides), ==, 1);

        g_assert_cmpuint(f->fake->config.n_host_filters, ==, 0);
        g_assert_cmpuint(f->fake->config.n_target_filters, ==, 1);
        g_assert_cmpstr(f->fake->config.target_filters[0].subsysnqn, ==, "nqn.sub");
        g_assert_cmpstr(f->fake->config.target_filters[0].hostnqn, ==, "nqn.host-a");
        g_assert_cmpuint(f->fake->config.target_filters[0].nsid, ==, 7);
        g_assert_cmphex(f->fake->config.target_filters[0].seed, ==, namespace_seed("nqn.host-a"));
        g_assert_cmphex(f->fake->config.transports, ==, TRANSPORT_TCP);
        g_assert_true(f->fake->config.detail);

        fixture_record_all(f);
        g_assert_cmpuint(f->link.changed.target_ns, ==, 0);
        g_assert_cmphex(f->link.changed.threshold, ==, UINT32_MAX);
        g_assert_cmpstr(f->fake->calls->str, ==, "open attach threshold resume");

        /* 1000 records are more than a frame takes */
        f->fake->on_drain = fixture_emit;
        fixture_to_emit = 1000;
        while (f->link.records < 1000)
                fixture_wait_frames(f, WIRE_RECORDS, f->link.n[WIRE_RECORDS] + 1);
        g_assert_cmpuint(f->link.n[WIRE_RECORDS], ==, 3);
        /* it came with them, but is of a time before they were drained */
        fixture_wait_frames(f, WIRE_SYNC, 1);
        g_assert_cmpuint(f->link.sync.target_ns, <, f->link.last_t9);
        g_assert_cmpuint(f->link.sync.counters[NP_C_EMITTED], ==, 1000);
        g_assert_cmpuint(f->link.sync.link_full, ==, 0);

        fixture_to_emit = 5;
        link_say(&f->link, WIRE_PAUSE, NULL, 0);
        fixture_wait_eof(f);
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
        fixture_begin(f);
        fixture_record_all(f);
        fixture_run_for(f, 2300);
        link_receive(&f->link);
        g_assert_cmpuint(f->link.n[WIRE_SYNC], >=, 1);
        g_assert_cmpuint(f->link.n[WIRE_SYNC], <=, 3);
        g_assert_cmpuint(f->link.n[WIRE_RECORDS], ==, 0);
}

static void test_thresholds(Fixture *f, gconstpointer data)
{
        uint64_t before;

        fixture_put(f, "host-a.conf", "[Peer]\nHostNQN=nqn.host-a\nMaxSampleRate=1/16\n");
        fixture_begin(f);
        fixture_record_all(f);
        g_assert_cmpuint(f->link.changed.target_ns, ==, 0);
        g_assert_cmphex(f->link.changed.threshold, ==, 1U << 28);
        g_assert_cmphex(f->fake->threshold, ==, 1U << 28);

        before = now_ns(CLOCK_MONOTONIC);
        link_say_threshold(&f->link, 77);
        fixture_wait_frames(f, WIRE_CHANGED, 2);
        g_assert_cmpuint(f->link.changed.target_ns, >=, before);
        g_assert_cmpuint(f->link.changed.target_ns, <=, now_ns(CLOCK_MONOTONIC));
        g_assert_cmphex(f->link.changed.threshold, ==, 77);
        g_assert_cmphex(f->fake->threshold, ==, 77);
}

static void test_announced(Fixture *f, gconstpointer data)
{
        f->fake->with_fd = true;
        fixture_begin(f);
        fixture_record_all(f);
        f->fake->on_drain = fixture_emit;
        fixture_to_emit = 3;
        fake_announce(f->fake);
        fixture_run_once(f);
        fixture_run_once(f);
        link_receive(&f->link);
        g_assert_cmpuint(f->link.records, ==, 3);
}

static void check_failed_with(Fixture *f, const char *error, const char *message, const char *calls)
{
        g_autofree char *json = g_strdup_printf("{\"error\":\"%s\",\"message\":\"host-a: %s\"}", error, message),
                        *told = g_strdup_printf("host-a:host-a: %s", message);

        fixture_wait_eof(f);
        g_assert_cmpstr(f->link.ended, ==, json);
        g_assert_cmpstr(f->told->str, ==, told);
        g_assert_cmpstr(f->fake->calls->str, ==, calls);
}

static void check_failed(Fixture *f, const char *message, const char *calls)
{
        check_failed_with(f, "CaptureFailed", message, calls);
}

static void test_attach_fails(Fixture *f, gconstpointer data)
{
        f->fake->attach_error = -EPERM;
        f->fake->attach_why = "can't load the target's programs";
        fixture_begin(f);
        check_failed(f, "can't load the target's programs", "open attach detach free");
        g_assert_null(f->link.facts);
}

static void test_resume_fails(Fixture *f, gconstpointer data)
{
        f->fake->resume_error = -EIO;
        fixture_begin(f);
        fixture_wait_frames(f, WIRE_FACTS, 1);
        link_say_threshold(&f->link, 1);
        link_say(&f->link, WIRE_RESUME, NULL, 0);
        check_failed(f, "the recording could not be started: Input/output error", "open attach threshold resume detach free");
}

static void test_drain_fails(Fixture *f, gconstpointer data)
{
        fixture_begin(f);
        fixture_record_all(f);
        f->fake->drain_error = -EIO;
        check_failed(f, "reading records failed: Input/output error", "open attach threshold resume detach free");
}

static void begin_with_records(Fixture *f)
{
        fixture_begin(f);
        fixture_record_all(f);
        f->fake->on_drain = fixture_emit;
        fixture_to_emit = 3;
}

/* The host is told which structure it is and what to do, by the error that says that this kernel cannot be measured. */
static void test_types_are_wrong(Fixture *f, gconstpointer data)
{
        begin_with_records(f);
        f->fake->wrong_types = "struct nvmet_req is not so; make that file anew";
        check_failed_with(f, "KernelUnsupported", "struct nvmet_req is not so; make that file anew",
                          "open attach threshold resume detach free");
}

/* Also when that is found out only while the last commands complete. */
static void test_types_are_wrong_at_the_end(Fixture *f, gconstpointer data)
{
        begin_with_records(f);
        f->fake->counters.target_in_flight = 1;
        link_say(&f->link, WIRE_PAUSE, NULL, 0);
        while (!strstr(f->fake->calls->str, "pause"))
                fixture_run_once(f);
        f->fake->wrong_types = "struct nvmet_req is not so";
        check_failed_with(f, "KernelUnsupported", "struct nvmet_req is not so", "open attach threshold resume pause detach free");
}

static void test_cannot_open(Fixture *f, gconstpointer data)
{
        _cleanup_error_ Error error = ERROR_INIT;

        f->fake->open_error = -EOPNOTSUPP;
        g_assert_cmpint(fixture_open(f, "host-a", 0, &f->link, &error), ==, -EOPNOTSUPP);
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
                fixture_begin(f);
                if (when == WHILE_ATTACHING)
                        fixture_run_for(f, 50);
                else
                        fixture_wait_frames(f, WIRE_FACTS, 1);
                if (when >= RECORDING)
                        fixture_record_all(f);
                if (when == SETTLING) {
                        link_say(&f->link, WIRE_PAUSE, NULL, 0);
                        fixture_run_for(f, 50);
                }
                link_clear(&f->link);
                for (int i = 0; i < 100 && target_sides_count(f->sides) > 0; i++)
                        fixture_run_once(f);
                g_assert_cmpstr(f->told->str, ==, told[when]);
                g_atomic_int_set(&f->fake->hold_attach, false);
                for (int i = 0; i < 500 && f->fake->open_captures > 0; i++)
                        fixture_run_once(f);
                g_assert_cmpint(f->fake->open_captures, ==, 0);
                g_assert_true(g_str_has_suffix(f->fake->calls->str, "detach free"));
        }
}

static void test_protocol_broken(Fixture *f, gconstpointer data)
{
        fixture_begin(f);
        fixture_record_all(f);
        link_say(&f->link, WIRE_RESUME, NULL, 0);
        fixture_wait_eof(f);
        g_assert_null(f->link.ended);
        g_assert_cmpstr(f->told->str, ==, "host-a:the host broke the protocol: a frame came twice that comes once");
        g_assert_cmpstr(f->fake->calls->str, ==, "open attach threshold resume detach free");
}

int main(int argc, char **argv)
{
        g_test_init(&argc, &argv, NULL);
#define ADD(path, function) g_test_add("/target-side/" path, Fixture, NULL, fixture_set_up, function, fixture_tear_down)
        ADD("conversation", test_conversation);
        ADD("quiet", test_quiet);
        ADD("thresholds", test_thresholds);
        ADD("announced", test_announced);
        ADD("attach-fails", test_attach_fails);
        ADD("resume-fails", test_resume_fails);
        ADD("drain-fails", test_drain_fails);
        ADD("types-are-wrong", test_types_are_wrong);
        ADD("types-are-wrong-at-the-end", test_types_are_wrong_at_the_end);
        ADD("cannot-open", test_cannot_open);
        ADD("host-goes-away", test_host_goes_away);
        ADD("protocol-broken", test_protocol_broken);
        return g_test_run();
}
