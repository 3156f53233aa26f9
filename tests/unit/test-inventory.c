/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Inventories as documents, and as read from trees that look like a kernel's. */
#include <errno.h>
#include <string.h>

#include "daemon/kernel/inventory-internal.h"
#include "fake-btf.h"
#include "kernel-fixture.h"

static void test_round_trip(void)
{
        for (unsigned i = 0; recorded_kernels[i]; i++) {
                g_autoptr(JsonNode) node = kernel_fixture_load(recorded_kernels[i]), again = NULL;
                KernelInventory *inventory = kernel_fixture_inventory(node);

                again = kernel_inventory_to_json(inventory);
                g_assert_true(json_node_equal(node, again));
                kernel_inventory_free(inventory);
        }
}

/* What was recorded before there were symbols is read still: as a kernel that does not tell its symbols. */
static void test_schema_1(void)
{
        const char *text = "{\"schema\":\"org.ntprof.kernel-inventory/1\",\"release\":\"6.1\",\"modules\":[{\"name\":\"nvmet\","
                           "\"loaded\":true,\"btf\":true,\"functions\":[\"nvmet_bio_done\"],\"tracepoints\":[\"nvmet_req_init\"],"
                           "\"fields\":[\"nvmet_sq.qid\"]}]}";
        g_autoptr(JsonNode) node = json_from_string(text, NULL);
        KernelInventory *inventory = kernel_fixture_inventory(node);

        g_assert_true(kernel_inventory_has_btf_function(inventory, "nvmet", "nvmet_bio_done"));
        g_assert_true(kernel_inventory_has_tracepoint(inventory, "nvmet", "nvmet_req_init"));
        g_assert_cmpint(kernel_inventory_tracepoint_arguments(inventory, "nvmet", "nvmet_req_init"), ==, -1);
        g_assert_true(kernel_inventory_module_has_types(inventory, "nvmet"));
        g_assert_cmpint(kernel_inventory_module_origin(inventory, "nvmet"), ==, MODULE_ORIGIN_UNKNOWN);
        g_assert_nonnull(strstr(kernel_inventory_symbols_unreadable(inventory), "org.ntprof.kernel-inventory/1"));
        kernel_inventory_free(inventory);
}

#define OF_RELEASE(release, modules) \
        "{\"schema\":\"org.ntprof.kernel-inventory/1\",\"release\":\"" release "\",\"modules\":" modules "}"
#define OLD(modules) OF_RELEASE("6.1", modules)
#define NEW(settings, modules) \
        "{\"schema\":\"org.ntprof.kernel-inventory/2\",\"release\":\"6.1\"," settings "\"modules\":" modules "}"
#define SETTINGS "\"settings\":{\"kprobes_blacklisted\":[]},"
#define MODULE(more) "[{\"name\":\"x\",\"loaded\":true,\"btf\":true,\"functions\":[],\"tracepoints\":[],\"fields\":[]" more "}]"

