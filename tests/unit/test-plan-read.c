/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Plans of trees that look like a kernel's, and what of them is read. */
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "daemon/kernel/plan-internal.h"
#include "daemon/privileges.h"
#include "fake-btf.h"
#include "kernel-fixture.h"

#define HOST_MODULES "nvme_core", "nvme_tcp"

static void add_field(struct btf *btf, const HookField *field)
{
        g_assert_cmpint(btf__add_struct(btf, field->structure, 4), >, 0);
        g_assert_cmpint(btf__add_field(btf, field->field, 1, 0, 0), ==, 0);
}

/* Each once: two of a name would be of no use. */
static void add_symbol(GString *symbols, char type, const char *prefix, const char *name, const char *module)
{
        g_autofree char *line = g_strdup_printf("0 %c %s%s\t[%s]\n", type, prefix, name, module);

        if (!strstr(symbols->str, line))
                g_string_append(symbols, line);
}

/* What the first candidates of the host's rows for NVMe/TCP need of a module. */
static void add_all(struct btf *btf, const char *module, GString *symbols)
{
        for (unsigned i = 0; i < n_hook_rows; i++) {
                const HookCandidate *candidate = &hook_rows[i].candidates[0];

                if (hook_rows[i].side != HOOK_SIDE_HOST || g_strcmp0(hook_rows[i].transport, "rdma") == 0)
                        continue;
                for (unsigned j = 0; j < HOOK_FIELDS_MAX && candidate->fields[j].field; j++)
                        if (g_str_equal(candidate->fields[j].module, module))
                                add_field(btf, &candidate->fields[j]);
                if (!g_str_equal(candidate->module, module))
                        continue;
                if (candidate->kind == HOOK_TRACEPOINT) {
                        fake_btf_tracepoint(btf, candidate->symbol, candidate->arguments[0]);
                        add_symbol(symbols, 'd', "__tracepoint_", candidate->symbol, module);
                }
                if (candidate->kind == HOOK_FUNCTION) {
                        fake_btf_function(btf, candidate->symbol);
                        add_symbol(symbols, 't', "", candidate->symbol, module);
                }
                for (unsigned j = 0; j < HOOK_FUNCTIONS_MAX && candidate->functions[j]; j++) {
                        fake_btf_function(btf, candidate->functions[j]);
                        add_symbol(symbols, 't', "", candidate->functions[j], module);
                }
        }
}

/* A host with nvme-tcp, whose kernel has all that typed programs need. Its symbols are not there yet: *ret_symbols. */
static FakeTree *host_tree(char **ret_symbols)
{
        static const char *const modules[] = { HOST_MODULES };
        FakeTree *tree = fake_tree_new();
        GString *symbols = g_string_new(NULL);
        struct btf *vmlinux = btf__new_empty();

        g_assert_cmpint(btf__add_int(vmlinux, "int", 4, BTF_INT_SIGNED), ==, 1);
        add_all(vmlinux, "vmlinux", symbols);
        fake_btf_write(tree, vmlinux, "vmlinux");
        for (size_t i = 0; i < G_N_ELEMENTS(modules); i++) {
                struct btf *btf = btf__new_empty_split(vmlinux);

                add_all(btf, modules[i], symbols);
                fake_btf_write(tree, btf, modules[i]);
                fake_file(tree, "", "sys/module/%s/taint", modules[i]);
                fake_file(tree, "live", "sys/module/%s/initstate", modules[i]);
                btf__free(btf);
        }
        btf__free(vmlinux);
        fake_directory(tree, "proc");
        *ret_symbols = g_string_free(symbols, false);
        return tree;
}

static HookPlan *plan(FakeTree *tree, uint64_t capabilities)
{
        const KernelRoots roots = fake_kernel_roots(tree);
        const HookScope scope = { HOOK_SIDE_HOST, TRANSPORT_TCP, true, capabilities };
        HookPlan *ret = NULL;

        g_assert_cmpint(hook_plan_read(&roots, &scope, &ret), ==, 0);
        return ret;
}

/* Who opens this waits for ever: the alarm ends the test. */
static void make_symbols_endless(FakeTree *tree)
{
        g_autofree char *path = g_build_filename(tree->root, "proc/kallsyms", NULL);

        g_assert_cmpint(mkfifo(path, 0600), ==, 0);
        alarm(60);
}

