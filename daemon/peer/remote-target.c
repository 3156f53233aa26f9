/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "remote-target.h"

#include <glib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include "../../bpf/sample-hash.h"
#include "../../model/stage.h"
#include "remote-facts.h"
#include "wire-reader.h"
#include "wire-writer.h"

/* As much is taken at a time: whoever floods the link must not make the daemon deaf. */
#define READ_MAX (128U << 10)
/* What is sent is a few bytes a second. */
#define PENDING_MAX (64U << 10)

struct RemoteTarget {
        Remote remote;
        sd_event *event;
        char *peer;
        RemoteRequest request;
        void (*cancel)(void *pending);
        void *pending;
        int fd;
        sd_event_source *source;
        WireReader *reader;
        WireWriter *writer;
        unsigned thresholds;            /* sent, and no WIRE_CHANGED has come for them */
        bool resumed, paused;
        bool ended;                     /* the session was told */
        bool freed;                     /* from within a handler: it goes when that returns */
        unsigned depth;                 /* of functions that use it after a handler was called */
};

static void enter(RemoteTarget *r)
{
        r->depth++;
}

static void leave(RemoteTarget *r)
{
        if (--r->depth > 0 || !r->freed)
                return;
        wire_reader_free(r->reader);
        wire_writer_free(r->writer);
        sd_event_unref(r->event);
        g_free(r->peer);
        g_free(r);
}

static void disconnect(RemoteTarget *r)
{
        if (r->pending)
                r->cancel(TAKE_PTR(r->pending));
        r->source = sd_event_source_disable_unref(r->source);
        if (r->fd >= 0)
                close(TAKE_FD(r->fd));
}

static void remote_free(Remote *remote)
{
        RemoteTarget *r = (RemoteTarget *) remote;

        enter(r);
        disconnect(r);
        r->freed = true;
        leave(r);
}

/* message NULL: as it was told to. */
static void end(RemoteTarget *r, NtprofError code, const char *message)
{
        disconnect(r);
        if (r->ended || r->freed)
                return;
        r->ended = true;
        r->remote.handlers.ended(&r->remote, code, message, r->remote.handlers.userdata);
}

static void end_because(RemoteTarget *r, NtprofError code, const char *format, ...) _printf_(3, 4);

static void end_because(RemoteTarget *r, NtprofError code, const char *format, ...)
{
        _cleanup_free_ char *what = NULL, *message = NULL;
        va_list ap;

        va_start(ap, format);
        what = g_strdup_vprintf(format, ap);
        va_end(ap);
        message = g_strdup_printf("%s: %s", r->peer, what);
        end(r, code, message);
}

/* It speaks otherwise than this version: whether by mistake or on purpose, nothing of what follows can be relied on. */
static void end_malformed(RemoteTarget *r, const char *what)
{
        end_because(r, NTPROF_ERROR_PEER_VERSION, "%s: the two versions of ntprof do not speak alike, update the older one",
                    what);
}

static void on_facts(RemoteTarget *r, const WireFrame *frame)
{
        _cleanup_(remote_facts_freep) ParsedFacts *parsed = NULL;
        RemoteHook hooks[WIRE_FACTS_HOOKS_MAX];
        const char *why;

        parsed = remote_facts_parse(frame->data, frame->size, &why);
        if (!parsed) {
                end_malformed(r, why);
                return;
        }
        for (unsigned i = 0; i < parsed->n_hooks; i++)
                hooks[i] = (RemoteHook) { parsed->hooks[i].boundary, parsed->hooks[i].mechanism, parsed->hooks[i].symbol };

        r->remote.handlers.ready(&r->remote, &(RemoteFacts) {
                .peer = r->peer,
                .machine = parsed->machine,
                .kernel = parsed->kernel,
                .version = parsed->version,
                .hooks = hooks,
                .n_hooks = parsed->n_hooks,
                .drive_hidden = parsed->drive_hidden,
        }, r->remote.handlers.userdata);
}

