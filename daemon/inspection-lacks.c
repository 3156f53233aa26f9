/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "inspection-internal.h"

#include <string.h>

#include "kernel/plan-internal.h"
#include "kernel/types.h"

static void add_lack(JsonBuilder *b, const char *what, HookSides side, const char *merged, const char *reason)
{
        json_builder_begin_object(b);
        inspection_add_string(b, "what", what);
        inspection_add_string(b, "side", side == HOOK_SIDE_HOST ? "host" : "target");
        inspection_add_string(b, "merged_into", merged);
        inspection_add_string(b, "reason", reason);
        json_builder_end_object(b);
}

/* "H4 (tcp; writes sent after an R2T)" */
static char *title(const HookRow *row)
{
        const char *of[] = { row->transport, row->covers, row->detail ? "detail" : NULL };
        GString *text = g_string_new(row->boundary);
        const char *between = " (";

        for (size_t i = 0; i < G_N_ELEMENTS(of); i++)
                if (of[i]) {
                        g_string_append_printf(text, "%s%s", between, of[i]);
                        between = "; ";
                }
        if (*between == ';')
                g_string_append_c(text, ')');
        return g_string_free(text, false);
}

/* Of a side that cannot be recorded at all this says nothing: there is no such part in a report. */
static void add_rows(JsonBuilder *b, const HookPlan *plan)
{
        for (guint i = 0; i < plan->choices->len; i++) {
                const HookChoice *choice = plan->choices->pdata[i];
                g_autofree char *what = NULL;

                if (choice->chosen || choice->row->essential)
                        continue;
                what = title(choice->row);
                add_lack(b, what, choice->row->side, choice->row->merged, choice->why);
        }
}

static void add_namespace_lacks(JsonBuilder *b, const NamespaceInfo *namespace)
{
        for (size_t i = 0; i < namespace->n_paths; i++) {
                const NamespacePath *path = namespace->paths + i;
                g_autofree char *what = g_strdup_printf("the target's side of path %s", path->disk), *reason = NULL;

                if (path->local)
                        continue;
                reason = g_strdup_printf("%s; it is recorded when that machine is paired (ntprofctl peer list)",
                                         path->no_target_reason ?: "whether the target is this machine is not known");
                add_lack(b, what, HOOK_SIDE_TARGET, "the network", path->exported_here ? path->no_target_reason : reason);
        }
        if (namespace->drive_hidden)
                add_lack(b, "the drive (T5, T6)", HOOK_SIDE_TARGET, "the storage", namespace->drive_hidden);
}

void inspection_add_lacks(JsonBuilder *b, const Inspection *inspection, const HookPlan *plan)
{
        json_builder_set_member_name(b, "lacks");
        json_builder_begin_array(b);
        add_rows(b, plan);
        for (char *const *disk = inspection->iostats_off; disk && *disk; disk++) {
                g_autofree char *what = g_strdup_printf("H1 of %s: the wait for a tag, and the kernel's own count", *disk),
                                *reason = g_strdup_printf("the kernel does not time its requests (echo 1 > "
                                                          "/sys/block/%s/queue/iostats)", *disk);

                add_lack(b, what, HOOK_SIDE_HOST, "H0", reason);
        }
        if (inspection->namespace)
                add_namespace_lacks(b, inspection->namespace);
        json_builder_end_array(b);
}

static void add_note(JsonBuilder *b, const char *format, ...) _printf_(2, 3);

static void add_note(JsonBuilder *b, const char *format, ...)
{
        g_autofree char *text = NULL;
        va_list args;

        va_start(args, format);
        text = g_strdup_vprintf(format, args);
        va_end(args);
        json_builder_add_string_value(b, text);
}

/* Whether a row of the plan that has no hook would read structures of a module. */
static bool misses(const HookPlan *plan, const char *module)
{
        for (guint i = 0; i < plan->choices->len; i++) {
                const HookChoice *choice = plan->choices->pdata[i];
                const HookRow *row = choice->row;

                for (unsigned j = 0; !choice->chosen && j < HOOK_CANDIDATES_MAX && row->candidates[j].symbol; j++) {
                        if (g_str_equal(row->candidates[j].module, module))
                                return true;
                        for (unsigned k = 0; k < HOOK_FIELDS_MAX && row->candidates[j].fields[k].field; k++)
                                if (g_str_equal(row->candidates[j].fields[k].module, module))
                                        return true;
                }
        }
        return false;
}

static void add_modules(JsonBuilder *b, const KernelInventory *inventory, const HookPlan *plan)
{
        for (unsigned i = 0; kernel_module_names[i]; i++) {
                const char *name = kernel_module_names[i], *why = kernel_inventory_module_types_why_not(inventory, name);
                bool out_of_tree = kernel_inventory_module_origin(inventory, name) == MODULE_OUT_OF_TREE;
                g_autofree char *advice = NULL;

                if (!kernel_inventory_module_loaded(inventory, name) || kernel_inventory_module_has_types(inventory, name) ||
                    !misses(plan, name))
                        continue;
                advice = kernel_types_advice(kernel_inventory_release(inventory), name, out_of_tree);
                add_note(b, "the structures of %s%s are not known%s%s; make them known: %s", name,
                         out_of_tree ? ", an out-of-tree module," : "", why ? ": " : "", why ?: "", advice);
        }
}

void inspection_add_notes(JsonBuilder *b, const Inspection *inspection, const HookPlan *plan)
{
        const KernelSettings *settings = kernel_inventory_settings(inspection->inventory);
        bool probes = false;

        for (HookSides side = HOOK_SIDE_HOST; side <= HOOK_SIDE_TARGET; side <<= 1)
                probes |= hook_plan_family(plan, side) == HOOK_FAMILY_PROBES;

        json_builder_set_member_name(b, "notes");
        json_builder_begin_array(b);
        if (kernel_inventory_label(inspection->inventory))
                add_note(b, "this kernel is %s", kernel_inventory_label(inspection->inventory));
        add_modules(b, inspection->inventory, plan);
        if (settings->bpf_jit_enable == 0)
                add_note(b, "the kernel interprets programs, which makes them several times as slow (sysctl "
                         "net.core.bpf_jit_enable=1)");
        if (probes && settings->kprobes_unreadable)
                add_note(b, "whether kprobes are switched off or forbidden on some function is not known: %s",
                         settings->kprobes_unreadable);
        json_builder_end_array(b);
}
