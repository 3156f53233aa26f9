/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "type-check.h"

#include <string.h>

#include "../kernel/types-internal.h"

#define STRUCTURES_MAX 4
#define PROGRAMS_MAX 2

static const struct {
        HookSides side;
        const char *structures[STRUCTURES_MAX]; /* the likeliest to be wrong first */
        const char *programs[PROGRAMS_MAX];     /* that make it */
        const char *what;
        /* What it looks like when the programs come to no such check, and by commands of which transports they must. */
        const char *never;
        Transports answered;
} checks[NP_CHECK_COUNT] = {
        [NP_CHECK_CONTROLLER]     = { HOOK_SIDE_HOST, { "nvme_request", "nvme_ctrl" }, { "nvme_setup_cmd" },
                                      "a request's controller has not the number that sysfs tells; when it was reset just then, "
                                      "try again" },
        [NP_CHECK_TCP_SENDING]    = { HOOK_SIDE_HOST, { "nvme_tcp_queue", "nvme_tcp_request" },
                                      { "nvme_tcp_try_send_cmd_pdu_entry", "nvme_tcp_try_send_entry" },
                                      "what a queue sends is no request of that queue",
                                      "no command is seen to be sent", TRANSPORT_TCP },
        [NP_CHECK_RDMA_SENDING]   = { HOOK_SIDE_HOST, { "nvme_rdma_request", "nvme_rdma_qe" }, { "nvme_rdma_post_send_entry" },
                                      "what a queue posts is no request of that queue",
                                      "no command is seen to be posted", TRANSPORT_RDMA },
        [NP_CHECK_RDMA_RESPONSE]  = { HOOK_SIDE_HOST, { "nvme_rdma_queue", "nvme_rdma_qe", "ib_wc", "ib_qp" },
                                      { "nvme_rdma_recv_done" }, "a response is not where its queue receives",
                                      "no response is seen to come", TRANSPORT_RDMA },
        [NP_CHECK_RDMA_ROUND]     = { HOOK_SIDE_HOST | HOOK_SIDE_TARGET, { "ib_cq" }, { "ib_poll_handler", "ib_cq_poll_work" },
                                      "what is polled is no completion queue",
                                      "no completion queue that has an event is seen to be polled" },
        [NP_CHECK_ARRIVAL]        = { HOOK_SIDE_TARGET, { "nvmet_ctrl", "nvmet_subsys", "nvmet_sq", "nvmet_req" },
                                      { "nvmet_req_init" }, "a command is of no controller",
                                      "none of the commands that this machine's target answers is seen to come to it",
                                      TRANSPORTS_ALL },
        [NP_CHECK_REQUEST]        = { HOOK_SIDE_TARGET, { "nvmet_req" }, { "nvmet_req_init" },
                                      "a request's command is not the one that the tracepoint tells" },
        [NP_CHECK_RESPONSE]       = { HOOK_SIDE_TARGET, { "nvmet_req", "nvmet_sq", "nvme_completion" },
                                      { "nvmet_tcp_queue_response", "nvmet_rdma_queue_response_entry" },
                                      "a response has not the numbers of its command and queue" },
        [NP_CHECK_TCP_COMMAND]    = { HOOK_SIDE_TARGET, { "nvmet_tcp_cmd", "nvmet_tcp_queue" }, { "nvmet_tcp_queue_response" },
                                      "a command's connection has not the queue that its request has" },
        [NP_CHECK_TCP_RESPONDING] = { HOOK_SIDE_TARGET, { "nvmet_tcp_queue", "nvmet_tcp_cmd" }, { "kernel_sendpage" },
                                      "what a connection sends is no command of that connection" },
        [NP_CHECK_RDMA_COMMAND]   = { HOOK_SIDE_TARGET, { "nvmet_rdma_rsp", "nvmet_rdma_queue" },
                                      { "nvmet_rdma_queue_response_entry" },
                                      "a command's connection has not the queue that its request has" },
        [NP_CHECK_RDMA_READ]      = { HOOK_SIDE_TARGET, { "nvmet_rdma_rsp", "nvmet_rdma_queue", "ib_wc", "ib_qp" },
                                      { "nvmet_rdma_read_data_done" }, "what was read is of no command of its connection" },
        [NP_CHECK_RDMA_SENT]      = { HOOK_SIDE_TARGET, { "nvmet_rdma_rsp", "nvmet_rdma_queue", "ib_wc", "ib_qp" },
                                      { "nvmet_rdma_send_done" }, "what was sent is of no command of its connection" },
};

