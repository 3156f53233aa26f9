/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fake-backend.h"

#include <glib.h>
#include <sys/eventfd.h>

#include "../../bpf/sample-hash.h"

typedef struct FakeCapture {
        Capture capture;
        FakeBackend *fake;
} FakeCapture;

static FakeBackend *fake_of(Capture *c)
{
        return ((FakeCapture *) c)->fake;
}

static void write_down(FakeBackend *fake, const char *call)
{
        if (fake->calls->len > 0)
                g_string_append_c(fake->calls, ' ');
        g_string_append(fake->calls, call);
}

static int fake_attach(Capture *c, const char **ret_error)
{
        write_down(fake_of(c), "attach");
        g_atomic_int_inc(&fake_of(c)->attaching);
        while (g_atomic_int_get(&fake_of(c)->hold_attach))
                g_usleep(1000);
        *ret_error = fake_of(c)->attach_why;
        return fake_of(c)->attach_error;
}

static int fake_resume(Capture *c)
{
        write_down(fake_of(c), "resume");
        return fake_of(c)->resume_error;
}

static int fake_pause(Capture *c)
{
        write_down(fake_of(c), "pause");
        return fake_of(c)->pause_error;
}

static int fake_set_threshold(Capture *c, uint32_t threshold)
{
        write_down(fake_of(c), "threshold");
        fake_of(c)->threshold = threshold;
        return fake_of(c)->threshold_error;
}

static int fake_drain(Capture *c)
{
        FakeBackend *fake = fake_of(c);
        uint64_t n;

        fake->drains++;
        if (fake->announce_fd >= 0)
                (void) !read(fake->announce_fd, &n, sizeof(n));
        if (fake->on_drain)
                fake->on_drain(fake);
        return fake->drain_error;
}

static int fake_get_fd(Capture *c)
{
        return fake_of(c)->announce_fd;
}

static int fake_get_counters(Capture *c, CaptureCounters *ret)
{
        *ret = fake_of(c)->counters;
        return fake_of(c)->counters_error;
}

static const char *fake_wrong_types(Capture *c)
{
        return fake_of(c)->wrong_types;
}

static const char *fake_gone(Capture *c)
{
        return fake_of(c)->gone;
}

static unsigned fake_get_hooks(Capture *c, const CaptureHook **ret)
{
        static const CaptureHook hooks[] = {
                { "H2", "tp_btf", "nvme_setup_cmd", false, "nvme_core" },
                { "T1", "tp_btf", "nvmet_req_init", true, "nvmet" },
        };

        *ret = hooks;
        return ELEMENTSOF(hooks);
}

static bool fake_at_end(Capture *c)
{
        return fake_of(c)->at_end;
}

static void fake_detach(Capture *c)
{
        write_down(fake_of(c), "detach");
        while (g_atomic_int_get(&fake_of(c)->hold_detach))
                g_usleep(1000);
}

static void fake_free(Capture *c)
{
        write_down(fake_of(c), "free");
        fake_of(c)->open_captures--;
        g_free(c);
}

static const CaptureOps capture_ops = {
        .name = "fake",
        .attach = fake_attach,
        .resume = fake_resume,
        .pause = fake_pause,
        .set_threshold = fake_set_threshold,
        .drain = fake_drain,
        .get_fd = fake_get_fd,
        .get_counters = fake_get_counters,
        .wrong_types = fake_wrong_types,
        .gone = fake_gone,
        .get_hooks = fake_get_hooks,
        .at_end = fake_at_end,
        .detach = fake_detach,
        .free = fake_free,
};

static int fake_resolve(Backend *b, const char *name, NamespaceInfo **ret, Error *error)
{
        FakeBackend *fake = (FakeBackend *) b;

        if (!fake->info)
                return error_set(error, NTPROF_ERROR_NO_SUCH_NAMESPACE, "%s: no such block device", name);
        *ret = namespace_info_copy(fake->info);
        return 0;
}

