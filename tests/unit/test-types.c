/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/kernel/types.h"

#include <errno.h>
#include <glib.h>
#include <string.h>

#include "btf-tree.h"

#define DEBIAN_11 "5.10.0-32-amd64"

/* With ROOT for the tree's folder. */
static void check_text(FakeTree *tree, const char *text, const char *expected)
{
        g_auto(GStrv) parts = expected ? g_strsplit(expected, "ROOT", -1) : NULL;
        g_autofree char *full = parts ? g_strjoinv(tree->root, parts) : NULL;

        g_assert_cmpstr(text, ==, full);
}

static void check(FakeTree *tree, KernelTypes *types, const char *module, TypesSource source, const char *where,
                  const char *why_not)
{
        g_test_message("%s: %s", module, types_source_name(kernel_types_source(types, module)));
        g_assert_cmpint(kernel_types_source(types, module), ==, source);
        check_text(tree, kernel_types_where(types, module), where);
        check_text(tree, kernel_types_why_not(types, module), why_not);
        g_assert_true((kernel_types_module(types, module, NULL) != NULL) == (source != TYPES_NONE));
}

static struct btf *split_of(struct btf *vmlinux, const char *structure)
{
        struct btf *btf = btf__new_empty_split(vmlinux);

        g_assert_cmpint(btf__add_struct(btf, structure, 8), >, 0);
        g_assert_cmpint(btf__add_field(btf, "list", btf__find_by_name_kind(vmlinux, "llist_head", BTF_KIND_STRUCT), 0, 0), ==,
                        0);
        return btf;
}

/* The kernel's BTF, a file, a layout, nothing: each is taken where the better ones are not there. */
static void test_sources(void)
{
        FakeTree *tree = fake_tree_new();
        struct btf *vmlinux = btf_stub("vmlinux-5.10"), *module = split_of(vmlinux, "nvme_request");
        unsigned first, end = btf__type_cnt(vmlinux);
        KernelTypes *types;

        btf_write(tree, vmlinux, "btf/vmlinux");
        btf_write(tree, module, "btf/nvme_core");
        btf_write(tree, module, "files/" DEBIAN_11 "/nvme_core.btf");
        btf_write(tree, module, "files/" DEBIAN_11 "/nvme_tcp.btf");
        btf_write(tree, module, "files/" DEBIAN_11 "/nvme_rdma.btf");
        btf_module(tree, "nvme_core", "");
        btf_module(tree, "nvme_tcp", "");
        btf_module(tree, "nvmet", "");
        btf_module(tree, "ib_core", "");

        types = btf_open(tree, DEBIAN_11);
        check(tree, types, "vmlinux", TYPES_KERNEL, "ROOT/btf/vmlinux", NULL);
        check(tree, types, "nvme_core", TYPES_KERNEL, "ROOT/btf/nvme_core", NULL);
        check(tree, types, "nvme_tcp", TYPES_FILE, "ROOT/files/" DEBIAN_11 "/nvme_tcp.btf",
              "nvme_tcp has no BTF (no ROOT/btf/nvme_tcp)");
        check(tree, types, "nvmet", TYPES_LAYOUT, "the built-in layout of Linux 5.10.223",
              "nvmet has no BTF (no ROOT/btf/nvmet); no ROOT/files/" DEBIAN_11 "/nvmet.btf");
        check(tree, types, "ib_core", TYPES_NONE, NULL,
              "ib_core has no BTF (no ROOT/btf/ib_core); no ROOT/files/" DEBIAN_11
              "/ib_core.btf; no built-in layout of ib_core is for "
              "this kernel");
        /* whatever files there are */
        check(tree, types, "nvme_rdma", TYPES_NONE, NULL, "nvme_rdma is not loaded");

        /* where a module's own types begin */
        kernel_types_module(types, "vmlinux", &first);
        g_assert_cmpuint(first, ==, 1);
        for (const char *const *name = (const char *const[]) { "nvme_core", "nvme_tcp", "nvmet", NULL }; *name; name++) {
                const struct btf *btf = kernel_types_module(types, *name, &first);

                g_assert_cmpuint(first, ==, end);
                g_assert_cmpuint(btf__type_cnt(btf), >, end);
        }

        kernel_types_close(types);
        btf__free(module);
        btf__free(vmlinux);
        fake_tree_free(tree);
}

