/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "records.h"

typedef struct {
        const char *name;
        TestKind kind;
        guint64 blocked_submit, blocked_r2t, blocked_target;
        gint64 stages[NP_STAGE_COUNT];
} Case;

/* Worked out by hand from the durations in records.c; the host's latency is 72000 in all of them. */
static const Case cases[] = {
        { "read",                 TEST_READ,          0, 0, 0,      { 700, 1300, 17600, 1000, 51400 } },
        { "read-blocked",         TEST_READ,          400, 0, 200,  { 700, 900, 18200, 800, 51400 } },
        { "write-in-capsule",     TEST_WRITE,         0, 0, 0,      { 700, 1300, 17950, 650, 51400 } },
        { "write-fetched",        TEST_WRITE_FETCHED, 0, 0, 0,      { 700, 2000, 16950, 950, 51400 } },
        { "write-fetched-blocked", TEST_WRITE_FETCHED, 50, 500, 60, { 700, 1450, 17560, 890, 51400 } },
        { "write-rounds",         TEST_WRITE_ROUNDS,  0, 0, 0,      { 700, 3400, 15550, 950, 51400 } },
        { "flush",                TEST_FLUSH,         0, 0, 0,      { 700, 1300, 17600, 1000, 51400 } },
        { "refused",              TEST_REFUSED,       0, 0, 0,      { 700, 1300, 17600, 52400, 0 } },
        { "rdma-read",            TEST_RDMA_READ,     0, 0, 0,      { 700, 1300, 17600, 1000, 51400 } },
        { "rdma-fetched",         TEST_RDMA_FETCHED,  0, 0, 0,      { 700, 1300, 17650, 950, 51400 } },
};

static gint64 sum(const NpStageTimes *times)
{
        gint64 total = 0;

        for (guint i = 0; i < NP_STAGE_COUNT; i++)
                total += times->stage_ns[i];
        return total;
}

/* What the table says are the parts of it, of a stage or of a component. */
static gint64 sum_of_parts(const NpStageTimes *times, NpStage stage, NpComponent parent)
{
        gint64 total = 0;

        for (guint i = 0; i < NP_COMPONENT_COUNT; i++) {
                const NpComponentInfo *info = np_component_info(i);

                if (info->stage == stage && info->parent == parent && !info->information)
                        total += times->component_ns[i];
        }
        return total;
}

/* The network's are there once the one-way times are. */
static void check_components(const NpStageTimes *times, gboolean network)
{
        for (guint stage = 0; stage < NP_STAGE_COUNT; stage++)
                if (network || stage != NP_STAGE_NETWORK)
                        g_assert_cmpint(sum_of_parts(times, stage, NP_COMPONENT_NONE), ==, times->stage_ns[stage]);

        for (guint i = 0; network && i < NP_COMPONENT_COUNT; i++)
                if (np_component_info(i)->parent != NP_COMPONENT_NONE)
                        g_assert_cmpint(sum_of_parts(times, NP_STAGE_NETWORK, np_component_info(i)->parent), ==,
                                        times->component_ns[np_component_info(i)->parent]);
}

/* The command takes 5000 there; with data in the capsule they take 350 more. */
static void check_one_way(const Case *c, const TestCommand *command, NpStageTimes *times)
{
        const gint64 *ns = times->component_ns;
        gboolean fetched = c->kind == TEST_WRITE_FETCHED || c->kind == TEST_WRITE_ROUNDS || c->kind == TEST_RDMA_FETCHED;
        gint64 back = (gint64) command->host.h[NP_H6] - ((gint64) command->target.t[NP_T9] - TEST_OFFSET_NS);

        np_stage_one_way(&command->host, &command->target, (NpInterval) { TEST_OFFSET_NS - 300, TEST_OFFSET_NS + 301 }, times);
        g_assert_cmpint(ns[NP_COMPONENT_REQUEST_WAY], ==, 5000 + c->blocked_submit + (c->kind == TEST_WRITE ? 350 : 0));
        g_assert_cmpint(ns[NP_COMPONENT_RESPONSE_WAY], ==, back + c->blocked_target);
        if (!fetched)
                g_assert_cmpint(ns[NP_COMPONENT_TRANSFER], ==, 0);
        if (c->kind == TEST_RDMA_FETCHED)
                g_assert_cmpint(ns[NP_COMPONENT_TRANSFER], ==, 4000);
        g_assert_cmpint(ns[NP_COMPONENT_REQUEST_WAY] + ns[NP_COMPONENT_TRANSFER] + ns[NP_COMPONENT_RESPONSE_WAY], ==,
                        times->stage_ns[NP_STAGE_NETWORK]);
        g_assert_cmpint(times->margin_ns, ==, 301);
}

