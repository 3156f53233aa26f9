/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Plans on kernels that nobody here has run: from their sources, not from them. */
#include <string.h>

#include "daemon/inspection.h"
#include "kernel-fixture.h"

#define R2T "writes sent after an R2T"
#define IN_CAPSULE "writes in the capsule"

static HookPlan *plan_of(JsonNode *node)
{
        return kernel_fixture_plan(node, (HookScope) { BOTH_SIDES, TRANSPORTS_ALL, .detail = true });
}

static bool is_ofed(const char *name)
{
        return g_str_has_prefix(name, "ofed");
}

/* Nobody may take one for a kernel that was run. */
static void test_labels(void)
{
        for (unsigned i = 0; planned_kernels[i]; i++) {
                g_autoptr(JsonNode) node = kernel_fixture_load(planned_kernels[i]), document = NULL;
                KernelInventory *inventory = kernel_fixture_inventory(node);
                const Inspection inspection = { .inventory = inventory, .capabilities = CAPABILITIES_ALL };
                g_autofree char *text = NULL;

                g_assert_cmpstr(kernel_inventory_label(inventory), ==, "planned, not run");
                document = inspection_build(&inspection);
                g_assert_cmpstr(json_object_get_string_member(json_node_get_object(document), "label"), ==, "planned, not run");
                text = inspection_to_text(document);
                g_assert_nonnull(strstr(text, ": planned, not run\n"));
                kernel_inventory_free(inventory);
        }
        for (unsigned i = 0; recorded_kernels[i]; i++) {
                g_autoptr(JsonNode) node = kernel_fixture_load(recorded_kernels[i]);
                KernelInventory *inventory = kernel_fixture_inventory(node);

                g_assert_null(kernel_inventory_label(inventory));
                kernel_inventory_free(inventory);
        }
}

static void test_nothing_is_merged(void)
{
        for (unsigned i = 0; planned_kernels[i]; i++) {
                g_autoptr(JsonNode) node = kernel_fixture_load(planned_kernels[i]);
                HookPlan *plan = plan_of(node);

                kernel_fixture_assert_family(plan, BOTH_SIDES,
                                             is_ofed(planned_kernels[i]) ? HOOK_FAMILY_PROBES : HOOK_FAMILY_TYPED);
                for (guint j = 0; j < plan->choices->len; j++) {
                        const HookChoice *choice = plan->choices->pdata[j];

                        if (!choice->chosen)
                                g_error("%s: %s is %s", planned_kernels[i], choice->row->boundary, choice->merged);
                }
                hook_plan_free(plan);
        }
}

/* Without module BTF the built-in layouts serve. */
static void test_layouts(void)
{
        static const char *const sets[] = { "functions", "tracepoints" };

        for (unsigned i = 0; planned_kernels[i] && !is_ofed(planned_kernels[i]); i++) {
                g_autoptr(JsonNode) node = kernel_fixture_load(planned_kernels[i]);
                HookPlan *plan;

                for (unsigned j = 1; kernel_module_names[j]; j++) {
                        JsonObject *module = kernel_fixture_module(node, kernel_module_names[j]);

                        json_object_set_boolean_member(module, "btf", FALSE);
                        json_object_set_string_member(module, "types", "layout");
                        for (unsigned k = 0; k < G_N_ELEMENTS(sets); k++)
                                json_object_set_array_member(module, sets[k], json_array_new());
                }
                plan = plan_of(node);
                kernel_fixture_assert_family(plan, BOTH_SIDES, HOOK_FAMILY_PROBES);
                kernel_fixture_assert_chosen(plan, "H2", NULL, "raw_tp", "nvme_setup_cmd");
                hook_plan_free(plan);
        }
}

