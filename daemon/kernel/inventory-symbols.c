/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The kernel's symbol table, /proc/kallsyms: the names in it are for everybody, addresses are not needed. */
#include "inventory-internal.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "../util.h"

static const char *without_prefix(const char *symbol)
{
        static const char *const prefixes[] = { TRACEPOINT_SYMBOL_PREFIXES };

        for (size_t i = 0; i < G_N_ELEMENTS(prefixes); i++)
                if (g_str_has_prefix(symbol, prefixes[i]))
                        return symbol + strlen(prefixes[i]);
        return NULL;
}

/* Functions, and what shows a tracepoint. A function that the compiler has split or specialised (nvme_tcp_poll.isra.0) is
 * another one: its arguments are not those of the source. */
static bool is_wanted(const char *symbol, char type, const KernelModule *module, const KernelWanted *wanted)
{
        const char *tracepoint = without_prefix(symbol);

        if (tracepoint)
                return (is_nvme(module->name) && is_nvme(tracepoint)) || g_hash_table_contains(wanted->tracepoints, tracepoint);
        if (toupper(type) != 'T' || strchr(symbol, '.'))
                return false;
        return (is_nvme(module->name) && is_nvme(symbol)) || g_hash_table_contains(wanted->functions, symbol);
}

/* "ffffffffc0a41000 t nvme_tcp_poll\t[nvme_tcp]"; the kernel's own have no module. BPF programs are listed there, too. */
static void add_line(KernelInventory *inventory, char *line, const KernelWanted *wanted, GHashTable *twice)
{
        char *rest, *type, *symbol, *name;
        KernelModule *module;

        (void) strtok_r(line, " \t\n", &rest);
        type = strtok_r(NULL, " \t\n", &rest);
        symbol = strtok_r(NULL, " \t\n", &rest);
        name = strtok_r(NULL, " \t\n[]", &rest);
        if (!symbol)
                return;
        module = kernel_inventory_find(inventory, name ?: "vmlinux");
        if (!module || !is_wanted(symbol, *type, module, wanted))
                return;
        /* Which of two would be probed? */
        if (!g_hash_table_add(module->symbols, g_strdup(symbol)))
                g_hash_table_add(twice, g_strconcat(module->name, " ", symbol, NULL));
}

static void remove_twice(KernelInventory *inventory, GHashTable *twice)
{
        GHashTableIter iter;
        gpointer key;

        g_hash_table_iter_init(&iter, twice);
        while (g_hash_table_iter_next(&iter, &key, NULL)) {
                g_auto(GStrv) parts = g_strsplit(key, " ", 2);

                g_hash_table_remove(kernel_inventory_find(inventory, parts[0])->symbols, parts[1]);
        }
}

static void read_table(KernelInventory *inventory, FILE *file)
{
        g_autoptr(GHashTable) twice = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
        _cleanup_free_ char *line = NULL;
        KernelWanted wanted;
        size_t size = 0;

        kernel_wanted_init(&wanted);
        while (getline(&line, &size, file) >= 0)
                add_line(inventory, line, &wanted, twice);
        remove_twice(inventory, twice);
        kernel_wanted_done(&wanted);
}

void kernel_inventory_read_symbols(KernelInventory *inventory, const KernelRoots *roots)
{
        g_autofree char *path = g_strdup_printf("%s/kallsyms", roots->proc);
        FILE *file;

        file = fopen(path, "re");
        if (!file) {
                inventory->symbols_unreadable = g_strdup_printf("%s: %s", path, g_strerror(errno));
                return;
        }
        read_table(inventory, file);
        fclose(file);
        kernel_inventory_find_built_in(inventory);
}
