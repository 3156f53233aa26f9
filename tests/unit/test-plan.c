/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The planner on inventories recorded on real kernels (tests/fixtures/kernels) and on ones with something taken away. */
#include <string.h>

#include "daemon/capture/capture-bpf.h"
#include "daemon/capture/program-set.h"
#include "kernel-fixture.h"

static HookPlan *plan_of(JsonNode *node, HookSides sides)
{
        return kernel_fixture_plan(node, (HookScope) { sides, TRANSPORTS_ALL, .detail = true });
}

static void assert_symbol(const HookPlan *plan, const char *boundary, const char *covers, const char *symbol)
{
        const HookChoice *choice = kernel_fixture_choice(plan, boundary, covers);

        g_assert_nonnull(choice->chosen);
        g_assert_cmpstr(choice->chosen->symbol, ==, symbol);
}

/* Where all is as it should be. */
static const char *const releases[] = { "6.1", "6.12", "7.2", "7.3" };

static void test_usable(void)
{
        for (unsigned i = 0; i < G_N_ELEMENTS(releases); i++) {
                g_autoptr(JsonNode) node = kernel_fixture_load(releases[i]);
                HookPlan *plan = plan_of(node, BOTH_SIDES);
                unsigned n_passthru = 0;
                const char *why;

                g_assert_true(hook_plan_usable(plan, HOOK_SIDE_HOST, &why));
                g_assert_cmpstr(why, ==, NULL);
                g_assert_true(hook_plan_usable(plan, HOOK_SIDE_TARGET, NULL));
                /* On these kernels nothing is merged. 6.1's nvmet was built without passthru, so nobody asks for its hooks. */
                for (guint j = 0; j < plan->choices->len; j++) {
                        const HookChoice *choice = plan->choices->pdata[j];

                        g_assert_nonnull(choice->chosen);
                        n_passthru += g_strcmp0(choice->row->covers, "passthru") == 0;
                }
                g_assert_cmpuint(n_passthru, ==, i == 0 ? 0 : 2);
                hook_plan_free(plan);
        }
}

static void test_inlined_send_functions(void)
{
        g_autoptr(JsonNode) old = kernel_fixture_load("6.1"), new = kernel_fixture_load("6.12");
        HookPlan *plan;

        plan = plan_of(old, BOTH_SIDES);
        assert_symbol(plan, "H3", NULL, "nvme_tcp_try_send");
        assert_symbol(plan, "H5", "writes sent after an R2T", "nvme_tcp_try_send");
        assert_symbol(plan, "T2", "writes sent after an R2T", "kernel_sendpage");
        assert_symbol(plan, "T9", NULL, "kernel_sendpage");
        assert_symbol(plan, "T9", "reads without a response PDU", "kernel_sendpage");
        g_assert_true(strstr(kernel_fixture_why_not(plan, "T9", NULL, 0), "nvmet_try_send_response") != NULL);
        g_assert_true(hook_plan_has_program(plan, HOOK_SIDE_TARGET, "kernel_sendpage"));
        g_assert_false(hook_plan_has_program(plan, HOOK_SIDE_TARGET, "nvmet_try_send_response"));
        hook_plan_free(plan);

        plan = plan_of(new, BOTH_SIDES);
        assert_symbol(plan, "H3", NULL, "nvme_tcp_try_send_cmd_pdu");
        assert_symbol(plan, "H5", "writes sent after an R2T", "nvme_tcp_try_send_data");
        assert_symbol(plan, "T2", "writes sent after an R2T", "nvmet_try_send_r2t");
        assert_symbol(plan, "T9", NULL, "nvmet_try_send_response");
        assert_symbol(plan, "T9", "reads without a response PDU", "nvmet_try_send_data");
        g_assert_true(hook_plan_has_program(plan, HOOK_SIDE_TARGET, "nvmet_try_send_response"));
        g_assert_false(hook_plan_has_program(plan, HOOK_SIDE_TARGET, "kernel_sendpage"));
        g_assert_false(hook_plan_has_program(plan, HOOK_SIDE_HOST, "nvme_tcp_try_send_entry"));
        hook_plan_free(plan);
}