static int fake_open(Backend *b, const NamespaceInfo *info, CaptureConfig *config, const CaptureHandlers *handlers, Capture **ret,
                     char **ret_no_target_reason, Error *error)
{
        FakeBackend *fake = (FakeBackend *) b;
        FakeCapture *c;

        write_down(fake, "open");
        if (fake->open_error < 0)
                return error_set(error, NTPROF_ERROR_KERNEL_UNSUPPORTED, "no hook for H2");

        fake->config = *config;
        fake->handlers = *handlers;
        if (fake->no_target_reason) {
                config->n_target_filters = 0;
                *ret_no_target_reason = g_strdup(fake->no_target_reason);
        }
        if (fake->with_fd && fake->announce_fd < 0)
                fake->announce_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);

        c = g_new0(FakeCapture, 1);
        c->capture.ops = &capture_ops;
        c->fake = fake;
        fake->open_captures++;
        *ret = &c->capture;
        return 0;
}

static int fake_open_target(Backend *b, const CaptureConfig *config, const CaptureHandlers *handlers, Capture **ret, Error *error)
{
        CaptureConfig copy = *config;
        _cleanup_free_ char *reason = NULL;

        return fake_open(b, NULL, &copy, handlers, ret, &reason, error);
}

static char *fake_drive_hidden(Backend *b, const char *subsysnqn, uint32_t nsid)
{
        return g_strdup(((FakeBackend *) b)->drive_hidden);
}

static MachineFacts *fake_describe(Backend *b)
{
        MachineFacts *facts = machine_facts_new();

        machine_facts_add(&facts->subsystems, "nqn.sub");
        machine_facts_add(&facts->addresses, "10.0.0.2");
        machine_facts_add(&facts->host_nqns, "nqn.host");
        return facts;
}

static void fake_read_iostat(Backend *b, Capture *capture, const NamespaceInfo *info, IoStat *ret)
{
        FakeBackend *fake = (FakeBackend *) b;

        write_down(fake, "iostat");
        *ret = fake->iostat;
        ret->valid = !fake->iostat_invalid;
        ret->reason = fake->iostat_invalid ? g_strdup("nvme6c6n1: its counts cannot be read (No such file or directory)") : NULL;
}

static int fake_inspect(Backend *b, const char *namespace, bool as_service, JsonNode **ret, Error *error)
{
        return error_set(error, NTPROF_ERROR_KERNEL_UNSUPPORTED, "a fake has no kernel");
}

static void fake_nothing(Backend *b)
{
}

FakeBackend *fake_backend_new(void)
{
        static const BackendOps ops = {
                .resolve = fake_resolve,
                .open = fake_open,
                .open_target = fake_open_target,
                .drive_hidden = fake_drive_hidden,
                .describe = fake_describe,
                .read_iostat = fake_read_iostat,
                .inspect = fake_inspect,
                .free = fake_nothing,
        };
        FakeBackend *fake = g_new0(FakeBackend, 1);
        NamespaceInfo *info = g_new0(NamespaceInfo, 1);

        info->name = g_strdup("nvme6n1");
        info->major = 259;
        info->minor = 6;
        info->nsid = 1;
        info->block_size = 512;
        info->subsystem_nqn = g_strdup("nqn.sub");
        info->n_paths = 2;
        info->paths = g_new0(NamespacePath, 2);
        for (int i = 0; i < 2; i++)
                info->paths[i] = (NamespacePath) {
                        .disk = g_strdup_printf("nvme6c%dn1", 6 + i),
                        .controller = g_strdup_printf("nvme%d", 6 + i),
                        .transport = g_strdup("tcp"),
                        .traddr = g_strdup("10.0.0.2"),
                        .trsvcid = g_strdup("4420"),
                        .hostnqn = g_strdup("nqn.host"),
                        .cntlid = 1 + i,
                        .state = g_strdup("live"),
                        .local = true,
                };

        fake->backend.ops = &ops;
        fake->backend.machine = g_strdup("host-a");
        fake->backend.kernel = g_strdup("6.1.0-test");
        fake->info = info;
        fake->calls = g_string_new(NULL);
        fake->announce_fd = -1;
        return fake;
}

