/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/capture/type-check.h"

#include <string.h>

#include "btf-tree.h"

#define DEBIAN_11 "5.10.0-32-amd64"

/* A machine whose modules have no BTF, but for those named. */
static KernelTypes *open_types(FakeTree *tree, const char *release)
{
        static const char *const modules[] = { "nvme_core", "nvme_tcp", "nvmet", "nvmet_tcp" };
        struct btf *vmlinux = btf_stub("vmlinux-5.10");

        btf_write(tree, vmlinux, "btf/vmlinux");
        for (size_t i = 0; i < G_N_ELEMENTS(modules); i++)
                btf_module(tree, modules[i], "");
        btf__free(vmlinux);
        return btf_open(tree, release);
}

static void compose(KernelTypes *types, const char *program)
{
        struct btf *own = btf_stub(program), *composed = btf_compose(types, own);

        btf__free(composed);
        btf__free(own);
}

/* From a built-in layout all is checked, and each side's checks are its own. */
static void test_layout(void)
{
        FakeTree *tree = fake_tree_new();
        KernelTypes *types = open_types(tree, DEBIAN_11);
        TypeChecks host, target;

        compose(types, "host");
        type_checks_make(types, HOOK_SIDE_HOST, &host);
        compose(types, "target");
        type_checks_make(types, HOOK_SIDE_TARGET, &target);
        g_assert_cmphex(host.wanted, ==, 1U << NP_CHECK_CONTROLLER | 1U << NP_CHECK_TCP_SENDING);
        g_assert_cmphex(host.wanted | target.wanted, ==, (1U << NP_CHECK_COUNT) - 1);
        g_assert_cmphex(host.wanted & target.wanted, ==, 0);

        g_assert_null(type_checks_wrong(&host, 0));
        /* what was not asked for is nobody's fault */
        g_assert_null(type_checks_wrong(&host, 1U << NP_CHECK_REQUEST));
        g_assert_nonnull(strstr(type_checks_wrong(&host, 1U << NP_CHECK_TCP_SENDING),
                                "struct nvme_tcp_queue of nvme_tcp or nvme_tcp_request of nvme_tcp is not as the built-in layout of "
                                "Linux 5.10.223 has it"));
        g_assert_nonnull(strstr(type_checks_wrong(&host, 1U << NP_CHECK_TCP_SENDING), "pahole -J"));
        g_assert_nonnull(strstr(type_checks_wrong(&target, 1U << NP_CHECK_REQUEST | 1U << NP_CHECK_RESPONSE), "struct nvmet_req of nvmet is not"));

        type_checks_done(&host);
        type_checks_done(&target);
        kernel_types_close(types);
        fake_tree_free(tree);
}

/* What the kernel itself tells is not doubted. */
static void test_kernel(void)
{
        FakeTree *tree = fake_tree_new();
        KernelTypes *types = open_types(tree, RELEASE);
        TypeChecks checks;

        compose(types, "host");
        type_checks_make(types, HOOK_SIDE_HOST, &checks);
        g_assert_cmphex(checks.wanted, ==, 0);
        g_assert_null(type_checks_wrong(&checks, ~0U));
        type_checks_done(&checks);
        kernel_types_close(types);
        fake_tree_free(tree);
}

int main(int argc, char **argv)
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/type-check/layout", test_layout);
        g_test_add_func("/type-check/kernel", test_kernel);
        return g_test_run();
}