static void test_5_15(void)
{
        g_autoptr(JsonNode) node = kernel_fixture_load("5.15");
        HookPlan *plan = plan_of(node);

        /* rq_disk, and a request_queue that has a disk already; the queue is not an argument any more */
        kernel_fixture_assert_chosen(plan, "H0", NULL, "tp_btf", "block_bio_queue");
        kernel_fixture_assert_chosen(plan, "H2", NULL, "tp_btf", "nvme_setup_cmd");
        kernel_fixture_assert_chosen(plan, "H4", R2T, "fentry", "nvme_tcp_setup_h2c_data_pdu");
        kernel_fixture_assert_chosen(plan, "T2", IN_CAPSULE, "fentry", "nvmet_tcp_map_pdu_iovec");
        hook_plan_free(plan);
}

/* As Debian's compilers do with all they were seen with before 6.12: these need other ways. */
static void test_inlined(void)
{
        static const char *const inlined[][2] = {
                { "nvme_tcp", "nvme_tcp_try_send_cmd_pdu" }, { "nvme_tcp", "nvme_tcp_try_send_data" },
                { "nvmet_tcp", "nvmet_try_send_response" }, { "nvmet_tcp", "nvmet_try_send_data" },
                { "nvmet_tcp", "nvmet_try_send_r2t" },
        };

        for (unsigned i = 0; planned_kernels[i]; i++) {
                g_autoptr(JsonNode) node = kernel_fixture_load(planned_kernels[i]);
                bool ofed = is_ofed(planned_kernels[i]), has_sendpage;
                KernelInventory *inventory;
                const char *why = NULL;
                HookPlan *plan;

                for (unsigned j = 0; j < G_N_ELEMENTS(inlined); j++) {
                        if (!ofed)
                                kernel_fixture_take_away(node, inlined[j][0], "functions", inlined[j][1]);
                        kernel_fixture_take_away(node, inlined[j][0], "symbols", inlined[j][1]);
                }
                inventory = kernel_fixture_inventory(node);
                has_sendpage = kernel_inventory_has_symbol(inventory, "vmlinux", "kernel_sendpage");
                kernel_inventory_free(inventory);
                plan = plan_of(node);
                kernel_fixture_assert_chosen(plan, "H3", NULL, ofed ? "kprobe+kretprobe" : "fentry+fexit", "nvme_tcp_try_send");
                /* Since 6.5 there is no kernel_sendpage() to fall back on. */
                g_assert_cmpint(hook_plan_transport_usable(plan, HOOK_SIDE_TARGET, TRANSPORT_TCP, &why), ==, has_sendpage);
                if (has_sendpage)
                        kernel_fixture_assert_chosen(plan, "T9", NULL, ofed ? "kretprobe" : "fexit", "kernel_sendpage");
                else
                        g_assert_nonnull(strstr(why, "no hook for T2 (writes sent after an R2T)"));
                g_assert_true(hook_plan_transport_usable(plan, HOOK_SIDE_TARGET, TRANSPORT_RDMA, NULL));
                hook_plan_free(plan);
        }
}

/* Its structures are not the kernel's, and without a file of them nothing is read. */
static void test_ofed(void)
{
        for (unsigned i = 0; planned_kernels[i]; i++) {
                g_autoptr(JsonNode) node = kernel_fixture_load(planned_kernels[i]);
                const char *why = NULL;
                HookPlan *plan;

                if (!is_ofed(planned_kernels[i]))
                        continue;
                for (unsigned j = 1; kernel_module_names[j]; j++)
                        kernel_fixture_take_btf(node, kernel_module_names[j]);
                plan = plan_of(node);
                for (HookSides side = HOOK_SIDE_HOST; side <= HOOK_SIDE_TARGET; side <<= 1)
                        for (unsigned j = 0; j < n_transports; j++) {
                                g_assert_false(hook_plan_transport_usable(plan, side, transports[j].transport, &why));
                                g_assert_nonnull(strstr(why, "are not known: it is a test"));
                        }
                hook_plan_free(plan);
        }
}

int main(int argc, char **argv)
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/planned/labels", test_labels);
        g_test_add_func("/planned/nothing-is-merged", test_nothing_is_merged);
        g_test_add_func("/planned/layouts", test_layouts);
        g_test_add_func("/planned/5.15", test_5_15);
        g_test_add_func("/planned/inlined", test_inlined);
        g_test_add_func("/planned/ofed", test_ofed);
        return g_test_run();
}
