/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/kernel/types.h"

#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <string.h>

#include "btf-tree.h"

/* Every kind of member is where the source has it, and of its size. */
static void test_kinds(void)
{
        static const char *const paths[] = { "nested",     "nested.deep", "many",       "many.deep",
                                             "in_struct",  "in_union",    "nameless",   "nameless.length",
                                             "three_bits", "seven_bits",  "forty_bits", "color",
                                             "next",       "call",        "forward",    "chain",
                                             "flag",       "text",        "flexible" };
        static const char *const unread[] = { "nested.unread", "unread_too", "nameless.unread_three", "unread_four", "gone" };
        FakeTree *tree = fake_tree_new();
        struct btf *kernel = btf_stub("kinds-kernel"), *program = btf_stub("kinds-program"), *composed;
        KernelTypes *types;
        BtfPlace a, b;

        btf_write(tree, kernel, "btf/vmlinux");
        types = btf_open(tree, RELEASE);
        composed = btf_compose(types, program);

        for (size_t i = 0; i < ELEMENTSOF(paths); i++) {
                g_assert_true(btf_place(kernel, "kinds", paths[i], &a));
                g_test_message("%s: %u", paths[i], a.offset);
                g_assert_true(btf_place(composed, "kinds", paths[i], &b));
                g_assert_cmpuint(a.offset, ==, b.offset);
                g_assert_cmpuint(a.bits, ==, b.bits);
                g_assert_cmpuint(btf_kind(a.type), ==, btf_kind(b.type));
                if (!btf_is_ptr(a.type))
                        g_assert_cmpuint(a.type->size, ==, b.type->size);
        }
        for (size_t i = 0; i < ELEMENTSOF(unread); i++)
                g_assert_false(btf_place(composed, "kinds", unread[i], &b));
        g_assert_cmpuint(btf_size(composed, "kinds"), ==, btf_size(kernel, "kinds"));
        g_assert_cmpuint(btf_size(composed, "either"), ==, 8);
        g_assert_cmpuint(btf_offset(composed, "either", "number"), ==, 0);

        /* pointers lead nowhere, and nothing else has a name */
        g_assert_true(btf_place(composed, "kinds", "next", &b));
        g_assert_cmpuint(b.type->type, ==, 0);
        g_assert_false(btf_has(composed, "inner"));
        g_assert_false(btf_has(composed, "nobody_knows"));
        g_assert_false(btf_has(composed, "own_of_the_program"));
        g_assert_false(btf_has(composed, "kinds___flavour"));
        g_assert_cmpstr(kernel_types_origin(types, "kinds"), ==, "vmlinux");
        g_assert_null(kernel_types_origin(types, "nobody_knows"));

        /* an enum's values, for bpf_core_enum_value() */
        g_assert_cmpint(btf__find_by_name_kind(composed, "color", BTF_KIND_ENUM), >, 0);
        g_assert_cmpint(btf_enum(btf__type_by_id(composed, btf__find_by_name(composed, "color")))[1].val, ==, -1);

        btf__free(composed);
        btf__free(program);
        btf__free(kernel);
        kernel_types_close(types);
        fake_tree_free(tree);
}

/* What clang 14 cannot make: a 64-bit enum, a bitfield as before Linux 5.0, a float, two structures of one name. */
static void test_by_hand(void)
{
        FakeTree *tree = fake_tree_new();
        struct btf *kernel = btf__new_empty(), *program = btf__new_empty(), *composed;
        int integer, narrow, wide, real;
        KernelTypes *types;
        BtfPlace place;

        integer = btf__add_int(kernel, "int", 4, BTF_INT_SIGNED);
        narrow = btf__add_int(kernel, "narrow", 4, 0);
        ((uint32_t *) (btf__type_by_id(kernel, narrow) + 1))[0] = 3 << 16 | 5;  /* 5 bits from bit 3 on */
        wide = btf__add_enum64(kernel, "wide", 8, false);
        btf__add_enum64_value(kernel, "FAR", 1ULL << 40);
        real = btf__add_float(kernel, "double", 8);
        btf__add_struct(kernel, "thing", 32);
        btf__add_field(kernel, "a", integer, 0, 0);
        btf__add_field(kernel, "b", narrow, 32, 0);
        btf__add_field(kernel, "c", wide, 64, 0);
        btf__add_field(kernel, "d", real, 128, 0);
        btf__add_struct(kernel, "thing", 8);
        btf__add_field(kernel, "e", integer, 32, 0);
        btf_write(tree, kernel, "btf/vmlinux");

        integer = btf__add_int(program, "int", 4, BTF_INT_SIGNED);
        btf__add_struct(program, "thing", 20);
        for (const char *const *name = (const char *const[]) { "a", "b", "c", "d", "e", NULL }; *name; name++)
                btf__add_field(program, *name, integer, (unsigned) (**name - 'a') * 32, 0);

        types = btf_open(tree, RELEASE);
        composed = btf_compose(types, program);
        g_assert_true(btf_place(composed, "thing", "b", &place));
        g_assert_cmpuint(place.offset, ==, 35);
        g_assert_cmpuint(place.bits, ==, 5);
        g_assert_true(btf_place(composed, "thing", "c", &place));
        g_assert_cmpuint(btf_kind(place.type), ==, BTF_KIND_ENUM64);
        g_assert_cmpuint(btf_offset(composed, "thing", "d"), ==, 16);

        /* the second has the size and the member of its own */
        for (unsigned id = 1, n = 0; id < btf__type_cnt(composed); id++) {
                const struct btf_type *type = btf__type_by_id(composed, id);

                if (!btf_is_struct(type) || !g_str_equal(btf__name_by_offset(composed, type->name_off), "thing"))
                        continue;
                n++;
                g_assert_cmpuint(type->size, ==, n == 1 ? 32 : 8);
                g_assert_cmpuint(btf_vlen(type), ==, n == 1 ? 4 : 1);
                g_assert_cmpuint(n, <=, 2);
        }

        btf__free(composed);
        btf__free(program);
        btf__free(kernel);
        kernel_types_close(types);
        fake_tree_free(tree);
}

