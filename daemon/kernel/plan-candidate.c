/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a candidate and a family need, and what of it a kernel lacks. */
#include "plan-internal.h"

#include <string.h>

#include "../privileges.h"

/* Debian and Ubuntu have a level above the kernel's own: no perf events without CAP_SYS_ADMIN. A kprobe is attached by one. */
#define PARANOID_OF_ALL 3

static bool perf_is_for_admin(const KernelInventory *inventory)
{
        const KernelSettings *settings = kernel_inventory_settings(inventory);

        return settings->has_perf_event_paranoid && settings->perf_event_paranoid >= PARANOID_OF_ALL;
}

uint64_t hook_family_capabilities(const KernelInventory *inventory, HookFamily family)
{
        return family == HOOK_FAMILY_TYPED || perf_is_for_admin(inventory) ? PRIVILEGES_TYPED : PRIVILEGES_PROBES;
}

char *hook_family_why_not(const KernelInventory *inventory, HookFamily family, uint64_t capabilities)
{
        const KernelSettings *settings = kernel_inventory_settings(inventory);
        uint64_t lacking = privileges_lacking(PRIVILEGES_PROBES, capabilities);

        if (lacking) {
                g_autofree char *names = privileges_to_text(lacking), *advice = privileges_advice(lacking);

                return g_strdup_printf("programs need CAP_BPF and CAP_PERFMON, and ntprofd does not have %s: %s",
                                       lacking == PRIVILEGES_PROBES ? "them" : names, advice);
        }
        /* It refuses kprobes and bpf_probe_read_kernel(), which programs of either family call. */
        if (g_strcmp0(settings->lockdown, "confidentiality") == 0)
                return g_strdup("the kernel is locked down (confidentiality): no program may read its memory; "
                                "boot it with lockdown=integrity or without");
        if (family == HOOK_FAMILY_TYPED)
                return capabilities & PRIVILEGE(CAP_SYS_ADMIN) ? NULL :
                        g_strdup("typed programs need CAP_SYS_ADMIN, which ntprofd does not have");
        if (settings->kprobes_enabled == 0)
                return g_strdup("kprobes are switched off (echo 1 > /sys/kernel/debug/kprobes/enabled)");
        if (perf_is_for_admin(inventory) && !(capabilities & PRIVILEGE(CAP_SYS_ADMIN)))
                return g_strdup_printf("kprobes need CAP_SYS_ADMIN, which ntprofd does not have, while "
                                       "kernel.perf_event_paranoid is %d (sysctl kernel.perf_event_paranoid=2)",
                                       settings->perf_event_paranoid);
        if (kernel_inventory_symbols_unreadable(inventory))
                return g_strdup_printf("the kernel's symbols are not known: %s",
                                       kernel_inventory_symbols_unreadable(inventory));
        return NULL;
}

char *hook_module_not_loaded(const char *module)
{
        return g_strdup_printf("module %s is not loaded (%s a namespace, or load it)", module,
                               g_str_has_prefix(module, "nvmet") ? "export" : "connect");
}

static char *no_btf(const char *module)
{
        return g_strdup_printf("%s has no BTF (no /sys/kernel/btf/%s)", module, module);
}

static char *unknown_types(const KernelInventory *inventory, const char *module)
{
        const char *why = kernel_inventory_module_types_why_not(inventory, module);

        return g_strdup_printf("the structures of %s are not known%s%s (ntprofctl check tells how to make them known)", module,
                               why ? ": " : "", why ?: "");
}

static char *no_function(const KernelInventory *inventory, HookFamily family, const char *module, const char *function)
{
        if (family == HOOK_FAMILY_TYPED) {
                if (kernel_inventory_has_btf_function(inventory, module, function))
                        return NULL;
                if (!kernel_inventory_module_has_btf(inventory, module))
                        return no_btf(module);
                return g_strdup_printf("no function %s in the BTF of %s (inlined by the compiler, or not in this version)",
                                       function, module);
        }
        if (!kernel_inventory_has_symbol(inventory, module, function))
                return g_strdup_printf("no function %s among the symbols of %s (inlined by the compiler, or not in this "
                                       "version)", function, module);
        if (kernel_inventory_kprobe_blacklisted(inventory, function))
                return g_strdup_printf("the kernel does not let %s be probed (/sys/kernel/debug/kprobes/blacklist)", function);
        return NULL;
}