static void test_hostile(void)
{
        const char *const texts[] = {
                "[]", "{}", "{\"schema\":\"org.ntprof.kernel-inventory/1\"}",
                "{\"schema\":\"org.ntprof.kernel-inventory/3\",\"release\":\"6.1\",\"modules\":[]}",
                "{\"schema\":\"org.ntprof.kernel-inventory/1\",\"release\":6,\"modules\":[]}",
                OLD("[1]"),
                OLD("[{\"name\":\"x\"}]"),
                OLD("[{\"name\":\"x\",\"loaded\":1,\"btf\":true,\"functions\":[],\"tracepoints\":[],\"fields\":[]}]"),
                OLD("[{\"name\":\"x\",\"loaded\":true,\"btf\":true,\"functions\":[[]],\"tracepoints\":[],\"fields\":[]}]"),
                OF_RELEASE("", "[]"),
                OF_RELEASE("../6.1", "[]"),
                OF_RELEASE("6.1; reboot", "[]"),
                OF_RELEASE("6.1\\n", "[]"),
                OF_RELEASE("6.1-0123456789012345678901234567890123456789012345678901234567890123456789", "[]"),
                NEW("", "[]"),
                NEW("\"settings\":[],", "[]"),
                NEW("\"settings\":{},", "[]"),
                NEW("\"settings\":{\"kprobes_blacklisted\":[1]},", "[]"),
                NEW(SETTINGS, MODULE("")),
                NEW(SETTINGS, MODULE(",\"symbols\":[]")),
                NEW(SETTINGS, MODULE(",\"symbols\":[],\"arguments\":[]")),
                NEW(SETTINGS, MODULE(",\"symbols\":[],\"arguments\":{\"a\":-1}")),
                NEW(SETTINGS, MODULE(",\"symbols\":[],\"arguments\":{\"a\":99999999999}")),
                NEW(SETTINGS, MODULE(",\"symbols\":{},\"arguments\":{}")),
                NEW(SETTINGS, MODULE(",\"symbols\":[],\"arguments\":{},\"origin\":\"elsewhere\"")),
        };

        for (unsigned i = 0; i < G_N_ELEMENTS(texts); i++) {
                g_autoptr(JsonNode) node = json_from_string(texts[i], NULL);
                g_autofree char *error = NULL;
                KernelInventory *inventory = NULL;

                g_assert_nonnull(node);
                if (kernel_inventory_from_json(node, &inventory, &error) != -EINVAL)
                        g_error("read: %s", texts[i]);
                g_assert_null(inventory);
                g_assert_nonnull(error);
        }
        g_assert_nonnull(json_from_string(NEW(SETTINGS, MODULE(",\"symbols\":[],\"arguments\":{\"a\":1}")), NULL));
}

/* What a terminal would obey is not shown. */
static void test_printable(void)
{
        static const char text[] = NEW("\"label\":\"\\u001b]0;x\\u0007\",\"symbols_unreadable\":\"a\\nb\"," SETTINGS,
                                       MODULE(",\"symbols\":[],\"arguments\":{},\"types_why_not\":\"\\u001b[2J\""));
        g_autoptr(JsonNode) node = json_from_string(text, NULL);
        g_autofree char *error = NULL;
        KernelInventory *inventory;

        g_assert_cmpint(kernel_inventory_from_json(node, &inventory, &error), ==, 0);
        g_assert_cmpstr(kernel_inventory_label(inventory), ==, "?]0;x?");
        g_assert_cmpstr(kernel_inventory_symbols_unreadable(inventory), ==, "a?b");
        g_assert_cmpstr(kernel_inventory_module_types_why_not(inventory, "x"), ==, "?[2J");
        kernel_inventory_free(inventory);
}

/* ---- reading ---- */

/* struct NAME { int FIRST; union { int SECOND; }; } */
static void add_structure(struct btf *btf, const char *name, const char *first, const char *second)
{
        int inner = btf__add_union(btf, NULL, 4);

        g_assert_cmpint(btf__add_field(btf, second, 1, 0, 0), ==, 0);
        g_assert_cmpint(btf__add_struct(btf, name, 8), >, 0);
        g_assert_cmpint(btf__add_field(btf, first, 1, 0, 0), ==, 0);
        g_assert_cmpint(btf__add_field(btf, NULL, inner, 32, 0), ==, 0);
}

/* struct NAME { int FIRST; itself; itself; ... }: nobody would live to see its last member */
static void add_structure_of_itself(struct btf *btf, const char *name, const char *first)
{
        int self = btf__add_struct(btf, name, 8);

        g_assert_cmpint(btf__add_field(btf, first, 1, 0, 0), ==, 0);
        for (int i = 0; i < 100; i++)
                g_assert_cmpint(btf__add_field(btf, NULL, self, 32, 0), ==, 0);
}

