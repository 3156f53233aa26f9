/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is told of a machine and of a namespace, on kernels that were recorded. */
#include <string.h>

#include "daemon/inspection-internal.h"
#include "daemon/privileges.h"
#include "fake-tree.h"
#include "kernel-fixture.h"

static JsonNode *inspect(JsonNode *kernel, const NamespaceInfo *namespace, char *const *iostats_off, uint64_t capabilities)
{
        KernelInventory *inventory = kernel_fixture_inventory(kernel);
        const Inspection inspection = {
                .inventory = inventory, .namespace = namespace, .iostats_off = iostats_off, .capabilities = capabilities,
        };
        JsonNode *document = inspection_build(&inspection);

        kernel_inventory_free(inventory);
        return document;
}

/* By path: "usable.host", "lacks.0.what"; NULL when there is nothing. */
static JsonNode *at(JsonNode *node, const char *path)
{
        g_auto(GStrv) names = g_strsplit(path, ".", -1);

        for (char **name = names; node && *name; name++) {
                if (JSON_NODE_HOLDS_OBJECT(node))
                        node = json_object_get_member(json_node_get_object(node), *name);
                else if (JSON_NODE_HOLDS_ARRAY(node) && (guint) atoi(*name) < json_array_get_length(json_node_get_array(node)))
                        node = json_array_get_element(json_node_get_array(node), atoi(*name));
                else
                        node = NULL;
        }
        return node;
}

static const char *text_at(JsonNode *node, const char *path)
{
        JsonNode *found = at(node, path);

        return found && JSON_NODE_HOLDS_VALUE(found) ? json_node_get_string(found) : NULL;
}

static bool true_at(JsonNode *node, const char *path)
{
        JsonNode *found = at(node, path);

        return found && JSON_NODE_HOLDS_VALUE(found) && json_node_get_value_type(found) == G_TYPE_BOOLEAN &&
                json_node_get_boolean(found);
}

static guint length_at(JsonNode *node, const char *path)
{
        JsonNode *found = at(node, path);

        g_assert_true(found && JSON_NODE_HOLDS_ARRAY(found));
        return json_array_get_length(json_node_get_array(found));
}

static void assert_has(const char *text, const char *part)
{
        if (!text || !strstr(text, part))
                g_error("\"%s\" does not tell of \"%s\"", text, part);
}

static void test_nothing_is_lacking(void)
{
        g_autoptr(JsonNode) kernel = kernel_fixture_load("6.12"), document = inspect(kernel, NULL, NULL, CAPABILITIES_ALL);

        g_assert_true(true_at(document, "usable.host") && true_at(document, "usable.target"));
        g_assert_true(true_at(document, "transports.tcp.target") && true_at(document, "transports.rdma.host"));
        g_assert_cmpstr(text_at(document, "programs.host.family"), ==, "typed");
        g_assert_null(text_at(document, "programs.host.why_not_typed"));
        g_assert_cmpuint(length_at(document, "lacks"), ==, 0);
        g_assert_cmpuint(length_at(document, "notes"), ==, 0);
        g_assert_cmpuint(length_at(document, "holds"), ==, 7);
        g_assert_cmpstr(text_at(document, "holds.0"), ==, "nvme_core");
        g_assert_true(JSON_NODE_HOLDS_NULL(at(document, "namespace")));
        g_assert_null(at(document, "label"));
}

static void test_lacks(void)
{
        g_autoptr(JsonNode) kernel = kernel_fixture_load("6.12"), document = NULL;

        kernel_fixture_take_away(kernel, "nvme_tcp", "functions", "nvme_tcp_setup_h2c_data_pdu");
        document = inspect(kernel, NULL, NULL, CAPABILITIES_ALL);
        g_assert_true(true_at(document, "usable.host"));
        g_assert_cmpuint(length_at(document, "lacks"), ==, 1);
        g_assert_cmpstr(text_at(document, "lacks.0.what"), ==, "H4 (tcp; writes sent after an R2T)");
        g_assert_cmpstr(text_at(document, "lacks.0.side"), ==, "host");
        g_assert_cmpstr(text_at(document, "lacks.0.merged_into"), ==, "the network");
        assert_has(text_at(document, "lacks.0.reason"), "no function nvme_tcp_setup_h2c_data_pdu in the BTF of nvme_tcp");
}