static char *no_tracepoint(const KernelInventory *inventory, HookFamily family, const HookCandidate *candidate)
{
        const char *module = candidate->module, *symbol = candidate->symbol;
        int arguments;

        if (family == HOOK_FAMILY_TYPED && !kernel_inventory_has_tracepoint(inventory, module, symbol))
                return !kernel_inventory_module_has_btf(inventory, module) ? no_btf(module) :
                        g_strdup_printf("no tracepoint %s in the BTF of %s", symbol, module);
        if (family == HOOK_FAMILY_PROBES && !kernel_inventory_has_raw_tracepoint(inventory, module, symbol))
                return g_strdup_printf("no tracepoint %s among the symbols of %s", symbol, module);

        arguments = kernel_inventory_tracepoint_arguments(inventory, module, symbol);
        if (arguments < 0)
                return NULL;
        for (unsigned i = 0; i < (family == HOOK_FAMILY_TYPED ? 1 : HOOK_ARGUMENTS_MAX); i++)
                if (candidate->arguments[i] == arguments)
                        return NULL;
        return g_strdup_printf("tracepoint %s has %d arguments, not %d as here", symbol, arguments, candidate->arguments[0]);
}

static char *no_field(const KernelInventory *inventory, HookFamily family, const HookField *field)
{
        /* What else its structures may be known from, the kernel's loader does not ask. */
        if (family == HOOK_FAMILY_TYPED && kernel_inventory_module_loaded(inventory, field->module) &&
            !kernel_inventory_module_has_btf(inventory, field->module))
                return no_btf(field->module);
        /* libbpf looks into modules for what vmlinux has not: with what vmlinux calls so it is content. */
        if (family == HOOK_FAMILY_TYPED && kernel_inventory_structure_differs(inventory, field->module, field->structure))
                return g_strdup_printf("the kernel's own struct %s would be taken for that of %s, an out-of-tree module",
                                       field->structure, field->module);
        if (kernel_inventory_has_field(inventory, field->module, field->structure, field->field) ||
            (field->or_field && kernel_inventory_has_field(inventory, field->module, field->or_structure, field->or_field)))
                return NULL;
        if (!kernel_inventory_module_loaded(inventory, field->module))
                return hook_module_not_loaded(field->module);
        if (!kernel_inventory_module_has_types(inventory, field->module))
                return unknown_types(inventory, field->module);
        return g_strdup_printf("struct %s of %s has no field %s", field->structure, field->module, field->field);
}

static bool names_field(const HookCandidate *candidate)
{
        for (unsigned i = 0; i < HOOK_FIELDS_MAX && candidate->fields[i].field; i++)
                if (g_str_equal(candidate->fields[i].module, candidate->module))
                        return true;
        return false;
}

char *hook_candidate_why_not(const KernelInventory *inventory, HookFamily family, const HookCandidate *candidate)
{
        char *reason = NULL;

        if (!kernel_inventory_module_loaded(inventory, candidate->module))
                return hook_module_not_loaded(candidate->module);

        if (candidate->kind == HOOK_TRACEPOINT)
                reason = no_tracepoint(inventory, family, candidate);
        if (candidate->kind == HOOK_FUNCTION) {
                reason = no_function(inventory, family, candidate->module, candidate->symbol);
                for (unsigned i = 0; !reason && i < HOOK_FUNCTIONS_MAX && candidate->functions[i]; i++)
                        reason = no_function(inventory, family, candidate->module, candidate->functions[i]);
        }
        /* Programs read structures of the module that they are in. The table has not all of them, but of those that it
         * has, vmlinux may know. */
        if (!reason && !kernel_inventory_module_has_types(inventory, candidate->module) && !names_field(candidate))
                reason = unknown_types(inventory, candidate->module);
        for (unsigned i = 0; !reason && i < HOOK_FIELDS_MAX && candidate->fields[i].field; i++)
                reason = no_field(inventory, family, &candidate->fields[i]);
        return reason;
}