/* A row that needs several functions is out when the compiler inlined just one of them, for H3 and for H5 alike. */
static void test_one_function_inlined(void)
{
        g_autoptr(JsonNode) node = kernel_fixture_load("6.12");
        HookPlan *plan;

        kernel_fixture_take_away(node, "nvme_tcp", "functions", "nvme_tcp_try_send_ddgst");
        plan = plan_of(node, BOTH_SIDES);
        assert_symbol(plan, "H3", NULL, "nvme_tcp_try_send");
        assert_symbol(plan, "H5", "writes sent after an R2T", "nvme_tcp_try_send");
        g_assert_true(strstr(kernel_fixture_why_not(plan, "H3", NULL, 0), "nvme_tcp_try_send_ddgst") != NULL);
        g_assert_false(hook_plan_has_program(plan, HOOK_SIDE_HOST, "nvme_tcp_try_send_cmd_pdu_exit"));
        hook_plan_free(plan);
}

static void test_merged(void)
{
        g_autoptr(JsonNode) node = kernel_fixture_load("6.12");
        const HookChoice *choice;
        HookPlan *plan;

        kernel_fixture_take_away(node, "vmlinux", "tracepoints", "block_bio_queue");
        kernel_fixture_take_away(node, "nvme_tcp", "functions", "nvme_tcp_setup_h2c_data_pdu");
        plan = plan_of(node, BOTH_SIDES);
        g_assert_true(hook_plan_usable(plan, HOOK_SIDE_HOST, NULL));
        choice = kernel_fixture_choice(plan, "H0", NULL);
        g_assert_null(choice->chosen);
        g_assert_true(g_str_has_prefix(choice->merged, "merged into H1: "));
        choice = kernel_fixture_choice(plan, "H4", "writes sent after an R2T");
        g_assert_null(choice->chosen);
        g_assert_true(g_str_has_prefix(choice->merged, "merged into the network: "));
        hook_plan_free(plan);
}

static void test_field_missing(void)
{
        g_autoptr(JsonNode) node = kernel_fixture_load("6.1");
        const char *why;
        HookPlan *plan;

        kernel_fixture_take_away(node, "nvme_tcp", "fields", "nvme_tcp_queue.req_list");
        plan = plan_of(node, BOTH_SIDES);
        g_assert_false(hook_plan_usable(plan, HOOK_SIDE_HOST, &why));
        g_assert_true(strstr(why, "H3") != NULL);
        g_assert_true(hook_plan_usable(plan, HOOK_SIDE_TARGET, NULL));
        g_assert_true(strstr(kernel_fixture_why_not(plan, "H3", NULL, 1), "req_list") != NULL);
        hook_plan_free(plan);
}

static void test_module_missing(void)
{
        g_autoptr(JsonNode) node = kernel_fixture_load("6.1");
        const char *why;
        HookPlan *plan;

        kernel_fixture_set_boolean(node, "nvmet_tcp", "loaded", FALSE);
        kernel_fixture_set_boolean(node, "nvmet_rdma", "loaded", FALSE);
        plan = plan_of(node, BOTH_SIDES);
        g_assert_true(hook_plan_usable(plan, HOOK_SIDE_HOST, NULL));
        g_assert_false(hook_plan_usable(plan, HOOK_SIDE_TARGET, &why));
        g_assert_true(strstr(why, "module nvmet_tcp is not loaded") != NULL);
        hook_plan_free(plan);

        /* a plan of the host's side alone has no rows of the target's */
        plan = plan_of(node, HOOK_SIDE_HOST);
        for (guint i = 0; i < plan->choices->len; i++)
                g_assert_cmpint(((HookChoice *) plan->choices->pdata[i])->row->side, ==, HOOK_SIDE_HOST);
        hook_plan_free(plan);
}

static bool has_transport(const HookPlan *plan, HookSides side, const char *transport)
{
        for (guint i = 0; i < plan->choices->len; i++) {
                const HookRow *row = ((HookChoice *) plan->choices->pdata[i])->row;

                if (row->side == side && g_strcmp0(row->transport, transport) == 0)
                        return true;
        }
        return false;
}

