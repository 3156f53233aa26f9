/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture-record.h"

#include <fcntl.h>
#include <glib.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "recording-facts.h"
#include "replay-format.h"

typedef struct BackendRecord {
        Backend backend;
        Backend *inner;
        FILE *file;                     /* until a session took it */
} BackendRecord;

typedef struct CaptureRecord {
        Capture capture;                /* its handlers are the session's */
        Capture *inner;
        FILE *file;
        bool failed;                    /* a write did */
        RecordingFacts *facts;
        bool wrote_start_iostat;
        uint64_t end_ns;                /* 0: not paused yet */
} CaptureRecord;

static void write_bytes(CaptureRecord *c, const void *data, size_t size)
{
        if (!c->failed && size > 0 && fwrite(data, size, 1, c->file) != 1)
                c->failed = true;
}

static void write_padding(CaptureRecord *c, size_t size)
{
        static const char zeros[8];

        write_bytes(c, zeros, -size & 7);
}

static void write_frame(CaptureRecord *c, enum replay_frame_type type, const void *data, size_t size, const void *more,
                        size_t more_size)
{
        struct replay_frame frame = { .type = type, .size = size + more_size };

        write_bytes(c, &frame, sizeof(frame));
        write_bytes(c, data, size);
        write_bytes(c, more, more_size);
        write_padding(c, size + more_size);
}

static void on_host_record(const struct np_host_record *record, void *userdata)
{
        CaptureRecord *c = userdata;

        write_frame(c, REPLAY_HOST_RECORD, record, sizeof(*record), NULL, 0);
        c->capture.handlers.host_record(record, c->capture.handlers.userdata);
}

static void on_target_record(const struct np_target_record *record, void *userdata)
{
        CaptureRecord *c = userdata;

        write_frame(c, REPLAY_TARGET_RECORD, record, sizeof(*record), NULL, 0);
        c->capture.handlers.target_record(record, c->capture.handlers.userdata);
}

static int record_attach(Capture *capture, const char **ret_error)
{
        CaptureRecord *c = (CaptureRecord *) capture;

        return c->inner->ops->attach(c->inner, ret_error);
}

static void write_header(CaptureRecord *c)
{
        const CaptureHook *hooks;
        _cleanup_free_ char *json = NULL;
        struct replay_header header = { .magic = REPLAY_MAGIC, .version = REPLAY_VERSION };

        c->facts->n_hooks = c->inner->ops->get_hooks(c->inner, &hooks);
        c->facts->hooks = g_new0(CaptureHook, c->facts->n_hooks);
        for (unsigned i = 0; i < c->facts->n_hooks; i++)
                c->facts->hooks[i] = (CaptureHook) {
                        .boundary = g_strdup(hooks[i].boundary),
                        .mechanism = g_strdup(hooks[i].mechanism),
                        .symbol = g_strdup(hooks[i].symbol),
                        .target = hooks[i].target,
                };

        json = recording_facts_to_json(c->facts);
        header.facts_size = strlen(json);
        write_bytes(c, &header, sizeof(header));
        write_bytes(c, json, header.facts_size);
        write_padding(c, header.facts_size);
}

static int record_resume(Capture *capture)
{
        CaptureRecord *c = (CaptureRecord *) capture;

        int r;

        /* The header comes first in the file all the same: records are handed out by drain() only. */
        r = c->inner->ops->resume(c->inner);
        c->facts->start_ns = capture_now(c->inner);
        write_header(c);
        return r;
}

static int record_pause(Capture *capture)
{
        CaptureRecord *c = (CaptureRecord *) capture;
        int r;

        r = c->inner->ops->pause(c->inner);
        c->end_ns = capture_now(c->inner);
        return r;
}

static int record_set_threshold(Capture *capture, uint32_t threshold)
{
        CaptureRecord *c = (CaptureRecord *) capture;

        return c->inner->ops->set_threshold(c->inner, threshold);
}

static int record_drain(Capture *capture)
{
        CaptureRecord *c = (CaptureRecord *) capture;
        int r;

        r = c->inner->ops->drain(c->inner);
        return c->failed ? -EIO : r;
}

static int record_get_fd(Capture *capture)
{
        CaptureRecord *c = (CaptureRecord *) capture;

        return c->inner->ops->get_fd(c->inner);
}