static FakeTree *kernel_tree(void)
{
        FakeTree *tree = fake_tree_new();
        struct btf *vmlinux = btf__new_empty(), *nvmet;

        g_assert_cmpint(btf__add_int(vmlinux, "int", 4, BTF_INT_SIGNED), ==, 1);
        fake_btf_function(vmlinux, "tcp_add_backlog");
        fake_btf_function(vmlinux, "of_no_interest");
        fake_btf_tracepoint(vmlinux, "block_bio_queue", 2);
        fake_btf_tracepoint(vmlinux, "sched_switch", 3);
        add_structure(vmlinux, "request", "start_time_ns", "rq_disk");
        add_structure(vmlinux, "page", "flags", "lru");
        fake_btf_write(tree, vmlinux, "vmlinux");

        nvmet = btf__new_empty_split(vmlinux);
        fake_btf_function(nvmet, "nvmet_bio_done");
        fake_btf_tracepoint(nvmet, "nvmet_req_init", 2);
        add_structure(nvmet, "nvmet_sq", "qid", "size");
        add_structure(nvmet, "list_head_of_another", "next", "prev");
        add_structure_of_itself(nvmet, "nvmet_damaged", "first");
        fake_btf_write(tree, nvmet, "nvmet");
        btf__free(nvmet);
        btf__free(vmlinux);

        fake_file(tree, "", "sys/module/nvmet/taint");
        fake_file(tree, "live", "sys/module/nvmet/initstate");
        fake_file(tree, "OE", "sys/module/nvme_tcp/taint");
        fake_file(tree, "live", "sys/module/nvme_tcp/initstate");
        fake_file(tree, "24.10", "sys/module/nvme_tcp/version");
        fake_file(tree, "ABCDEF", "sys/module/nvme_tcp/srcversion");
        fake_directory(tree, "sys/module/nvme_core/parameters");
        fake_file(tree, "none [integrity] confidentiality", "sys/kernel/security/lockdown");
        fake_file(tree, "1", "sys/kernel/debug/kprobes/enabled");
        fake_file(tree, "0xffffffff81a00000-0xffffffff81a00010\tnvmet_req_init\n0xffffffff81a00020-0xffffffff81a00030\tdo_nmi",
                  "sys/kernel/debug/kprobes/blacklist");
        fake_file(tree, "-1", "proc/sys/kernel/perf_event_paranoid");
        fake_file(tree, "2", "proc/sys/kernel/unprivileged_bpf_disabled");
        fake_file(tree, "1", "proc/sys/net/core/bpf_jit_enable");
        fake_file(tree,
                  "0000000000000000 T tcp_add_backlog\n"
                  "0000000000000000 T of_no_interest\n"
                  "0000000000000000 t nvmet_rdma_queue_response\n"
                  "0000000000000000 d __tracepoint_block_bio_queue\n"
                  "0000000000000000 d __tracepoint_sched_switch\n"
                  "0000000000000000 t nvme_setup_discard\n"
                  "0000000000000000 t nvmet_bio_done\t[nvmet]\n"
                  "0000000000000000 d __tracepoint_nvmet_req_init\t[nvmet]\n"
                  "0000000000000000 T __traceiter_nvmet_req_init\t[nvmet]\n"
                  "0000000000000000 t nvmet_twice\t[nvmet]\n"
                  "0000000000000000 t nvmet_twice\t[nvmet]\n"
                  "0000000000000000 t nvmet_split.isra.0\t[nvmet]\n"
                  "0000000000000000 r nvmet_data\t[nvmet]\n"
                  "0000000000000000 t nvme_poll\t[nvme]\n"
                  "0000000000000000 t nvme_tcp_try_send\t[nvme_tcp]\n"
                  "0000000000000000 t bpf_prog_6deef7357e7b4530_nvmet_bio_done\t[bpf]\n"
                  "nonsense",
                  "proc/kallsyms");
        return tree;
}

static KernelInventory *read_tree(FakeTree *tree)
{
        const KernelRoots roots = fake_kernel_roots(tree);
        KernelInventory *inventory = NULL;

        g_assert_cmpint(kernel_inventory_read(&roots, &inventory), ==, 0);
        return inventory;
}

