/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How programs get into the kernel: constants, types, places to attach to; and why they did not. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "capture-bpf-internal.h"
#include "../kernel/attach-target.h"
#include "../kernel/types.h"
#include "../privileges.h"
#include "../util.h"

/* Sessions attach on threads of their own, while others are opened and detached. */
static _Thread_local char *printed;

void capture_bpf_forget_printed(void)
{
        free(TAKE_PTR(printed));
}

static int keep_warnings(enum libbpf_print_level level, const char *format, va_list args)
{
        _cleanup_free_ char *text = NULL, *before = NULL;

        if (level != LIBBPF_WARN)
                return 0;
        before = TAKE_PTR(printed);
        if (vasprintf(&text, format, args) < 0 || asprintf(&printed, "%s%s", before ?: "", text) < 0)
                printed = TAKE_PTR(before);
        return 0;
}

void capture_bpf_keep_printed(void)
{
        libbpf_set_print(keep_warnings);
}

/* The verifier's verdict is the last line of its log before the statistics, or before its explanations (since 7.3); else libbpf's
 * first line says most. */
static void summarize(char *ret, size_t size)
{
        _cleanup_free_ char *text = TAKE_PTR(printed);
        char *saved, *verdict = NULL, *first = NULL, *line;

        ret[0] = '\0';
        if (!text)
                return;
        for (line = strtok_r(text, "\n", &saved); line; line = strtok_r(NULL, "\n", &saved)) {
                if (!first)
                        first = line;
                if (strncmp(line, "processed ", 10) == 0 || strncmp(line, "Verification failed: ", 21) == 0 ||
                    strstr(line, "-- END PROG LOAD LOG --"))
                        break;
                verdict = line;
        }
        snprintf(ret, size, "%s%s%s", first ?: "", verdict && verdict != first ? "; " : "",
                 verdict && verdict != first ? verdict : "");
}

static bool is_of(const Side *side, HookFamily family)
{
        return side->programs && program_set_family(side->programs) == family;
}

int capture_bpf_fail(CaptureBpf *b, const char **ret_error, int r, const char *what, const char *side)
{
        uint64_t lacking = r == -EPERM || r == -EACCES ? privileges_lacking(b->privileges, privileges_permitted()) : 0;
        g_autofree char *names = privileges_to_text(lacking), *advice = privileges_advice(lacking);
        char libbpf_says[512];

        if (printed)
                fprintf(stderr, "%s", printed);
        summarize(libbpf_says, sizeof(libbpf_says));
        snprintf(b->error, sizeof(b->error), "can't %s the %s's programs: %s%s%s%s%s%s%s", what, side, strerror(-r),
                 advice ? " (ntprofd lacks " : "", advice ? names : "", advice ? "): " : "", advice ?: "",
                 *libbpf_says ? "; " : "", libbpf_says);
        *ret_error = b->error;
        return r;
}

typedef struct Constant {
        const char *name;
        const void *value;
        size_t size;
} Constant;

#define CONSTANT(name, variable) { name, &(variable), sizeof(variable) }

static int write_constants(ProgramSet *programs, const Constant *constants, size_t n)
{
        int r = 0;

        for (size_t i = 0; r >= 0 && i < n; i++)
                r = program_set_write_constant(programs, constants[i].name, constants[i].value, constants[i].size);
        return r;
}

/* An LRU map has all of its memory from the start: `arrivals` 6 MiB. A session that does not use it need not pay. */
static int size_maps(ProgramSet *programs, bool at_sockets, bool at_completion_queues)
{
        const struct {
                const char *name;
                bool used;
        } maps[] = { { "arrivals", at_sockets }, { "rounds", at_completion_queues } };
        int r = 0;

        for (size_t i = 0; r >= 0 && i < ELEMENTSOF(maps); i++)
                if (!maps[i].used)
                        r = bpf_map__set_max_entries(program_set_map(programs, maps[i].name), 1);
        return r;
}

static int write_host_constants(CaptureBpf *b)
{
        bool at_sockets = program_set_is_chosen(b->host.programs, "nvme_tcp_data_ready");
        bool r2ts = program_set_is_chosen(b->host.programs, "nvme_tcp_setup_h2c_data_pdu");
        const Constant constants[] = {
                CONSTANT("host_filters", b->config.host_filters),
                CONSTANT("n_host_filters", b->config.n_host_filters),
                CONSTANT("head_major", b->config.head_major),
                CONSTANT("head_minor", b->config.head_minor),
                CONSTANT("arrivals_at_sockets", at_sockets),
                CONSTANT("r2ts_are_told", r2ts),
                CONSTANT("checks_wanted", b->host.checks.wanted),
        };

        int r = size_maps(b->host.programs, at_sockets, program_set_is_chosen(b->host.programs, "ib_cq_completion_softirq"));

        return r < 0 ? r : write_constants(b->host.programs, constants, ELEMENTSOF(constants));
}