/* What must be done is said once, with the command that does it. */
static void test_types_unknown(void)
{
        g_autoptr(JsonNode) kernel = kernel_fixture_load("6.12"), document = NULL;

        kernel_fixture_take_btf(kernel, "nvmet_tcp");
        kernel_fixture_set_string(kernel, "nvmet_tcp", "origin", "out-of-tree");
        document = inspect(kernel, NULL, NULL, CAPABILITIES_ALL);
        assert_has(text_at(document, "transports.tcp.target"), "the structures of nvmet_tcp are not known: it is a test");
        g_assert_true(true_at(document, "usable.target"));
        g_assert_cmpuint(length_at(document, "notes"), ==, 1);
        assert_has(text_at(document, "notes.0"), "nvmet_tcp, an out-of-tree module, are not known: it is a test");
        assert_has(text_at(document, "notes.0"), "pahole");
}

static void test_settings(void)
{
        g_autoptr(JsonNode) kernel = kernel_fixture_load("6.12"), document = NULL;

        json_object_set_int_member(kernel_fixture_settings(kernel), "perf_event_paranoid", 2);
        json_object_set_int_member(kernel_fixture_settings(kernel), "bpf_jit_enable", 0);
        json_object_set_string_member(kernel_fixture_settings(kernel), "kprobes_unreadable", "Permission denied");
        json_object_set_string_member(json_node_get_object(kernel), "label", "planned, not run");
        document = inspect(kernel, NULL, NULL, UINT64_C(3) << 38);
        g_assert_cmpstr(text_at(document, "programs.target.family"), ==, "probes");
        assert_has(text_at(document, "programs.target.why_not_typed"), "CAP_SYS_ADMIN");
        g_assert_cmpstr(text_at(document, "label"), ==, "planned, not run");
        g_assert_cmpuint(length_at(document, "notes"), ==, 3);
        assert_has(text_at(document, "notes.0"), "planned, not run");
        assert_has(text_at(document, "notes.1"), "bpf_jit_enable");
        assert_has(text_at(document, "notes.2"), "Permission denied");
}

/* A namespace of two paths, of which the first's target is this machine. */
static NamespaceInfo *resolve(FakeTree *tree)
{
        _cleanup_error_ Error error = ERROR_INIT;
        NamespaceInfo *namespace = NULL;

        fake_controller(tree, 6, "tcp", "127.0.0.1", "nqn.host");
        fake_controller(tree, 7, "tcp", "10.0.0.7", "nqn.host");
        fake_namespace(tree, 6, 1, "nqn.2026-11.test:sub", (const int[]) { 6, 7, -1 });
        if (namespace_resolve(&tree->roots, "nvme6n1", &namespace, &error) < 0)
                g_error("%s", error.message);
        return namespace;
}

static char *joined_at(JsonNode *node, const char *path)
{
        GString *text = g_string_new(NULL);

        for (guint i = 0; i < length_at(node, path); i++) {
                g_autofree char *item = g_strdup_printf("%s.%u", path, i);

                g_string_append_printf(text, "%s%s", i > 0 ? " " : "", text_at(node, item));
        }
        return g_string_free(text, false);
}

static void assert_privileges(uint64_t permitted, int paranoid, const char *needed, const char *lacking)
{
        g_autoptr(JsonNode) kernel = kernel_fixture_load("6.12"), document = NULL;
        g_autofree char *as_needed = NULL, *as_permitted = NULL, *as_lacking = NULL, *names = NULL;
        g_auto(GStrv) strv = privileges_names(permitted);

        json_object_set_int_member(kernel_fixture_settings(kernel), "perf_event_paranoid", paranoid);
        document = inspect(kernel, NULL, NULL, permitted);
        as_needed = joined_at(document, "privileges.needed");
        as_permitted = joined_at(document, "privileges.permitted");
        as_lacking = joined_at(document, "privileges.lacking");
        names = g_strjoinv(" ", strv);
        g_assert_cmpstr(as_needed, ==, needed);
        g_assert_cmpstr(as_permitted, ==, names);
        g_assert_cmpstr(as_lacking, ==, lacking);
        if (*lacking)
                assert_has(text_at(document, "privileges.advice"), strrchr(lacking, ' ') ?: lacking);
        else
                g_assert_true(JSON_NODE_HOLDS_NULL(at(document, "privileges.advice")));
}

/* What the plan takes, which is another one when something is lacking. */
static void test_privileges(void)
{
        assert_privileges(PRIVILEGES_ALL, 3, "CAP_SYS_ADMIN CAP_PERFMON CAP_BPF", "");
        assert_privileges(PRIVILEGE(CAP_SYS_ADMIN), 3, "CAP_SYS_ADMIN CAP_PERFMON CAP_BPF", "");
        assert_privileges(PRIVILEGES_PROBES, 2, "CAP_PERFMON CAP_BPF", "");
        assert_privileges(PRIVILEGES_PROBES, 3, "CAP_SYS_ADMIN CAP_PERFMON CAP_BPF", "CAP_SYS_ADMIN");
        assert_privileges(0, 2, "CAP_SYS_ADMIN CAP_PERFMON CAP_BPF", "CAP_SYS_ADMIN CAP_PERFMON CAP_BPF");
}