void fake_backend_free(FakeBackend *fake)
{
        g_assert_cmpint(fake->open_captures, ==, 0);
        if (fake->announce_fd >= 0)
                close(fake->announce_fd);
        namespace_info_free(fake->info);
        g_string_free(fake->calls, true);
        g_free(fake->backend.machine);
        g_free(fake->backend.kernel);
        g_free(fake);
}

void fake_command_on(FakeBackend *fake, unsigned path, struct np_target_record *ret)
{
        uint64_t h0 = now_ns(CLOCK_MONOTONIC), n = fake->counters.host[NP_C_SAMPLED];
        struct np_record_header header = {
                .kind = NP_RECORD_HOST,
                .version = NP_RECORD_VERSION,
                .size = sizeof(struct np_host_record),
                .threshold = UINT32_MAX,
                .filter = path,
                .id = { .slba = n * 8, .nsid = 1, .qid = 1, .cid = n % 128, .nlb = 7, .cntlid = 1, .opcode = 2 },
        };
        struct np_host_record host = { .h = { h0, h0 + 500, h0 + 2000, h0 + 5000, 0, 0, h0 + 65000, h0 + 67000, h0 + 69000 } };
        struct np_target_record record = { .t = { 0, h0 + 15000, 0, 0, h0 + 17000, 0, 0, h0 + 51000, h0 + 52000, h0 + 55000 } };

        header.hash = np_sample_hash(&header.id, namespace_seed("nqn.host"));
        host.header = record.header = header;
        record.header.kind = NP_RECORD_TARGET;
        record.header.size = sizeof(record);
        record.header.filter = 0;

        fake->counters.host[NP_C_COMMANDS]++;
        fake->counters.host[NP_C_SAMPLED]++;
        fake->counters.n_kinds = 1;
        fake->counters.kinds[0].key = NP_KIND_KEY(0, 2, 7);
        fake->counters.kinds[0].count++;
        if (fake->handlers.host_record)
                fake->handlers.host_record(&host, fake->handlers.userdata);
        *ret = record;
}

void fake_command(FakeBackend *fake, bool target)
{
        struct np_target_record record;

        fake_command_on(fake, 0, &record);
        if (target)
                fake->handlers.target_record(&record, fake->handlers.userdata);
}

void fake_announce(FakeBackend *fake)
{
        uint64_t one = 1;

        g_assert_cmpint(write(fake->announce_fd, &one, sizeof(one)), ==, sizeof(one));
}

static void tell(FakeObserver *fake, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void tell(FakeObserver *fake, const char *format, ...)
{
        va_list ap;

        if (fake->told->len > 0)
                g_string_append_c(fake->told, ' ');
        va_start(ap, format);
        g_string_append_vprintf(fake->told, format, ap);
        va_end(ap);
}

static void on_added(Session *s, void *userdata)
{
        tell(userdata, "added:%s", s->id);
}

static void on_removed(Session *s, void *userdata)
{
        tell(userdata, "removed:%s", s->id);
}

static void on_changed(Session *s, SessionChange what, void *userdata)
{
        if (what & SESSION_CHANGED_STATE)
                tell(userdata, "%s:%s", s->id, session_state_to_string(s->state));
        else
                tell(userdata, "%s:%s", s->id, what & SESSION_CHANGED_HOOKS ? "hooks" :
                     what & SESSION_CHANGED_TARGETS ? "targets" : "counters");
}

void fake_observer_init(FakeObserver *fake)
{
        fake->told = g_string_new(NULL);
        fake->observer = (SessionObserver) { .added = on_added, .removed = on_removed, .changed = on_changed, .userdata = fake };
}

void fake_observer_clear(FakeObserver *fake)
{
        g_string_free(fake->told, true);
}