static int write_target_constants(CaptureBpf *b)
{
        bool at_sockets = program_set_is_chosen(b->target.programs, "nvmet_tcp_data_ready");
        bool wait = program_set_is_chosen(b->target.programs, "nvmet_rdma_send_done");
        const Constant constants[] = {
                CONSTANT("target_filters", b->config.target_filters),
                CONSTANT("n_target_filters", b->config.n_target_filters),
                CONSTANT("arrivals_at_sockets", at_sockets),
                CONSTANT("wait_for_send_completion", wait),
                CONSTANT("checks_wanted", b->target.checks.wanted),
        };
        int r;

        for (unsigned i = 0; i < b->config.n_target_filters; i++)
                b->config.target_filters[i].hostnqn_length =
                        strnlen(b->config.target_filters[i].hostnqn, sizeof(b->config.target_filters[i].hostnqn) - 1);
        r = size_maps(b->target.programs, at_sockets, program_set_is_chosen(b->target.programs, "ib_cq_completion_workqueue"));
        return r < 0 ? r : write_constants(b->target.programs, constants, ELEMENTSOF(constants));
}

static int find_variables(Side *side)
{
        side->recording = program_set_variable(side->programs, "recording", sizeof(*side->recording));
        side->threshold = program_set_variable(side->programs, "threshold", sizeof(*side->threshold));
        side->under_way = program_set_variable(side->programs, "under_way", sizeof(*side->under_way));
        side->checks_seen = program_set_variable(side->programs, "checks", sizeof(*side->checks_seen));
        side->ring = program_set_map(side->programs, "ring");
        side->cpus = program_set_map(side->programs, "cpus");
        return side->recording && side->threshold && side->under_way && side->checks_seen && side->ring && side->cpus ? 0 : -ENOENT;
}

static int load_side(CaptureBpf *b, Side *side, int (*write_side_constants)(CaptureBpf *b), const char **ret_error)
{
        int r;

        r = write_side_constants(b);
        if (r >= 0)
                r = program_set_load(side->programs);
        if (r >= 0)
                r = find_variables(side);
        if (r < 0)
                return capture_bpf_fail(b, ret_error, r, "load", side->name);
        r = program_set_attach(side->programs);
        if (r < 0)
                return capture_bpf_fail(b, ret_error, r, "attach", side->name);
        return 0;
}

static int take_types_of(Side *side, HookSides which, KernelTypes *types, Error *error)
{
        int r;

        if (!is_of(side, HOOK_FAMILY_PROBES))
                return 0;
        r = program_set_take_types(side->programs, types, error);
        if (r >= 0)
                type_checks_make(types, which, side->programs, &side->checks);
        return r;
}

static int take_types(CaptureBpf *b, const char **ret_error)
{
        _cleanup_(kernel_types_closep) KernelTypes *types = NULL;
        _cleanup_error_ Error error = ERROR_INIT;
        int r;

        if (!is_of(&b->host, HOOK_FAMILY_PROBES) && !is_of(&b->target, HOOK_FAMILY_PROBES))
                return 0;
        r = kernel_types_open(NULL, NULL, &types, &error);
        if (r >= 0)
                r = take_types_of(&b->target, HOOK_SIDE_TARGET, types, &error);
        if (r >= 0)
                r = take_types_of(&b->host, HOOK_SIDE_HOST, types, &error);
        if (r >= 0)
                return 0;
        snprintf(b->error, sizeof(b->error), "%s", error.message ?: strerror(-r));
        *ret_error = b->error;
        return r;
}

static int load_sides(CaptureBpf *b, const char **ret_error)
{
        int r = 0;

        if (b->target.programs)
                r = load_side(b, &b->target, write_target_constants, ret_error);
        if (r >= 0 && b->host.programs)
                r = load_side(b, &b->host, write_host_constants, ret_error);
        return r;
}

int capture_bpf_load(CaptureBpf *b, const char **ret_error)
{
        int r;

        r = take_types(b, ret_error);
        if (r < 0)
                return r;
        if (!is_of(&b->host, HOOK_FAMILY_TYPED) && !is_of(&b->target, HOOK_FAMILY_TYPED))
                return load_sides(b, ret_error);
        r = attach_targets_open();
        if (r < 0)
                return capture_bpf_fail(b, ret_error, r, "find where to attach",
                                        !b->host.programs ? "target" : b->target.programs ? "host's and the target" : "host");
        r = load_sides(b, ret_error);
        attach_targets_close();
        return r;
}

static int open_side(Side *side, const char *name, const HookPlan *plan, HookSides which, bool detail)
{
        int r;

        r = program_set_open(which, hook_plan_family(plan, which), &side->programs);
        if (r < 0)
                return r;
        side->name = name;
        program_set_choose(side->programs, plan);
        return bpf_map__set_autocreate(program_set_map(side->programs, "arrivals"), detail);
}

int capture_bpf_open(CaptureBpf *b, const HookPlan *plan)
{
        int r = 0;

        if (b->config.n_host_filters > 0)
                r = open_side(&b->host, "host", plan, HOOK_SIDE_HOST, b->config.detail);
        if (r >= 0 && b->config.n_target_filters > 0)
                r = open_side(&b->target, "target", plan, HOOK_SIDE_TARGET, b->config.detail);
        return r;
}
