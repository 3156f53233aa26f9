/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A user's BTF file: what is taken, and what is refused with which words. */
#include "daemon/kernel/types.h"

#include <glib.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "btf-tree.h"

#define MODULE_FILE "files/" RELEASE "/nvme_core.btf"

typedef struct Fixture {
        FakeTree *tree;
        struct btf *vmlinux;
} Fixture;

static Fixture fixture_new(void)
{
        Fixture f = { fake_tree_new(), btf_stub("vmlinux-5.10") };

        btf_write(f.tree, f.vmlinux, "btf/vmlinux");
        btf_module(f.tree, "nvme_core", "");
        return f;
}

static void fixture_free(Fixture *f)
{
        btf__free(f->vmlinux);
        fake_tree_free(f->tree);
}

/* words NULL: taken. */
static void check(Fixture *f, const char *words)
{
        KernelTypes *types = btf_open(f->tree, RELEASE);
        const char *why_not = kernel_types_why_not(types, "nvme_core");

        g_test_message("%s", why_not);
        g_assert_cmpint(kernel_types_source(types, "nvme_core"), ==, words ? TYPES_NONE : TYPES_FILE);
        if (words) {
                g_autofree char *expected = g_strdup_printf("; %s/%s", f->tree->root, words);

                if (!strstr(why_not, expected))
                        g_error("'%s' is not in '%s'", expected, why_not);
        }
        kernel_types_close(types);
}

/* Split on vmlinux, with what is in a module's: a structure with one of the kernel's inside, and a function. */
static struct btf *split_module(struct btf *vmlinux)
{
        struct btf *btf = btf__new_empty_split(vmlinux);
        int list = btf__find_by_name_kind(vmlinux, "list_head", BTF_KIND_STRUCT), pointer = btf__add_ptr(btf, list), id;

        btf__add_struct(btf, "nvme_request", 24);
        btf__add_field(btf, "list", list, 0, 0);
        btf__add_field(btf, "ctrl", pointer, 128, 0);
        id = btf__add_func_proto(btf, 0);
        btf__add_func_param(btf, "request", pointer);
        btf__add_func(btf, "nvme_setup_cmd", BTF_FUNC_STATIC, id);
        return btf;
}

static void test_taken(void)
{
        Fixture f = fixture_new();
        struct btf *split = split_module(f.vmlinux), *plain = btf_stub("module-plain"), *composed, *program = btf__new_empty();
        KernelTypes *types;
        unsigned first;
        int pointer;

        btf_write(f.tree, split, MODULE_FILE);
        check(&f, NULL);

        /* a plain one begins at its first type */
        btf_write(f.tree, plain, MODULE_FILE);
        check(&f, NULL);
        types = btf_open(f.tree, RELEASE);
        kernel_types_module(types, "nvme_core", &first);
        g_assert_cmpuint(first, ==, 1);

        /* and what is vmlinux's is taken from vmlinux */
        pointer = btf__add_ptr(program, 0);
        btf__add_struct(program, "nvme_request", 8);
        btf__add_field(program, "ctrl", pointer, 0, 0);
        btf__add_struct(program, "request", 8);
        btf__add_field(program, "q", pointer, 0, 0);
        composed = btf_compose(types, program);
        g_assert_cmpuint(btf_offset(composed, "nvme_request", "ctrl"), ==, 64);
        g_assert_cmpstr(kernel_types_origin(types, "request"), ==, "vmlinux");

        btf__free(composed);
        btf__free(program);
        kernel_types_close(types);
        btf__free(split);
        btf__free(plain);
        fixture_free(&f);
}

/* Takes vmlinux. The first type with a reference or a name is the second. */
static void check_split_on(Fixture *f, struct btf *vmlinux, const char *what)
{
        struct btf *split = split_module(vmlinux);
        g_autofree char *words =
                g_strdup_printf("%s is not used: its type %u %s: it is damaged, or was made with the vmlinux of another "
                                "kernel",
                                MODULE_FILE, btf__type_cnt(f->vmlinux) + 1, what);

        btf_write(f->tree, split, MODULE_FILE);
        check(f, words);
        btf__free(split);
        btf__free(vmlinux);
}

