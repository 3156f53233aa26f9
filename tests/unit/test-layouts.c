/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/kernel/layouts.h"

#include <errno.h>
#include <glib.h>

#include "btf-tree.h"

/* The module's layout; kernels that it is not for are g_error()s. */
static struct btf *make(const char *release, const char *module, struct btf *vmlinux)
{
        g_autofree char *name = NULL, *reason = NULL;
        struct btf *btf = NULL;

        if (kernel_layout_make(release, module, vmlinux, &btf, &name, &reason) < 0)
                g_error("%s, %s: %s", release, module, reason);
        g_assert_null(reason);
        return btf;
}

/* As in the debug symbols (DWARF) of linux-image-5.10.0-32-amd64-dbg, 5.10.223-1, by pahole; nvme_rdma_queue and
 * nvmet_rdma_queue.nvme_sq as in the source, and as that kernel was seen to have them when it was run. */
static void test_debian_11(void)
{
        static const struct {
                const char *module, *structure, *member;
                unsigned offset;
        } places[] = {
                { "nvme_core", "nvme_ctrl", "cntlid", 1172 },
                { "nvme_core", "nvme_request", "retries", 17 },
                { "nvme_core", "nvme_request", "flags", 18 },
                { "nvme_core", "nvme_request", "status", 20 },
                { "nvme_core", "nvme_request", "ctrl", 24 },
                { "nvme_core", "nvme_command", "common.command_id", 2 },
                { "nvme_core", "nvme_command", "common.nsid", 4 },
                { "nvme_core", "nvme_command", "common.cdw10", 40 },
                { "nvme_core", "nvme_command", "common.cdw12", 48 },
                { "nvme_core", "nvme_completion", "command_id", 12 },
                { "nvme_core", "nvme_completion", "status", 14 },
                { "nvme_tcp", "nvme_tcp_request", "queue", 40 },
                { "nvme_tcp", "nvme_tcp_request", "entry", 64 },
                { "nvme_tcp", "nvme_tcp_request", "lentry", 80 },
                { "nvme_tcp", "nvme_tcp_queue", "req_list", 112 },
                { "nvme_tcp", "nvme_tcp_queue", "send_list", 120 },
                { "nvme_tcp", "nvme_tcp_queue", "send_list.next", 120 },
                { "nvme_tcp", "nvme_tcp_queue", "pdu", 136 },
                { "nvme_tcp", "nvme_tcp_queue", "request", 176 },
                { "nvme_rdma", "nvme_rdma_qe", "data", 8 },
                { "nvme_rdma", "nvme_rdma_request", "sqe", 40 },
                { "nvme_rdma", "nvme_rdma_queue", "rsp_ring", 0 },
                { "nvme_rdma", "nvme_rdma_queue", "queue_size", 8 },
                { "nvme_rdma", "nvme_rdma_queue", "qp", 48 },
                { "nvmet", "nvmet_ctrl", "subsys", 0 },
                { "nvmet", "nvmet_ctrl", "cntlid", 88 },
                { "nvmet", "nvmet_ctrl", "hostnqn", 628 },
                { "nvmet", "nvmet_subsys", "subsysnqn", 136 },
                { "nvmet", "nvmet_fabrics_ops", "type", 8 },
                { "nvmet", "nvmet_ns", "blksize_shift", 40 },
                { "nvmet", "nvmet_sq", "ctrl", 0 },
                { "nvmet", "nvmet_sq", "qid", 24 },
                { "nvmet", "nvmet_sq", "sqhd_disabled", 32 },
                { "nvmet", "nvmet_req", "cmd", 0 },
                { "nvmet", "nvmet_req", "cqe", 8 },
                { "nvmet", "nvmet_req", "sq", 16 },
                { "nvmet", "nvmet_req", "ns", 32 },
                { "nvmet", "nvmet_req", "transfer_len", 320 },
                { "nvmet", "nvmet_req", "ops", 352 },
                { "nvmet_tcp", "nvmet_tcp_cmd", "req", 8 },
                { "nvmet_tcp", "nvmet_tcp_cmd", "wbytes_done", 436 },
                { "nvmet_tcp", "nvmet_tcp_cmd", "state", 608 },
                { "nvmet_tcp", "nvmet_tcp_queue", "nvme_sq", 56 },
                { "nvmet_tcp", "nvmet_tcp_queue", "nvme_sq.qid", 80 },
                { "nvmet_tcp", "nvmet_tcp_queue", "snd_cmd", 224 },
                { "nvmet_tcp", "nvmet_tcp_queue", "data_digest", 385 },
                { "nvmet_rdma", "nvmet_rdma_rsp", "send_cqe", 16 },
                { "nvmet_rdma", "nvmet_rdma_rsp", "queue", 72 },
                { "nvmet_rdma", "nvmet_rdma_rsp", "read_cqe", 80 },
                { "nvmet_rdma", "nvmet_rdma_rsp", "req", 176 },
                { "nvmet_rdma", "nvmet_rdma_queue", "cq", 24 },
                { "nvmet_rdma", "nvmet_rdma_queue", "nvme_sq", 72 },
        };
        struct btf *vmlinux = btf_stub("vmlinux-5.10");

        for (size_t i = 0; i < ELEMENTSOF(places); i++) {
                struct btf *layout = make("5.10.0-32-amd64", places[i].module, vmlinux);

                g_test_message("%s.%s", places[i].structure, places[i].member);
                g_assert_cmpuint(btf_offset(layout, places[i].structure, places[i].member), ==, places[i].offset);
                btf__free(layout);
        }
        btf__free(vmlinux);
}