/* A structure with one u32 at an offset, and so that each source has another. */
static void add_marked(struct btf *btf, const char *name, unsigned offset)
{
        int integer = btf__add_int(btf, "unsigned int", 4, 0);

        g_assert_cmpint(btf__add_struct(btf, name, offset + 4), >, 0);
        g_assert_cmpint(btf__add_field(btf, "mark", integer, offset * 8, 0), ==, 0);
}

static struct btf *program_of(const char *const *names)
{
        struct btf *program = btf__new_empty();

        for (; *names; names++)
                add_marked(program, *names, 0);
        return program;
}

/* One module with structures of the names, in the kernel's BTF of it: split on vmlinux. */
static void add_module(FakeTree *tree, struct btf *vmlinux, const char *module, unsigned offset, const char *const *names)
{
        struct btf *btf = btf__new_empty_split(vmlinux);
        g_autofree char *path = g_strdup_printf("btf/%s", module);

        for (; *names; names++)
                add_marked(btf, *names, offset);
        btf_write(tree, btf, path);
        btf__free(btf);
        btf_module(tree, module, "");
}

#define NAMES(...) ((const char *const[]) { __VA_ARGS__, NULL })

static void test_homes(void)
{
        FakeTree *tree = fake_tree_new();
        struct btf *vmlinux = btf__new_empty(), *composed;
        struct btf *program = program_of(
                NAMES("nvmet_req", "nvmet_tcp_queue", "nvme_command", "ib_cq", "request", "nvme_request", "irq_poll"));
        KernelTypes *types;

        add_marked(vmlinux, "request", 4);
        add_marked(vmlinux, "nvmet_req", 8);
        add_marked(vmlinux, "nvme_request", 12);
        btf_write(tree, vmlinux, "btf/vmlinux");
        add_module(tree, vmlinux, "nvmet", 100, NAMES("nvmet_req", "nvme_command", "request"));
        add_module(tree, vmlinux, "nvmet_tcp", 200, NAMES("nvmet_req", "nvmet_tcp_queue", "nvme_command"));
        add_module(tree, vmlinux, "nvmet_rdma", 300, NAMES("nvmet_req", "ib_cq"));
        add_module(tree, vmlinux, "ib_core", 400, NAMES("ib_cq", "irq_poll"));

        types = btf_open(tree, RELEASE);
        composed = btf_compose(types, program);
        /* at home, though vmlinux and others have it too */
        g_assert_cmpuint(btf_offset(composed, "nvmet_req", "mark"), ==, 100);
        g_assert_cmpuint(btf_offset(composed, "nvmet_tcp_queue", "mark"), ==, 200);
        g_assert_cmpuint(btf_offset(composed, "ib_cq", "mark"), ==, 400);
        g_assert_cmpuint(btf_offset(composed, "request", "mark"), ==, 4);
        /* nvme_core is not loaded: the first of the others, or built in */
        g_assert_cmpuint(btf_offset(composed, "nvme_command", "mark"), ==, 100);
        g_assert_cmpstr(kernel_types_origin(types, "nvme_command"), ==, "nvmet");
        g_assert_cmpuint(btf_offset(composed, "nvme_request", "mark"), ==, 12);
        g_assert_cmpstr(kernel_types_origin(types, "nvme_request"), ==, "vmlinux");
        g_assert_cmpuint(btf_offset(composed, "irq_poll", "mark"), ==, 400);

        btf__free(composed);
        btf__free(program);
        btf__free(vmlinux);
        kernel_types_close(types);
        fake_tree_free(tree);
}