static void test_types(void)
{
        FakeTree *tree = kernel_tree();
        KernelInventory *inventory = read_tree(tree);
        const KernelModule *kernel = kernel_inventory_find(inventory, "vmlinux");

        /* of the kernel itself what the table names, of NVMe's modules all that is theirs */
        g_assert_true(kernel_inventory_has_btf_function(inventory, "vmlinux", "tcp_add_backlog"));
        g_assert_cmpuint(g_hash_table_size(kernel->functions), ==, 1);
        g_assert_cmpuint(g_hash_table_size(kernel->tracepoints), ==, 1);
        g_assert_cmpint(kernel_inventory_tracepoint_arguments(inventory, "vmlinux", "block_bio_queue"), ==, 2);
        g_assert_true(kernel_inventory_has_field(inventory, "vmlinux", "request", "rq_disk"));
        g_assert_cmpuint(g_hash_table_size(kernel->fields), ==, 2);
        g_assert_cmpstr(kernel->types, ==, "kernel");

        g_assert_true(kernel_inventory_module_has_btf(inventory, "nvmet"));
        g_assert_true(kernel_inventory_has_btf_function(inventory, "nvmet", "nvmet_bio_done"));
        g_assert_cmpint(kernel_inventory_tracepoint_arguments(inventory, "nvmet", "nvmet_req_init"), ==, 2);
        g_assert_true(kernel_inventory_has_field(inventory, "nvmet", "nvmet_sq", "size"));
        g_assert_false(kernel_inventory_has_field(inventory, "nvmet", "list_head_of_another", "next"));
        g_assert_true(kernel_inventory_has_field(inventory, "nvmet", "nvmet_damaged", "first"));
        kernel_inventory_free(inventory);
        fake_tree_free(tree);
}

static void test_modules(void)
{
        FakeTree *tree = kernel_tree();
        KernelInventory *inventory = read_tree(tree);
        const KernelModule *out = kernel_inventory_find(inventory, "nvme_tcp");

        g_assert_cmpint(kernel_inventory_module_origin(inventory, "nvmet"), ==, MODULE_IN_TREE);
        g_assert_cmpint(out->origin, ==, MODULE_OUT_OF_TREE);
        g_assert_cmpstr(out->version, ==, "24.10");
        g_assert_cmpstr(out->srcversion, ==, "ABCDEF");
        g_assert_false(out->btf);
        g_assert_cmpstr(out->types, ==, "none");
        g_assert_nonnull(strstr(out->types_why_not, "nvme_tcp has no BTF"));
        g_assert_nonnull(strstr(out->types_why_not, "no built-in layout"));
        /* built in: a folder of parameters only */
        g_assert_true(kernel_inventory_module_loaded(inventory, "nvme_core"));
        g_assert_cmpint(kernel_inventory_module_origin(inventory, "nvme_core"), ==, MODULE_IN_TREE);
        g_assert_true(kernel_inventory_module_has_btf(inventory, "nvme_core"));
        /* or none, where it has no parameters */
        g_assert_true(kernel_inventory_module_loaded(inventory, "nvmet_rdma"));
        g_assert_true(kernel_inventory_has_symbol(inventory, "nvmet_rdma", "nvmet_rdma_queue_response"));
        g_assert_false(kernel_inventory_module_loaded(inventory, "nvmet_tcp"));
        g_assert_cmpint(kernel_inventory_module_origin(inventory, "nvmet_tcp"), ==, MODULE_ORIGIN_UNKNOWN);
        kernel_inventory_free(inventory);
        fake_tree_free(tree);
}