static void on_changed(RemoteTarget *r, const WireFrame *frame)
{
        const struct wire_changed *changed = frame->data;

        /* One for each at most: what it tells is kept, and searched for each command. */
        if (r->thresholds == 0) {
                end_malformed(r, "it told a threshold that it was not given");
                return;
        }
        if (changed->target_ns >= NP_TIME_MAX) {
                end_malformed(r, "it told a time that no clock has");
                return;
        }
        r->thresholds--;
        r->remote.handlers.changed(&r->remote, changed->target_ns, changed->threshold, r->remote.handlers.userdata);
}

/* NULL, or what is wrong with it beyond what makes it a record. */
static const char *check_record(const RemoteTarget *r, const struct np_target_record *record)
{
        const struct np_record_header *header = &record->header;
        const struct np_target_filter *filter;

        if (!np_target_record_valid(record))
                return "a record of it is none";
        if (header->filter >= r->request.n_filters)
                return "a record is of a namespace that was not asked for";
        filter = r->request.filters + header->filter;
        if (header->id.nsid != filter->nsid)
                return "a record is of a namespace that was not asked for";
        if (header->hash != np_sample_hash(&header->id, filter->seed))
                return "a record's hash is not that of its command";
        return NULL;
}

static void on_records(RemoteTarget *r, const WireFrame *frame)
{
        const struct np_target_record *records = frame->data;

        for (size_t i = 0; i < frame->size / sizeof(*records); i++) {
                const char *wrong = r->resumed ? check_record(r, records + i) : "it sent records before it was told to begin";

                if (wrong) {
                        end_malformed(r, wrong);
                        return;
                }
                r->remote.handlers.record(&r->remote, records + i, r->remote.handlers.userdata);
                if (r->ended || r->freed)
                        return;
        }
}

static void on_sync(RemoteTarget *r, const WireFrame *frame)
{
        const struct wire_sync *sync = frame->data;

        if (!r->resumed)
                end_malformed(r, "it told how far it is before it was told to begin");
        else if (sync->target_ns >= NP_TIME_MAX)
                end_malformed(r, "it told a time that no clock has");
        else
                r->remote.handlers.synced(&r->remote, sync, r->remote.handlers.userdata);
}

static void on_ended(RemoteTarget *r, const WireFrame *frame)
{
        _cleanup_free_ char *message = NULL;
        const char *why;
        NtprofError code;

        if (!remote_ended_parse(frame->data, frame->size, &code, &message, &why))
                end_malformed(r, why);
        else if (message)
                end_because(r, code, "%s", message);
        else
                end(r, NTPROF_ERROR_NONE, NULL);
}

static void on_frame(RemoteTarget *r, const WireFrame *frame)
{
        switch (frame->type) {
        case WIRE_FACTS:
                on_facts(r, frame);
                return;
        case WIRE_CHANGED:
                on_changed(r, frame);
                return;
        case WIRE_RECORDS:
                on_records(r, frame);
                return;
        case WIRE_SYNC:
                on_sync(r, frame);
                return;
        case WIRE_ENDED:
                on_ended(r, frame);
                return;
        case WIRE_THRESHOLD:
        case WIRE_RESUME:
        case WIRE_PAUSE:
                break;
        }
        end_malformed(r, "it sent a frame of the host's");
}

static void take(RemoteTarget *r, const void *data, size_t size)
{
        WireFrame frame;
        const char *why;
        int k;

        while (!r->ended && !r->freed) {
                k = wire_reader_next(r->reader, &data, &size, &frame, &why);
                if (k == 0)
                        return;
                if (k < 0)
                        end_malformed(r, why);
                else
                        on_frame(r, &frame);
        }
}

static void receive(RemoteTarget *r)
{
        /* Shared by all: there is one loop. */
        static _Alignas(8) unsigned char buffer[READ_MAX];
        ssize_t n;

        n = recv(r->fd, buffer, sizeof(buffer), MSG_DONTWAIT);
        if (n > 0) {
                r->remote.handlers.heard(&r->remote, r->remote.handlers.userdata);
                take(r, buffer, n);
        } else if (n == 0) {
                end_because(r, NTPROF_ERROR_PEER_UNREACHABLE, "the link was cut");
        } else if (errno != EAGAIN && errno != EINTR) {
                end_because(r, NTPROF_ERROR_PEER_UNREACHABLE, "the link was cut: %s", g_strerror(errno));
        }
}

