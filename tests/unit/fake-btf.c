/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fake-btf.h"

#include <glib.h>
#include <unistd.h>

void fake_btf_function(struct btf *btf, const char *name)
{
        g_assert_cmpint(btf__add_func(btf, name, BTF_FUNC_STATIC, btf__add_func_proto(btf, 0)), >, 0);
}

void fake_btf_tracepoint(struct btf *btf, const char *name, int arguments)
{
        g_autofree char *type = g_strconcat("btf_trace_", name, NULL);
        int prototype = btf__add_func_proto(btf, 0);

        for (int i = 0; i <= arguments; i++)
                g_assert_cmpint(btf__add_func_param(btf, "", 1), ==, 0);
        g_assert_cmpint(btf__add_typedef(btf, type, btf__add_ptr(btf, prototype)), >, 0);
}

void fake_btf_write(FakeTree *tree, const struct btf *btf, const char *module)
{
        g_autofree char *path = g_strdup_printf("%s/kernel/btf/%s", tree->sys, module);
        const void *data;
        __u32 size;

        data = btf__raw_data(btf, &size);
        fake_directory(tree, "sys/kernel/btf");
        g_assert_true(g_file_set_contents(path, data, size, NULL));
}

KernelRoots fake_kernel_roots(FakeTree *tree)
{
        return (KernelRoots) {
                .sys = tree->sys,
                .proc = fake_below(tree, "proc"),
                .files = fake_below(tree, "btf"),
                .owner = geteuid(),
        };
}
