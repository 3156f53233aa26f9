/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Records from the programs in the kernel: loads and attaches what the plan chose, drains the ring buffers, sums the
 * counters. Everything is released with the file descriptors, so a daemon that dies leaves nothing attached.
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "capture-bpf.h"
#include "program-set.h"
#include "../kernel/attach-target.h"
#include "../kernel/plan-internal.h"
#include "../util.h"

/* The programs of a side, and what is read and written of them while they run. */
typedef struct Side {
        ProgramSet *programs;           /* NULL: nothing of this side is recorded */
        struct bpf_map *ring, *cpus;
        volatile uint32_t *recording, *threshold;
        volatile int64_t *under_way;
} Side;

typedef struct CaptureBpf {
        Capture capture;
        CaptureConfig config;
        Side host, target;
        struct ring_buffer *ring;
        CaptureHook *hooks;
        unsigned n_hooks;
        uint32_t threshold;
        bool pausing;
        char error[1024];
} CaptureBpf;

static CaptureBpf *bpf(Capture *c)
{
        return (CaptureBpf *) c;
}

/* libbpf tells why by printing. Sessions attach on threads of their own, while others are opened and detached. */
static _Thread_local char *printed;

static void forget_printed(void)
{
        free(TAKE_PTR(printed));
}

static int keep_warnings(enum libbpf_print_level level, const char *format, va_list args)
{
        _cleanup_free_ char *text = NULL, *before = printed;

        if (level != LIBBPF_WARN)
                return 0;
        if (vasprintf(&text, format, args) < 0 || asprintf(&printed, "%s%s", before ?: "", text) < 0)
                printed = TAKE_PTR(before);
        return 0;
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

static int fail(CaptureBpf *b, const char **ret_error, int r, const char *what, const char *side)
{
        char libbpf_says[sizeof(b->error) - 256];

        if (printed)
                fprintf(stderr, "%s", printed);
        summarize(libbpf_says, sizeof(libbpf_says));
        snprintf(b->error, sizeof(b->error), "can't %s the %s's programs: %s%s%s%s", what, side, strerror(-r),
                 r == -EPERM || r == -EACCES ? " (ntprofd needs CAP_BPF, CAP_PERFMON and CAP_SYS_ADMIN)" : "",
                 *libbpf_says ? "; " : "", libbpf_says);
        *ret_error = b->error;
        return r;
}

static int on_host_record(void *userdata, void *data, size_t size)
{
        CaptureBpf *b = userdata;

        if (size >= sizeof(struct np_host_record))
                b->capture.handlers.host_record(data, b->capture.handlers.userdata);
        return 0;
}

static int on_target_record(void *userdata, void *data, size_t size)
{
        CaptureBpf *b = userdata;

        if (size >= sizeof(struct np_target_record))
                b->capture.handlers.target_record(data, b->capture.handlers.userdata);
        return 0;
}

#define WRITE_CONSTANT(programs, name, value)                                                   \
        ({                                                                                      \
                typeof(value) _value_ = (value);                                                \
                                                                                                \
                program_set_write_constant(programs, name, &_value_, sizeof(_value_));          \
        })

static int write_host_constants(CaptureBpf *b)
{
        ProgramSet *programs = b->host.programs;
        bool at_sockets = program_set_is_chosen(programs, "nvme_tcp_data_ready");
        int r;

        r = program_set_write_constant(programs, "host_filters", b->config.host_filters, sizeof(b->config.host_filters));
        if (r >= 0)
                r = WRITE_CONSTANT(programs, "n_host_filters", b->config.n_host_filters);
        if (r >= 0)
                r = WRITE_CONSTANT(programs, "head_major", b->config.head_major);
        if (r >= 0)
                r = WRITE_CONSTANT(programs, "head_minor", b->config.head_minor);
        if (r >= 0)
                r = WRITE_CONSTANT(programs, "arrivals_at_sockets", at_sockets);
        return r;
}

static int write_target_constants(CaptureBpf *b)
{
        ProgramSet *programs = b->target.programs;
        bool at_sockets = program_set_is_chosen(programs, "nvmet_tcp_data_ready");
        bool wait = program_set_is_chosen(programs, "nvmet_rdma_send_done");
        int r;

        for (unsigned i = 0; i < b->config.n_target_filters; i++)
                b->config.target_filters[i].hostnqn_length =
                        strnlen(b->config.target_filters[i].hostnqn, sizeof(b->config.target_filters[i].hostnqn) - 1);
        r = program_set_write_constant(programs, "target_filters", b->config.target_filters, sizeof(b->config.target_filters));
        if (r >= 0)
                r = WRITE_CONSTANT(programs, "n_target_filters", b->config.n_target_filters);
        if (r >= 0)
                r = WRITE_CONSTANT(programs, "arrivals_at_sockets", at_sockets);
        if (r >= 0)
                r = WRITE_CONSTANT(programs, "wait_for_send_completion", wait);
        return r;
}

static int find_variables(Side *side)
{
        side->ring = program_set_map(side->programs, "ring");
        side->cpus = program_set_map(side->programs, "cpus");
        side->recording = program_set_variable(side->programs, "recording", sizeof(*side->recording));
        side->threshold = program_set_variable(side->programs, "threshold", sizeof(*side->threshold));
        side->under_way = program_set_variable(side->programs, "under_way", sizeof(*side->under_way));
        return side->ring && side->cpus && side->recording && side->threshold && side->under_way ? 0 : -ENOENT;
}

static int load_side(CaptureBpf *b, Side *side, const char *name, int (*write_constants)(CaptureBpf *b), const char **ret_error)
{
        int r;

        r = write_constants(b);
        if (r >= 0)
                r = program_set_load(side->programs);
        if (r >= 0)
                r = find_variables(side);
        if (r < 0)
                return fail(b, ret_error, r, "load", name);
        r = program_set_attach(side->programs);
        if (r < 0)
                return fail(b, ret_error, r, "attach", name);
        return 0;
}

static int load_and_attach(CaptureBpf *b, const char **ret_error)
{
        int r;

        r = attach_targets_open();
        if (r < 0)
                return fail(b, ret_error, r, "find where to attach",
                            !b->host.programs ? "target" : b->target.programs ? "host's and the target" : "host");
        r = b->target.programs ? load_side(b, &b->target, "target", write_target_constants, ret_error) : 0;
        if (r >= 0 && b->host.programs)
                r = load_side(b, &b->host, "host", write_host_constants, ret_error);
        attach_targets_close();
        return r;
}

/* The first one makes the ring buffer reader. */
static int add_ring(CaptureBpf *b, struct bpf_map *map, ring_buffer_sample_fn on_record)
{
        if (b->ring)
                return ring_buffer__add(b->ring, bpf_map__fd(map), on_record, b);
        b->ring = ring_buffer__new(bpf_map__fd(map), on_record, b, NULL);
        return b->ring ? 0 : -errno;
}

static int attach(Capture *c, const char **ret_error)
{
        CaptureBpf *b = bpf(c);
        int r;

        r = load_and_attach(b, ret_error);
        forget_printed();
        if (r < 0)
                return r;

        if (b->host.programs) {
                r = add_ring(b, b->host.ring, on_host_record);
                if (r < 0)
                        return fail(b, ret_error, r, "read from", "host");
        }
        if (b->target.programs) {
                r = add_ring(b, b->target.ring, on_target_record);
                if (r < 0)
                        return fail(b, ret_error, r, "read from", "target");
        }
        return 0;
}

/* NULL: of a side that is not loaded. */
static void write_variable(volatile uint32_t *variable, uint32_t value)
{
        if (variable)
                *variable = value;
}

static int set_threshold(Capture *c, uint32_t threshold)
{
        CaptureBpf *b = bpf(c);
        bool raised = threshold > b->threshold;

        if (raised)
                write_variable(b->target.threshold, threshold);
        write_variable(b->host.threshold, threshold);
        if (!raised)
                write_variable(b->target.threshold, threshold);
        b->threshold = threshold;
        return 0;
}

static int resume(Capture *c)
{
        CaptureBpf *b = bpf(c);

        b->pausing = false;
        write_variable(b->target.recording, 1);
        write_variable(b->host.recording, 1);
        return 0;
}

static int pause_capture(Capture *c)
{
        CaptureBpf *b = bpf(c);

        b->pausing = true;
        write_variable(b->host.programs ? b->host.recording : b->target.recording, 0);
        return 0;
}

static int drain(Capture *c)
{
        CaptureBpf *b = bpf(c);

        return b->ring ? ring_buffer__consume(b->ring) : 0;
}

static int get_fd(Capture *c)
{
        CaptureBpf *b = bpf(c);

        return b->ring ? ring_buffer__epoll_fd(b->ring) : -1;
}

static void add_kind(CaptureCounters *counters, const struct np_kind_count *kind)
{
        for (unsigned i = 0; i < counters->n_kinds; i++)
                if (counters->kinds[i].key == kind->key) {
                        counters->kinds[i].count += kind->count;
                        return;
                }
        if (counters->n_kinds < ELEMENTSOF(counters->kinds))
                counters->kinds[counters->n_kinds++] = (CaptureKind) { kind->key, kind->count };
        else
                counters->host[NP_C_KIND_OVERFLOW] += kind->count;
}

static int sum_cpus(struct bpf_map *map, uint64_t sums[NP_C_COUNT], CaptureCounters *kinds)
{
        _cleanup_free_ struct np_cpu *cpus = NULL;
        int n = libbpf_num_possible_cpus();
        uint32_t zero = 0;

        if (n < 0)
                return n;
        cpus = calloc(n, sizeof(struct np_cpu));
        if (!cpus)
                return -ENOMEM;
        if (bpf_map_lookup_elem(bpf_map__fd(map), &zero, cpus) < 0)
                return -errno;
        for (int i = 0; i < n; i++) {
                for (unsigned j = 0; j < NP_C_COUNT; j++)
                        sums[j] += cpus[i].counter[j];
                for (unsigned j = 0; kinds && j < NP_KIND_SLOTS; j++)
                        if (cpus[i].kinds.slot[j].key)
                                add_kind(kinds, &cpus[i].kinds.slot[j]);
        }
        return 0;
}

static int get_counters(Capture *c, CaptureCounters *ret)
{
        CaptureBpf *b = bpf(c);
        int r;

        *ret = (CaptureCounters) {};
        if (b->host.programs) {
                r = sum_cpus(b->host.cpus, ret->host, ret);
                if (r < 0)
                        return r;
                ret->host_recursion = program_set_skipped(b->host.programs);
                ret->host_in_flight = *b->host.under_way;
        }
        if (!b->target.programs)
                return 0;

        if (b->pausing && ret->host_in_flight == 0)
                write_variable(b->target.recording, 0);
        r = sum_cpus(b->target.cpus, ret->target, NULL);
        if (r < 0)
                return r;
        ret->target_recursion = program_set_skipped(b->target.programs);
        ret->target_in_flight = *b->target.under_way;
        return 0;
}

static unsigned get_hooks(Capture *c, const CaptureHook **ret)
{
        *ret = bpf(c)->hooks;
        return bpf(c)->n_hooks;
}

static bool at_end(Capture *c)
{
        return false;
}

static void detach(Capture *c)
{
        CaptureBpf *b = bpf(c);

        ring_buffer__free(TAKE_PTR(b->ring));
        if (b->host.programs)
                program_set_detach(b->host.programs);
        if (b->target.programs)
                program_set_detach(b->target.programs);
}

static void free_capture(Capture *c)
{
        CaptureBpf *b = bpf(c);

        detach(c);
        program_set_free(b->host.programs);
        program_set_free(b->target.programs);
        for (unsigned i = 0; i < b->n_hooks; i++) {
                free((char *) b->hooks[i].boundary);
                free((char *) b->hooks[i].mechanism);
                free((char *) b->hooks[i].symbol);
        }
        free(b->hooks);
        free(b);
}

static const CaptureOps bpf_ops = {
        .name = "bpf",
        .attach = attach,
        .resume = resume,
        .pause = pause_capture,
        .set_threshold = set_threshold,
        .drain = drain,
        .get_fd = get_fd,
        .get_counters = get_counters,
        .get_hooks = get_hooks,
        .at_end = at_end,
        .detach = detach,
        .free = free_capture,
};

static int copy_hooks(CaptureBpf *b, const HookPlan *plan)
{
        b->hooks = calloc(plan->choices->len, sizeof(CaptureHook));
        if (!b->hooks)
                return -ENOMEM;
        for (unsigned i = 0; i < plan->choices->len; i++) {
                const HookChoice *choice = plan->choices->pdata[i];
                CaptureHook *hook = &b->hooks[b->n_hooks];
                char *boundary, *mechanism, *symbol;

                if (choice->row->side == HOOK_SIDE_TARGET && !b->target.programs)
                        continue;
                if (asprintf(&boundary, "%s%s%s%s", choice->row->boundary, choice->row->covers ? " (" : "",
                             choice->row->covers ?: "", choice->row->covers ? ")" : "") < 0)
                        return -ENOMEM;
                mechanism = strdup(choice->chosen ? choice->mechanism : "merged");
                symbol = strdup(choice->chosen ? choice->chosen->symbol : choice->merged);
                *hook = (CaptureHook) { boundary, mechanism, symbol, choice->row->side == HOOK_SIDE_TARGET };
                b->n_hooks++;
                if (!mechanism || !symbol)
                        return -ENOMEM;
        }
        return 0;
}

static int open_side(Side *side, const HookPlan *plan, HookSides which, bool detail)
{
        int r;

        r = program_set_open(which, hook_plan_family(plan, which), NULL, &side->programs);
        if (r < 0)
                return r;
        program_set_choose(side->programs, plan);
        return bpf_map__set_autocreate(program_set_map(side->programs, "arrivals"), detail);
}

int capture_bpf_new(const HookPlan *plan, const CaptureConfig *config, const CaptureHandlers *handlers, Capture **ret)
{
        CaptureBpf *b;
        int r;

        libbpf_set_print(keep_warnings);
        r = attach_targets_register();
        if (r < 0)
                return r;

        b = calloc(1, sizeof(CaptureBpf));
        if (!b)
                return -ENOMEM;
        b->capture.ops = &bpf_ops;
        b->capture.handlers = *handlers;
        b->config = *config;

        r = config->n_host_filters > 0 ? open_side(&b->host, plan, HOOK_SIDE_HOST, config->detail) : 0;
        if (r >= 0 && config->n_target_filters > 0)
                r = open_side(&b->target, plan, HOOK_SIDE_TARGET, config->detail);
        if (r < 0)
                goto fail;
        r = copy_hooks(b, plan);
        if (r < 0)
                goto fail;

        forget_printed();
        *ret = &b->capture;
        return 0;
fail:
        forget_printed();
        free_capture(&b->capture);
        return r;
}
