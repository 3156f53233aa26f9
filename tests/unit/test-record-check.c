/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "records.h"

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
        /* No hook for H4: then nothing is known of it. */
        test_command(&c, TEST_WRITE_FETCHED, 1000);
        c.host.h[NP_H4] = c.host.r2t_ns = 0;
        g_assert_cmpint(np_host_record_defect(&c.host), ==, NP_DEFECT_NONE);
        c.host.receive_r2t_ns = 1;
        g_assert_cmpint(np_host_record_defect(&c.host), ==, NP_DEFECT_BOUNDARY_MISSING);
        c.host.receive_r2t_ns = 0;
        c.host.h[NP_H5] = 0;
        g_assert_cmpint(np_host_record_defect(&c.host), ==, NP_DEFECT_BOUNDARY_MISSING);
        test_command(&c, TEST_RDMA_FETCHED, 1000);
        c.target.t[NP_T3] = 0;
        g_assert_cmpint(np_target_record_defect(&c.target), ==, NP_DEFECT_BOUNDARY_MISSING);
        test_command(&c, TEST_RDMA_FETCHED, 1000);
        c.target.t[NP_T2] = 0;
        g_assert_cmpint(np_target_record_defect(&c.target), ==, NP_DEFECT_BOUNDARY_MISSING);
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

        for (guint i = NP_T1; i < NP_T9; i++) {
                test_command(&c, TEST_RDMA_FETCHED, 1000);
                c.target.t[i] = c.target.t[i + 1] + 1;
                g_assert_cmpint(np_target_record_defect(&c.target), ==, NP_DEFECT_OUT_OF_ORDER);
        }

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

/* One field of a record in detail, at a bound that it may have and one behind it. */
static void check_bound(TestKind kind, gsize offset, gboolean of_target, guint64 allowed, guint64 beyond)
{
        for (guint i = 0; i < 2; i++) {
                NpDefect defect;
                TestCommand c;

                test_command(&c, kind, 1000000);
                test_detail(&c);
                *(guint64 *) ((guint8 *) &c + offset) = i == 0 ? allowed : beyond;
                defect = of_target ? np_target_record_defect(&c.target) : np_host_record_defect(&c.host);
                g_assert_cmpint(defect, ==, i == 0 ? NP_DEFECT_NONE : NP_DEFECT_OUT_OF_ORDER);
        }
}

static void test_detail_bounds(void)
{
#define BOUND(kind, field, of_target, allowed, beyond) \
        check_bound(kind, G_STRUCT_OFFSET(TestCommand, field), of_target, allowed, beyond)
        TestCommand c;

        test_command(&c, TEST_RDMA_FETCHED, 1000000);
        BOUND(TEST_RDMA_FETCHED, host.ha, FALSE, c.host.h[NP_H6], c.host.h[NP_H6] + 1);
        BOUND(TEST_RDMA_FETCHED, host.ha, FALSE, c.host.h[NP_H2], c.host.h[NP_H2] - 1);
        BOUND(TEST_RDMA_FETCHED, host.released, FALSE, c.host.h[NP_H6], c.host.h[NP_H6] - 1);
        BOUND(TEST_RDMA_FETCHED, host.released, FALSE, c.host.h[NP_H7], c.host.h[NP_H7] + 1);
        BOUND(TEST_RDMA_FETCHED, host.receive_r2t_ns, FALSE, 0, 1);
        BOUND(TEST_RDMA_FETCHED, target.ta, TRUE, c.target.t[NP_T1], c.target.t[NP_T1] + 1);
        BOUND(TEST_RDMA_FETCHED, target.ts, TRUE, c.target.t[NP_T8], c.target.t[NP_T8] - 1);
        BOUND(TEST_RDMA_FETCHED, target.fetch_ns, TRUE, 4000, 4001);
        BOUND(TEST_RDMA_FETCHED, target.receive_data_ns, TRUE, 4000, 4001);
        BOUND(TEST_READ, target.receive_data_ns, TRUE, 0, 1);
        BOUND(TEST_READ, target.fetch_ns, TRUE, 0, 1);
        BOUND(TEST_READ, target.blocked_ns, TRUE, 350, 351);
        BOUND(TEST_READ, target.blocked_r2t_ns, TRUE, 0, 1);
        BOUND(TEST_WRITE, target.fetch_ns, TRUE, 450, 451);
        BOUND(TEST_WRITE_FETCHED, target.fetch_ns, TRUE, 4250, 4251);
        BOUND(TEST_WRITE_FETCHED, target.blocked_r2t_ns, TRUE, 100, 101);

        test_command(&c, TEST_WRITE_ROUNDS, 1000000);
        BOUND(TEST_WRITE_ROUNDS, host.receive_r2t_ns, FALSE, c.host.h[NP_H5] - c.host.h[NP_H2] - c.host.r2t_ns,
              c.host.h[NP_H5] - c.host.h[NP_H2] - c.host.r2t_ns + 1);
        BOUND(TEST_WRITE_ROUNDS, target.receive_data_ns, TRUE, 12000, 12001);
#undef BOUND
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

        test_command(&c, TEST_READ, 1000);
        c.host.released = c.target.ts = G_GUINT64_CONSTANT(1) << 62;
        g_assert_false(np_host_record_valid(&c.host));
        g_assert_false(np_target_record_valid(&c.target));
        test_command(&c, TEST_READ, 1000);
        c.host.ha = c.target.ta = G_GUINT64_CONSTANT(1) << 62;
        g_assert_false(np_host_record_valid(&c.host));
        g_assert_false(np_target_record_valid(&c.target));
}

int main(int argc, char **argv)
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/record-check/required-boundaries", test_required_boundaries);
        g_test_add_func("/record-check/order", test_order);
        g_test_add_func("/record-check/sums-too-long", test_sums_too_long);
        g_test_add_func("/record-check/detail-bounds", test_detail_bounds);
        g_test_add_func("/record-check/flags", test_flags);
        g_test_add_func("/record-check/valid", test_valid);
        return g_test_run();
}
