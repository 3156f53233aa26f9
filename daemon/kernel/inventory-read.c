/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads the running kernel. No privilege is needed, but for the list of functions that kprobes cannot be put on. */
#include "inventory-internal.h"

#include <bpf/btf.h>
#include <errno.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "hooks.h"
#include "types.h"

#define MEMBERS_MAX 4096

const KernelRoots kernel_roots_default = { .sys = "/sys", .proc = "/proc", .files = "/etc/ntprof/btf", .owner = 0 };

void kernel_wanted_init(KernelWanted *wanted)
{
        wanted->functions = g_hash_table_new(g_str_hash, g_str_equal);
        wanted->tracepoints = g_hash_table_new(g_str_hash, g_str_equal);
        wanted->structures = g_hash_table_new(g_str_hash, g_str_equal);

        for (unsigned i = 0; i < n_hook_rows; i++)
                for (unsigned j = 0; j < HOOK_CANDIDATES_MAX && hook_rows[i].candidates[j].symbol; j++) {
                        const HookCandidate *candidate = &hook_rows[i].candidates[j];

                        if (candidate->kind == HOOK_TRACEPOINT)
                                g_hash_table_add(wanted->tracepoints, (gpointer) candidate->symbol);
                        if (candidate->kind == HOOK_FUNCTION)
                                g_hash_table_add(wanted->functions, (gpointer) candidate->symbol);
                        for (unsigned k = 0; k < HOOK_FUNCTIONS_MAX && candidate->functions[k]; k++)
                                g_hash_table_add(wanted->functions, (gpointer) candidate->functions[k]);
                        for (unsigned k = 0; k < HOOK_FIELDS_MAX && candidate->fields[k].field; k++) {
                                g_hash_table_add(wanted->structures, (gpointer) candidate->fields[k].structure);
                                if (candidate->fields[k].or_structure)
                                        g_hash_table_add(wanted->structures, (gpointer) candidate->fields[k].or_structure);
                        }
                }
}

void kernel_wanted_done(KernelWanted *wanted)
{
        g_hash_table_unref(wanted->functions);
        g_hash_table_unref(wanted->tracepoints);
        g_hash_table_unref(wanted->structures);
}

/* *left: members to go at most. No structure has nearly as many, but a damaged file's can contain themselves. */
static void add_members(KernelModule *module, const struct btf *btf, const struct btf_type *type, const char *structure,
                        unsigned *left)
{
        const struct btf_member *member = btf_members(type);

        for (unsigned i = 0; i < btf_vlen(type) && *left > 0; i++, member++) {
                const char *name = btf__name_by_offset(btf, member->name_off);
                const struct btf_type *inner;

                (*left)--;
                if (name && *name) {
                        g_hash_table_add(module->fields, g_strdup_printf("%s.%s", structure, name));
                        continue;
                }
                /* an anonymous struct or union: its members are the structure's */
                inner = btf__type_by_id(btf, member->type);
                if (inner && btf_is_composite(inner))
                        add_members(module, btf, inner, structure, left);
        }
}

void kernel_module_add_fields(KernelModule *module, const struct btf *btf, const struct btf_type *type)
{
        unsigned left = MEMBERS_MAX;

        add_members(module, btf, type, btf__name_by_offset(btf, type->name_off), &left);
}

/* typedef void (*btf_trace_X)(void *, arguments): the first is the probe's own. */
void kernel_module_add_tracepoint(KernelModule *module, const struct btf *btf, const struct btf_type *type)
{
        const char *name = btf__name_by_offset(btf, type->name_off) + strlen(TRACEPOINT_PREFIX);
        const struct btf_type *pointer = btf__type_by_id(btf, type->type),
                              *prototype = pointer && btf_is_ptr(pointer) ? btf__type_by_id(btf, pointer->type) : NULL;

        if (module->btf)
                g_hash_table_add(module->tracepoints, g_strdup(name));
        if (prototype && btf_is_func_proto(prototype) && btf_vlen(prototype) > 0)
                g_hash_table_insert(module->arguments, g_strdup(name), GINT_TO_POINTER((int) btf_vlen(prototype) - 1));
}

/* Types first..end of btf; those below first belong to the BTF it is split from. Functions and tracepoints are of use only in
 * the kernel's own, which tells where programs can be attached; elsewhere they tell prototypes. */
static void add_types(KernelModule *module, const struct btf *btf, unsigned first, const KernelWanted *wanted)
{
        unsigned end = btf__type_cnt(btf);
        bool all = is_nvme(module->name);

        for (unsigned id = first; id < end; id++) {
                const struct btf_type *type = btf__type_by_id(btf, id);
                const char *name = btf__name_by_offset(btf, type->name_off);

                if (!name || !*name)
                        continue;
                if (btf_is_func(type)) {
                        if (module->btf && (all || g_hash_table_contains(wanted->functions, name)))
                                g_hash_table_add(module->functions, g_strdup(name));
                } else if (btf_is_typedef(type) && g_str_has_prefix(name, TRACEPOINT_PREFIX)) {
                        if (all || g_hash_table_contains(wanted->tracepoints, name + strlen(TRACEPOINT_PREFIX)))
                                kernel_module_add_tracepoint(module, btf, type);
                } else if (btf_is_struct(type)) {
                        if (all ? is_nvme(name) : g_hash_table_contains(wanted->structures, name))
                                kernel_module_add_fields(module, btf, type);
                }
        }
}

