/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "backend-live.h"

#include <glib.h>
#include <sys/utsname.h>

#include "../inspection.h"
#include "../kernel/plan.h"
#include "../privileges.h"
#include "../session/drive-hidden.h"
#include "capture-bpf.h"

static int live_resolve(Backend *b, const char *name, NamespaceInfo **ret, Error *error)
{
        return namespace_resolve(&namespace_roots_default, name, ret, error);
}

/* The kernel's modules come and go, so it is read anew for each session. */
static int make_plan(HookSides sides, const CaptureConfig *config, HookPlan **ret, Error *error)
{
        const HookScope scope = { sides, config->transports, config->detail, privileges_permitted() };
        int r;

        r = hook_plan_read(&kernel_roots_default, &scope, ret);
        if (r < 0)
                return error_set(error, NTPROF_ERROR_KERNEL_UNSUPPORTED, "This kernel's types and symbols cannot be read: %s",
                                 g_strerror(-r));
        return 0;
}

static int live_open(Backend *b, const NamespaceInfo *info, CaptureConfig *config, const CaptureHandlers *handlers,
                     Capture **ret, char **ret_no_target_reason, Error *error)
{
        HookSides sides = HOOK_SIDE_HOST | (config->n_target_filters > 0 ? HOOK_SIDE_TARGET : 0);
        const char *why = NULL;
        HookPlan *plan;
        int r;

        r = make_plan(sides, config, &plan, error);
        if (r < 0)
                return r;

        if (!hook_plan_usable(plan, HOOK_SIDE_HOST, &why)) {
                r = error_set(error, NTPROF_ERROR_KERNEL_UNSUPPORTED, "Kernel %s: %s", b->kernel, why);
                goto finish;
        }
        if (config->n_target_filters > 0 && !hook_plan_usable(plan, HOOK_SIDE_TARGET, &why)) {
                *ret_no_target_reason = g_strdup_printf("the target is this machine, but its side cannot be recorded: %s", why);
                config->n_target_filters = 0;
                hook_plan_free(plan);
                r = make_plan(HOOK_SIDE_HOST, config, &plan, error);
                if (r < 0)
                        return r;
        }

        r = capture_bpf_new(plan, config, handlers, ret);
        if (r < 0)
                r = error_set(error, NTPROF_ERROR_CAPTURE_FAILED, "%s: the programs could not be prepared: %s", info->name,
                              g_strerror(-r));

finish:
        hook_plan_free(plan);
        return r;
}

static int live_open_target(Backend *b, const CaptureConfig *config, const CaptureHandlers *handlers, Capture **ret,
                            Error *error)
{
        const char *why = NULL;
        HookPlan *plan;
        int r;

        r = make_plan(HOOK_SIDE_TARGET, config, &plan, error);
        if (r < 0)
                return r;

        if (!hook_plan_usable(plan, HOOK_SIDE_TARGET, &why))
                r = error_set(error, NTPROF_ERROR_KERNEL_UNSUPPORTED, "%s, kernel %s: %s", b->machine, b->kernel, why);
        else {
                r = capture_bpf_new(plan, config, handlers, ret);
                if (r < 0)
                        r = error_set(error, NTPROF_ERROR_CAPTURE_FAILED, "%s: the programs could not be prepared: %s",
                                      b->machine, g_strerror(-r));
        }
        hook_plan_free(plan);
        return r;
}

static char *live_drive_hidden(Backend *b, const char *subsysnqn, uint32_t nsid)
{
        return drive_hidden_read(&namespace_roots_default, subsysnqn, nsid);
}

static MachineFacts *live_describe(Backend *b)
{
        return machine_facts_read(&namespace_roots_default);
}

static void live_read_iostat(Backend *b, Capture *capture, const NamespaceInfo *info, IoStat *ret)
{
        iostat_read(&namespace_roots_default, info, ret);
}

static int live_inspect(Backend *b, const char *namespace, bool as_service, JsonNode **ret, Error *error)
{
        _cleanup_(namespace_info_freep) NamespaceInfo *info = NULL;
        int r;

        r = namespace ? live_resolve(b, namespace, &info, error) : 0;
        if (r < 0)
                return r;
        r = inspection_make(info, as_service, ret);
        if (r < 0)
                return error_set(error, NTPROF_ERROR_KERNEL_UNSUPPORTED, "This kernel's types and symbols cannot be read: %s",
                                 g_strerror(-r));
        return 0;
}

static void live_free(Backend *b)
{
        g_free(b->machine);
        g_free(b->kernel);
        g_free(b);
}

int backend_live_new(Backend **ret)
{
        static const BackendOps ops = {
                .resolve = live_resolve,
                .open = live_open,
                .open_target = live_open_target,
                .drive_hidden = live_drive_hidden,
                .describe = live_describe,
                .read_iostat = live_read_iostat,
                .inspect = live_inspect,
                .free = live_free,
        };
        struct utsname u;
        Backend *b;

        if (uname(&u) < 0)
                return -errno;

        b = g_new0(Backend, 1);
        b->ops = &ops;
        b->machine = g_strdup(u.nodename);
        b->kernel = g_strdup(u.release);
        *ret = b;
        return 0;
}