static const char *unsure_module(KernelTypes *types, const char *structure)
{
        const char *module = kernel_types_origin(types, structure);

        return module && kernel_types_source(types, module) != TYPES_KERNEL ? module : NULL;
}

/* "struct nvme_rdma_queue of nvme_rdma or ib_wc of ib_core", NULL when all are known from the kernel itself. *ret_module: the
 * likeliest one's, which is to be told anew. */
static char *unsure(KernelTypes *types, const char *const structures[], const char **ret_module)
{
        GString *names = g_string_new("struct ");
        const char *first = NULL;

        for (unsigned i = 0; i < STRUCTURES_MAX && structures[i]; i++) {
                const char *module = unsure_module(types, structures[i]);

                if (!module)
                        continue;
                g_string_append_printf(names, "%s%s of %s", first ? " or " : "", structures[i], module);
                first = first ?: module;
        }
        *ret_module = first;
        return g_string_free(names, !first);
}

static bool any_chosen(const ProgramSet *programs, const char *const names[])
{
        for (unsigned i = 0; i < PROGRAMS_MAX && names[i]; i++)
                if (program_set_is_chosen(programs, names[i]))
                        return true;
        return false;
}

static void add(TypeChecks *to, unsigned which, KernelTypes *types)
{
        g_autofree char *names = NULL, *advice = NULL;
        const ModuleTypes *of;
        const char *module, *make;

        names = unsure(types, checks[which].structures, &module);
        if (!names)
                return;
        of = kernel_types_get(types, module);
        advice = kernel_types_advice(types->release, module, of->out_of_tree);
        make = of->source == TYPES_LAYOUT ? "make a file of this kernel's own types" : "make that file anew";

        to->wanted |= 1U << which;
        to->wrong[which] = g_strdup_printf("%s is not as %s has it (%s), so nothing can be measured by it; %s, %s", names,
                                           of->where, checks[which].what, make, advice);
        if (checks[which].never)
                to->never[which] = g_strdup_printf("%s, so %s seems not to be as %s has it, and nothing can be measured by it; "
                                                   "%s, %s", checks[which].never, names, of->where, make, advice);
}

void type_checks_make(KernelTypes *types, HookSides side, const ProgramSet *programs, TypeChecks *ret)
{
        *ret = (TypeChecks) {};
        for (unsigned i = 0; i < NP_CHECK_COUNT; i++)
                if (checks[i].side & side && any_chosen(programs, checks[i].programs))
                        add(ret, i, types);
}

void type_checks_done(TypeChecks *of)
{
        for (unsigned i = 0; i < NP_CHECK_COUNT; i++) {
                g_clear_pointer(&of->wrong[i], g_free);
                g_clear_pointer(&of->never[i], g_free);
        }
}

void type_checks_answered(TypeChecks *of, Transports transport)
{
        /* Each command comes here, and hardly any kernel has something to check. */
        if (!of->wanted)
                return;
        for (unsigned i = 0; i < NP_CHECK_COUNT; i++)
                if (checks[i].answered & transport)
                        of->due[i]++;
}

const char *type_checks_wrong(const TypeChecks *of, const volatile struct np_checks *seen)
{
        uint32_t failed = seen->failed & of->wanted;

        for (unsigned i = 0; i < NP_CHECK_COUNT; i++)
                if (failed & 1U << i)
                        return of->wrong[i];
        /* What is due is read before what was made: that goes on meanwhile. */
        for (unsigned i = 0; i < NP_CHECK_COUNT; i++)
                if (of->never[i] && (of->due[i] > TYPE_CHECKS_DUE || seen->due[i] > TYPE_CHECKS_DUE) && seen->made[i] == 0)
                        return of->never[i];
        return NULL;
}