static int record_get_counters(Capture *capture, CaptureCounters *ret)
{
        CaptureRecord *c = (CaptureRecord *) capture;
        g_autoptr(GByteArray) values = g_byte_array_new();
        struct replay_counters counters;
        int r;

        r = c->inner->ops->get_counters(c->inner, ret);
        if (r < 0)
                return r;

        counters = (struct replay_counters) {
                .time_ns = capture_now(c->inner),
                .host_recursion = ret->host_recursion,
                .target_recursion = ret->target_recursion,
                .host_in_flight = ret->host_in_flight,
                .target_in_flight = ret->target_in_flight,
                .n_counters = NP_C_COUNT,
                .n_kinds = ret->n_kinds,
        };
        g_byte_array_append(values, (const guint8 *) ret->host, sizeof(ret->host));
        g_byte_array_append(values, (const guint8 *) ret->target, sizeof(ret->target));
        for (unsigned i = 0; i < ret->n_kinds; i++) {
                g_byte_array_append(values, (const guint8 *) &ret->kinds[i].key, sizeof(uint64_t));
                g_byte_array_append(values, (const guint8 *) &ret->kinds[i].count, sizeof(uint64_t));
        }
        write_frame(c, REPLAY_COUNTERS, &counters, sizeof(counters), values->data, values->len);
        return c->failed ? -EIO : 0;
}

static unsigned record_get_hooks(Capture *capture, const CaptureHook **ret)
{
        CaptureRecord *c = (CaptureRecord *) capture;

        return c->inner->ops->get_hooks(c->inner, ret);
}

static const char *record_wrong_types(Capture *capture)
{
        return capture_wrong_types(((CaptureRecord *) capture)->inner);
}

static const char *record_gone(Capture *capture)
{
        return capture_gone(((CaptureRecord *) capture)->inner);
}

static uint64_t record_now(Capture *capture)
{
        return capture_now(((CaptureRecord *) capture)->inner);
}

static bool record_at_end(Capture *capture)
{
        return capture_at_end(((CaptureRecord *) capture)->inner);
}

static void record_detach(Capture *capture)
{
        CaptureRecord *c = (CaptureRecord *) capture;

        c->inner->ops->detach(c->inner);
        if (!c->file)
                return;
        if (c->end_ns > 0)
                write_frame(c, REPLAY_END, &(struct replay_end) { .time_ns = c->end_ns }, sizeof(struct replay_end), NULL, 0);
        fclose(c->file);
        c->file = NULL;
        c->failed = true;               /* nothing can be written any more */
}

static void record_free(Capture *capture)
{
        CaptureRecord *c = (CaptureRecord *) capture;

        record_detach(capture);
        c->inner->ops->free(c->inner);
        recording_facts_free(c->facts);
        g_free(c);
}

static const CaptureOps record_ops = {
        .name = "record",
        .attach = record_attach,
        .resume = record_resume,
        .pause = record_pause,
        .set_threshold = record_set_threshold,
        .drain = record_drain,
        .get_fd = record_get_fd,
        .get_counters = record_get_counters,
        .get_hooks = record_get_hooks,
        .wrong_types = record_wrong_types,
        .gone = record_gone,
        .now = record_now,
        .at_end = record_at_end,
        .detach = record_detach,
        .free = record_free,
};

static int backend_resolve(Backend *b, const char *name, NamespaceInfo **ret, Error *error)
{
        Backend *inner = ((BackendRecord *) b)->inner;

        return inner->ops->resolve(inner, name, ret, error);
}

