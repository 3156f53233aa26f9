/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where modules are from, and the settings that decide which programs the kernel takes. */
#include "inventory-internal.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "../util.h"

/* NULL, and errno, when there is no such file. */
static char *read_text(const char *format, ...) _printf_(1, 2);

static char *read_text(const char *format, ...)
{
        g_autofree char *path = NULL;
        _cleanup_free_ char *text = NULL;
        size_t size = 0;
        ssize_t length;
        va_list args;
        FILE *file;

        va_start(args, format);
        path = g_strdup_vprintf(format, args);
        va_end(args);
        file = fopen(path, "re");
        if (!file)
                return NULL;
        length = getdelim(&text, &size, EOF, file);
        fclose(file);
        return length < 0 ? g_strdup("") : g_strdup(g_strchomp(text));
}

static bool read_number(int *ret, const char *root, const char *path)
{
        g_autofree char *text = read_text("%s/%s", root, path);
        gint64 number;

        if (!text || !g_ascii_string_to_signed(text, 10, G_MININT, G_MAXINT, &number, NULL))
                return false;
        *ret = (int) number;
        return true;
}

/* "none [integrity] confidentiality" */
static char *read_lockdown(const KernelRoots *roots)
{
        g_autofree char *text = read_text("%s/kernel/security/lockdown", roots->sys);
        char *begin = text ? strchr(text, '[') : NULL, *end = begin ? strchr(begin, ']') : NULL;

        return end ? g_strndup(begin + 1, end - begin - 1) : NULL;
}

/* "0xffffffff81a00000-0xffffffff81a00010\tname", root's */
static void read_blacklist(KernelInventory *inventory, const KernelRoots *roots, const KernelWanted *wanted)
{
        g_autofree char *text = read_text("%s/kernel/debug/kprobes/blacklist", roots->sys);
        g_auto(GStrv) lines = NULL;

        if (!text) {
                inventory->settings.kprobes_unreadable = g_strdup_printf("%s/kernel/debug/kprobes/blacklist: %s", roots->sys,
                                                                         g_strerror(errno));
                return;
        }
        lines = g_strsplit(text, "\n", -1);
        for (char **line = lines; *line; line++) {
                const char *tab = strrchr(*line, '\t'), *name = tab ? tab + 1 : NULL;

                if (name && (is_nvme(name) || g_hash_table_contains(wanted->functions, name)))
                        g_hash_table_add(inventory->blacklist, g_strdup(name));
        }
}

void kernel_inventory_read_settings(KernelInventory *inventory, const KernelRoots *roots, const KernelWanted *wanted)
{
        KernelSettings *settings = &inventory->settings;

        settings->lockdown = read_lockdown(roots);
        settings->has_perf_event_paranoid = read_number(&settings->perf_event_paranoid, roots->proc,
                                                        "sys/kernel/perf_event_paranoid");
        read_number(&settings->unprivileged_bpf_disabled, roots->proc, "sys/kernel/unprivileged_bpf_disabled");
        read_number(&settings->bpf_jit_enable, roots->proc, "sys/net/core/bpf_jit_enable");
        read_number(&settings->kprobes_enabled, roots->sys, "kernel/debug/kprobes/enabled");
        read_blacklist(inventory, roots, wanted);
}

/* By the kernel's own mark of what is loaded, TAINT_OOT_MODULE: what modprobe would load by now need not be that. */
void kernel_inventory_read_origin(KernelModule *module, const KernelRoots *roots)
{
        g_autofree char *taint = read_text("%s/module/%s/taint", roots->sys, module->name);

        module->version = read_text("%s/module/%s/version", roots->sys, module->name);
        module->srcversion = read_text("%s/module/%s/srcversion", roots->sys, module->name);
        module->origin = taint && strchr(taint, 'O') ? MODULE_OUT_OF_TREE : MODULE_IN_TREE;
}