static void test_times(gconstpointer data)
{
        const Case *c = data;
        TestCommand command;
        NpStageTimes times;

        test_command(&command, c->kind, 1000000);
        command.host.blocked_submit_ns = c->blocked_submit;
        command.host.blocked_r2t_ns = c->blocked_r2t;
        command.target.blocked_ns = c->blocked_target;
        g_assert_cmpint(np_host_record_defect(&command.host), ==, NP_DEFECT_NONE);
        g_assert_cmpint(np_target_record_defect(&command.target), ==, NP_DEFECT_NONE);

        np_stage_times(&command.host, &command.target, &times);
        for (guint i = 0; i < NP_STAGE_COUNT; i++)
                g_assert_cmpint(times.stage_ns[i], ==, c->stages[i]);
        g_assert_cmpint(times.latency_ns, ==, 72000);
        g_assert_cmpint(sum(&times), ==, 72000);
        g_assert_cmpint(times.tag_wait_ns, ==, 100);
        g_assert_cmpint(times.uncounted_ns, ==, 100);
        command.host.header.flags |= NP_F_PREFLUSH;
        np_stage_times(&command.host, &command.target, &times);
        g_assert_cmpint(times.tag_wait_ns, ==, 100);
        g_assert_cmpint(times.uncounted_ns, ==, 72000);
        check_components(&times, FALSE);
        check_one_way(c, &command, &times);
        check_components(&times, TRUE);
}

#define BIT(component) (1u << NP_COMPONENT_##component)
#define PARTS (BIT(REQUEST_WIRE) | BIT(TARGET_RECEIVE) | BIT(TRANSFER_WIRE) | BIT(TRANSFER_HOST_RECEIVE) | \
               BIT(TRANSFER_TARGET_RECEIVE) | BIT(RESPONSE_WIRE) | BIT(HOST_RECEIVE))