static void test_another_kernel(void)
{
        Fixture f = fixture_new();
        struct btf *other = btf_stub("module-of-another-kernel"), *none = btf_stub("module-of-no-kernel");
        struct btf *vmlinux;

        btf_write(f.tree, other, MODULE_FILE);
        check(&f, MODULE_FILE " is not used: its struct module is not this kernel's: it was made for another kernel");
        btf_write(f.tree, none, MODULE_FILE);
        check(&f, MODULE_FILE " is not used: it has no structure by which to tell that it is of this kernel");

        /* split on a vmlinux with one type more: all ids are another's */
        vmlinux = btf_stub("vmlinux-5.10");
        btf__add_ptr(vmlinux, 0);
        check_split_on(&f, vmlinux, "(struct nvme_request) refers to a name or a type that cannot be");

        /* on one with another string: all names are another's */
        vmlinux = btf_stub("vmlinux-5.10");
        btf__add_str(vmlinux, "another");
        check_split_on(&f, vmlinux, "has a name that is none");

        btf__free(other);
        btf__free(none);
        fixture_free(&f);
}

static void test_owner(void)
{
        _cleanup_error_ Error error = ERROR_INIT;
        Fixture f = fixture_new();
        struct btf *split = split_module(f.vmlinux);
        g_autofree char *file = g_build_filename(f.tree->root, MODULE_FILE, NULL), *folder = g_path_get_dirname(file);
        g_autofree char *top = g_path_get_dirname(folder), *moved = g_strconcat(file, ".moved", NULL), *words = NULL;
        KernelTypesRoots roots = btf_roots(f.tree);
        KernelTypes *types;

        btf_write(f.tree, split, MODULE_FILE);
        check(&f, NULL);

        for (unsigned i = 0; i < 3; i++) {
                const char *path = i == 0 ? file : i == 1 ? folder : top;
                mode_t mode = i == 0 ? 0644 : 0755, wrong = mode | (i == 2 ? 0002 : 0020);

                g_free(words);
                words = g_strdup_printf(
                        "%s is not used, as others than root may write it (owner %u, mode %03o): chown root it, and "
                        "chmod go-w",
                        path + strlen(f.tree->root) + 1, geteuid(), wrong);
                g_assert_cmpint(chmod(path, wrong), ==, 0);
                check(&f, words);
                g_assert_cmpint(chmod(path, mode), ==, 0);
                check(&f, NULL);
        }

        /* somebody else's */
        roots.owner = geteuid() + 1;
        g_assert_cmpint(kernel_types_open(&roots, RELEASE, &types, &error), ==, 0);
        g_assert_cmpint(kernel_types_source(types, "nvme_core"), ==, TYPES_NONE);
        g_assert_nonnull(strstr(kernel_types_why_not(types, "nvme_core"), "others than root may write it (owner "));
        kernel_types_close(types);

        /* a link leads where nobody has looked; a folder is no file */
        g_assert_cmpint(rename(file, moved), ==, 0);
        g_assert_cmpint(symlink(moved, file), ==, 0);
        check(&f, MODULE_FILE ": Too many levels of symbolic links");
        g_assert_cmpint(unlink(file), ==, 0);
        g_assert_cmpint(mkdir(file, 0755), ==, 0);
        check(&f, MODULE_FILE " is not used: it is no regular file");
        g_assert_cmpint(rmdir(file), ==, 0);
        g_assert_cmpint(mkfifo(file, 0644), ==, 0);
        check(&f, MODULE_FILE " is not used: it is no regular file");

        btf__free(split);
        fixture_free(&f);
}