static HookPlan *plan_of_transports(JsonNode *node, Transports which)
{
        return kernel_fixture_plan(node, (HookScope) { BOTH_SIDES, which });
}

/* A transport whose module is not there takes nothing from the others, on either side. */
static void test_transport_not_loaded(void)
{
        g_autoptr(JsonNode) node = kernel_fixture_load("6.12");
        const char *why;
        HookPlan *plan;

        kernel_fixture_set_boolean(node, "nvmet_rdma", "loaded", FALSE);
        plan = plan_of(node, BOTH_SIDES);
        g_assert_true(hook_plan_usable(plan, HOOK_SIDE_HOST, NULL));
        g_assert_true(hook_plan_usable(plan, HOOK_SIDE_TARGET, &why));
        g_assert_cmpstr(why, ==, NULL);
        g_assert_true(hook_plan_transport_usable(plan, HOOK_SIDE_TARGET, TRANSPORT_TCP, NULL));
        g_assert_false(hook_plan_transport_usable(plan, HOOK_SIDE_TARGET, TRANSPORT_RDMA, &why));
        g_assert_true(strstr(why, "module nvmet_rdma is not loaded") != NULL);
        g_assert_true(hook_plan_transport_usable(plan, HOOK_SIDE_HOST, TRANSPORT_RDMA, NULL));
        g_assert_true(has_transport(plan, HOOK_SIDE_TARGET, "tcp"));
        g_assert_false(has_transport(plan, HOOK_SIDE_TARGET, "rdma"));
        g_assert_true(has_transport(plan, HOOK_SIDE_HOST, "rdma"));
        hook_plan_free(plan);

        plan = plan_of_transports(node, TRANSPORT_RDMA);
        g_assert_true(hook_plan_usable(plan, HOOK_SIDE_HOST, NULL));
        g_assert_false(has_transport(plan, HOOK_SIDE_HOST, "tcp"));
        g_assert_false(hook_plan_usable(plan, HOOK_SIDE_TARGET, &why));
        g_assert_true(strstr(why, "module nvmet_rdma is not loaded") != NULL);
        hook_plan_free(plan);
}

/* One that is there and lacks a hook does: commands over it would be missing. */
static void test_transport_without_hook(void)
{
        g_autoptr(JsonNode) node = kernel_fixture_load("6.12");
        const char *why;
        HookPlan *plan;

        kernel_fixture_take_away(node, "nvmet_rdma", "functions", "nvmet_rdma_read_data_done");
        kernel_fixture_take_away(node, "nvmet_rdma", "symbols", "nvmet_rdma_read_data_done");
        plan = plan_of_transports(node, TRANSPORT_TCP | TRANSPORT_RDMA);
        g_assert_true(hook_plan_usable(plan, HOOK_SIDE_HOST, NULL));
        g_assert_false(hook_plan_usable(plan, HOOK_SIDE_TARGET, &why));
        g_assert_true(strstr(why, "no hook for T3 (writes fetched by RDMA READ)") != NULL);
        g_assert_true(hook_plan_transport_usable(plan, HOOK_SIDE_TARGET, TRANSPORT_TCP, NULL));
        g_assert_false(hook_plan_transport_usable(plan, HOOK_SIDE_TARGET, TRANSPORT_RDMA, NULL));
        hook_plan_free(plan);

        plan = plan_of_transports(node, TRANSPORT_TCP);
        g_assert_true(hook_plan_usable(plan, HOOK_SIDE_TARGET, NULL));
        hook_plan_free(plan);

        /* What all transports need is missing of each. */
        kernel_fixture_take_away(node, "nvmet", "functions", "nvmet_bdev_execute_rw");
        kernel_fixture_take_away(node, "nvmet", "symbols", "nvmet_bdev_execute_rw");
        plan = plan_of_transports(node, TRANSPORT_TCP | TRANSPORT_RDMA);
        g_assert_false(hook_plan_transport_usable(plan, HOOK_SIDE_TARGET, TRANSPORT_TCP, &why));
        g_assert_true(strstr(why, "no hook for T4") != NULL);
        hook_plan_free(plan);
}