/* Of each kind, what a session in detail tells more. */
static void test_receive_paths(void)
{
        static const struct {
                TestKind kind;
                gint64 target, transfer_host, transfer_target;
        } expected[] = {
                { TEST_READ, 1500, 0, 0 },
                { TEST_WRITE, 1600, 0, 0 },
                { TEST_WRITE_FETCHED, 1500, 200, 300 },
                { TEST_WRITE_ROUNDS, 1500, 600, 900 },
                { TEST_FLUSH, 1500, 0, 0 },
                { TEST_REFUSED, 1500, 0, 0 },
                { TEST_RDMA_READ, 1500, 0, 0 },
                { TEST_RDMA_FETCHED, 1500, 0, 250 },
        };

        G_STATIC_ASSERT(G_N_ELEMENTS(expected) == TEST_KIND_COUNT);
        for (gsize i = 0; i < G_N_ELEMENTS(expected); i++) {
                const gboolean fetched = expected[i].transfer_target > 0;
                gboolean is_rdma;
                TestCommand c;
                NpStageTimes times;
                const gint64 *ns = times.component_ns;

                test_command(&c, expected[i].kind, 1000000);
                is_rdma = c.host.released != 0;

                /* not in detail: all of it is the wire's, and nobody says that it is */
                np_stage_times(&c.host, &c.target, &times);
                np_stage_one_way(&c.host, &c.target, (NpInterval) { TEST_OFFSET_NS, TEST_OFFSET_NS }, &times);
                check_components(&times, TRUE);
                g_assert_cmphex(times.components_known & (BIT(REQUEST_WIRE) | BIT(TARGET_RECEIVE) | BIT(HOST_RECEIVE)), ==, 0);
                g_assert_cmpint(ns[NP_COMPONENT_REQUEST_WIRE], ==, ns[NP_COMPONENT_REQUEST_WAY]);
                g_assert_cmpint(!(times.components_known & BIT(TRANSFER_TARGET_RECEIVE)), ==, fetched);
                g_assert_cmpint(!(times.components_known & BIT(SEND_COMPLETION)), ==, TRUE);

                test_detail(&c);
                g_assert_cmpint(np_host_record_defect(&c.host), ==, NP_DEFECT_NONE);
                g_assert_cmpint(np_target_record_defect(&c.target), ==, NP_DEFECT_NONE);
                np_stage_times(&c.host, &c.target, &times);
                np_stage_one_way(&c.host, &c.target, (NpInterval) { TEST_OFFSET_NS, TEST_OFFSET_NS }, &times);
                check_components(&times, TRUE);
                g_assert_cmphex(times.components_known & PARTS, ==, PARTS);
                g_assert_cmpint(ns[NP_COMPONENT_HOST_RECEIVE], ==, 2000);
                g_assert_cmpint(ns[NP_COMPONENT_TARGET_RECEIVE], ==, expected[i].target);
                g_assert_cmpint(ns[NP_COMPONENT_TRANSFER_HOST_RECEIVE], ==, expected[i].transfer_host);
                g_assert_cmpint(ns[NP_COMPONENT_TRANSFER_TARGET_RECEIVE], ==, expected[i].transfer_target);
                g_assert_cmpint(!!(times.components_known & BIT(SEND_COMPLETION)), ==, is_rdma);
                g_assert_cmpint(ns[NP_COMPONENT_SEND_COMPLETION], ==, is_rdma ? 900 : 0);
                g_assert_cmpint(!!(times.components_known & BIT(INVALIDATION)), ==, is_rdma);
                g_assert_cmpint(ns[NP_COMPONENT_INVALIDATION], ==, is_rdma ? 120 : 0);
                g_assert_cmpint(ns[NP_COMPONENT_DRIVER_COMPLETION], ==, is_rdma ? 180 : 300);
        }
}

/* The event was another completion's, from before the command or the response was sent: that did not arrive before. */
static void test_event_of_another(void)
{
        TestCommand c;
        NpStageTimes times;
        const gint64 *ns = times.component_ns;

        test_command(&c, TEST_RDMA_READ, 1000000);
        test_detail(&c);
        c.target.ta = c.target.t[NP_T1] - 400000;
        c.host.ha = c.host.h[NP_H3] + 1;
        np_stage_times(&c.host, &c.target, &times);
        np_stage_one_way(&c.host, &c.target, (NpInterval) { TEST_OFFSET_NS, TEST_OFFSET_NS }, &times);
        check_components(&times, TRUE);
        g_assert_cmpint(ns[NP_COMPONENT_TARGET_RECEIVE], ==, 5000);
        g_assert_cmpint(ns[NP_COMPONENT_REQUEST_WIRE], ==, 0);
        g_assert_cmpint(ns[NP_COMPONENT_HOST_RECEIVE], ==, ns[NP_COMPONENT_RESPONSE_WAY]);
        g_assert_cmpint(ns[NP_COMPONENT_RESPONSE_WIRE], ==, 0);

        /* A socket's arrivals are its bytes': what does not fit then is the clocks' margin, and is shown. */
        test_command(&c, TEST_READ, 1000000);
        test_detail(&c);
        c.target.ta = c.target.t[NP_T1] - 5100;
        np_stage_times(&c.host, &c.target, &times);
        np_stage_one_way(&c.host, &c.target, (NpInterval) { TEST_OFFSET_NS, TEST_OFFSET_NS }, &times);
        g_assert_cmpint(ns[NP_COMPONENT_TARGET_RECEIVE], ==, 5100);
        g_assert_cmpint(ns[NP_COMPONENT_REQUEST_WIRE], ==, -100);
}