/* Nothing of a plan that can be typed depends on the symbols, and so they are not looked at. */
static void test_typed(void)
{
        g_autofree char *symbols = NULL;
        FakeTree *tree = host_tree(&symbols);
        g_autoptr(JsonNode) without = NULL, unread = NULL, with = NULL;
        HookPlan *p;

        p = plan(tree, CAPABILITIES_ALL);
        kernel_fixture_assert_family(p, HOOK_SIDE_HOST, HOOK_FAMILY_TYPED);
        without = hook_plan_to_json(p);
        hook_plan_free(p);

        make_symbols_endless(tree);
        p = plan(tree, CAPABILITIES_ALL);
        alarm(0);
        unread = hook_plan_to_json(p);
        hook_plan_free(p);
        g_assert_true(json_node_equal(without, unread));

        fake_remove(tree, "proc/kallsyms");
        fake_file(tree, symbols, "proc/kallsyms");
        p = plan(tree, CAPABILITIES_ALL);
        with = hook_plan_to_json(p);
        hook_plan_free(p);
        g_assert_true(json_node_equal(without, with));
        fake_tree_free(tree);
}

/* Without CAP_SYS_ADMIN programs are probes, which need symbols. */
static void test_probes(void)
{
        g_autofree char *symbols = NULL;
        FakeTree *tree = host_tree(&symbols);
        const char *why = NULL;
        HookPlan *p;

        p = plan(tree, PRIVILEGES_PROBES);
        g_assert_false(hook_plan_usable(p, HOOK_SIDE_HOST, &why));
        g_assert_nonnull(strstr(why, "kallsyms: No such file"));
        hook_plan_free(p);

        fake_file(tree, symbols, "proc/kallsyms");
        p = plan(tree, PRIVILEGES_PROBES);
        kernel_fixture_assert_family(p, HOOK_SIDE_HOST, HOOK_FAMILY_PROBES);
        hook_plan_free(p);
        fake_tree_free(tree);
}

/* What cannot be typed for lack of a module's BTF is tried by symbols, and what is wrong with these is told. */
static void test_no_btf(void)
{
        g_autofree char *symbols = NULL;
        FakeTree *tree = host_tree(&symbols);
        const char *why = NULL;
        HookPlan *p;

        fake_remove(tree, "sys/kernel/btf/nvme_tcp");
        p = plan(tree, CAPABILITIES_ALL);
        g_assert_false(hook_plan_usable(p, HOOK_SIDE_HOST, &why));
        g_assert_nonnull(strstr(why, "nvme_tcp has no BTF"));
        g_assert_nonnull(strstr(why, "kallsyms: No such file"));
        hook_plan_free(p);

        /* with symbols it is the structures that are not known */
        fake_file(tree, symbols, "proc/kallsyms");
        p = plan(tree, CAPABILITIES_ALL);
        g_assert_false(hook_plan_usable(p, HOOK_SIDE_HOST, &why));
        g_assert_null(strstr(why, "kallsyms"));
        g_assert_nonnull(strstr(why, "the structures of nvme_tcp are not known"));
        hook_plan_free(p);
        fake_tree_free(tree);
}

/* A module that is built in and has no parameters is known by the kernel's BTF, too. */
static void test_built_in(void)
{
        g_autofree char *symbols = NULL;
        FakeTree *tree = host_tree(&symbols);
        struct btf *vmlinux = btf__new_empty();
        GString *unused = g_string_new(NULL);
        HookPlan *p;

        g_assert_cmpint(btf__add_int(vmlinux, "int", 4, BTF_INT_SIGNED), ==, 1);
        add_all(vmlinux, "vmlinux", unused);
        add_all(vmlinux, "nvme_core", unused);
        add_all(vmlinux, "nvme_tcp", unused);
        fake_btf_write(tree, vmlinux, "vmlinux");
        btf__free(vmlinux);
        g_string_free(unused, true);
        fake_remove(tree, "sys/kernel/btf/nvme_tcp");
        fake_remove(tree, "sys/kernel/btf/nvme_core");
        fake_remove(tree, "sys/module/nvme_tcp");
        fake_remove(tree, "sys/module/nvme_core/initstate");

        make_symbols_endless(tree);
        p = plan(tree, CAPABILITIES_ALL);
        alarm(0);
        kernel_fixture_assert_family(p, HOOK_SIDE_HOST, HOOK_FAMILY_TYPED);
        hook_plan_free(p);
        fake_tree_free(tree);
}

int main(int argc, char **argv)
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/plan-read/typed", test_typed);
        g_test_add_func("/plan-read/probes", test_probes);
        g_test_add_func("/plan-read/no-btf", test_no_btf);
        g_test_add_func("/plan-read/built-in", test_built_in);
        return g_test_run();
}