/* The sizes of what is whole, and of what is embedded in others: also pahole's. */
static void test_sizes(void)
{
        struct btf *vmlinux = btf_stub("vmlinux-5.10"), *core = make("5.10.0-32-amd64", "nvme_core", vmlinux);
        struct btf *nvmet = make("5.10.0-32-amd64", "nvmet", vmlinux);

        g_assert_cmpuint(btf_size(core, "nvme_request"), ==, 32);
        g_assert_cmpuint(btf_size(core, "nvme_command"), ==, 64);
        g_assert_cmpuint(btf_size(core, "nvme_completion"), ==, 16);
        g_assert_cmpuint(btf_size(nvmet, "nvmet_sq"), ==, 104);
        g_assert_cmpuint(btf_size(nvmet, "nvmet_req"), ==, 392);
        btf__free(core);
        btf__free(nvmet);
        btf__free(vmlinux);
}

/* The kernel's own types are vmlinux's: another configuration, another layout. */
static void test_follows_vmlinux(void)
{
        struct btf *vmlinux = btf_stub("vmlinux-5.10"), *layout;
        int mutex = btf__find_by_name_kind(vmlinux, "mutex", BTF_KIND_STRUCT);

        /* 32 more bytes, as with CONFIG_DEBUG_MUTEXES */
        ((struct btf_type *) btf__type_by_id(vmlinux, mutex))->size += 32;
        layout = make("5.10.0-32-amd64", "nvme_tcp", vmlinux);
        g_assert_cmpuint(btf_offset(layout, "nvme_tcp_queue", "req_list"), ==, 112 + 2 * 32);
        g_assert_cmpuint(btf_offset(layout, "nvme_tcp_queue", "request"), ==, 176 + 2 * 32);
        btf__free(layout);

        /* what vmlinux does not know leaves out what needs it, and no more */
        ((struct btf_type *) btf__type_by_id(vmlinux, mutex))->name_off = 0;
        layout = make("5.10.0-32-amd64", "nvme_tcp", vmlinux);
        g_assert_false(btf_has(layout, "nvme_tcp_queue"));
        g_assert_cmpuint(btf_offset(layout, "nvme_tcp_request", "queue"), ==, 40);
        btf__free(layout);
        btf__free(vmlinux);
}

/* Which kernels differ where: from the sources that the layouts cite. */
static void test_kernels(void)
{
        static const struct {
                const char *release;
                unsigned ctrl, entry, snd_cmd, subsysnqn, transfer_len, cntlid;
        } kernels[] = {
                { "5.10.0-32-amd64", 24, 64, 224, 136, 320, 1172 },
                { "5.15.0-130-generic", 24, 64, 224, 152, 368, 1172 },
                { "6.8.0-51-generic", 32, 80, 368, 152, 368, 1172 },
                { "6.11.0-14-generic", 32, 80, 368, 152, 368, 51488 },
        };
        struct btf *vmlinux = btf_stub("vmlinux-5.10");

        for (size_t i = 0; i < ELEMENTSOF(kernels); i++) {
                const char *release = kernels[i].release;
                struct btf *core = make(release, "nvme_core", vmlinux), *tcp = make(release, "nvme_tcp", vmlinux);
                struct btf *nvmet = make(release, "nvmet", vmlinux), *nvmet_tcp = make(release, "nvmet_tcp", vmlinux);

                g_test_message("%s", release);
                g_assert_cmpuint(btf_offset(core, "nvme_request", "ctrl"), ==, kernels[i].ctrl);
                g_assert_cmpuint(btf_offset(core, "nvme_ctrl", "cntlid"), ==, kernels[i].cntlid);
                g_assert_cmpuint(btf_offset(tcp, "nvme_tcp_request", "entry"), ==, kernels[i].entry);
                g_assert_cmpuint(btf_offset(nvmet, "nvmet_subsys", "subsysnqn"), ==, kernels[i].subsysnqn);
                g_assert_cmpuint(btf_offset(nvmet, "nvmet_req", "transfer_len"), ==, kernels[i].transfer_len);
                g_assert_cmpuint(btf_offset(nvmet_tcp, "nvmet_tcp_queue", "snd_cmd"), ==, kernels[i].snd_cmd);
                btf__free(core);
                btf__free(tcp);
                btf__free(nvmet);
                btf__free(nvmet_tcp);
        }
        btf__free(vmlinux);
}

