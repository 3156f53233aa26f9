/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Whether a side is typed or of probes, by what the kernel has and what ntprofd may. */
#include <linux/capability.h>
#include <string.h>

#include "kernel-fixture.h"

#define CAPABILITY(name) (UINT64_C(1) << CAP_##name)
#define WITHOUT_ADMIN (CAPABILITY(BPF) | CAPABILITY(PERFMON))

#define R2T "writes sent after an R2T"
#define IN_CAPSULE "writes in the capsule"

static HookPlan *plan_with(JsonNode *node, uint64_t capabilities)
{
        return kernel_fixture_plan(node, (HookScope) { BOTH_SIDES, TRANSPORTS_ALL, true, capabilities });
}

static void assert_has(const char *text, const char *part)
{
        if (!text || !strstr(text, part))
                g_error("\"%s\" does not tell of \"%s\"", text, part);
}

static void test_typed(void)
{
        g_autoptr(JsonNode) node = kernel_fixture_load("6.12");
        HookPlan *plan = plan_with(node, CAPABILITIES_ALL);

        for (HookSides side = HOOK_SIDE_HOST; side <= HOOK_SIDE_TARGET; side <<= 1) {
                g_assert_cmpint(hook_plan_family(plan, side), ==, HOOK_FAMILY_TYPED);
                g_assert_null(hook_plan_why_not_typed(plan, side));
                g_assert_cmphex(hook_plan_capabilities(plan, side), ==, WITHOUT_ADMIN | CAPABILITY(SYS_ADMIN));
        }
        kernel_fixture_assert_chosen(plan, "H2", NULL, "tp_btf", "nvme_setup_cmd");
        kernel_fixture_assert_chosen(plan, "H3", NULL, "fentry+fexit", "nvme_tcp_try_send_cmd_pdu");
        hook_plan_free(plan);
}

/* The same table, the same programs by another way. */
static void test_without_admin(void)
{
        g_autoptr(JsonNode) node = kernel_fixture_load("6.12");
        const char *why;
        HookPlan *plan;

        json_object_set_int_member(kernel_fixture_settings(node), "perf_event_paranoid", 2);
        plan = plan_with(node, WITHOUT_ADMIN);
        for (HookSides side = HOOK_SIDE_HOST; side <= HOOK_SIDE_TARGET; side <<= 1) {
                g_assert_true(hook_plan_usable(plan, side, NULL));
                g_assert_cmpint(hook_plan_family(plan, side), ==, HOOK_FAMILY_PROBES);
                assert_has(hook_plan_why_not_typed(plan, side), "typed programs need CAP_SYS_ADMIN");
                g_assert_cmphex(hook_plan_capabilities(plan, side), ==, WITHOUT_ADMIN);
        }
        kernel_fixture_assert_chosen(plan, "H0", NULL, "raw_tp", "block_bio_queue");
        kernel_fixture_assert_chosen(plan, "H1", NULL, "field", "request.start_time_ns");
        g_assert_cmpuint(kernel_fixture_choice(plan, "H1", NULL)->rejected->len, ==, 0);
        kernel_fixture_assert_chosen(plan, "H3", NULL, "kprobe+kretprobe", "nvme_tcp_try_send_cmd_pdu");
        assert_has(kernel_fixture_why_not(plan, "H3", NULL, 0), "CAP_SYS_ADMIN");
        kernel_fixture_assert_chosen(plan, "H6", NULL, "kprobe", "blk_mq_complete_request_remote");
        kernel_fixture_assert_chosen(plan, "T9", NULL, "kretprobe", "nvmet_try_send_response");
        g_assert_true(hook_plan_has_program(plan, HOOK_SIDE_TARGET, "nvmet_try_send_response"));
        hook_plan_free(plan);

        /* Debian's default: no perf event for who is not the administrator. */
        json_object_set_int_member(kernel_fixture_settings(node), "perf_event_paranoid", 3);
        plan = plan_with(node, WITHOUT_ADMIN);
        g_assert_false(hook_plan_usable(plan, HOOK_SIDE_HOST, &why));
        assert_has(why, "typed programs need CAP_SYS_ADMIN");
        assert_has(why, "nor by probes: kprobes need CAP_SYS_ADMIN");
        assert_has(why, "kernel.perf_event_paranoid=2");
        hook_plan_free(plan);
}

