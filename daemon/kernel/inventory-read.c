/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads the running kernel: BTF under /sys/kernel/btf, loaded modules under /sys/module. No privilege is needed.
 */
#include "inventory-internal.h"

#include <bpf/btf.h>
#include <errno.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "hooks.h"

#define TRACEPOINT_PREFIX "btf_trace_"

typedef struct Wanted {
        GHashTable *functions, *structures;     /* of what is not NVMe's: only what the hook table names, vmlinux has 50,000 */
} Wanted;

static void wanted_init(Wanted *wanted)
{
        wanted->functions = g_hash_table_new(g_str_hash, g_str_equal);
        wanted->structures = g_hash_table_new(g_str_hash, g_str_equal);

        for (unsigned i = 0; i < n_hook_rows; i++)
                for (unsigned j = 0; j < HOOK_CANDIDATES_MAX; j++) {
                        const HookCandidate *candidate = &hook_rows[i].candidates[j];

                        if (candidate->symbol)
                                g_hash_table_add(wanted->functions, (gpointer) candidate->symbol);
                        for (unsigned k = 0; k < HOOK_FUNCTIONS_MAX && candidate->functions[k]; k++)
                                g_hash_table_add(wanted->functions, (gpointer) candidate->functions[k]);
                        for (unsigned k = 0; k < HOOK_FIELDS_MAX && candidate->fields[k].field; k++)
                                g_hash_table_add(wanted->structures, (gpointer) candidate->fields[k].structure);
                }
}

static void wanted_done(Wanted *wanted)
{
        g_hash_table_unref(wanted->functions);
        g_hash_table_unref(wanted->structures);
}

static void add_fields(KernelModule *module, const struct btf *btf, const struct btf_type *type, const char *structure, int depth)
{
        const struct btf_member *member = btf_members(type);

        for (unsigned i = 0; i < btf_vlen(type); i++, member++) {
                const char *name = btf__name_by_offset(btf, member->name_off);

                if (name && *name) {
                        g_hash_table_add(module->fields, g_strdup_printf("%s.%s", structure, name));
                        continue;
                }
                /* an anonymous struct or union: its members are the structure's */
                if (depth < 8) {
                        const struct btf_type *inner = btf__type_by_id(btf, member->type);

                        if (inner && btf_is_composite(inner))
                                add_fields(module, btf, inner, structure, depth + 1);
                }
        }
}

/* Types first..end of btf; those below first belong to the BTF it is split from. */
static void add_types(KernelModule *module, const struct btf *btf, unsigned first, const Wanted *wanted)
{
        unsigned end = btf__type_cnt(btf);

        for (unsigned id = first; id < end; id++) {
                const struct btf_type *type = btf__type_by_id(btf, id);
                const char *name = btf__name_by_offset(btf, type->name_off);

                if (!name || !*name)
                        continue;
                if (btf_is_func(type)) {
                        if (!wanted || g_hash_table_contains(wanted->functions, name))
                                g_hash_table_add(module->functions, g_strdup(name));
                } else if (btf_is_typedef(type) && g_str_has_prefix(name, TRACEPOINT_PREFIX)) {
                        name += strlen(TRACEPOINT_PREFIX);
                        if (!wanted || g_hash_table_contains(wanted->functions, name))
                                g_hash_table_add(module->tracepoints, g_strdup(name));
                } else if (btf_is_struct(type)) {
                        if (wanted ? g_hash_table_contains(wanted->structures, name) : g_str_has_prefix(name, "nvme"))
                                add_fields(module, btf, type, name, 0);
                }
        }
}

int kernel_inventory_read(KernelInventory **ret)
{
        KernelInventory *inventory;
        struct btf *vmlinux;
        struct utsname uts;
        Wanted wanted;

        if (uname(&uts) < 0)
                return -errno;
        vmlinux = btf__load_vmlinux_btf();
        inventory = kernel_inventory_new(uts.release);
        wanted_init(&wanted);

        for (unsigned i = 0; kernel_module_names[i]; i++) {
                const char *name = kernel_module_names[i];
                KernelModule *module = kernel_inventory_add(inventory, name);
                g_autofree char *path = g_strdup_printf("/sys/module/%s", name);
                struct btf *btf;

                if (i == 0) {
                        module->loaded = true;
                        module->btf = vmlinux != NULL;
                        if (vmlinux)
                                add_types(module, vmlinux, 1, &wanted);
                        continue;
                }
                module->loaded = access(path, F_OK) == 0;
                btf = vmlinux && module->loaded ? btf__load_module_btf(name, vmlinux) : NULL;
                if (!btf)
                        continue;
                module->btf = true;
                add_types(module, btf, btf__type_cnt(vmlinux), g_str_has_prefix(name, "nvme") ? NULL : &wanted);
                btf__free(btf);
        }

        wanted_done(&wanted);
        btf__free(vmlinux);
        *ret = inventory;
        return 0;
}