static void check_none(const char *release, const char *module, struct btf *vmlinux, const char *expected)
{
        g_autofree char *name = NULL, *reason = NULL;
        struct btf *btf = NULL;

        g_assert_cmpint(kernel_layout_make(release, module, vmlinux, &btf, &name, &reason), ==, -ENOENT);
        g_assert_cmpstr(reason, ==, expected);
        g_assert_null(btf);
        g_assert_null(name);
}

static void test_none(void)
{
        struct btf *vmlinux = btf_stub("vmlinux-5.10");

        check_none("6.1.0-50-amd64", "nvme_tcp", vmlinux, "no built-in layout is for Linux 6.1.0-50-amd64");
        /* 5.1 is not 5.10, nor 6.80 6.8 */
        check_none("5.1.0-1-amd64", "nvme_tcp", vmlinux, "no built-in layout is for Linux 5.1.0-1-amd64");
        check_none("6.80.1", "nvme_tcp", vmlinux, "no built-in layout is for Linux 6.80.1");
        check_none("5.10.0-32-amd64", "nvme", vmlinux, "no built-in layout of nvme is for this kernel");
        check_none("5.10.0-32-amd64", "ib_core", vmlinux, "no built-in layout of ib_core is for this kernel");
        btf__set_pointer_size(vmlinux, 4);
        check_none("5.10.0-32-686", "nvme_tcp", vmlinux, "the built-in layouts are of 64-bit kernels");
        btf__free(vmlinux);
}

/* OFED's is none of the built-in ones, on any kernel: why it is never read by one of these. */
static void test_ofed(void)
{
        static const struct {
                const char *name;
                unsigned ctrl, shift, cntlid;
        } releases[] = {
                { "ofed-5.8", 24, 48, 88 },
                { "ofed-24.10", 32, 56, 88 },
                { "ofed-25.10", 32, 56, 96 },
        };
        struct btf *vmlinux = btf_stub("vmlinux-5.10");

        for (size_t i = 0; i < ELEMENTSOF(releases); i++) {
                struct btf *stub = btf_stub(releases[i].name), *core = NULL, *nvmet = NULL;
                g_autofree char *reason = NULL;

                g_assert_cmpint(kernel_layout_from_stub(stub, "nvme_core", vmlinux, &core, &reason), ==, 0);
                g_assert_cmpint(kernel_layout_from_stub(stub, "nvmet", vmlinux, &nvmet, &reason), ==, 0);
                g_assert_cmpuint(btf_offset(core, "nvme_request", "ctrl"), ==, releases[i].ctrl);
                g_assert_cmpuint(btf_offset(nvmet, "nvmet_ns", "blksize_shift"), ==, releases[i].shift);
                g_assert_cmpuint(btf_offset(nvmet, "nvmet_ctrl", "cntlid"), ==, releases[i].cntlid);
                btf__free(core);
                btf__free(nvmet);
                btf__free(stub);
        }
        btf__free(vmlinux);
}

/* What BTF has not enough of for, is refused. */
static void test_bitfield(void)
{
        struct btf *vmlinux = btf_stub("vmlinux-5.10"), *stub = btf__new_empty(), *layout = NULL;
        g_autofree char *reason = NULL;
        int integer, id;

        integer = btf__add_int(stub, "int", 4, 0);
        id = btf__add_struct(stub, "thing", 4);
        btf__add_field(stub, "bits", integer, 0, 3);
        id = btf__add_var(stub, "x_thing", BTF_VAR_STATIC, btf__add_ptr(stub, id));
        btf__add_datasec(stub, ".data.x", 8);
        btf__add_datasec_var_info(stub, id, 0, 8);
        g_assert_cmpint(kernel_layout_from_stub(stub, "x", vmlinux, &layout, &reason), ==, -EOPNOTSUPP);
        g_assert_cmpstr(reason, ==, "the built-in layout of x cannot be laid out: Operation not supported");
        btf__free(stub);
        btf__free(vmlinux);
}

int main(int argc, char **argv)
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/layouts/debian-11", test_debian_11);
        g_test_add_func("/layouts/sizes", test_sizes);
        g_test_add_func("/layouts/follows-vmlinux", test_follows_vmlinux);
        g_test_add_func("/layouts/kernels", test_kernels);
        g_test_add_func("/layouts/none", test_none);
        g_test_add_func("/layouts/ofed", test_ofed);
        g_test_add_func("/layouts/bitfield", test_bitfield);
        return g_test_run();
}