static int backend_open(Backend *b, const NamespaceInfo *info, CaptureConfig *config, const CaptureHandlers *handlers,
                        Capture **ret, char **ret_no_target_reason, Error *error)
{
        BackendRecord *record = (BackendRecord *) b;
        Backend *inner = record->inner;
        CaptureRecord *c;
        int r;

        if (!record->file)
                return inner->ops->open(inner, info, config, handlers, ret, ret_no_target_reason, error);

        c = g_new0(CaptureRecord, 1);
        r = inner->ops->open(inner, info, config, &(CaptureHandlers) {
                .host_record = on_host_record,
                .target_record = on_target_record,
                .userdata = c,
        }, &c->inner, ret_no_target_reason, error);
        if (r < 0) {
                g_free(c);
                return r;
        }

        c->capture.ops = &record_ops;
        c->capture.handlers = *handlers;
        c->file = TAKE_PTR(record->file);
        c->facts = g_new0(RecordingFacts, 1);
        c->facts->machine = g_strdup(b->machine);
        c->facts->kernel = g_strdup(b->kernel);
        c->facts->namespace = namespace_info_copy(info);
        c->facts->has_target = config->n_target_filters > 0;
        c->facts->detail = config->detail;
        c->facts->no_target_reason = g_strdup(*ret_no_target_reason ?: info->paths[0].no_target_reason);
        (void) inner->ops->inspect(inner, NULL, false, &c->facts->inspection, NULL);
        *ret = &c->capture;
        return 0;
}

/* A recording is one of a session: what another machine asks for is not in it. */
static int backend_open_target(Backend *b, const CaptureConfig *config, const CaptureHandlers *handlers, Capture **ret,
                               Error *error)
{
        Backend *inner = ((BackendRecord *) b)->inner;

        return inner->ops->open_target(inner, config, handlers, ret, error);
}

static char *backend_drive_hidden(Backend *b, const char *subsysnqn, uint32_t nsid)
{
        Backend *inner = ((BackendRecord *) b)->inner;

        return inner->ops->drive_hidden(inner, subsysnqn, nsid);
}

static MachineFacts *backend_describe(Backend *b)
{
        Backend *inner = ((BackendRecord *) b)->inner;

        return inner->ops->describe(inner);
}

static void backend_read_iostat(Backend *b, Capture *capture, const NamespaceInfo *info, IoStat *ret)
{
        Backend *inner = ((BackendRecord *) b)->inner;
        CaptureRecord *c = (CaptureRecord *) capture;
        struct replay_iostat iostat;

        if (capture->ops != &record_ops) {
                inner->ops->read_iostat(inner, capture, info, ret);
                return;
        }

        inner->ops->read_iostat(inner, c->inner, info, ret);
        /* A report so far reads it too; a recording has those of its start and end. */
        if (c->wrote_start_iostat && c->end_ns == 0)
                return;
        c->wrote_start_iostat = true;
        iostat = (struct replay_iostat) {
                .time_ns = c->end_ns ?: c->facts->start_ns,
                .ios = ret->ios,
                .weighted_ms = ret->weighted_ms,
                .valid = ret->valid,
                .reason_size = ret->valid || !ret->reason ? 0 : strlen(ret->reason),
        };
        write_frame(c, REPLAY_IOSTAT, &iostat, sizeof(iostat), ret->reason, iostat.reason_size);
}

static int backend_inspect(Backend *b, const char *namespace, bool as_service, JsonNode **ret, Error *error)
{
        Backend *inner = ((BackendRecord *) b)->inner;

        return inner->ops->inspect(inner, namespace, as_service, ret, error);
}

static void backend_record_free(Backend *b)
{
        BackendRecord *record = (BackendRecord *) b;

        if (record->file)
                fclose(record->file);
        backend_free(record->inner);
        g_free(b->machine);
        g_free(b->kernel);
        g_free(record);
}

int backend_record_new(Backend *inner, const char *path, Backend **ret, Error *error)
{
        static const BackendOps ops = {
                .resolve = backend_resolve,
                .open = backend_open,
                .open_target = backend_open_target,
                .drive_hidden = backend_drive_hidden,
                .describe = backend_describe,
                .read_iostat = backend_read_iostat,
                .inspect = backend_inspect,
                .free = backend_record_free,
        };
        BackendRecord *record;
        FILE *file;

        /* Not over an older recording, and not through a link somebody left there: it shows other users' I/O. */
        file = fopen(path, "wxe");
        if (!file)
                return error_set(error, NTPROF_ERROR_CAPTURE_FAILED, "%s: %s", path, g_strerror(errno));
        (void) fchmod(fileno(file), 0600);

        record = g_new0(BackendRecord, 1);
        record->backend.ops = &ops;
        record->backend.machine = g_strdup(inner->machine);
        record->backend.kernel = g_strdup(inner->kernel);
        record->inner = inner;
        record->file = file;
        *ret = &record->backend;
        return 0;
}