/* The completion queues' events and the send's completion are for a session in detail only. */
static void test_rdma(void)
{
        for (unsigned i = 0; i < G_N_ELEMENTS(releases); i++) {
                g_autoptr(JsonNode) node = kernel_fixture_load(releases[i]);
                HookPlan *plan = plan_of_transports(node, TRANSPORT_RDMA);

                g_assert_true(hook_plan_has_program(plan, HOOK_SIDE_HOST, "nvme_rdma_post_send_exit"));
                g_assert_true(hook_plan_has_program(plan, HOOK_SIDE_HOST, "nvme_rdma_recv_done"));
                g_assert_true(hook_plan_has_program(plan, HOOK_SIDE_TARGET, "nvmet_rdma_read_data_done"));
                g_assert_false(hook_plan_has_program(plan, HOOK_SIDE_HOST, "ib_cq_completion_softirq"));
                g_assert_false(hook_plan_has_program(plan, HOOK_SIDE_TARGET, "nvmet_rdma_send_done"));
                g_assert_false(hook_plan_has_program(plan, HOOK_SIDE_TARGET, "nvmet_tcp_queue_response"));
                hook_plan_free(plan);

                plan = plan_of(node, BOTH_SIDES);
                g_assert_true(hook_plan_has_program(plan, HOOK_SIDE_HOST, "ib_poll_handler"));
                g_assert_true(hook_plan_has_program(plan, HOOK_SIDE_TARGET, "ib_cq_poll_work"));
                g_assert_true(hook_plan_has_program(plan, HOOK_SIDE_TARGET, "nvmet_rdma_send_done"));
                hook_plan_free(plan);
        }
}

/* Each row of the table names a boundary that the model knows. */
static void test_table(void)
{
        for (unsigned i = 0; i < n_hook_rows; i++) {
                const NpBoundaryInfo *info = np_boundary_by_id(hook_rows[i].boundary);

                g_assert_nonnull(info);
                g_assert_cmpint(info->side, ==, hook_rows[i].side == HOOK_SIDE_HOST ? NP_SIDE_HOST : NP_SIDE_TARGET);
                g_assert_true(hook_rows[i].essential || hook_rows[i].merged);
                g_assert_nonnull(hook_rows[i].candidates[0].symbol);
        }
}

static char **programs_of(HookSides side, HookFamily family)
{
        ProgramSet *set;
        char **names;

        g_assert_cmpint(program_set_open(side, family, &set), ==, 0);
        names = program_set_names(set);
        program_set_free(set);
        return names;
}

/* Every program of the table is in the skeletons of its side, and none of a skeleton is in no row: a typing error in the
 * table would leave a boundary without its program. */
static void test_programs(void)
{
        for (HookSides side = HOOK_SIDE_HOST; side <= HOOK_SIDE_TARGET; side <<= 1) {
                g_auto(GStrv) programs = programs_of(side, HOOK_FAMILY_TYPED), probes = programs_of(side, HOOK_FAMILY_PROBES);
                g_autoptr(GHashTable) unused = g_hash_table_new(g_str_hash, g_str_equal);

                g_assert_true(g_strv_equal((const char *const *) programs, (const char *const *) probes));
                for (unsigned i = 0; programs[i]; i++)
                        g_hash_table_add(unused, programs[i]);
                for (unsigned i = 0; i < n_hook_rows; i++)
                        for (unsigned j = 0; hook_rows[i].side == side && j < HOOK_CANDIDATES_MAX; j++)
                                for (unsigned k = 0; k < HOOK_PROGRAMS_MAX && hook_rows[i].candidates[j].programs[k]; k++) {
                                        const char *program = hook_rows[i].candidates[j].programs[k];

                                        if (!g_strv_contains((const char *const *) programs, program))
                                                g_error("%s: no such program %s", hook_rows[i].boundary, program);
                                        g_hash_table_remove(unused, program);
                                }
                g_assert_cmpuint(g_hash_table_size(unused), ==, 0);
        }
}