static void test_namespace_elsewhere(void)
{
        g_autoptr(JsonNode) kernel = kernel_fixture_load("6.12"), document = NULL;
        FakeTree *tree = fake_tree_new();
        _cleanup_(namespace_info_freep) NamespaceInfo *namespace = resolve(tree);

        kernel_fixture_set_boolean(kernel, "nvmet_tcp", "loaded", FALSE);
        document = inspect(kernel, namespace, NULL, CAPABILITIES_ALL);
        g_assert_cmpstr(text_at(document, "namespace.name"), ==, "nvme6n1");
        g_assert_cmpuint(length_at(document, "namespace.paths"), ==, 2);
        g_assert_cmpstr(text_at(document, "namespace.paths.1.disk"), ==, "nvme6c7n1");
        g_assert_cmpstr(text_at(document, "namespace.paths.1.traddr"), ==, "10.0.0.7");
        g_assert_true(true_at(document, "usable.host"));
        assert_has(text_at(document, "usable.target"), "another machine");
        assert_has(text_at(document, "transports.tcp.target"), "another machine");
        /* of no other transport, and of no side that it has not here */
        g_assert_null(at(document, "transports.rdma"));
        g_assert_true(JSON_NODE_HOLDS_NULL(at(document, "programs.target")));
        for (guint i = 0; i < length_at(document, "plan"); i++) {
                g_autofree char *side = g_strdup_printf("plan.%u.side", i),
                                *transport = g_strdup_printf("plan.%u.transport", i);

                g_assert_cmpstr(text_at(document, side), ==, "host");
                g_assert_cmpstr(text_at(document, transport), !=, "rdma");
        }
        g_assert_cmpuint(length_at(document, "lacks"), ==, 2);
        g_assert_cmpstr(text_at(document, "lacks.1.what"), ==, "the target's side of path nvme6c7n1");
        assert_has(text_at(document, "lacks.1.reason"), "10.0.0.7");
        assert_has(text_at(document, "lacks.1.reason"), "ntprofctl peer list");
        fake_tree_free(tree);
}

static void test_namespace_here(void)
{
        g_autoptr(JsonNode) kernel = kernel_fixture_load("6.12"), document = NULL;
        FakeTree *tree = fake_tree_new();
        _cleanup_(namespace_info_freep) NamespaceInfo *namespace = resolve(tree);

        namespace->paths[0].local = true;
        namespace->drive_hidden = g_strdup("the namespace is a file");
        document = inspect(kernel, namespace, NULL, CAPABILITIES_ALL);
        g_assert_true(true_at(document, "usable.host") && true_at(document, "usable.target"));
        g_assert_true(true_at(document, "namespace.paths.0.local"));
        g_assert_false(true_at(document, "namespace.paths.1.local"));
        g_assert_cmpuint(length_at(document, "lacks"), ==, 2);
        g_assert_cmpstr(text_at(document, "lacks.0.what"), ==, "the target's side of path nvme6c7n1");
        g_assert_cmpstr(text_at(document, "lacks.1.reason"), ==, "the namespace is a file");
        g_clear_pointer(&document, json_node_unref);

        /* Its transport is all that it has. */
        kernel_fixture_set_boolean(kernel, "nvme_tcp", "loaded", FALSE);
        document = inspect(kernel, namespace, NULL, CAPABILITIES_ALL);
        assert_has(text_at(document, "usable.host"), "module nvme_tcp is not loaded");
        fake_tree_free(tree);
}

static void test_iostats_off(void)
{
        g_autoptr(JsonNode) kernel = kernel_fixture_load("6.12"), document = NULL;
        FakeTree *tree = fake_tree_new();
        _cleanup_(namespace_info_freep) NamespaceInfo *namespace = resolve(tree);
        g_auto(GStrv) off = NULL;

        /* as the kernel has it: a controller's path devices are in its folder */
        fake_controller(tree, 8, "pcie", NULL, NULL);
        fake_single_namespace(tree, 8, 1);
        fake_file(tree, "0", "sys/devices/ctl/nvme8/nvme8n1/queue/iostats");

        off = inspection_iostats_off(&tree->roots, namespace);
        g_assert_cmpuint(g_strv_length(off), ==, 0);
        g_clear_pointer(&off, g_strfreev);

        fake_file(tree, "0", "sys/devices/ctl/nvme7/nvme6c7n1/queue/iostats");
        off = inspection_iostats_off(&tree->roots, namespace);
        g_assert_cmpuint(g_strv_length(off), ==, 1);
        g_assert_cmpstr(off[0], ==, "nvme6c7n1");
        g_clear_pointer(&off, g_strfreev);

        /* of the machine: not of drives that are not NVMe-oF */
        off = inspection_iostats_off(&tree->roots, NULL);
        g_assert_cmpuint(g_strv_length(off), ==, 1);
        g_assert_cmpstr(off[0], ==, "nvme6c7n1");

        document = inspect(kernel, NULL, off, CAPABILITIES_ALL);
        g_assert_cmpuint(length_at(document, "lacks"), ==, 1);
        assert_has(text_at(document, "lacks.0.what"), "H1 of nvme6c7n1");
        assert_has(text_at(document, "lacks.0.reason"), "echo 1 > /sys/block/nvme6c7n1/queue/iostats");
        fake_tree_free(tree);
}