static void read_types(KernelModule *module, KernelTypes *types, const KernelWanted *wanted)
{
        TypesSource source = kernel_types_source(types, module->name);
        const struct btf *btf;
        unsigned first;

        module->types = g_strdup(types_source_name(source));
        module->types_from = g_strdup(kernel_types_where(types, module->name));
        module->types_why_not = g_strdup(kernel_types_why_not(types, module->name));
        module->btf = source == TYPES_KERNEL;
        btf = kernel_types_module(types, module->name, &first);
        if (btf)
                add_types(module, btf, first, wanted);
}

/* Its types are the kernel's. */
static void set_built_in(KernelModule *module, const KernelInventory *inventory)
{
        const KernelModule *kernel = inventory->modules->pdata[0];

        module->loaded = true;
        module->built_in = true;
        module->origin = MODULE_IN_TREE;
        module->btf = kernel->btf;
        module->types = g_strdup(kernel->types);
        module->types_from = g_strdup(kernel->types_from);
}

static void read_module(KernelModule *module, const KernelInventory *inventory, const KernelRoots *roots, KernelTypes *types,
                        const KernelWanted *wanted)
{
        g_autofree char *folder = g_strdup_printf("%s/module/%s", roots->sys, module->name),
                        *state = g_strdup_printf("%s/initstate", folder);

        module->loaded = access(folder, F_OK) == 0;
        if (!module->loaded)
                return;
        /* A folder of parameters only. */
        if (access(state, F_OK) < 0) {
                set_built_in(module, inventory);
                return;
        }
        kernel_inventory_read_origin(module, roots);
        if (types)
                read_types(module, types, wanted);
}

/* A function of the table that is the kernel's own: by its BTF, or by its symbol. */
static bool has_function(const KernelModule *kernel, const char *function)
{
        return g_hash_table_contains(kernel->functions, function) || g_hash_table_contains(kernel->symbols, function);
}

/* What is built in and has no parameters has no folder in /sys/module. */
void kernel_inventory_find_built_in(KernelInventory *inventory)
{
        const KernelModule *kernel = inventory->modules->pdata[0];

        for (unsigned i = 0; i < n_hook_rows; i++)
                for (unsigned j = 0; j < HOOK_CANDIDATES_MAX && hook_rows[i].candidates[j].symbol; j++) {
                        const HookCandidate *candidate = &hook_rows[i].candidates[j];
                        KernelModule *module = kernel_inventory_find(inventory, candidate->module);

                        if (!module->loaded && candidate->kind == HOOK_FUNCTION && has_function(kernel, candidate->symbol))
                                set_built_in(module, inventory);
                }
}

/* NULL, and the kernel's own entry says why, when no type of it is known. */
static KernelTypes *open_types(KernelModule *kernel, const KernelRoots *roots, const char *release)
{
        g_autofree char *btf = g_strdup_printf("%s/kernel/btf", roots->sys),
                        *modules = g_strdup_printf("%s/module", roots->sys);
        const KernelTypesRoots types_roots = { .btf = btf, .files = roots->files, .modules = modules, .owner = roots->owner };
        _cleanup_error_ Error error = ERROR_INIT;
        KernelTypes *types = NULL;

        if (kernel_types_open(&types_roots, release, &types, &error) < 0) {
                kernel->types = g_strdup(types_source_name(TYPES_NONE));
                kernel->types_why_not = g_strdup(error.message);
        }
        return types;
}

int kernel_inventory_read_types(const KernelRoots *roots, KernelInventory **ret)
{
        _cleanup_(kernel_types_closep) KernelTypes *types = NULL;
        KernelInventory *inventory;
        KernelModule *kernel;
        struct utsname uts;
        KernelWanted wanted;

        if (uname(&uts) < 0)
                return -errno;
        inventory = kernel_inventory_new(uts.release);
        kernel_wanted_init(&wanted);

        kernel = kernel_inventory_add(inventory, kernel_module_names[0]);
        kernel->loaded = true;
        kernel->origin = MODULE_IN_TREE;
        types = open_types(kernel, roots, uts.release);
        if (types)
                read_types(kernel, types, &wanted);
        for (unsigned i = 1; kernel_module_names[i]; i++)
                read_module(kernel_inventory_add(inventory, kernel_module_names[i]), inventory, roots, types, &wanted);

        kernel_inventory_find_built_in(inventory);
        kernel_inventory_read_settings(inventory, roots, &wanted);
        kernel_wanted_done(&wanted);
        *ret = inventory;
        return 0;
}

int kernel_inventory_read(const KernelRoots *roots, KernelInventory **ret)
{
        int r;

        r = kernel_inventory_read_types(roots, ret);
        if (r >= 0)
                kernel_inventory_read_symbols(*ret, roots);
        return r;
}
