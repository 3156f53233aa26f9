/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/capture/type-check.h"

#include <bpf/libbpf.h>
#include <string.h>

#include "btf-tree.h"

#define DEBIAN_11 "5.10.0-32-amd64"

/* A machine whose modules have no BTF, but for those named. */
static KernelTypes *open_types(FakeTree *tree, const char *release)
{
        static const char *const modules[] = { "nvme_core", "nvme_tcp", "nvme_rdma", "nvmet", "nvmet_tcp", "nvmet_rdma" };
        struct btf *vmlinux = btf_stub("vmlinux-5.10");

        btf_write(tree, vmlinux, "btf/vmlinux");
        for (size_t i = 0; i < G_N_ELEMENTS(modules); i++)
                btf_module(tree, modules[i], "");
        btf__free(vmlinux);
        return btf_open(tree, release);
}

/* A side's checks with all of its programs but one. */
static void make_without(KernelTypes *types, HookSides side, const char *program, TypeChecks *ret)
{
        struct btf *own = btf_stub(side == HOOK_SIDE_HOST ? "host-probes" : "target-probes"),
                   *composed = btf_compose(types, own);
        ProgramSet *set;

        g_assert_cmpint(program_set_open(side, HOOK_FAMILY_PROBES, &set), ==, 0);
        if (program)
                bpf_program__set_autoload(bpf_object__find_program_by_name(program_set_object(set), program), false);
        type_checks_make(types, side, set, ret);
        program_set_free(set);
        btf__free(composed);
        btf__free(own);
}

static void make(KernelTypes *types, HookSides side, TypeChecks *ret)
{
        make_without(types, side, NULL, ret);
}

static const char *failed(const TypeChecks *checks, uint32_t bits)
{
        struct np_checks seen = { .failed = bits };

        return type_checks_wrong(checks, &seen);
}

/* ib_core's structures are not in that kernel's BTF, and in no layout: what only they can be wrong of is not checked. */
#define OF_IB_CORE (1U << NP_CHECK_RDMA_ROUND)

/* From a built-in layout all is checked, and each side's checks are its own. */
static void test_layout(void)
{
        FakeTree *tree = fake_tree_new();
        KernelTypes *types = open_types(tree, DEBIAN_11);
        TypeChecks host, target;

        make(types, HOOK_SIDE_HOST, &host);
        make(types, HOOK_SIDE_TARGET, &target);
        g_assert_cmphex(host.wanted, ==, 1U << NP_CHECK_CONTROLLER | 1U << NP_CHECK_TCP_SENDING | 1U << NP_CHECK_RDMA_SENDING |
                                         1U << NP_CHECK_RDMA_RESPONSE);
        g_assert_cmphex(host.wanted | target.wanted | OF_IB_CORE, ==, (1U << NP_CHECK_COUNT) - 1);
        g_assert_cmphex(host.wanted & target.wanted, ==, 0);

        g_assert_null(failed(&host, 0));
        /* what was not asked for is nobody's fault */
        g_assert_null(failed(&host, 1U << NP_CHECK_REQUEST));
        g_assert_nonnull(strstr(failed(&host, 1U << NP_CHECK_TCP_SENDING),
                                "struct nvme_tcp_queue of nvme_tcp or nvme_tcp_request of nvme_tcp is not as the built-in layout "
                                "of Linux 5.10.223 has it (what a queue sends is no request of that queue)"));
        g_assert_nonnull(strstr(failed(&host, 1U << NP_CHECK_TCP_SENDING), "pahole -J"));
        g_assert_nonnull(strstr(failed(&host, 1U << NP_CHECK_RDMA_RESPONSE),
                                "struct nvme_rdma_queue of nvme_rdma or nvme_rdma_qe of nvme_rdma is not"));
        g_assert_nonnull(strstr(failed(&target, 1U << NP_CHECK_REQUEST | 1U << NP_CHECK_RESPONSE),
                                "struct nvmet_req of nvmet is not"));
        g_assert_nonnull(strstr(failed(&target, 1U << NP_CHECK_RDMA_READ),
                                "struct nvmet_rdma_rsp of nvmet_rdma or nvmet_rdma_queue of nvmet_rdma is not"));

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
        struct np_checks seen = { .failed = ~0U };
        TypeChecks checks;

        make(types, HOOK_SIDE_HOST, &checks);
        g_assert_cmphex(checks.wanted, ==, 0);
        for (unsigned i = 0; i <= TYPE_CHECKS_DUE; i++)
                type_checks_answered(&checks, TRANSPORT_TCP);
        g_assert_null(type_checks_wrong(&checks, &seen));
        type_checks_done(&checks);
        kernel_types_close(types);
        fake_tree_free(tree);
}