/* What somebody sent is planned as it was there, of a whole inspection its inventory; and what is no inventory is an error that names the file. */
static void test_inventory(void)
{
        static const char *const wrong[] = { "", "{", "[[[[[[[[[[[[[[[[[[[[]]]]]]]]]]]]]]]]]]]]", "{\"schema\":\"x\"}",
                                             "{\"schema\":\"org.ntprof.inspection/1\"}" };
        g_autofree char *path = g_strdup_printf("%s/../fixtures/kernels/5.10.json", g_getenv("G_TEST_SRCDIR")), *other = NULL;
        _cleanup_error_ Error error = ERROR_INIT;
        g_autoptr(JsonNode) document = NULL, again = NULL;
        g_autofree char *whole = NULL;
        FakeTree *tree = fake_tree_new();

        g_assert_cmpint(inspection_of_inventory(path, &document, &error), ==, 0);
        assert_has(text_at(document, "kernel"), "5.10.");
        g_assert_cmpstr(text_at(document, "programs.host.family"), ==, "probes");

        other = g_build_filename(tree->root, "inventory", NULL);
        whole = json_to_string(document, true);
        fake_file(tree, whole, "inventory");
        g_assert_cmpint(inspection_of_inventory(other, &again, &error), ==, 0);
        g_assert_true(json_node_equal(again, document));

        for (unsigned i = 0; i <= G_N_ELEMENTS(wrong); i++) {
                _cleanup_error_ Error why = ERROR_INIT;
                JsonNode *none = NULL;

                if (i < G_N_ELEMENTS(wrong))
                        fake_file(tree, wrong[i], "inventory");
                else
                        fake_remove(tree, "inventory");
                g_assert_cmpint(inspection_of_inventory(other, &none, &why), <, 0);
                assert_has(why.message, other);
                g_assert_null(none);
        }
        fake_tree_free(tree);
}

static void test_text(void)
{
        g_autoptr(JsonNode) kernel = kernel_fixture_load("6.12"), document = NULL;
        _cleanup_free_ char *text = NULL;

        json_object_set_string_member(json_node_get_object(kernel), "label", "planned, not run");
        document = inspect(kernel, NULL, NULL, CAPABILITIES_ALL);
        text = inspection_to_text(document);
        g_assert_true(g_str_has_prefix(text, "kernel 6.12."));
        assert_has(text, ": planned, not run\n");
        assert_has(text, "\nhost side: can be recorded\n");
        assert_has(text, "tp_btf       nvme_setup_cmd");
        assert_has(text, "\na report will lack nothing\nnote: this kernel is planned, not run\n");
        g_clear_pointer(&document, json_node_unref);
        g_clear_pointer(&text, free);

        kernel_fixture_take_away(kernel, "nvme_tcp", "functions", "nvme_tcp_setup_h2c_data_pdu");
        document = inspect(kernel, NULL, NULL, CAPABILITIES_ALL);
        text = inspection_to_text(document);
        assert_has(text, "\na report will lack:\nH4 (tcp; writes sent after an R2T), merged into the network: no function");
}

int main(int argc, char **argv)
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/inspection/nothing-is-lacking", test_nothing_is_lacking);
        g_test_add_func("/inspection/lacks", test_lacks);
        g_test_add_func("/inspection/types-unknown", test_types_unknown);
        g_test_add_func("/inspection/settings", test_settings);
        g_test_add_func("/inspection/privileges", test_privileges);
        g_test_add_func("/inspection/namespace-elsewhere", test_namespace_elsewhere);
        g_test_add_func("/inspection/namespace-here", test_namespace_here);
        g_test_add_func("/inspection/iostats-off", test_iostats_off);
        g_test_add_func("/inspection/inventory", test_inventory);
        g_test_add_func("/inspection/text", test_text);
        return g_test_run();
}
