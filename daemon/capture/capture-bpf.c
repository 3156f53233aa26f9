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
#include "../kernel/attach-target.h"
#include "../kernel/plan-internal.h"
#include "../util.h"
#include "bpf/host.skel.h"
#include "bpf/target.skel.h"

typedef struct CaptureBpf {
        Capture capture;
        CaptureConfig config;
        struct host_bpf *host;
        struct target_bpf *target;
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
        _cleanup_free_ char *text = NULL, *before = NULL;

        if (level != LIBBPF_WARN)
                return 0;
        before = TAKE_PTR(printed);
        if (vasprintf(&text, format, args) < 0 || asprintf(&printed, "%s%s", before ?: "", text) < 0)
                printed = TAKE_PTR(before);
        return 0;
}

/* The verifier's verdict is the last line of its log before the statistics; else libbpf's first line says most. */
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
                if (strncmp(line, "processed ", 10) == 0 || strstr(line, "-- END PROG LOAD LOG --"))
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

static void select_programs(struct bpf_object *object, const HookPlan *plan, HookSides side)
{
        struct bpf_program *program;

        bpf_object__for_each_program(program, object)
                bpf_program__set_autoload(program, hook_plan_has_program(plan, side, bpf_program__name(program)));
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

/* An LRU map has all of its memory from the start: `arrivals` 6 MiB. A session that does not use it need not pay. */
static int size_map(struct bpf_map *map, bool used)
{
        return used ? 0 : bpf_map__set_max_entries(map, 1);
}

static int load_host(CaptureBpf *b, const char **ret_error)
{
        int r;

        memcpy((void *) b->host->rodata->host_filters, b->config.host_filters, sizeof(b->config.host_filters));
        b->host->rodata->n_host_filters = b->config.n_host_filters;
        b->host->rodata->head_major = b->config.head_major;
        b->host->rodata->head_minor = b->config.head_minor;
        b->host->rodata->arrivals_at_sockets = bpf_program__autoload(b->host->progs.nvme_tcp_data_ready);
        r = size_map(b->host->maps.arrivals, b->host->rodata->arrivals_at_sockets);
        if (r >= 0)
                r = size_map(b->host->maps.rounds, bpf_program__autoload(b->host->progs.ib_cq_completion_softirq));
        if (r >= 0)
                r = host_bpf__load(b->host);
        if (r < 0)
                return fail(b, ret_error, r, "load", "host");
        r = host_bpf__attach(b->host);
        if (r < 0)
                return fail(b, ret_error, r, "attach", "host");
        return 0;
}

static int load_target(CaptureBpf *b, const char **ret_error)
{
        int r;

        for (unsigned i = 0; i < b->config.n_target_filters; i++)
                b->config.target_filters[i].hostnqn_length =
                        strnlen(b->config.target_filters[i].hostnqn, sizeof(b->config.target_filters[i].hostnqn) - 1);
        memcpy((void *) b->target->rodata->target_filters, b->config.target_filters, sizeof(b->config.target_filters));
        b->target->rodata->n_target_filters = b->config.n_target_filters;
        b->target->rodata->arrivals_at_sockets = bpf_program__autoload(b->target->progs.nvmet_tcp_data_ready);
        b->target->rodata->wait_for_send_completion = bpf_program__autoload(b->target->progs.nvmet_rdma_send_done);
        r = size_map(b->target->maps.arrivals, b->target->rodata->arrivals_at_sockets);
        if (r >= 0)
                r = size_map(b->target->maps.rounds, bpf_program__autoload(b->target->progs.ib_cq_completion_workqueue));
        if (r >= 0)
                r = target_bpf__load(b->target);
        if (r < 0)
                return fail(b, ret_error, r, "load", "target");
        r = target_bpf__attach(b->target);
        if (r < 0)
                return fail(b, ret_error, r, "attach", "target");
        return 0;
}

static int load_and_attach(CaptureBpf *b, const char **ret_error)
{
        int r;

        r = attach_targets_open();
        if (r < 0)
                return fail(b, ret_error, r, "find where to attach",
                            !b->host ? "target" : b->target ? "host's and the target" : "host");
        r = b->target ? load_target(b, ret_error) : 0;
        if (r >= 0 && b->host)
                r = load_host(b, ret_error);
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

        if (b->host) {
                r = add_ring(b, b->host->maps.ring, on_host_record);
                if (r < 0)
                        return fail(b, ret_error, r, "read from", "host");
        }
        if (b->target) {
                r = add_ring(b, b->target->maps.ring, on_target_record);
                if (r < 0)
                        return fail(b, ret_error, r, "read from", "target");
        }
        return 0;
}

static int set_threshold(Capture *c, uint32_t threshold)
{
        CaptureBpf *b = bpf(c);
        bool raised = threshold > b->threshold;

        if (raised && b->target)
                b->target->bss->threshold = threshold;
        if (b->host)
                b->host->bss->threshold = threshold;
        if (!raised && b->target)
                b->target->bss->threshold = threshold;
        b->threshold = threshold;
        return 0;
}

static int resume(Capture *c)
{
        CaptureBpf *b = bpf(c);

        b->pausing = false;
        if (b->target)
                b->target->bss->recording = 1;
        if (b->host)
                b->host->bss->recording = 1;
        return 0;
}

static int pause_capture(Capture *c)
{
        CaptureBpf *b = bpf(c);

        b->pausing = true;
        if (b->host)
                b->host->bss->recording = 0;
        else
                b->target->bss->recording = 0;
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

static uint64_t recursion_misses(struct bpf_object *object)
{
        struct bpf_program *program;
        uint64_t sum = 0;

        bpf_object__for_each_program(program, object) {
                struct bpf_prog_info info = {};
                uint32_t size = sizeof(info);
                int fd = bpf_program__fd(program);

                if (fd >= 0 && bpf_obj_get_info_by_fd(fd, &info, &size) == 0)
                        sum += info.recursion_misses;
        }
        return sum;
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
        if (b->host) {
                r = sum_cpus(b->host->maps.cpus, ret->host, ret);
                if (r < 0)
                        return r;
                ret->host_recursion = recursion_misses(b->host->obj);
                ret->host_in_flight = b->host->bss->under_way;
        }
        if (!b->target)
                return 0;

        if (b->pausing && ret->host_in_flight == 0)
                b->target->bss->recording = 0;
        r = sum_cpus(b->target->maps.cpus, ret->target, NULL);
        if (r < 0)
                return r;
        ret->target_recursion = recursion_misses(b->target->obj);
        ret->target_in_flight = b->target->bss->under_way;
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
        if (b->host)
                host_bpf__detach(b->host);
        if (b->target)
                target_bpf__detach(b->target);
}

static void free_capture(Capture *c)
{
        CaptureBpf *b = bpf(c);

        detach(c);
        host_bpf__destroy(b->host);
        target_bpf__destroy(b->target);
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

                if (choice->row->side == HOOK_SIDE_TARGET && !b->target)
                        continue;
                if (asprintf(&boundary, "%s%s%s%s", choice->row->boundary, choice->row->covers ? " (" : "",
                             choice->row->covers ?: "", choice->row->covers ? ")" : "") < 0)
                        return -ENOMEM;
                mechanism = strdup(choice->chosen ? choice->chosen->mechanism : "merged");
                symbol = strdup(choice->chosen ? choice->chosen->symbol : choice->merged);
                *hook = (CaptureHook) { boundary, mechanism, symbol, choice->row->side == HOOK_SIDE_TARGET };
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

        if (config->n_host_filters > 0) {
                b->host = host_bpf__open();
                if (!b->host) {
                        r = -errno;
                        goto fail;
                }
                select_programs(b->host->obj, plan, HOOK_SIDE_HOST);
                bpf_map__set_autocreate(b->host->maps.arrivals, config->detail);
        }
        if (config->n_target_filters > 0) {
                b->target = target_bpf__open();
                if (!b->target) {
                        r = -errno;
                        goto fail;
                }
                select_programs(b->target->obj, plan, HOOK_SIDE_TARGET);
                bpf_map__set_autocreate(b->target->maps.arrivals, config->detail);
        }
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

char **capture_bpf_programs(HookSides side)
{
        struct host_bpf *host = side == HOOK_SIDE_HOST ? host_bpf__open() : NULL;
        struct target_bpf *target = side == HOOK_SIDE_TARGET ? target_bpf__open() : NULL;
        g_autoptr(GStrvBuilder) names = g_strv_builder_new();
        struct bpf_program *program;

        if (host || target)
                bpf_object__for_each_program(program, host ? host->obj : target->obj)
                        g_strv_builder_add(names, bpf_program__name(program));
        host_bpf__destroy(host);
        target_bpf__destroy(target);
        return g_strv_builder_end(names);
}
