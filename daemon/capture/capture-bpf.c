/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Records from the programs in the kernel: drains the ring buffers, sums the counters. Everything is released with the file descriptors, so a daemon that dies leaves nothing attached.
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "capture-bpf-internal.h"
#include "../kernel/attach-target.h"
#include "../kernel/plan-internal.h"
#include "../privileges.h"
#include "../util.h"

static CaptureBpf *bpf(Capture *c)
{
        return (CaptureBpf *) c;
}

/* It was sent, then, and a response came. */
static bool is_answered(const struct np_host_record *record)
{
        return record->h[NP_H7] && !record->header.status && !(record->header.flags & (NP_F_CANCELLED | NP_F_RETRIED));
}

static int on_host_record(void *userdata, void *data, size_t size)
{
        const struct np_host_record *record = data;
        CaptureBpf *b = userdata;

        if (size < sizeof(*record))
                return 0;
        if (is_answered(record) && record->header.filter < b->config.n_host_filters) {
                const CapturePath *path = b->config.host_paths + record->header.filter;

                type_checks_answered(&b->host.checks, path->transport);
                if (path->to_target)
                        type_checks_answered(&b->target.checks, path->transport);
        }
        b->capture.handlers.host_record(record, b->capture.handlers.userdata);
        return 0;
}

static int on_target_record(void *userdata, void *data, size_t size)
{
        CaptureBpf *b = userdata;

        if (size >= sizeof(struct np_target_record))
                b->capture.handlers.target_record(data, b->capture.handlers.userdata);
        return 0;
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
        _cleanup_(privileges_drop) PrivilegesScope scope = privileges_raise(b->privileges);
        int r;

        r = capture_bpf_load(b, ret_error);
        capture_bpf_forget_printed();
        if (r < 0)
                return r;

        if (b->host.programs) {
                r = add_ring(b, b->host.ring, on_host_record);
                if (r < 0)
                        return capture_bpf_fail(b, ret_error, r, "read from", "host");
        }
        if (b->target.programs) {
                r = add_ring(b, b->target.ring, on_target_record);
                if (r < 0)
                        return capture_bpf_fail(b, ret_error, r, "read from", "target");
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

static int read_counters(CaptureBpf *b, CaptureCounters *ret)
{
        int r;

        *ret = (CaptureCounters) {};
        if (b->host.programs) {
                r = sum_cpus(b->host.cpus, ret->host, ret);
                if (r < 0)
                        return r;
                ret->host_recursion = program_set_skipped(b->host.programs) + ret->host[NP_C_CALL_LOST];
                ret->host_in_flight = *b->host.under_way;
        }
        if (!b->target.programs)
                return 0;

        if (b->pausing && ret->host_in_flight == 0)
                write_variable(b->target.recording, 0);
        r = sum_cpus(b->target.cpus, ret->target, NULL);
        if (r < 0)
                return r;
        ret->target_recursion = program_set_skipped(b->target.programs) + ret->target[NP_C_CALL_LOST];
        ret->target_in_flight = *b->target.under_way;
        return 0;
}

static int get_counters(Capture *c, CaptureCounters *ret)
{
        CaptureBpf *b = bpf(c);
        int r;

        r = b->privileged_reads ? -EPERM : read_counters(b, ret);
        if (r == -EPERM) {
                _cleanup_(privileges_drop) PrivilegesScope scope = privileges_raise(PRIVILEGES_BPF);

                /* Before 5.19, where unprivileged_bpf_disabled is set; later ones refuse only what makes something new. */
                b->privileged_reads = true;
                r = read_counters(b, ret);
        }
        return r;
}

static const char *wrong_types(Capture *c)
{
        CaptureBpf *b = bpf(c);
        const char *wrong = NULL;

        if (b->host.checks_seen)
                wrong = type_checks_wrong(&b->host.checks, b->host.checks_seen);
        if (!wrong && b->target.checks_seen)
                wrong = type_checks_wrong(&b->target.checks, b->target.checks_seen);
        return wrong;
}

static const char *gone(Capture *c)
{
        return loose_modules_gone(bpf(c)->loose);
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
        loose_modules_free(b->loose);
        type_checks_done(&b->host.checks);
        type_checks_done(&b->target.checks);
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
        .wrong_types = wrong_types,
        .gone = gone,
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
                *hook = (CaptureHook) { boundary, mechanism, symbol, choice->row->side == HOOK_SIDE_TARGET, choice->held };
                b->n_hooks++;
                if (!mechanism || !symbol)
                        return -ENOMEM;
        }
        return 0;
}

int capture_bpf_new(const HookPlan *plan, const CaptureConfig *config, const CaptureHandlers *handlers, Capture **ret)
{
        CaptureBpf *b;
        int r;

        capture_bpf_keep_printed();
        r = attach_targets_register();
        if (r < 0)
                return r;

        b = calloc(1, sizeof(CaptureBpf));
        if (!b)
                return -ENOMEM;
        b->capture.ops = &bpf_ops;
        b->capture.handlers = *handlers;
        b->config = *config;
        b->privileges = hook_plan_capabilities(plan, HOOK_SIDE_HOST | HOOK_SIDE_TARGET);

        r = capture_bpf_open(b, plan);
        if (r < 0)
                goto fail;
        r = copy_hooks(b, plan);
        if (r < 0)
                goto fail;
        b->loose = loose_modules_open("/sys", plan);

        capture_bpf_forget_printed();
        *ret = &b->capture;
        return 0;
fail:
        capture_bpf_forget_printed();
        free_capture(&b->capture);
        return r;
}