/* Out-of-tree modules are told by their taint, and never read by a layout; a file is the way. */
static void test_out_of_tree(void)
{
        FakeTree *tree = fake_tree_new();
        struct btf *vmlinux = btf_stub("vmlinux-5.10"), *module = split_of(vmlinux, "nvme_request");
        KernelTypes *types;

        btf_write(tree, vmlinux, "btf/vmlinux");
        btf_module(tree, "nvme_core", "OE");
        btf_module(tree, "nvme_rdma", "O");
        btf_module(tree, "nvmet", "");
        btf_module(tree, "nvmet_tcp", "E");
        btf_write(tree, module, "files/" DEBIAN_11 "/nvme_rdma.btf");

        types = btf_open(tree, DEBIAN_11);
        check(tree, types, "nvme_core", TYPES_NONE, NULL,
              "nvme_core has no BTF (no ROOT/btf/nvme_core); no ROOT/files/" DEBIAN_11
              "/nvme_core.btf; nvme_core is not the kernel's "
              "own module, so no built-in layout is for it");
        g_assert_cmpint(kernel_types_source(types, "nvme_rdma"), ==, TYPES_FILE);
        g_assert_cmpint(kernel_types_source(types, "nvmet"), ==, TYPES_LAYOUT);
        g_assert_cmpint(kernel_types_source(types, "nvmet_tcp"), ==, TYPES_LAYOUT);

        kernel_types_close(types);
        btf__free(module);
        btf__free(vmlinux);
        fake_tree_free(tree);
}

/* What is built in has vmlinux's types, and no layout. */
static void test_built_in(void)
{
        FakeTree *tree = fake_tree_new();
        struct btf *vmlinux = btf_stub("vmlinux-5.10");
        KernelTypes *types;
        unsigned first;

        btf_write(tree, vmlinux, "btf/vmlinux");
        btf_module(tree, "nvme_core", NULL);
        types = btf_open(tree, DEBIAN_11);
        check(tree, types, "nvme_core", TYPES_KERNEL, "ROOT/btf/vmlinux", NULL);
        g_assert_true(kernel_types_module(types, "nvme_core", &first) == kernel_types_module(types, "vmlinux", NULL));
        g_assert_cmpuint(first, ==, 1);
        kernel_types_close(types);
        btf__free(vmlinux);
        fake_tree_free(tree);
}

/* Without BTF of the kernel itself, vmlinux.btf stands in; without that there is nothing. */
static void test_no_vmlinux(void)
{
        _cleanup_error_ Error error = ERROR_INIT;
        FakeTree *tree = fake_tree_new();
        struct btf *vmlinux = btf_stub("vmlinux-5.10"), *module = split_of(vmlinux, "nvme_request");
        KernelTypesRoots roots = btf_roots(tree);
        KernelTypes *types;

        g_assert_cmpint(kernel_types_open(&roots, RELEASE, &types, &error), ==, -EOPNOTSUPP);
        check_text(
                tree, error.message,
                "the kernel's types are not known: vmlinux has no BTF (no ROOT/btf/vmlinux); no ROOT/files/" RELEASE
                "/vmlinux.btf; with pahole and the kernel's debug symbols installed, as root: mkdir -p /etc/ntprof/btf/" RELEASE
                " && pahole -J --btf_encode_detached=/etc/ntprof/btf/" RELEASE
                "/vmlinux.btf /usr/lib/debug/boot/vmlinux-" RELEASE " && chmod a+r /etc/ntprof/btf/" RELEASE "/vmlinux.btf");

        btf_write(tree, vmlinux, "files/" RELEASE "/vmlinux.btf");
        btf_write(tree, module, "files/" RELEASE "/nvme_core.btf");
        btf_module(tree, "nvme_core", "");
        types = btf_open(tree, RELEASE);
        check(tree, types, "vmlinux", TYPES_FILE, "ROOT/files/" RELEASE "/vmlinux.btf",
              "vmlinux has no BTF (no ROOT/btf/vmlinux)");
        g_assert_cmpint(kernel_types_source(types, "nvme_core"), ==, TYPES_FILE);

        kernel_types_close(types);
        btf__free(module);
        btf__free(vmlinux);
        fake_tree_free(tree);
}

