/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "loose-modules.h"

#include <errno.h>
#include <fcntl.h>
#include <glib.h>
#include <unistd.h>

#include "../util.h"

typedef struct LooseModule {
        const char *name;               /* of the table of hooks */
        int fd;                         /* a file of its folder in sysfs; -1: it was gone when that was to be opened */
} LooseModule;

struct LooseModules {
        GArray *modules;                /* of LooseModule */
        char *gone;
};

static void close_module(void *data)
{
        closep(&((LooseModule *) data)->fd);
}

LooseModules *loose_modules_open(const char *sys, const HookPlan *plan)
{
        g_autofree const char **names = hook_plan_loose(plan);
        LooseModules *modules;

        if (!*names)
                return NULL;
        modules = g_new0(LooseModules, 1);
        modules->modules = g_array_new(false, true, sizeof(LooseModule));
        g_array_set_clear_func(modules->modules, close_module);
        for (unsigned i = 0; names[i]; i++) {
                g_autofree char *path = g_strdup_printf("%s/module/%s/initstate", sys, names[i]);
                LooseModule module = { names[i], open(path, O_RDONLY | O_CLOEXEC) };

                g_array_append_val(modules->modules, module);
        }
        return modules;
}

void loose_modules_free(LooseModules *modules)
{
        if (!modules)
                return;
        g_array_unref(modules->modules);
        g_free(modules->gone);
        g_free(modules);
}

/* sysfs: what is left of a file whose folder was removed cannot be read (ENODEV), also when there is a new one of that name. */
static bool is_there(const LooseModule *module)
{
        char byte;

        return module->fd >= 0 && pread(module->fd, &byte, 1, 0) >= 0;
}

const char *loose_modules_gone(LooseModules *modules)
{
        for (guint i = 0; modules && !modules->gone && i < modules->modules->len; i++) {
                const LooseModule *module = &g_array_index(modules->modules, LooseModule, i);

                if (!is_there(module))
                        modules->gone = g_strdup_printf("module %s, which it recorded by kprobes, was unloaded", module->name);
        }
        return modules ? modules->gone : NULL;
}