static void test_symbols(void)
{
        FakeTree *tree = kernel_tree();
        KernelInventory *inventory = read_tree(tree);

        g_assert_null(kernel_inventory_symbols_unreadable(inventory));
        g_assert_true(kernel_inventory_has_symbol(inventory, "vmlinux", "tcp_add_backlog"));
        g_assert_false(kernel_inventory_has_symbol(inventory, "vmlinux", "of_no_interest"));
        g_assert_true(kernel_inventory_has_symbol(inventory, "nvmet", "nvmet_bio_done"));
        g_assert_true(kernel_inventory_has_raw_tracepoint(inventory, "nvmet", "nvmet_req_init"));
        g_assert_true(kernel_inventory_has_raw_tracepoint(inventory, "vmlinux", "block_bio_queue"));
        g_assert_false(kernel_inventory_has_raw_tracepoint(inventory, "vmlinux", "block_rq_complete"));
        /* which of the two would it be? */
        g_assert_false(kernel_inventory_has_symbol(inventory, "nvmet", "nvmet_twice"));
        /* not with the arguments that the source has */
        g_assert_false(kernel_inventory_has_symbol(inventory, "nvmet", "nvmet_split"));
        g_assert_cmpuint(g_hash_table_size(kernel_inventory_find(inventory, "nvmet")->symbols), ==, 3);
        g_assert_true(kernel_inventory_has_symbol(inventory, "nvme_tcp", "nvme_tcp_try_send"));
        g_assert_false(kernel_inventory_has_symbol(inventory, "nvmet_tcp", "nvme_tcp_try_send"));
        kernel_inventory_free(inventory);

        fake_remove(tree, "proc/kallsyms");
        inventory = read_tree(tree);
        g_assert_nonnull(strstr(kernel_inventory_symbols_unreadable(inventory), "kallsyms: No such file"));
        g_assert_false(kernel_inventory_has_symbol(inventory, "vmlinux", "tcp_add_backlog"));
        kernel_inventory_free(inventory);
        fake_tree_free(tree);
}

static void test_settings(void)
{
        FakeTree *tree = kernel_tree();
        KernelInventory *inventory = read_tree(tree);
        const KernelSettings *settings = kernel_inventory_settings(inventory);

        g_assert_cmpstr(settings->lockdown, ==, "integrity");
        g_assert_true(settings->has_perf_event_paranoid);
        g_assert_cmpint(settings->perf_event_paranoid, ==, -1);
        g_assert_cmpint(settings->unprivileged_bpf_disabled, ==, 2);
        g_assert_cmpint(settings->bpf_jit_enable, ==, 1);
        g_assert_cmpint(settings->kprobes_enabled, ==, 1);
        g_assert_null(settings->kprobes_unreadable);
        g_assert_true(kernel_inventory_kprobe_blacklisted(inventory, "nvmet_req_init"));
        g_assert_false(kernel_inventory_kprobe_blacklisted(inventory, "do_nmi"));
        kernel_inventory_free(inventory);

        fake_remove(tree, "proc");
        fake_remove(tree, "sys/kernel/debug");
        fake_remove(tree, "sys/kernel/security");
        inventory = read_tree(tree);
        settings = kernel_inventory_settings(inventory);
        g_assert_null(settings->lockdown);
        g_assert_false(settings->has_perf_event_paranoid);
        g_assert_cmpint(settings->bpf_jit_enable, ==, -1);
        g_assert_cmpint(settings->kprobes_enabled, ==, -1);
        g_assert_nonnull(strstr(settings->kprobes_unreadable, "blacklist: No such file"));
        kernel_inventory_free(inventory);
        fake_tree_free(tree);
}

/* What is read is what is written. */
static void test_read_and_written(void)
{
        FakeTree *tree = kernel_tree();
        KernelInventory *inventory = read_tree(tree), *again;
        g_autoptr(JsonNode) first = kernel_inventory_to_json(inventory), second = NULL;

        again = kernel_fixture_inventory(first);
        second = kernel_inventory_to_json(again);
        g_assert_true(json_node_equal(first, second));
        kernel_inventory_free(again);
        kernel_inventory_free(inventory);
        fake_tree_free(tree);
}

int main(int argc, char **argv)
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/inventory/round-trip", test_round_trip);
        g_test_add_func("/inventory/schema-1", test_schema_1);
        g_test_add_func("/inventory/hostile", test_hostile);
        g_test_add_func("/inventory/printable", test_printable);
        g_test_add_func("/inventory/types", test_types);
        g_test_add_func("/inventory/modules", test_modules);
        g_test_add_func("/inventory/symbols", test_symbols);
        g_test_add_func("/inventory/settings", test_settings);
        g_test_add_func("/inventory/read-and-written", test_read_and_written);
        return g_test_run();
}