static void test_without_bpf(void)
{
        g_autoptr(JsonNode) node = kernel_fixture_load("6.12");
        const char *why;
        HookPlan *plan;

        plan = plan_with(node, CAPABILITY(CHOWN));
        g_assert_false(hook_plan_usable(plan, HOOK_SIDE_HOST, &why));
        assert_has(why, "programs need CAP_BPF and CAP_PERFMON, and ntprofd does not have them: run ntprofd as its service, with "
                   "CAP_PERFMON and CAP_BPF in AmbientCapabilities=");
        g_assert_false(hook_plan_transport_usable(plan, HOOK_SIDE_TARGET, TRANSPORT_TCP, &why));
        hook_plan_free(plan);

        plan = plan_with(node, CAPABILITY(BPF));
        g_assert_false(hook_plan_usable(plan, HOOK_SIDE_TARGET, &why));
        assert_has(why, "ntprofd does not have CAP_PERFMON");
        hook_plan_free(plan);
}

/* 5.10 has no BTF of modules, and a built-in layout. */
static void test_no_module_btf(void)
{
        g_autoptr(JsonNode) node = kernel_fixture_load("5.10");
        const HookChoice *choice;
        HookPlan *plan;

        plan = plan_with(node, CAPABILITIES_ALL);
        for (HookSides side = HOOK_SIDE_HOST; side <= HOOK_SIDE_TARGET; side <<= 1) {
                const char *why = NULL;

                g_assert_true(hook_plan_usable(plan, side, &why));
                g_assert_cmpint(hook_plan_family(plan, side), ==, HOOK_FAMILY_PROBES);
        }
        g_assert_cmpstr(hook_plan_why_not_typed(plan, HOOK_SIDE_HOST), ==,
                        "nvme_core has no BTF (no /sys/kernel/btf/nvme_core)");
        /* Its perf_event_paranoid is Debian's, so probes take CAP_SYS_ADMIN, too. */
        g_assert_cmphex(hook_plan_capabilities(plan, HOOK_SIDE_HOST), ==, WITHOUT_ADMIN | CAPABILITY(SYS_ADMIN));

        /* Typed, it would be possible, and would have the wrong arguments: 5.10 passes the queue first. */
        kernel_fixture_assert_chosen(plan, "H0", NULL, "raw_tp", "block_bio_queue");
        assert_has(kernel_fixture_why_not(plan, "H0", NULL, 0), "tracepoint block_bio_queue has 2 arguments, not 1");
        kernel_fixture_assert_chosen(plan, "H2", NULL, "raw_tp", "nvme_setup_cmd");
        assert_has(kernel_fixture_why_not(plan, "H2", NULL, 0), "nvme_core has no BTF");
        kernel_fixture_assert_chosen(plan, "H3", NULL, "kprobe+kretprobe", "nvme_tcp_try_send");
        kernel_fixture_assert_chosen(plan, "T2", R2T, "kretprobe", "kernel_sendpage");
        /* This could be typed, but all of a side is of one family. */
        kernel_fixture_assert_chosen(plan, "T5", NULL, "raw_tp", "block_rq_issue");
        assert_has(kernel_fixture_why_not(plan, "T5", NULL, 0), "nvmet has no BTF");
        /* The structures of the RDMA core are in vmlinux, too. */
        kernel_fixture_assert_chosen(plan, "H6", "before local invalidation and send completion", "kprobe",
                                     "nvme_rdma_recv_done");
        kernel_fixture_assert_chosen(plan, "T2", IN_CAPSULE, "kprobe", "nvmet_tcp_map_pdu_iovec");
        assert_has(kernel_fixture_why_not(plan, "T2", IN_CAPSULE, 0), "nvmet_tcp has no BTF");
        assert_has(kernel_fixture_why_not(plan, "T2", IN_CAPSULE, 2), "nvmet_tcp_build_pdu_iovec among the symbols");

        kernel_fixture_assert_chosen(plan, "H4", R2T, "kprobe", "blk_mq_tag_to_rq");
        for (guint i = 0; i < plan->choices->len; i++) {
                choice = plan->choices->pdata[i];
                g_assert_nonnull(choice->chosen);
        }
        hook_plan_free(plan);
}