static void test_host_only(void)
{
        TestCommand c;
        NpStageTimes times;

        test_command(&c, TEST_WRITE_FETCHED, 5);
        c.host.blocked_submit_ns = 50;
        np_stage_times(&c.host, NULL, &times);
        g_assert_cmpint(times.stage_ns[NP_STAGE_HOST_BLOCK], ==, 700);
        g_assert_cmpint(times.stage_ns[NP_STAGE_HOST_DRIVER], ==, 1950);
        g_assert_cmpint(times.stage_ns[NP_STAGE_NETWORK], ==, 69350);
        g_assert_cmpint(times.stage_ns[NP_STAGE_TARGET_DRIVER], ==, 0);
        g_assert_cmpint(times.stage_ns[NP_STAGE_STORAGE], ==, 0);
        g_assert_cmpint(sum(&times), ==, times.latency_ns);
        g_assert_false(times.components_known & 1u << NP_COMPONENT_DRIVE);
        g_assert_true(times.components_known & 1u << NP_COMPONENT_R2T);
}

static void test_allocated_before_submission(void)
{
        TestCommand c;
        NpStageTimes times;

        test_command(&c, TEST_READ, 1000);
        c.host.h[NP_H1] = 400;
        g_assert_cmpint(np_host_record_defect(&c.host), ==, NP_DEFECT_NONE);
        np_stage_times(&c.host, &c.target, &times);
        g_assert_cmpint(times.tag_wait_ns, ==, 0);
        g_assert_cmpint(times.component_ns[NP_COMPONENT_DISPATCH], ==, 300);
        g_assert_cmpint(times.latency_ns, ==, 72000);
        g_assert_cmpint(sum(&times), ==, 72000);
        check_components(&times, FALSE);
}

/* What a program still left in the record of a refused command is not storage. */
static void test_refused_is_not_stored(void)
{
        TestCommand c;
        NpStageTimes times;

        test_command(&c, TEST_REFUSED, 1000);
        c.target.t[NP_T4] = c.target.t[NP_T1] + 10;
        c.target.t[NP_T7] = c.target.t[NP_T1] + 30;
        np_stage_times(&c.host, &c.target, &times);
        g_assert_cmpint(times.stage_ns[NP_STAGE_STORAGE], ==, 0);
        g_assert_cmpint(times.stage_ns[NP_STAGE_TARGET_DRIVER], ==, 52400);
        check_components(&times, FALSE);
}

static void test_negative_network(void)
{
        TestCommand c;
        NpStageTimes times;

        test_command(&c, TEST_READ, 1000);
        /* the host's send returned only when the target was nearly done */
        c.host.h[NP_H3] = c.host.h[NP_H6] - 52000;
        np_stage_times(&c.host, &c.target, &times);
        g_assert_cmpint(times.stage_ns[NP_STAGE_NETWORK], ==, -400);
        g_assert_cmpint(sum(&times), ==, times.latency_ns);
}

/* Where no hook tells of R2Ts, the host's handling of them is the network's. */
static void test_untold_r2t(void)
{
        TestCommand c;
        NpStageTimes told, untold;

        test_command(&c, TEST_WRITE_FETCHED, 1000);
        np_stage_times(&c.host, &c.target, &told);
        c.host.h[NP_H4] = c.host.r2t_ns = 0;
        np_stage_times(&c.host, &c.target, &untold);
        g_assert_cmpint(untold.stage_ns[NP_STAGE_HOST_DRIVER], ==, told.stage_ns[NP_STAGE_HOST_DRIVER] - 700);
        g_assert_cmpint(untold.stage_ns[NP_STAGE_NETWORK], ==, told.stage_ns[NP_STAGE_NETWORK] + 700);
        g_assert_cmpint(sum(&untold), ==, untold.latency_ns);
        g_assert_true(told.components_known & 1u << NP_COMPONENT_R2T);
        g_assert_false(untold.components_known & 1u << NP_COMPONENT_R2T);

        /* What needs none is still known to need none. */
        test_command(&c, TEST_READ, 1000);
        np_stage_times(&c.host, &c.target, &untold);
        g_assert_true(untold.components_known & 1u << NP_COMPONENT_R2T);
}