/* An out-of-tree module's structures are not vmlinux's, nor those of a module of the kernel's. */
static void test_out_of_tree(void)
{
        FakeTree *tree = fake_tree_new();
        struct btf *vmlinux = btf__new_empty(), *composed;
        struct btf *program = program_of(NAMES("nvme_request", "nvme_command", "request", "ib_cq"));
        KernelTypes *types;

        add_marked(vmlinux, "request", 4);
        add_marked(vmlinux, "nvme_request", 8);
        btf_write(tree, vmlinux, "btf/vmlinux");
        btf_module(tree, "nvme_core", "OE");
        add_module(tree, vmlinux, "nvmet", 100, NAMES("nvme_request", "nvme_command"));
        add_module(tree, vmlinux, "nvme_rdma", 200, NAMES("nvme_command", "ib_cq"));
        btf_module(tree, "nvme_rdma", "OE");

        types = btf_open(tree, RELEASE);
        composed = btf_compose(types, program);
        g_assert_false(btf_has(composed, "nvme_request"));
        g_assert_cmpuint(btf_offset(composed, "nvme_command", "mark"), ==, 200);
        g_assert_cmpuint(btf_offset(composed, "request", "mark"), ==, 4);
        /* nobody knows whose ib_core is */
        g_assert_cmpuint(btf_offset(composed, "ib_cq", "mark"), ==, 200);

        btf__free(composed);
        btf__free(program);
        btf__free(vmlinux);
        kernel_types_close(types);
        fake_tree_free(tree);
}

/* Types that can't be are an error, not a crash. The kernel's own BTF is not looked through before. */
static void test_impossible(void)
{
        static const char *const messages[] = { "it contains itself", "Invalid argument", "Invalid argument",
                                                "Invalid argument" };

        for (unsigned i = 0; i < ELEMENTSOF(messages); i++) {
                FakeTree *tree = fake_tree_new();
                struct btf *kernel = btf__new_empty(), *program = program_of(NAMES("thing")), *composed;
                _cleanup_error_ Error error = ERROR_INIT;
                g_autofree char *message = NULL;
                KernelTypes *types;
                int id;

                id = btf__add_int(kernel, "int", 4, 0);
                switch (i) {
                case 0:
                        id = btf__add_array(kernel, id, id + 2, 1);
                        break;
                case 1:
                        id = btf__add_typedef(kernel, "nowhere", 4711);
                        break;
                case 2:
                        id = btf__add_func_proto(kernel, 0);
                        break;
                case 3:
                        id = btf__add_const(kernel, id + 1);
                        break;
                }
                btf__add_struct(kernel, "thing", 8);
                btf__add_field(kernel, "mark", id, 0, 0);
                btf_write(tree, kernel, "btf/vmlinux");

                types = btf_open(tree, RELEASE);
                g_assert_cmpint(kernel_types_compose(types, program, &composed, &error), ==, -EOPNOTSUPP);
                message = g_strdup_printf("%s/btf/vmlinux: its types of module vmlinux cannot be used: thing: %s", tree->root,
                                          messages[i]);
                g_assert_cmpstr(error.message, ==, message);

                btf__free(program);
                btf__free(kernel);
                kernel_types_close(types);
                fake_tree_free(tree);
        }
}

/* libbpf reads back what was written, also over something longer. */
static void test_write(void)
{
        FakeTree *tree = fake_tree_new();
        struct btf *kernel = btf_stub("kinds-kernel"), *program = program_of(NAMES("inner")), *again;
        g_autofree char *path = g_build_filename(tree->root, "composed", NULL);
        _cleanup_close_ int fd = g_open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);

        g_assert_cmpint(kernel_types_write(kernel, fd), ==, 0);
        again = btf__parse(path, NULL);
        g_assert_cmpuint(btf__type_cnt(again), ==, btf__type_cnt(kernel));
        btf__free(again);

        g_assert_cmpint(kernel_types_write(program, fd), ==, 0);
        again = btf__parse(path, NULL);
        g_assert_cmpuint(btf__type_cnt(again), ==, btf__type_cnt(program));
        btf__free(again);
        g_assert_cmpint(kernel_types_write(program, -1), ==, -EBADF);

        btf__free(program);
        btf__free(kernel);
        fake_tree_free(tree);
}

int main(int argc, char **argv)
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/types/compose/kinds", test_kinds);
        g_test_add_func("/types/compose/by-hand", test_by_hand);
        g_test_add_func("/types/compose/homes", test_homes);
        g_test_add_func("/types/compose/out-of-tree", test_out_of_tree);
        g_test_add_func("/types/compose/impossible", test_impossible);
        g_test_add_func("/types/compose/write", test_write);
        return g_test_run();
}