static void test_types_unknown(void)
{
        g_autoptr(JsonNode) node = kernel_fixture_load("6.12");
        const char *why;
        HookPlan *plan;

        kernel_fixture_take_btf(node, "nvme_tcp");
        plan = plan_with(node, CAPABILITIES_ALL);
        g_assert_false(hook_plan_transport_usable(plan, HOOK_SIDE_HOST, TRANSPORT_TCP, &why));
        assert_has(why, "nvme_tcp has no BTF (no /sys/kernel/btf/nvme_tcp)");
        assert_has(why, "nor by probes: ");
        assert_has(why, "the structures of nvme_tcp are not known");
        /* RDMA needs nothing of it. */
        g_assert_true(hook_plan_transport_usable(plan, HOOK_SIDE_HOST, TRANSPORT_RDMA, NULL));
        g_assert_cmpint(hook_plan_family(plan, HOOK_SIDE_HOST), ==, HOOK_FAMILY_TYPED);
        g_assert_cmpint(hook_plan_family(plan, HOOK_SIDE_TARGET), ==, HOOK_FAMILY_TYPED);
        hook_plan_free(plan);
}

/* A structure of an out-of-tree module is not what the kernel calls so. */
static void test_out_of_tree(void)
{
        g_autoptr(JsonNode) node = kernel_fixture_load("6.12");
        const HookScope scope = { HOOK_SIDE_TARGET, TRANSPORT_RDMA, .capabilities = WITHOUT_ADMIN };
        const char *why;
        HookPlan *plan;

        json_object_set_int_member(kernel_fixture_settings(node), "perf_event_paranoid", 2);
        kernel_fixture_take_btf(node, "ib_core");
        plan = kernel_fixture_plan(node, scope);
        g_assert_true(hook_plan_usable(plan, HOOK_SIDE_TARGET, NULL));
        g_assert_cmpint(hook_plan_family(plan, HOOK_SIDE_TARGET), ==, HOOK_FAMILY_PROBES);
        hook_plan_free(plan);

        kernel_fixture_set_string(node, "ib_core", "origin", "out-of-tree");
        plan = kernel_fixture_plan(node, scope);
        g_assert_false(hook_plan_usable(plan, HOOK_SIDE_TARGET, &why));
        assert_has(why, "the structures of ib_core are not known");
        hook_plan_free(plan);
}

/* Nor is it taken for that where the module has BTF: what differs is in there, what does not is in the kernel's only. */
static void test_out_of_tree_with_btf(void)
{
        g_autoptr(JsonNode) node = kernel_fixture_load("6.12");
        JsonArray *fields = json_object_get_array_member(kernel_fixture_module(node, "ib_core"), "fields");
        const HookScope scope = { HOOK_SIDE_TARGET, TRANSPORT_RDMA };
        const char *why;
        HookPlan *plan;

        kernel_fixture_set_string(node, "ib_core", "origin", "out-of-tree");
        plan = kernel_fixture_plan(node, scope);
        g_assert_true(hook_plan_usable(plan, HOOK_SIDE_TARGET, NULL));
        g_assert_cmpint(hook_plan_family(plan, HOOK_SIDE_TARGET), ==, HOOK_FAMILY_TYPED);
        hook_plan_free(plan);

        json_array_add_string_element(fields, "ib_wc.wr_cqe");
        plan = kernel_fixture_plan(node, scope);
        g_assert_false(hook_plan_usable(plan, HOOK_SIDE_TARGET, &why));
        assert_has(why, "struct ib_wc would be taken for that of ib_core");
        assert_has(why, "struct ib_wc of ib_core has no field status");
        hook_plan_free(plan);

        json_array_add_string_element(fields, "ib_wc.status");
        plan = kernel_fixture_plan(node, scope);
        g_assert_true(hook_plan_usable(plan, HOOK_SIDE_TARGET, NULL));
        g_assert_cmpint(hook_plan_family(plan, HOOK_SIDE_TARGET), ==, HOOK_FAMILY_PROBES);
        assert_has(hook_plan_why_not_typed(plan, HOOK_SIDE_TARGET), "struct ib_wc would be taken for that of ib_core");
        hook_plan_free(plan);
}