/* What sysfs would never hold is no crash, and the next source's turn. */
static void test_kernel_garbage(void)
{
        FakeTree *tree = fake_tree_new();
        struct btf *vmlinux = btf_stub("vmlinux-5.10");
        KernelTypes *types;

        btf_write(tree, vmlinux, "btf/vmlinux");
        fake_file(tree, "nonsense", "btf/nvmet");
        btf_module(tree, "nvmet", "");
        types = btf_open(tree, DEBIAN_11);
        check(tree, types, "nvmet", TYPES_LAYOUT, "the built-in layout of Linux 5.10.223",
              "ROOT/btf/nvmet cannot be read: Protocol error; no ROOT/files/" DEBIAN_11 "/nvmet.btf");
        kernel_types_close(types);
        btf__free(vmlinux);
        fake_tree_free(tree);
}

/* The daemon's own programs find in a layout all that they name of the modules, and the same in a file of it. */
static void test_programs(void)
{
        static const struct {
                const char *program, *module, *structure, *member;
                unsigned offset;
        } places[] = {
                { "host", "nvme_core", "nvme_ctrl", "cntlid", 1172 },
                { "host", "nvme_tcp", "nvme_tcp_queue", "request", 176 },
                { "host", "nvme_rdma", "nvme_rdma_request", "sqe.cqe", 40 },
                { "target", "nvmet", "nvmet_ctrl", "hostnqn", 628 },
                { "target", "nvmet_tcp", "nvmet_tcp_cmd", "state", 608 },
                { "target", "nvmet_tcp", "nvmet_tcp_queue", "nvme_sq.qid", 80 },
                { "target", "nvmet_rdma", "nvmet_rdma_rsp", "req.cqe", 184 },
        };

        for (int files = 0; files <= 1; files++) {
                FakeTree *tree = fake_tree_new();
                struct btf *vmlinux = btf_stub("vmlinux-5.10");
                KernelTypes *types;

                btf_write(tree, vmlinux, "btf/vmlinux");
                for (size_t i = 0; i < ELEMENTSOF(places); i++)
                        btf_module(tree, places[i].module, "");
                types = btf_open(tree, DEBIAN_11);
                if (files) {
                        for (size_t i = 0; i < ELEMENTSOF(places); i++) {
                                g_autofree char *path = g_strdup_printf("files/" DEBIAN_11 "/%s.btf", places[i].module);

                                btf_write(tree, kernel_types_module(types, places[i].module, NULL), path);
                        }
                        kernel_types_close(types);
                        types = btf_open(tree, DEBIAN_11);
                }
                for (size_t i = 0; i < ELEMENTSOF(places); i++) {
                        struct btf *program = btf_stub(places[i].program), *composed = btf_compose(types, program);

                        g_assert_cmpint(kernel_types_source(types, places[i].module), ==, files ? TYPES_FILE : TYPES_LAYOUT);
                        g_assert_cmpuint(btf_offset(composed, places[i].structure, places[i].member), ==, places[i].offset);
                        g_assert_cmpstr(kernel_types_origin(types, places[i].structure), ==, places[i].module);
                        g_assert_cmpuint(btf_size(composed, "request"), ==, 280);
                        btf__free(composed);
                        btf__free(program);
                }
                kernel_types_close(types);
                btf__free(vmlinux);
                fake_tree_free(tree);
        }
}