static void test_components(void)
{
        TestCommand c;
        NpStageTimes times;

        test_command(&c, TEST_WRITE_FETCHED, 1000);
        np_stage_times(&c.host, &c.target, &times);
        g_assert_cmpint(times.component_ns[NP_COMPONENT_DISPATCH], ==, 200);
        g_assert_cmpint(times.component_ns[NP_COMPONENT_BLOCK_COMPLETION], ==, 400);
        g_assert_cmpint(times.component_ns[NP_COMPONENT_SUBMISSION], ==, 1000);
        g_assert_cmpint(times.component_ns[NP_COMPONENT_R2T], ==, 700);
        g_assert_cmpint(times.component_ns[NP_COMPONENT_DRIVER_COMPLETION], ==, 300);
        g_assert_cmpint(times.component_ns[NP_COMPONENT_TO_STORAGE], ==, 550);
        g_assert_cmpint(times.component_ns[NP_COMPONENT_RESPONSE], ==, 400);
        g_assert_cmpint(times.component_ns[NP_COMPONENT_TARGET_BLOCK], ==, 1400);
        g_assert_cmpint(times.component_ns[NP_COMPONENT_DRIVE], ==, 50000);
        g_assert_false(times.components_known & 1u << NP_COMPONENT_REQUEST_WIRE);

        /* a sum for each of the two senders */
        c.target.blocked_ns = 30;
        c.target.blocked_r2t_ns = 20;
        np_stage_times(&c.host, &c.target, &times);
        g_assert_cmpint(times.component_ns[NP_COMPONENT_TO_STORAGE], ==, 530);
        g_assert_cmpint(times.component_ns[NP_COMPONENT_RESPONSE], ==, 370);

        /* whether it waited is then not known */
        c.host.header.flags |= NP_F_H0_UNSEEN;
        c.host.h[NP_H0] = c.host.h[NP_H1];
        np_stage_times(&c.host, &c.target, &times);
        g_assert_false(times.components_known & 1u << NP_COMPONENT_TAG_WAIT);
        g_assert_cmpint(times.tag_wait_ns, ==, 0);

        test_command(&c, TEST_FLUSH, 1000);
        np_stage_times(&c.host, &c.target, &times);
        g_assert_false(times.components_known & 1u << NP_COMPONENT_DRIVE);
        g_assert_false(times.components_known & 1u << NP_COMPONENT_TARGET_BLOCK);
}

static guint64 later(guint64 *now, guint32 by)
{
        return *now += g_test_rand_int_range(0, by);
}

typedef enum { PLAIN, IN_CAPSULE, R2T, RDMA_PLAIN, RDMA_FETCHED, REFUSED, N_WAYS } Way;

static guint64 part_of(guint64 whole)
{
        return g_test_rand_int_range(0, whole + 1);
}

static void random_host(TestCommand *c, Way way, gboolean detail)
{
        guint64 now = 1 + (guint32) g_test_rand_int(), *h = (guint64 *) c->host.h;

        for (guint i = NP_H0; i < NP_H_COUNT; i++)
                h[i] = later(&now, 100000);
        c->host.blocked_submit_ns = part_of(h[NP_H3] - h[NP_H2]);
        if (way == R2T) {
                c->host.header.flags |= NP_F_R2T;
                c->host.r2t_ns = part_of(h[NP_H5] - h[NP_H4]);
                c->host.blocked_r2t_ns = part_of(c->host.r2t_ns);
        } else
                h[NP_H4] = h[NP_H5] = 0;
        if (way == RDMA_PLAIN || way == RDMA_FETCHED)
                c->host.released = h[NP_H6] + part_of(h[NP_H7] - h[NP_H6]);
        if (!detail)
                return;
        c->host.ha = h[NP_H6] - part_of(h[NP_H6] - h[NP_H2]);
        if (way == R2T && g_test_rand_bit()) {
                c->host.header.flags |= NP_F_DATA_ARRIVAL;
                c->host.receive_r2t_ns = part_of(h[NP_H5] - h[NP_H2] - c->host.r2t_ns);
        }
}