static void flush(RemoteTarget *r)
{
        int k;

        if (r->ended || r->fd < 0)
                return;
        k = wire_writer_flush(r->writer, r->fd);
        if (k == 0 || (k > 0 && wire_writer_pending(r->writer) <= PENDING_MAX))
                k = sd_event_source_set_io_events(r->source, k > 0 ? EPOLLIN | EPOLLOUT : EPOLLIN);
        else if (k > 0)
                k = -ETIMEDOUT;
        /* Told from the loop: what is called from within a call must not call back. Then there is something to read. */
        if (k < 0)
                (void) shutdown(r->fd, SHUT_RDWR);
}

static int on_io(sd_event_source *source, int fd, uint32_t revents, void *userdata)
{
        RemoteTarget *r = userdata;

        enter(r);
        if (revents & EPOLLOUT)
                flush(r);
        if (revents & ~EPOLLOUT)
                receive(r);
        leave(r);
        return 0;
}

static void send_frame(Remote *remote, enum wire_type type, const void *data, size_t size)
{
        RemoteTarget *r = (RemoteTarget *) remote;

        if (r->fd < 0)
                return;
        wire_writer_add(r->writer, type, data, size);
        flush(r);
}

static void remote_set_threshold(Remote *remote, uint32_t threshold)
{
        RemoteTarget *r = (RemoteTarget *) remote;

        r->thresholds++;
        send_frame(remote, WIRE_THRESHOLD, &(struct wire_threshold) { .threshold = threshold }, sizeof(struct wire_threshold));
}

static void remote_resume(Remote *remote)
{
        RemoteTarget *r = (RemoteTarget *) remote;

        r->resumed = true;
        send_frame(remote, WIRE_RESUME, NULL, 0);
}

static void remote_pause(Remote *remote)
{
        RemoteTarget *r = (RemoteTarget *) remote;

        if (!r->paused)
                send_frame(remote, WIRE_PAUSE, NULL, 0);
        r->paused = true;
}

void remote_target_connected(RemoteTarget *r, int fd)
{
        int k;

        r->pending = NULL;
        r->fd = fd;
        k = sd_event_add_io(r->event, &r->source, fd, EPOLLIN, on_io, r);
        if (k >= 0)
                /* Requests of clients come first. */
                k = sd_event_source_set_priority(r->source, SD_EVENT_PRIORITY_IDLE);
        if (k >= 0)
                return;

        enter(r);
        end_because(r, NTPROF_ERROR_CAPTURE_FAILED, "its stream cannot be watched: %s", g_strerror(-k));
        leave(r);
}

void remote_target_failed(RemoteTarget *r, NtprofError code, const char *message)
{
        r->pending = NULL;
        enter(r);
        end(r, code, message);
        leave(r);
}

RemoteTarget *remote_target_new(sd_event *event, const char *peer, const RemoteRequest *request, const RemoteHandlers *handlers,
                                void (*cancel)(void *pending), void *pending)
{
        static const RemoteOps ops = {
                .set_threshold = remote_set_threshold,
                .resume = remote_resume,
                .pause = remote_pause,
                .free = remote_free,
        };
        RemoteTarget *r = g_new0(RemoteTarget, 1);

        r->remote.ops = &ops;
        r->remote.handlers = *handlers;
        r->event = sd_event_ref(event);
        r->peer = g_strdup(peer);
        r->request = *request;
        r->cancel = cancel;
        r->pending = pending;
        r->fd = -1;
        r->reader = wire_reader_new(WIRE_SIDE_TARGET);
        r->writer = wire_writer_new();
        return r;
}

Remote *remote_target_remote(RemoteTarget *r)
{
        return &r->remote;
}
