/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>

#include "layouts.h"
#include "types-internal.h"

static const KernelTypesRoots system_roots = {
        .btf = "/sys/kernel/btf",
        .files = "/etc/ntprof/btf",
        .modules = "/sys/module",
        .owner = 0,
};

static void module_free(ModuleTypes *module)
{
        if (!module->built_in)
                btf__free(module->btf);
        g_free(module->where);
        g_free(module->why_not);
        g_free(module);
}

static void say_why(ModuleTypes *module, const char *reason)
{
        char *all = module->why_not ? g_strdup_printf("%s; %s", module->why_not, reason) : g_strdup(reason);

        g_free(module->why_not);
        module->why_not = all;
}

static void take(ModuleTypes *module, TypesSource source, struct btf *btf, unsigned first, char *where)
{
        module->source = source;
        module->btf = btf;
        module->first = first;
        module->where = where;
}

/* A module of the kernel's own build has no taint, or an in-tree one's: (O)ut of tree is what is asked for. */
static bool is_out_of_tree(const char *folder)
{
        g_autofree char *path = g_build_filename(folder, "taint", NULL), *flags = NULL;

        return g_file_get_contents(path, &flags, NULL, NULL) && strchr(flags, 'O');
}

/* vmlinux NULL: the module is vmlinux. */
static bool from_kernel(KernelTypes *types, ModuleTypes *module, const char *name, struct btf *vmlinux)
{
        g_autofree char *path = g_build_filename(types->roots.btf, name, NULL), *reason = NULL;
        struct btf *btf = btf__parse_raw_split(path, vmlinux);

        if (btf) {
                take(module, TYPES_KERNEL, btf, vmlinux ? btf__type_cnt(vmlinux) : 1, TAKE_PTR(path));
                return true;
        }
        if (errno == ENOENT)
                reason = g_strdup_printf("%s has no BTF (no %s)", name, path);
        else
                reason = g_strdup_printf("%s cannot be read: %s", path, strerror(errno));
        say_why(module, reason);
        return false;
}

static bool from_file(KernelTypes *types, ModuleTypes *module, const char *name, struct btf *vmlinux)
{
        g_autofree char *path = g_strdup_printf("%s/%s/%s.btf", types->roots.files, types->release, name), *reason = NULL;
        struct btf *btf;
        unsigned first;

        if (types_file_read(&types->roots, types->release, name, vmlinux, &btf, &first, &reason) < 0) {
                say_why(module, reason);
                return false;
        }
        take(module, TYPES_FILE, btf, first, TAKE_PTR(path));
        return true;
}

static void from_layout(KernelTypes *types, ModuleTypes *module, const char *name, struct btf *vmlinux)
{
        g_autofree char *reason = NULL, *where = NULL;
        struct btf *btf;

        if (module->out_of_tree) {
                reason = g_strdup_printf("%s is not the kernel's own module, so no built-in layout is for it", name);
                say_why(module, reason);
                return;
        }
        if (kernel_layout_make(types->release, name, vmlinux, &btf, &where, &reason) < 0) {
                say_why(module, reason);
                return;
        }
        take(module, TYPES_LAYOUT, btf, btf__type_cnt(vmlinux), TAKE_PTR(where));
}

static ModuleTypes *read_module(KernelTypes *types, const char *name)
{
        const ModuleTypes *vmlinux = g_hash_table_lookup(types->modules, VMLINUX);
        g_autofree char *folder = g_build_filename(types->roots.modules, name, NULL),
                        *state = g_build_filename(folder, "initstate", NULL);
        ModuleTypes *module = g_new0(ModuleTypes, 1);

        module->first = 1;
        module->loaded = g_file_test(folder, G_FILE_TEST_IS_DIR);
        if (!module->loaded) {
                g_autofree char *reason = g_strdup_printf("%s is not loaded", name);

                say_why(module, reason);
                return module;
        }
        /* a folder of parameters only */
        module->built_in = !g_file_test(state, G_FILE_TEST_EXISTS);
        if (module->built_in) {
                take(module, vmlinux->source, vmlinux->btf, vmlinux->first, g_strdup(vmlinux->where));
                return module;
        }
        module->out_of_tree = is_out_of_tree(folder);
        if (!from_kernel(types, module, name, vmlinux->btf) && !from_file(types, module, name, vmlinux->btf))
                from_layout(types, module, name, vmlinux->btf);
        return module;
}

const ModuleTypes *kernel_types_get(KernelTypes *types, const char *name)
{
        ModuleTypes *module = g_hash_table_lookup(types->modules, name);

        if (!module) {
                module = read_module(types, name);
                g_hash_table_insert(types->modules, g_strdup(name), module);
        }
        return module;
}

int kernel_types_open(const KernelTypesRoots *roots, const char *release, KernelTypes **ret, Error *error)
{
        _cleanup_(kernel_types_closep) KernelTypes *types = g_new0(KernelTypes, 1);
        ModuleTypes *vmlinux = g_new0(ModuleTypes, 1);
        struct utsname uts;

        types->roots = roots ? *roots : system_roots;
        types->roots.btf = g_strdup(types->roots.btf);
        types->roots.files = g_strdup(types->roots.files);
        types->roots.modules = g_strdup(types->roots.modules);
        types->modules = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, (GDestroyNotify) module_free);
        types->origins = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
        g_hash_table_insert(types->modules, g_strdup(VMLINUX), vmlinux);

        if (!release && uname(&uts) < 0)
                return -errno;
        types->release = g_strdup(release ?: uts.release);
        vmlinux->loaded = true;
        if (!from_kernel(types, vmlinux, VMLINUX, NULL) && !from_file(types, vmlinux, VMLINUX, NULL)) {
                g_autofree char *advice = kernel_types_advice(types->release, VMLINUX, false);

                return error_set(error, NTPROF_ERROR_KERNEL_UNSUPPORTED, "the kernel's types are not known: %s; %s",
                                 vmlinux->why_not, advice);
        }
        *ret = TAKE_PTR(types);
        return 0;
}

void kernel_types_close(KernelTypes *types)
{
        if (!types)
                return;
        g_hash_table_unref(types->modules);
        g_hash_table_unref(types->origins);
        g_free((char *) types->roots.btf);
        g_free((char *) types->roots.files);
        g_free((char *) types->roots.modules);
        g_free(types->release);
        g_free(types);
}

const struct btf *kernel_types_module(KernelTypes *types, const char *name, unsigned *ret_first)
{
        const ModuleTypes *module = kernel_types_get(types, name);

        if (ret_first)
                *ret_first = module->first;
        return module->btf;
}

TypesSource kernel_types_source(KernelTypes *types, const char *module)
{
        return kernel_types_get(types, module)->source;
}

const char *kernel_types_where(KernelTypes *types, const char *module)
{
        return kernel_types_get(types, module)->where;
}

const char *kernel_types_why_not(KernelTypes *types, const char *module)
{
        return kernel_types_get(types, module)->why_not;
}

const char *types_source_name(TypesSource source)
{
        static const char *const names[TYPES_SOURCE_COUNT] = {
                [TYPES_NONE] = "none",
                [TYPES_KERNEL] = "kernel",
                [TYPES_FILE] = "file",
                [TYPES_LAYOUT] = "layout",
        };

        return names[source];
}
