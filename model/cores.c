/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "cores.h"

/* A list of them must be readable, and stay small in a report of many rows. */
#define CORES_MAX 64

typedef struct {
        guint32 cpu;
        double weight;
} Core;

void np_cores_init(NpCores *cores)
{
        *cores = (NpCores) { .cores = g_array_new(FALSE, FALSE, sizeof(Core)) };
}

void np_cores_clear(NpCores *cores)
{
        g_clear_pointer(&cores->cores, g_array_unref);
}

void np_cores_add(NpCores *cores, guint32 cpu, double weight)
{
        for (guint i = 0; i < cores->cores->len; i++) {
                Core *core = &g_array_index(cores->cores, Core, i);

                if (core->cpu == cpu) {
                        core->weight += weight;
                        return;
                }
        }

        if (cores->cores->len < CORES_MAX)
                g_array_append_val(cores->cores, ((Core) { cpu, weight }));
        else
                cores->others += weight;
}

void np_cores_merge(NpCores *cores, const NpCores *other)
{
        for (guint i = 0; i < other->cores->len; i++) {
                const Core *core = &g_array_index(other->cores, Core, i);

                np_cores_add(cores, core->cpu, core->weight);
        }
        cores->others += other->others;
}

static int compare_cores(gconstpointer a, gconstpointer b)
{
        const Core *x = a, *y = b;

        return x->cpu < y->cpu ? -1 : x->cpu > y->cpu;
}

void np_cores_report(const NpCores *cores, NpReportCores *ret)
{
        g_autoptr(GArray) sorted = g_array_copy(cores->cores);
        g_autoptr(GString) list = g_string_new(NULL);
        double sum = cores->others, most = 0;

        *ret = (NpReportCores) { 0 };
        if (sorted->len == 0)
                return;

        g_array_sort(sorted, compare_cores);
        for (guint i = 0; i < sorted->len; i++) {
                const Core *core = &g_array_index(sorted, Core, i);
                guint first = i;

                while (i + 1 < sorted->len && g_array_index(sorted, Core, i + 1).cpu == g_array_index(sorted, Core, i).cpu + 1)
                        i++;
                g_string_append_printf(list, "%s%u", list->len > 0 ? "," : "", core->cpu);
                if (i > first)
                        g_string_append_printf(list, "-%u", g_array_index(sorted, Core, i).cpu);
        }
        for (guint i = 0; i < sorted->len; i++) {
                const Core *core = &g_array_index(sorted, Core, i);

                sum += core->weight;
                if (core->weight > most) {
                        most = core->weight;
                        ret->busiest = core->cpu;
                }
        }
        ret->list = g_string_free(g_steal_pointer(&list), FALSE);
        ret->busiest_share = most / sum;
        ret->others_share = cores->others / sum;
}
