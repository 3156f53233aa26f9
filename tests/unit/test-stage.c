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
};

static gint64 sum(const NpStageTimes *times)
{
        gint64 total = 0;

        for (guint i = 0; i < NP_STAGE_COUNT; i++)
                total += times->stage_ns[i];
        return total;
}

/* Of a stage whose components are all known. */
static void check_components(const NpStageTimes *times)
{
        for (guint stage = 0; stage < NP_STAGE_COUNT; stage++) {
                gboolean all = TRUE;
                gint64 total = 0;

                for (guint i = 0; i < NP_COMPONENT_COUNT; i++) {
                        if (np_component_info(i)->stage != stage)
                                continue;
                        all = all && times->components_known & 1u << i;
                        total += times->component_ns[i];
                }
                if (all)
                        g_assert_cmpint(total, ==, times->stage_ns[stage]);
        }
}

/* The command takes 5000 there; with data in the capsule they take 350 more. */
static void check_one_way(const Case *c, const TestCommand *command, NpStageTimes *times)
{
        const gint64 *ns = times->component_ns;
        gboolean r2t = command->host.header.flags & NP_F_R2T;
        gint64 back = (gint64) command->host.h[NP_H6] - ((gint64) command->target.t[NP_T9] - TEST_OFFSET_NS);

        np_stage_one_way(&command->host, &command->target, (NpInterval) { TEST_OFFSET_NS - 300, TEST_OFFSET_NS + 301 }, times);
        g_assert_cmpint(ns[NP_COMPONENT_REQUEST_WAY], ==, 5000 + c->blocked_submit + (c->kind == TEST_WRITE ? 350 : 0));
        g_assert_cmpint(ns[NP_COMPONENT_RESPONSE_WAY], ==, back + c->blocked_target);
        if (!r2t)
                g_assert_cmpint(ns[NP_COMPONENT_TRANSFER], ==, 0);
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
        check_components(&times);
        check_one_way(c, &command, &times);
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
        check_components(&times);
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
        check_components(&times);
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
        g_assert_false(times.components_known & 1u << NP_COMPONENT_WIRE);

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

/* Whatever the times are, as long as each side's are in order, the stages add up and so do the components. */
static void test_sum_holds(void)
{
        for (guint n = 0; n < 20000; n++) {
                guint64 now = 1 + (guint32) g_test_rand_int(), peer = (1 + (guint64) (guint32) g_test_rand_int()) << 20, send, span;
                gboolean r2t = g_test_rand_int_range(0, 2);
                gboolean refused = !r2t && g_test_rand_int_range(0, 8) == 0;
                TestCommand c;
                NpStageTimes times;

                test_headers(&c, 1, 0, 7, 1);
                for (guint i = NP_H0; i < NP_H_COUNT; i++)
                        c.host.h[i] = later(&now, 100000);
                c.host.blocked_submit_ns = g_test_rand_int_range(0, c.host.h[NP_H3] - c.host.h[NP_H2] + 1);
                if (r2t) {
                        c.host.header.flags = c.target.header.flags = NP_F_R2T;
                        span = c.host.h[NP_H5] - c.host.h[NP_H4];
                        c.host.r2t_ns = g_test_rand_int_range(0, span + 1);
                        c.host.blocked_r2t_ns = g_test_rand_int_range(0, c.host.r2t_ns + 1);
                } else
                        c.host.h[NP_H4] = c.host.h[NP_H5] = 0;

                for (guint i = NP_T1; i < NP_T_COUNT; i++) {
                        if (i == NP_T2)
                                c.target.r2t_queued = later(&peer, 1000);
                        c.target.t[i] = later(&peer, 100000);
                }
                span = c.target.t[NP_T4] - c.target.t[NP_T2];
                c.target.fetch_ns = g_test_rand_int_range(0, span + 1);
                send = c.target.t[NP_T9] - c.target.t[NP_T8];
                c.target.blocked_ns = g_test_rand_int_range(0, send + 1);
                if (refused) {
                        c.target.header.flags |= NP_F_INIT_FAILED;
                        memset(&c.target.t[NP_T2], 0, (NP_T8 - NP_T2) * sizeof(c.target.t[0]));
                        c.target.r2t_queued = c.target.fetch_ns = 0;
                }

                g_assert_cmpint(np_host_record_defect(&c.host), ==, NP_DEFECT_NONE);
                g_assert_cmpint(np_target_record_defect(&c.target), ==, NP_DEFECT_NONE);
                np_stage_times(&c.host, &c.target, &times);
                g_assert_cmpint(times.latency_ns, ==, c.host.h[NP_H8] - c.host.h[NP_H0]);
                g_assert_cmpint(sum(&times), ==, times.latency_ns);
                check_components(&times);
                g_assert_cmpint(times.stage_ns[NP_STAGE_HOST_BLOCK], >=, 0);
                g_assert_cmpint(times.stage_ns[NP_STAGE_HOST_DRIVER], >=, 0);
                g_assert_cmpint(times.stage_ns[NP_STAGE_TARGET_DRIVER], >=, 0);

                np_stage_times(&c.host, NULL, &times);
                g_assert_cmpint(sum(&times), ==, times.latency_ns);
        }
}

static void test_required_boundaries(void)
{
        static const guint always_h[] = { NP_H0, NP_H1, NP_H2, NP_H3, NP_H6, NP_H7, NP_H8 };
        static const guint always_t[] = { NP_T1, NP_T4, NP_T7, NP_T8, NP_T9 };
        TestCommand c;

        for (guint kind = 0; kind < TEST_KIND_COUNT; kind++) {
                for (guint i = 0; i < G_N_ELEMENTS(always_h); i++) {
                        test_command(&c, kind, 1000);
                        c.host.h[always_h[i]] = 0;
                        g_assert_cmpint(np_host_record_defect(&c.host), ==, NP_DEFECT_BOUNDARY_MISSING);
                }
                for (guint i = 0; i < G_N_ELEMENTS(always_t); i++) {
                        gboolean by_right = kind == TEST_REFUSED && (always_t[i] == NP_T4 || always_t[i] == NP_T7);

                        test_command(&c, kind, 1000);
                        c.target.t[always_t[i]] = 0;
                        g_assert_cmpint(np_target_record_defect(&c.target), ==,
                                        by_right ? NP_DEFECT_NONE : NP_DEFECT_BOUNDARY_MISSING);
                }
        }

        for (guint i = NP_H4; i <= NP_H5; i++) {
                test_command(&c, TEST_WRITE_FETCHED, 1000);
                c.host.h[i] = 0;
                g_assert_cmpint(np_host_record_defect(&c.host), ==, NP_DEFECT_BOUNDARY_MISSING);
        }
        for (guint kind = TEST_WRITE; kind <= TEST_WRITE_ROUNDS; kind++) {
                test_command(&c, kind, 1000);
                c.target.t[NP_T2] = 0;
                g_assert_cmpint(np_target_record_defect(&c.target), ==, NP_DEFECT_BOUNDARY_MISSING);
        }

        test_command(&c, TEST_READ, 1000);
        c.target.t[NP_T5] = c.target.t[NP_T6] = 0;
        g_assert_cmpint(np_target_record_defect(&c.target), ==, NP_DEFECT_NONE);
        test_command(&c, TEST_WRITE_FETCHED, 1000);
        c.target.r2t_queued = 0;
        g_assert_cmpint(np_target_record_defect(&c.target), ==, NP_DEFECT_NONE);
}

/* Each boundary moved behind its successor. */
static void test_order(void)
{
        TestCommand c;

        for (guint i = NP_H1; i < NP_H8; i++) {
                test_command(&c, TEST_WRITE_FETCHED, 1000);
                c.host.h[i] = c.host.h[i + 1] + 1;
                g_assert_cmpint(np_host_record_defect(&c.host), ==, NP_DEFECT_OUT_OF_ORDER);
        }
        test_command(&c, TEST_READ, 1000);
        c.host.h[NP_H0] = c.host.h[NP_H2] + 1;
        g_assert_cmpint(np_host_record_defect(&c.host), ==, NP_DEFECT_OUT_OF_ORDER);

        for (guint i = NP_T1; i < NP_T9; i++) {
                if (i == NP_T3)
                        continue;
                test_command(&c, TEST_WRITE_FETCHED, 1000);
                c.target.t[i] = c.target.t[i + 1 == NP_T3 ? NP_T4 : i + 1] + 1;
                g_assert_cmpint(np_target_record_defect(&c.target), ==, NP_DEFECT_OUT_OF_ORDER);
        }
        test_command(&c, TEST_WRITE_FETCHED, 1000);
        c.target.r2t_queued = c.target.t[NP_T2] + 1;
        g_assert_cmpint(np_target_record_defect(&c.target), ==, NP_DEFECT_OUT_OF_ORDER);
        c.target.r2t_queued = c.target.t[NP_T1] - 1;
        g_assert_cmpint(np_target_record_defect(&c.target), ==, NP_DEFECT_OUT_OF_ORDER);

        /* an H4 that no R2T explains says nothing */
        test_command(&c, TEST_READ, 1000);
        c.host.h[NP_H4] = 1;
        g_assert_cmpint(np_host_record_defect(&c.host), ==, NP_DEFECT_NONE);
}

static void test_sums_too_long(void)
{
        TestCommand c;

        test_command(&c, TEST_READ, 1000);
        c.host.blocked_submit_ns = 1001;
        g_assert_cmpint(np_host_record_defect(&c.host), ==, NP_DEFECT_OUT_OF_ORDER);
        c.host.blocked_submit_ns = 1000;
        g_assert_cmpint(np_host_record_defect(&c.host), ==, NP_DEFECT_NONE);

        test_command(&c, TEST_WRITE_FETCHED, 1000);
        c.host.r2t_ns = 701;
        g_assert_cmpint(np_host_record_defect(&c.host), ==, NP_DEFECT_OUT_OF_ORDER);
        c.host.r2t_ns = 500;
        c.host.blocked_r2t_ns = 501;
        g_assert_cmpint(np_host_record_defect(&c.host), ==, NP_DEFECT_OUT_OF_ORDER);

        test_command(&c, TEST_READ, 1000);
        c.target.blocked_ns = 52401;
        g_assert_cmpint(np_target_record_defect(&c.target), ==, NP_DEFECT_OUT_OF_ORDER);
}

static void test_flags(void)
{
        TestCommand c;

        test_command(&c, TEST_READ, 1000);
        c.host.header.flags |= NP_F_CANCELLED;
        c.host.h[NP_H6] = 0;
        g_assert_cmpint(np_host_record_defect(&c.host), ==, NP_DEFECT_CANCELLED);
        c.host.header.flags = NP_F_RETRIED;
        g_assert_cmpint(np_host_record_defect(&c.host), ==, NP_DEFECT_RETRIED);
        c.target.header.flags |= NP_F_CANCELLED;
        g_assert_cmpint(np_target_record_defect(&c.target), ==, NP_DEFECT_CANCELLED);
}

static void test_valid(void)
{
        TestCommand c;

        test_command(&c, TEST_WRITE_FETCHED, 1000);
        g_assert_true(np_host_record_valid(&c.host));
        g_assert_true(np_target_record_valid(&c.target));
        c.host.header.kind = NP_RECORD_TARGET;
        c.target.header.kind = NP_RECORD_HOST;
        g_assert_false(np_host_record_valid(&c.host));
        g_assert_false(np_target_record_valid(&c.target));

        test_command(&c, TEST_READ, 1000);
        c.host.header.version++;
        c.target.header.size--;
        g_assert_false(np_host_record_valid(&c.host));
        g_assert_false(np_target_record_valid(&c.target));

        test_command(&c, TEST_READ, 1000);
        c.host.header.threshold = 0;
        c.target.header.filter = NP_FILTERS_MAX;
        g_assert_false(np_host_record_valid(&c.host));
        g_assert_false(np_target_record_valid(&c.target));

        test_command(&c, TEST_READ, 1000);
        c.host.h[NP_H7] = G_MAXUINT64;
        c.target.fetch_ns = G_MAXUINT64 - 5;
        g_assert_false(np_host_record_valid(&c.host));
        g_assert_false(np_target_record_valid(&c.target));
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
                for (guint j = 0; j < i; j++)
                        g_assert_false(np_component_info(j)->stage == info->stage && g_str_equal(np_component_info(j)->id, info->id));
        }
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
        g_test_add_func("/stage/host-only", test_host_only);
        g_test_add_func("/stage/allocated-before-submission", test_allocated_before_submission);
        g_test_add_func("/stage/refused-is-not-stored", test_refused_is_not_stored);
        g_test_add_func("/stage/negative-network", test_negative_network);
        g_test_add_func("/stage/components", test_components);
        g_test_add_func("/stage/sum-holds", test_sum_holds);
        g_test_add_func("/stage/required-boundaries", test_required_boundaries);
        g_test_add_func("/stage/order", test_order);
        g_test_add_func("/stage/sums-too-long", test_sums_too_long);
        g_test_add_func("/stage/flags", test_flags);
        g_test_add_func("/stage/valid", test_valid);
        g_test_add_func("/stage/names", test_names);
        g_test_add_func("/stage/weight", test_weight);
        return g_test_run();
}