static void random_target(TestCommand *c, Way way, gboolean detail)
{
        static const guint32 flags[N_WAYS] = { 0, NP_F_IN_CAPSULE, NP_F_R2T, 0, NP_F_RDMA_READ, NP_F_INIT_FAILED };
        guint64 peer = (1 + (guint64) (guint32) g_test_rand_int()) << 20, *t = (guint64 *) c->target.t;

        c->target.header.flags |= flags[way];
        for (guint i = NP_T1; i < NP_T_COUNT; i++) {
                if (i == NP_T2 && way == R2T)
                        c->target.r2t_queued = later(&peer, 1000);
                t[i] = later(&peer, 100000);
        }
        c->target.blocked_ns = part_of(t[NP_T9] - t[NP_T8]);
        if (way == R2T)
                c->target.blocked_r2t_ns = part_of(t[NP_T2] - c->target.r2t_queued);
        if (way == RDMA_FETCHED)
                c->target.fetch_ns = t[NP_T3] - t[NP_T2];
        else if (way == IN_CAPSULE || way == R2T)
                c->target.fetch_ns = part_of(t[NP_T4] - t[NP_T2]);
        if (way == REFUSED)
                memset(&t[NP_T2], 0, (NP_T8 - NP_T2) * sizeof(t[0]));
        else if (!detail || g_test_rand_bit())
                t[NP_T5] = t[NP_T6] = 0;
        if (!detail)
                return;
        c->target.ta = t[NP_T1] - part_of(100000);
        c->target.ts = t[NP_T8] + part_of(100000);
        if (g_test_rand_bit()) {
                c->target.header.flags |= NP_F_DATA_ARRIVAL;
                c->target.receive_data_ns = part_of(c->target.fetch_ns);
        }
}

/* Whatever the times are, as long as each side's are in order, the stages add up, and so does each level of the components. */
static void test_sum_holds(void)
{
        for (guint n = 0; n < 20000; n++) {
                Way way = g_test_rand_int_range(0, N_WAYS);
                gint64 offset = g_test_rand_int_range(-100000, 100000);
                TestCommand c;
                NpStageTimes times;

                test_headers(&c, 1, 0, 7, 1);
                random_host(&c, way, g_test_rand_bit());
                random_target(&c, way, g_test_rand_bit());

                g_assert_cmpint(np_host_record_defect(&c.host), ==, NP_DEFECT_NONE);
                g_assert_cmpint(np_target_record_defect(&c.target), ==, NP_DEFECT_NONE);
                np_stage_times(&c.host, &c.target, &times);
                g_assert_cmpint(times.latency_ns, ==, c.host.h[NP_H8] - c.host.h[NP_H0]);
                g_assert_cmpint(sum(&times), ==, times.latency_ns);
                g_assert_cmpint(times.stage_ns[NP_STAGE_HOST_BLOCK], >=, 0);
                g_assert_cmpint(times.stage_ns[NP_STAGE_HOST_DRIVER], >=, 0);
                g_assert_cmpint(times.stage_ns[NP_STAGE_TARGET_DRIVER], >=, 0);
                g_assert_cmpint(times.component_ns[NP_COMPONENT_TO_STORAGE], >=, 0);
                g_assert_cmpint(times.component_ns[NP_COMPONENT_RESPONSE], >=, 0);
                np_stage_one_way(&c.host, &c.target, (NpInterval) { offset - part_of(1000), offset + part_of(1000) }, &times);
                check_components(&times, TRUE);

                np_stage_times(&c.host, NULL, &times);
                g_assert_cmpint(sum(&times), ==, times.latency_ns);
        }
}

static void check_name(NpStage stage, const char *transport, const char *expected)
{
        g_autofree char *name = np_stage_name(stage, transport);

        g_assert_cmpstr(name, ==, expected);
}

