/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "type-check.h"

#include <string.h>

#include "../kernel/types-internal.h"

#define STRUCTURES_MAX 3

static const struct {
        HookSides side;
        const char *structures[STRUCTURES_MAX]; /* the likeliest to be wrong first */
        const char *what;
} checks[NP_CHECK_COUNT] = {
        [NP_CHECK_CONTROLLER]     = { HOOK_SIDE_HOST, { "nvme_request", "nvme_ctrl" },
                                      "a request's controller has not the number that sysfs tells" },
        [NP_CHECK_TCP_SENDING]    = { HOOK_SIDE_HOST, { "nvme_tcp_queue", "nvme_tcp_request" },
                                      "what a queue sends is no request of that queue" },
        [NP_CHECK_REQUEST]        = { HOOK_SIDE_TARGET, { "nvmet_req" },
                                      "a request's command is not the one that the tracepoint tells" },
        [NP_CHECK_RESPONSE]       = { HOOK_SIDE_TARGET, { "nvmet_req", "nvmet_sq", "nvme_completion" },
                                      "a response has not the numbers of its command and queue" },
        [NP_CHECK_TCP_COMMAND]    = { HOOK_SIDE_TARGET, { "nvmet_tcp_cmd", "nvmet_tcp_queue" },
                                      "a command's connection has not the queue that its request has" },
        [NP_CHECK_TCP_RESPONDING] = { HOOK_SIDE_TARGET, { "nvmet_tcp_queue", "nvmet_tcp_cmd" },
                                      "what a connection sends is no command of that connection" },
};

static const char *unsure_module(KernelTypes *types, const char *structure)
{
        const char *module = kernel_types_origin(types, structure);

        return module && kernel_types_source(types, module) != TYPES_KERNEL ? module : NULL;
}

/* Whichever structure it is that is not known from the kernel itself: the likeliest one's module is to be told anew. */
static char *sentence(KernelTypes *types, const char *const structures[], const char *what)
{
        g_autofree char *advice = NULL;
        GString *names = g_string_new(NULL);
        const ModuleTypes *of;
        const char *first = NULL;

        for (unsigned i = 0; i < STRUCTURES_MAX && structures[i]; i++) {
                const char *module = unsure_module(types, structures[i]);

                if (!module)
                        continue;
                g_string_append_printf(names, "%s%s of %s", first ? " or " : "", structures[i], module);
                first = first ?: module;
        }
        if (!first) {
                g_string_free(names, true);
                return NULL;
        }
        of = kernel_types_get(types, first);
        advice = kernel_types_advice(types->release, first, of->out_of_tree);
        g_string_prepend(names, "struct ");
        g_string_append_printf(names, " is not as %s has it (%s), so nothing can be measured by it; %s, %s", of->where, what,
                               of->source == TYPES_LAYOUT ? "make a file of this kernel's own types" : "make that file anew", advice);
        return g_string_free(names, false);
}

void type_checks_make(KernelTypes *types, HookSides side, TypeChecks *ret)
{
        *ret = (TypeChecks) {};
        for (unsigned i = 0; i < NP_CHECK_COUNT; i++)
                if (checks[i].side == side) {
                        ret->wrong[i] = sentence(types, checks[i].structures, checks[i].what);
                        ret->wanted |= ret->wrong[i] ? 1U << i : 0;
                }
}

void type_checks_done(TypeChecks *of)
{
        for (unsigned i = 0; i < NP_CHECK_COUNT; i++)
                g_clear_pointer(&of->wrong[i], g_free);
}

const char *type_checks_wrong(const TypeChecks *of, uint32_t failed)
{
        for (unsigned i = 0; i < NP_CHECK_COUNT; i++)
                if (failed & of->wanted & 1U << i)
                        return of->wrong[i];
        return NULL;
}