static void test_garbage(void)
{
        static const struct {
                const char *bytes;
                size_t size;
                const char *words;
        } files[] = {
                { "", 0, MODULE_FILE " is not used: it is empty" },
                { "\x9f", 1, MODULE_FILE " is not used: it is no BTF: too short" },
                { "\x7f"
                  "ELF",
                  4,
                  MODULE_FILE " is not used: it is an object file, not BTF: pahole's --btf_encode_detached=FILE writes "
                              "BTF alone" },
                { "There is nothing of use in here", 32, MODULE_FILE " is not used: it is no BTF (it begins with 0x6854)" },
                { "\xeb\x9f\1\0\0\0\0\x18\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\1\0", 25,
                  MODULE_FILE " is not used: it is BTF of a machine of the other byte order" },
                { "\x9f\xeb\2\0\x18\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\1\0\0\0\0", 25,
                  MODULE_FILE " is not used: it is BTF of version 2, not 1" },
                { "\x9f\xeb\1\0\x18\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\2\0\0\0\0", 25, MODULE_FILE " is not used: it is cut off" },
                { "\x9f\xeb\1\0\xff\xff\xff\xff\0\0\0\0\0\0\0\0\0\0\0\0\1\0\0\0\0", 25,
                  MODULE_FILE " is not used: it is cut off" },
                { "\x9f\xeb\1\0\x18\0\0\0\0\0\0\0\xff\xff\xff\xff\0\0\0\0\1\0\0\0\0", 25,
                  MODULE_FILE " is not used: it is cut off" },
                { "\x9f\xeb\1\0\x18\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\1\0\0\0\0", 25,
                  MODULE_FILE " is not used: it has no structure by which to tell that it is of this kernel" },
        };
        Fixture f = fixture_new();

        for (size_t i = 0; i < ELEMENTSOF(files); i++) {
                btf_write_bytes(f.tree, files[i].bytes, files[i].size, MODULE_FILE);
                check(&f, files[i].words);
        }
        fixture_free(&f);
}

/* A file cut at any place, or with any byte of it another, is taken or refused; what is taken can be composed from, or that
 * is an error. With sanitizers this is worth most. */
static void test_damaged(void)
{
        struct btf *program = btf_stub("host"), *composed;

        for (int plain = 0; plain <= 1; plain++) {
                Fixture f = fixture_new();
                struct btf *btf = plain ? btf_stub("module-plain") : split_module(f.vmlinux);
                uint32_t size, taken = 0, step;
                const void *data = btf__raw_data(btf, &size);

                step = plain ? 13 : 1;
                for (uint32_t i = 0; i < size; i += step)
                        for (int cut = 0; cut <= 1; cut++) {
                                _cleanup_error_ Error error = ERROR_INIT;
                                g_autofree uint8_t *copy = g_memdup2(data, size);
                                KernelTypes *types;

                                copy[i] ^= 1 << (i % 8);
                                btf_write_bytes(f.tree, copy, cut ? i : size, MODULE_FILE);
                                types = btf_open(f.tree, RELEASE);
                                if (kernel_types_source(types, "nvme_core") == TYPES_FILE) {
                                        g_assert_false(cut);
                                        taken++;
                                        if (kernel_types_compose(types, program, &composed, &error) >= 0)
                                                btf__free(composed);
                                        else
                                                g_assert_nonnull(error.message);
                                }
                                kernel_types_close(types);
                        }
                g_test_message("%u of %u are taken", taken, size / step);
                g_assert_cmpuint(taken, >, 0);                  /* names, sizes: still BTF */
                g_assert_cmpuint(taken, <, size / step);
                btf__free(btf);
                fixture_free(&f);
        }
        btf__free(program);
}

int main(int argc, char **argv)
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/types/file/taken", test_taken);
        g_test_add_func("/types/file/another-kernel", test_another_kernel);
        g_test_add_func("/types/file/owner", test_owner);
        g_test_add_func("/types/file/garbage", test_garbage);
        g_test_add_func("/types/file/damaged", test_damaged);
        return g_test_run();
}