static void test_names(void)
{
        check_name(NP_STAGE_HOST_BLOCK, "tcp", "host block layer");
        check_name(NP_STAGE_HOST_DRIVER, "tcp", "host driver (nvme-tcp)");
        check_name(NP_STAGE_NETWORK, "tcp", "network (TCP, NICs, wire)");
        check_name(NP_STAGE_NETWORK, "rdma", "network (RDMA, NICs, wire)");
        check_name(NP_STAGE_TARGET_DRIVER, "tcp", "target driver (nvmet-tcp)");
        check_name(NP_STAGE_STORAGE, "tcp", "storage (target block layer, drive)");
        check_name(NP_STAGE_HOST_DRIVER, NULL, "host driver (nvme)");
        check_name(NP_STAGE_HOST_DRIVER, "%s%n", "host driver (nvme)");

        for (guint i = 0; i < NP_STAGE_COUNT_ALL; i++) {
                g_autofree char *name = np_stage_name(i, "rdma");

                g_assert_cmpint(np_stage_info(i)->stage, ==, i);
                g_assert_true(np_stage_by_id(np_stage_info(i)->id) == np_stage_info(i));
                g_assert_cmpuint(strlen(name), <=, 35);         /* the report's first column */
        }
        g_assert_null(np_stage_by_id("host"));

        for (guint i = 0; i < NP_COMPONENT_COUNT; i++) {
                const NpComponentInfo *info = np_component_info(i);

                g_assert_cmpint(info->component, ==, i);
                g_assert_cmpint(np_component_by_id(info->stage, info->id), ==, i);
                /* below its parent, of the same stage; one level is all that is printed */
                if (info->parent != NP_COMPONENT_NONE) {
                        g_assert_cmpint(info->parent, <, i);
                        g_assert_cmpint(np_component_info(info->parent)->stage, ==, info->stage);
                        g_assert_cmpint(np_component_info(info->parent)->parent, ==, NP_COMPONENT_NONE);
                }
                g_assert_cmpuint(strlen(np_component_name(i, "rdma")), <=, 33);
        }
        g_assert_cmpint(np_component_by_id(NP_STAGE_STORAGE, "transfer"), ==, NP_COMPONENT_NONE);
        g_assert_cmpstr(np_component_name(NP_COMPONENT_TRANSFER, "tcp"), ==, "write data transfer");
        g_assert_cmpstr(np_component_name(NP_COMPONENT_TRANSFER, "rdma"), ==, "write data transfer (RDMA READ)");
        g_assert_cmpstr(np_component_name(NP_COMPONENT_TRANSFER, NULL), ==, "write data transfer");
}

static void test_weight(void)
{
        g_assert_cmpfloat(np_threshold_weight(G_MAXUINT32), ==, 1);
        g_assert_cmpfloat(np_threshold_weight(1u << 31), ==, 2);
        g_assert_cmpfloat(np_threshold_weight(1u << 22), ==, 1024);
}

int main(int argc, char **argv)
{
        g_test_init(&argc, &argv, NULL);
        for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
                g_autofree char *path = g_strdup_printf("/stage/times/%s", cases[i].name);

                g_test_add_data_func(path, &cases[i], test_times);
        }
        g_test_add_func("/stage/receive-paths", test_receive_paths);
        g_test_add_func("/stage/event-of-another", test_event_of_another);
        g_test_add_func("/stage/host-only", test_host_only);
        g_test_add_func("/stage/allocated-before-submission", test_allocated_before_submission);
        g_test_add_func("/stage/refused-is-not-stored", test_refused_is_not_stored);
        g_test_add_func("/stage/negative-network", test_negative_network);
        g_test_add_func("/stage/untold-r2t", test_untold_r2t);
        g_test_add_func("/stage/components", test_components);
        g_test_add_func("/stage/sum-holds", test_sum_holds);
        g_test_add_func("/stage/names", test_names);
        g_test_add_func("/stage/weight", test_weight);
        return g_test_run();
}