static void test_symbols(void)
{
        g_autoptr(JsonNode) node = kernel_fixture_load("5.10");
        JsonArray *blacklist = json_object_get_array_member(kernel_fixture_settings(node), "kprobes_blacklisted");
        const char *why;
        HookPlan *plan;

        json_array_add_string_element(blacklist, "nvme_tcp_try_send");
        plan = plan_with(node, CAPABILITIES_ALL);
        g_assert_false(hook_plan_transport_usable(plan, HOOK_SIDE_HOST, TRANSPORT_TCP, &why));
        assert_has(why, "does not let nvme_tcp_try_send be probed");
        g_assert_true(hook_plan_usable(plan, HOOK_SIDE_TARGET, NULL));
        hook_plan_free(plan);

        json_object_set_int_member(kernel_fixture_settings(node), "kprobes_enabled", 0);
        plan = plan_with(node, CAPABILITIES_ALL);
        g_assert_false(hook_plan_usable(plan, HOOK_SIDE_TARGET, &why));
        assert_has(why, "kprobes are switched off");
        hook_plan_free(plan);

        json_object_set_int_member(kernel_fixture_settings(node), "kprobes_enabled", 1);
        json_object_set_string_member(json_node_get_object(node), "symbols_unreadable", "/proc/kallsyms: Permission denied");
        plan = plan_with(node, CAPABILITIES_ALL);
        g_assert_false(hook_plan_usable(plan, HOOK_SIDE_TARGET, &why));
        assert_has(why, "/proc/kallsyms: Permission denied");
        hook_plan_free(plan);
}

/* A tracepoint by its function, where the symbol table has no data (CONFIG_KALLSYMS_ALL). */
static void test_tracepoint_function(void)
{
        g_autoptr(JsonNode) node = kernel_fixture_load("5.10");
        const char *why;
        HookPlan *plan;

        kernel_fixture_take_away(node, "nvmet", "symbols", "__tracepoint_nvmet_req_init");
        plan = plan_with(node, CAPABILITIES_ALL);
        g_assert_true(hook_plan_usable(plan, HOOK_SIDE_TARGET, NULL));
        hook_plan_free(plan);

        kernel_fixture_take_away(node, "nvmet", "symbols", "__traceiter_nvmet_req_init");
        plan = plan_with(node, CAPABILITIES_ALL);
        g_assert_false(hook_plan_usable(plan, HOOK_SIDE_TARGET, &why));
        assert_has(why, "no tracepoint nvmet_req_init among the symbols of nvmet");
        hook_plan_free(plan);
}

static void test_locked_down(void)
{
        g_autoptr(JsonNode) node = kernel_fixture_load("6.12");
        const char *why;
        HookPlan *plan;

        json_object_set_string_member(kernel_fixture_settings(node), "lockdown", "integrity");
        plan = plan_with(node, CAPABILITIES_ALL);
        g_assert_true(hook_plan_usable(plan, HOOK_SIDE_HOST, NULL));
        hook_plan_free(plan);

        json_object_set_string_member(kernel_fixture_settings(node), "lockdown", "confidentiality");
        plan = plan_with(node, CAPABILITIES_ALL);
        g_assert_false(hook_plan_usable(plan, HOOK_SIDE_HOST, &why));
        assert_has(why, "locked down (confidentiality)");
        g_assert_null(strstr(why, "nor by probes"));
        hook_plan_free(plan);
}

/* A prototype that no program was written for is not guessed at. */
static void test_other_prototype(void)
{
        g_autoptr(JsonNode) node = kernel_fixture_load("6.12");
        const char *why;
        HookPlan *plan;

        json_object_set_int_member(json_object_get_object_member(kernel_fixture_module(node, "nvme_core"), "arguments"),
                                   "nvme_setup_cmd", 3);
        plan = plan_with(node, CAPABILITIES_ALL);
        g_assert_false(hook_plan_usable(plan, HOOK_SIDE_HOST, &why));
        assert_has(why, "tracepoint nvme_setup_cmd has 3 arguments, not 2");
        hook_plan_free(plan);
}

int main(int argc, char **argv)
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/plan-families/typed", test_typed);
        g_test_add_func("/plan-families/without-admin", test_without_admin);
        g_test_add_func("/plan-families/without-bpf", test_without_bpf);
        g_test_add_func("/plan-families/no-module-btf", test_no_module_btf);
        g_test_add_func("/plan-families/types-unknown", test_types_unknown);
        g_test_add_func("/plan-families/out-of-tree", test_out_of_tree);
        g_test_add_func("/plan-families/out-of-tree-with-btf", test_out_of_tree_with_btf);
        g_test_add_func("/plan-families/symbols", test_symbols);
        g_test_add_func("/plan-families/tracepoint-function", test_tracepoint_function);
        g_test_add_func("/plan-families/locked-down", test_locked_down);
        g_test_add_func("/plan-families/other-prototype", test_other_prototype);
        return g_test_run();
}