/* What only components need is not attached unless they are asked for, and neither is it told of as missing. */
static void test_detail(void)
{
        static const struct {
                HookSides side;
                const char *boundary, *programs[4];
        } detail[] = {
                { HOOK_SIDE_HOST, "HA", { "nvme_tcp_data_ready", "tcp_add_backlog", "skb_copy_bits" } },
                { HOOK_SIDE_TARGET, "TA", { "nvmet_tcp_data_ready", "tcp_add_backlog" } },
                { HOOK_SIDE_TARGET, "T5", { "block_rq_issue" } },
                { HOOK_SIDE_TARGET, "T6", { "target_block_rq_complete" } },
        };

        for (unsigned i = 0; i < G_N_ELEMENTS(releases); i++) {
                g_autoptr(JsonNode) node = kernel_fixture_load(releases[i]);
                HookPlan *plain = kernel_fixture_plan(node, (HookScope) { BOTH_SIDES, TRANSPORT_TCP });
                HookPlan *full = kernel_fixture_plan(node, (HookScope) { BOTH_SIDES, TRANSPORT_TCP, .detail = true });

                g_assert_true(hook_plan_usable(plain, HOOK_SIDE_HOST, NULL));
                g_assert_true(hook_plan_usable(plain, HOOK_SIDE_TARGET, NULL));
                g_assert_cmpuint(plain->choices->len + G_N_ELEMENTS(detail), ==, full->choices->len);
                for (unsigned j = 0; j < G_N_ELEMENTS(detail); j++) {
                        g_assert_nonnull(kernel_fixture_choice(full, detail[j].boundary, NULL)->chosen);
                        for (unsigned k = 0; detail[j].programs[k]; k++) {
                                g_assert_true(hook_plan_has_program(full, detail[j].side, detail[j].programs[k]));
                                g_assert_false(hook_plan_has_program(plain, detail[j].side, detail[j].programs[k]));
                        }
                }
                hook_plan_free(plain);
                hook_plan_free(full);
        }
}

/* For another machine: nothing of the host's side is planned, opened or told. */
static void test_target_alone(void)
{
        CaptureConfig config = { .n_target_filters = 1 };
        CaptureHandlers handlers = {};

        for (unsigned i = 0; i < G_N_ELEMENTS(releases); i++) {
                g_autoptr(JsonNode) node = kernel_fixture_load(releases[i]);
                HookPlan *plan = plan_of(node, HOOK_SIDE_TARGET);
                const CaptureHook *hooks;
                Capture *capture;
                unsigned n;

                g_assert_true(hook_plan_usable(plan, HOOK_SIDE_TARGET, NULL));
                g_assert_cmpint(capture_bpf_new(plan, &config, &handlers, &capture), ==, 0);
                n = capture->ops->get_hooks(capture, &hooks);
                g_assert_cmpuint(n, ==, plan->choices->len);
                g_assert_cmpuint(n, >, 0);
                for (unsigned j = 0; j < n; j++)
                        g_assert_true(hooks[j].target);
                g_assert_cmpint(capture->ops->drain(capture), ==, 0);
                g_assert_cmpint(capture->ops->get_fd(capture), ==, -1);
                capture->ops->detach(capture);
                capture->ops->free(capture);
                hook_plan_free(plan);
        }
}

int main(int argc, char **argv)
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/plan/usable-on-recorded-kernels", test_usable);
        g_test_add_func("/plan/inlined-send-functions", test_inlined_send_functions);
        g_test_add_func("/plan/one-function-inlined", test_one_function_inlined);
        g_test_add_func("/plan/merged", test_merged);
        g_test_add_func("/plan/field-missing", test_field_missing);
        g_test_add_func("/plan/module-missing", test_module_missing);
        g_test_add_func("/plan/transport-not-loaded", test_transport_not_loaded);
        g_test_add_func("/plan/transport-without-hook", test_transport_without_hook);
        g_test_add_func("/plan/rdma", test_rdma);
        g_test_add_func("/plan/table", test_table);
        g_test_add_func("/plan/programs", test_programs);
        g_test_add_func("/plan/detail", test_detail);
        g_test_add_func("/plan/target-alone", test_target_alone);
        return g_test_run();
}