static void answer(TypeChecks *checks, Transports transport, unsigned n)
{
        for (unsigned i = 0; i < n; i++)
                type_checks_answered(checks, transport);
}

/* Commands are answered, and what they must have passed was not: nothing fits where it is looked for. */
static void test_never(void)
{
        FakeTree *tree = fake_tree_new();
        KernelTypes *types = open_types(tree, DEBIAN_11);
        struct np_checks seen = {};
        TypeChecks host, target;

        make(types, HOOK_SIDE_HOST, &host);
        make(types, HOOK_SIDE_TARGET, &target);
        answer(&host, TRANSPORT_TCP, TYPE_CHECKS_DUE);
        answer(&target, TRANSPORT_TCP, TYPE_CHECKS_DUE);
        g_assert_null(type_checks_wrong(&host, &seen));
        g_assert_null(type_checks_wrong(&target, &seen));

        answer(&host, TRANSPORT_TCP, 1);
        answer(&target, TRANSPORT_TCP, 1);
        g_assert_nonnull(strstr(type_checks_wrong(&host, &seen),
                                "no command is seen to be sent, so struct nvme_tcp_queue of nvme_tcp or nvme_tcp_request of "
                                "nvme_tcp seems not to be as the built-in layout of Linux 5.10.223 has it"));
        g_assert_nonnull(strstr(type_checks_wrong(&host, &seen), "pahole -J"));
        g_assert_nonnull(strstr(type_checks_wrong(&target, &seen), "none of the commands that this machine's target answers"));

        /* one is enough; of another transport's commands none need have been seen, nor of those that no host here sent */
        seen.made[NP_CHECK_TCP_SENDING] = seen.made[NP_CHECK_ARRIVAL] = 1;
        g_assert_null(type_checks_wrong(&host, &seen));
        g_assert_null(type_checks_wrong(&target, &seen));

        /* one that holds does not excuse another that is never made */
        answer(&host, TRANSPORT_RDMA, TYPE_CHECKS_DUE + 1);
        seen.made[NP_CHECK_RDMA_SENDING] = 1;
        g_assert_nonnull(strstr(type_checks_wrong(&host, &seen), "no response is seen to come"));
        type_checks_done(&host);
        type_checks_done(&target);
        kernel_types_close(types);
        fake_tree_free(tree);
}

/* Of a session that has not the program in which it is made, it is not expected. */
static void test_not_chosen(void)
{
        FakeTree *tree = fake_tree_new();
        KernelTypes *types = open_types(tree, DEBIAN_11);
        struct np_checks seen = { .made[NP_CHECK_RDMA_SENDING] = 1 };
        TypeChecks checks;

        make_without(types, HOOK_SIDE_HOST, "nvme_rdma_recv_done", &checks);
        g_assert_cmphex(checks.wanted & 1U << NP_CHECK_RDMA_RESPONSE, ==, 0);
        answer(&checks, TRANSPORT_RDMA, TYPE_CHECKS_DUE + 1);
        g_assert_null(type_checks_wrong(&checks, &seen));
        type_checks_done(&checks);
        kernel_types_close(types);
        fake_tree_free(tree);
}

int main(int argc, char **argv)
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/type-check/layout", test_layout);
        g_test_add_func("/type-check/kernel", test_kernel);
        g_test_add_func("/type-check/never", test_never);
        g_test_add_func("/type-check/not-chosen", test_not_chosen);
        return g_test_run();
}