static const char *const module_names[] = { "nvme_core", "nvme_tcp", "nvme_rdma", "nvmet", "nvmet_tcp", "nvmet_rdma" };

/* Of what bpf/kernel-types.h has of the modules, each layout has all: whoever adds a member there adds it to layouts/nvme.h. */
static void test_layouts_suffice(void)
{
        static const char *const releases[] = { DEBIAN_11, "5.15.0", "6.8.0", "6.11.0" }, *const programs[] = { "host",
                                                                                                                "target" };
        struct btf *vmlinux = btf_stub("vmlinux-5.10");

        for (size_t i = 0; i < ELEMENTSOF(releases) * ELEMENTSOF(programs); i++) {
                const char *release = releases[i / ELEMENTSOF(programs)];
                struct btf *program = btf_stub(programs[i % ELEMENTSOF(programs)]), *composed;
                FakeTree *tree = fake_tree_new();
                unsigned compared = 0;
                KernelTypes *types;
                BtfPlace place;

                btf_write(tree, vmlinux, "btf/vmlinux");
                for (size_t j = 0; j < ELEMENTSOF(module_names); j++)
                        btf_module(tree, module_names[j], "");
                types = btf_open(tree, release);
                composed = btf_compose(types, program);
                for (unsigned id = 1; id < btf__type_cnt(program); id++) {
                        const struct btf_type *type = btf__type_by_id(program, id);
                        const char *name = btf__name_by_offset(program, type->name_off);

                        if (!btf_is_struct(type) || !g_str_has_prefix(name, "nvme") || strstr(name, "___"))
                                continue;
                        for (unsigned j = 0; j < btf_vlen(type); j++) {
                                const char *member = btf__name_by_offset(program, btf_members(type)[j].name_off);

                                if (!btf_place(composed, name, member, &place))
                                        g_error("%s: no %s.%s", release, name, member);
                                compared++;
                        }
                }
                g_assert_cmpuint(compared, >=, 20);
                btf__free(composed);
                btf__free(program);
                kernel_types_close(types);
                fake_tree_free(tree);
        }
        btf__free(vmlinux);
}

static void test_advice(void)
{
        g_autofree char *in_tree = kernel_types_advice(DEBIAN_11, "nvmet_rdma", false);
        g_autofree char *out_of_tree = kernel_types_advice(DEBIAN_11, "nvme_rdma", true);

        g_assert_cmpstr(
                in_tree, ==,
                "with pahole and the kernel's debug symbols installed, as root: mkdir -p /etc/ntprof/btf/5.10.0-32-amd64 && "
                "pahole -J --btf_base=/sys/kernel/btf/vmlinux "
                "--btf_encode_detached=/etc/ntprof/btf/5.10.0-32-amd64/nvmet_rdma.btf "
                "/usr/lib/debug/lib/modules/5.10.0-32-amd64/kernel/drivers/nvme/target/nvmet-rdma.ko && "
                "chmod a+r /etc/ntprof/btf/5.10.0-32-amd64/nvmet_rdma.btf");
        g_assert_true(
                g_str_has_prefix(out_of_tree,
                                 "with pahole and the module with its debug symbols (built with -g, not stripped) installed"));
        g_assert_nonnull(g_strstr_len(out_of_tree, -1, "/nvme_rdma.btf $(modinfo -n nvme_rdma) && "));
}

int main(int argc, char **argv)
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/types/sources", test_sources);
        g_test_add_func("/types/out-of-tree", test_out_of_tree);
        g_test_add_func("/types/built-in", test_built_in);
        g_test_add_func("/types/no-vmlinux", test_no_vmlinux);
        g_test_add_func("/types/kernel-garbage", test_kernel_garbage);
        g_test_add_func("/types/programs", test_programs);
        g_test_add_func("/types/layouts-suffice", test_layouts_suffice);
        g_test_add_func("/types/advice", test_advice);
        return g_test_run();
}
