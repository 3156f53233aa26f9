/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "target-side.h"

#include <glib.h>
#include <inttypes.h>
#include <stdarg.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include "../session/capture-job.h"
#include "target-json.h"
#include "target-sync.h"
#include "wire-reader.h"
#include "wire-writer.h"

#define TICK_USEC (100 * USEC_PER_MSEC)
#define SETTLE_TICK_USEC (20 * USEC_PER_MSEC)
#define SYNC_USEC (1 * USEC_PER_SEC)
/* What goes out costs both machines' ntprof-peerd a message, whatever is in it: fewer records wait for more, so long at most. */
#define RECORDS_FEW 64
#define WAIT_USEC (500 * USEC_PER_MSEC)
/* A host that asks for thresholds and reads no answers is not one of ours. */
#define UNREAD_MAX (TARGET_SIDE_BUFFER_MAX + (1U << 20))
/* Longer is as good as without a limit: it must not overflow. */
#define LIMIT_MAX_USEC (100ULL * 365 * 24 * 3600 * USEC_PER_SEC)
#define RECORDS_MAX (WIRE_FRAME_MAX / sizeof(struct np_target_record))

TargetSidePatience target_side_patience = {
        .settle_usec = 2 * USEC_PER_SEC,
        .grace_usec = 10 * USEC_PER_SEC,
        .close_usec = 30 * USEC_PER_SEC,
};

typedef enum TargetSideState {
        ATTACHING,
        READY,                          /* attached, not yet resumed */
        RECORDING,
        SETTLING,                       /* paused; commands are under way still */
        CLOSING,                        /* detached; the link has not taken all yet */
        GONE,
} TargetSideState;

struct TargetSide {
        sd_event *event;
        Backend *backend;
        PeerGrant grant;
        char *drive_hidden;             /* of the first namespace of which there is something to say */
        uint64_t duration_usec;
        uint64_t lag_ns;                /* target_sync_lag_ns() */
        uint64_t resumed_ns;            /* of the capture's clock */
        TargetSideHandlers handlers;

        TargetSideState state;
        int fd;
        sd_event_source *fd_source, *capture_source, *tick_source, *limit_source, *gone_source;
        Capture *capture;
        CaptureJob *job;                /* attaches the capture, which is the job's meanwhile */
        WireReader *reader;
        WireWriter *writer;

        struct np_target_record batch[RECORDS_MAX];
        unsigned n_batch;
        bool sent_records;              /* since the last WIRE_SYNC */
        uint32_t threshold;
        uint64_t limit_usec;            /* CLOCK_MONOTONIC, UINT64_MAX: none */
        char *limit;                    /* why it ends then */
        uint64_t synced_usec, settle_until_usec;        /* CLOCK_MONOTONIC */
        uint64_t pending_usec;          /* CLOCK_MONOTONIC: when the link last took something while closing */
        size_t pending;                 /* what waited then */
        CaptureCounters counters;       /* as last read */
        TargetSideCounts counts;
        char *end_message;              /* of WIRE_ENDED; NULL when it ended as it was told to */
        NtprofError end_code;
        char *why;                      /* for the journal */
};

/* Whatever else happens, nothing stays attached; it is not waited for. */
static void release_capture(TargetSide *t)
{
        t->capture_source = sd_event_source_disable_unref(t->capture_source);
        t->tick_source = sd_event_source_disable_unref(t->tick_source);
        t->limit_source = sd_event_source_disable_unref(t->limit_source);

        capture_job_release(t->event, &t->job, &t->capture, true);
}

static int on_gone(sd_event_source *source, void *userdata)
{
        TargetSide *t = userdata;

        t->handlers.gone(t, t->why, t->handlers.userdata);
        return 0;
}

/* The other end sees the end of the stream at once; who asked hears of it from the event loop, not from within what failed. */
static _printf_(2, 3) void gone(TargetSide *t, const char *format, ...)
{
        va_list ap;

        if (t->state == GONE)
                return;
        t->state = GONE;
        va_start(ap, format);
        if (!t->why)
                t->why = g_strdup_vprintf(format, ap);
        va_end(ap);

        release_capture(t);
        t->fd_source = sd_event_source_disable_unref(t->fd_source);
        close(TAKE_FD(t->fd));
        (void) sd_event_add_defer(t->event, &t->gone_source, on_gone, t);
}

static void link_lost(TargetSide *t, int r)
{
        if (r == -EPIPE || r == -ECONNRESET)
                gone(t, "the host went away");
        else
                gone(t, "the link was lost: %s", g_strerror(-r));
}

/* What waits for the link, and what is waited for from it. While it attaches, nothing may be said to it yet. */
static void update_events(TargetSide *t)
{
        uint32_t events;

        if (t->state == GONE)
                return;
        events = t->state == ATTACHING ? EPOLLRDHUP : t->state == CLOSING ? 0 : EPOLLIN;
        if (wire_writer_pending(t->writer) > 0)
                events |= EPOLLOUT;
        (void) sd_event_source_set_io_events(t->fd_source, events);
}

static void flush(TargetSide *t)
{
        int r;

        if (t->state == GONE)
                return;
        r = wire_writer_flush(t->writer, t->fd);
        if (r < 0)
                link_lost(t, r);
        else if (r == 0 && t->state == CLOSING)
                gone(t, "ended as the host asked");
        else
                update_events(t);
}

static int arm_tick(TargetSide *t, uint64_t usec, sd_event_time_handler_t handler)
{
        t->tick_source = sd_event_source_disable_unref(t->tick_source);
        return sd_event_add_time_relative(t->event, &t->tick_source, CLOCK_MONOTONIC, usec, USEC_PER_MSEC, handler, t);
}

/* A link that takes nothing of what is left for so long will not take it. */
static int on_closing(sd_event_source *source, uint64_t usec, void *userdata)
{
        TargetSide *t = userdata;
        size_t pending = wire_writer_pending(t->writer);

        if (pending < t->pending) {
                t->pending = pending;
                t->pending_usec = monotonic_usec();
        }
        if (monotonic_usec() - t->pending_usec >= target_side_patience.close_usec || arm_tick(t, TICK_USEC, on_closing) < 0)
                gone(t, "the link did not take the last %zu bytes", pending);
        return 0;
}

/* The last words; nothing is attached any more. */
static void end(TargetSide *t)
{
        _cleanup_free_ char *json = target_ended_json(t->end_code, t->end_message);

        if (t->end_message && !t->why)
                t->why = g_strdup(t->end_message);
        t->state = CLOSING;
        release_capture(t);
        wire_writer_add(t->writer, WIRE_ENDED, json, strlen(json));
        flush(t);
        t->pending = wire_writer_pending(t->writer);
        t->pending_usec = monotonic_usec();
        if (t->state == CLOSING && arm_tick(t, TICK_USEC, on_closing) < 0)
                gone(t, "no timer");
}

static _printf_(3, 4) void fail(TargetSide *t, NtprofError code, const char *format, ...)
{
        _cleanup_free_ char *text = NULL;
        va_list ap;

        if (t->state >= CLOSING)
                return;
        va_start(ap, format);
        text = g_strdup_vprintf(format, ap);
        va_end(ap);
        g_free(t->end_message);
        t->end_message = g_strdup_printf("%s: %s", t->backend->machine, text);
        t->end_code = code;
        end(t);
}

static void flush_batch(TargetSide *t)
{
        if (t->n_batch == 0)
                return;
        wire_writer_add(t->writer, WIRE_RECORDS, t->batch, t->n_batch * sizeof(t->batch[0]));
        t->counts.records += t->n_batch;
        t->n_batch = 0;
        t->sent_records = true;
}

static void on_record(const struct np_target_record *record, void *userdata)
{
        TargetSide *t = userdata;
        size_t waiting = wire_writer_pending(t->writer) + sizeof(struct wire_frame) + t->n_batch * sizeof(*record);

        if (waiting + sizeof(*record) > TARGET_SIDE_BUFFER_MAX) {
                t->counts.link_full++;
                return;
        }
        t->batch[t->n_batch++] = *record;
        if (t->n_batch == RECORDS_MAX)
                flush_batch(t);
}

static int drain(TargetSide *t)
{
        int r = t->capture->ops->drain(t->capture);

        if (r < 0)
                fail(t, NTPROF_ERROR_CAPTURE_FAILED, "reading records failed: %s", g_strerror(-r));
        return r;
}

/* All that has left the kernel before drained_ns has been drained. What the counts say is all so far: a frame that finds no
 * room is not missed. */
static void send_sync(TargetSide *t, uint64_t drained_ns, uint64_t lag_ns)
{
        struct wire_sync sync = target_sync_make(&t->counters, t->resumed_ns, drained_ns, lag_ns, t->counts.link_full);

        if (wire_writer_pending(t->writer) > TARGET_SIDE_BUFFER_MAX)
                return;
        wire_writer_add(t->writer, WIRE_SYNC, &sync, sizeof(sync));
        t->synced_usec = monotonic_usec();
        t->sent_records = false;
}

static bool worth_sending(const TargetSide *t)
{
        return t->sent_records || t->n_batch >= (t->state == RECORDING ? RECORDS_FEW : 1) ||
               monotonic_usec() - t->synced_usec >= (t->n_batch > 0 ? WAIT_USEC : SYNC_USEC);
}

/* Records first, then what they are complete up to. always: a WIRE_SYNC whether or not it is due, for nothing is under way. */
static int drain_and_sync(TargetSide *t, bool always)
{
        uint64_t drained_ns = capture_now(t->capture);
        const char *wrong;
        int r = drain(t);

        if (r < 0)
                return r;
        r = t->capture->ops->get_counters(t->capture, &t->counters);
        if (r < 0) {
                fail(t, NTPROF_ERROR_CAPTURE_FAILED, "the programs' maps cannot be used: %s", g_strerror(-r));
                return r;
        }
        wrong = capture_wrong_types(t->capture);
        if (wrong) {
                fail(t, NTPROF_ERROR_KERNEL_UNSUPPORTED, "%s", wrong);
                return -ntprof_error_errno(NTPROF_ERROR_KERNEL_UNSUPPORTED);
        }
        t->counts.commands = t->counters.target[NP_C_COMMANDS];
        t->counts.sampled = t->counters.target[NP_C_SAMPLED];
        if (always || worth_sending(t)) {
                flush_batch(t);
                send_sync(t, drained_ns, always ? 0 : t->lag_ns);
        }
        return 0;
}

static int on_settle(sd_event_source *source, uint64_t usec, void *userdata)
{
        TargetSide *t = userdata;

        if (drain_and_sync(t, false) < 0)
                return 0;
        if (t->counters.target_in_flight > 0 && monotonic_usec() < t->settle_until_usec &&
            arm_tick(t, SETTLE_TICK_USEC, on_settle) >= 0) {
                flush(t);
                return 0;
        }
        if (drain_and_sync(t, true) >= 0)
                end(t);
        return 0;
}

static void begin_ending(TargetSide *t, const char *message)
{
        int r;

        if (t->state >= SETTLING)
                return;
        t->end_message = g_strdup(message);
        if (t->state != RECORDING) {
                end(t);
                return;
        }

        r = t->capture->ops->pause(t->capture);
        if (r >= 0)
                r = arm_tick(t, 0, on_settle);
        if (r < 0) {
                fail(t, NTPROF_ERROR_CAPTURE_FAILED, "pausing failed: %s", g_strerror(-r));
                return;
        }
        t->state = SETTLING;
        t->settle_until_usec = monotonic_usec() + target_side_patience.settle_usec;
}

static int on_tick(sd_event_source *source, uint64_t usec, void *userdata)
{
        TargetSide *t = userdata;
        const char *unloaded;

        if (drain_and_sync(t, false) < 0)
                return 0;
        unloaded = capture_gone(t->capture);
        if (unloaded) {
                g_autofree char *message = g_strdup_printf("%s ended the recording: %s", t->backend->machine, unloaded);

                begin_ending(t, message);
                return 0;
        }
        if (arm_tick(t, TICK_USEC, on_tick) < 0)
                fail(t, NTPROF_ERROR_CAPTURE_FAILED, "no timer");
        flush(t);
        return 0;
}

static int on_capture_readable(sd_event_source *source, int fd, uint32_t revents, void *userdata)
{
        TargetSide *t = userdata;

        if (drain(t) >= 0) {
                flush_batch(t);
                flush(t);
        }
        return 0;
}

static int on_limit(sd_event_source *source, uint64_t usec, void *userdata)
{
        begin_ending(userdata, ((TargetSide *) userdata)->limit);
        return 0;
}

/* The earliest of all limits counts. */
static int set_limit(TargetSide *t, uint64_t after_usec, const char *what)
{
        uint64_t until = monotonic_usec() + MIN(after_usec, LIMIT_MAX_USEC);

        if (until >= t->limit_usec)
                return 0;
        t->limit_usec = until;
        g_free(t->limit);
        t->limit = g_strdup_printf("%s ended the recording: %s", t->backend->machine, what);
        t->limit_source = sd_event_source_disable_unref(t->limit_source);
        return sd_event_add_time(t->event, &t->limit_source, CLOCK_MONOTONIC, until, USEC_PER_MSEC, on_limit, t);
}

static void send_changed(TargetSide *t, uint64_t since_ns)
{
        wire_writer_add(t->writer, WIRE_CHANGED, &(struct wire_changed) { .target_ns = since_ns, .threshold = t->threshold },
                        sizeof(struct wire_changed));
}

/* since_ns is taken before: the threshold is never believed to be higher than it was. Before WIRE_RESUME none is in force. */
static void set_threshold(TargetSide *t, uint32_t asked)
{
        uint64_t since_ns = capture_now(t->capture);
        int r;

        t->threshold = MIN(asked, t->grant.max_threshold);
        r = t->capture->ops->set_threshold(t->capture, t->threshold);
        if (r < 0)
                fail(t, NTPROF_ERROR_CAPTURE_FAILED, "the programs' maps cannot be used: %s", g_strerror(-r));
        else if (t->state == RECORDING)
                send_changed(t, since_ns);
}

static void resume(TargetSide *t)
{
        int fd = t->capture->ops->get_fd(t->capture), r;

        t->resumed_ns = capture_now(t->capture);
        r = t->capture->ops->resume(t->capture);
        if (r >= 0 && fd >= 0) {
                r = sd_event_add_io(t->event, &t->capture_source, fd, EPOLLIN, on_capture_readable, t);
                /* Requests of clients come first: a flood of records must not make the daemon deaf. */
                (void) sd_event_source_set_priority(t->capture_source, SD_EVENT_PRIORITY_IDLE);
        }
        if (r >= 0)
                r = arm_tick(t, TICK_USEC, on_tick);
        if (r >= 0 && t->duration_usec > 0 && t->duration_usec < LIMIT_MAX_USEC)
                r = set_limit(t, t->duration_usec + target_side_patience.grace_usec,
                              "the host did not, though the time that it asked for is over");
        if (r < 0) {
                fail(t, NTPROF_ERROR_CAPTURE_FAILED, "the recording could not be started: %s", g_strerror(-r));
                return;
        }
        t->state = RECORDING;
        t->synced_usec = monotonic_usec();
        send_changed(t, 0);
}

static void handle_frame(TargetSide *t, const WireFrame *frame)
{
        const struct wire_threshold *threshold = frame->data;

        /* It ends by a limit: the host need not know yet. */
        if (t->state >= SETTLING)
                return;

        switch (frame->type) {
        case WIRE_THRESHOLD:
                set_threshold(t, threshold->threshold);
                break;
        case WIRE_RESUME:
                resume(t);
                break;
        default:
                begin_ending(t, NULL);
        }
        if (t->state != GONE && wire_writer_pending(t->writer) > UNREAD_MAX)
                gone(t, "the host asks for more than it reads");
}

static void read_frames(TargetSide *t)
{
        unsigned char buffer[4096];
        const void *data = buffer;
        const char *why;
        WireFrame frame;
        size_t size;
        ssize_t n = recv(t->fd, buffer, sizeof(buffer), MSG_DONTWAIT);
        int r;

        if (n < 0 && (errno == EAGAIN || errno == EINTR))
                return;
        if (n <= 0) {
                link_lost(t, n < 0 ? -errno : -EPIPE);
                return;
        }

        size = n;
        while (t->state < CLOSING && (r = wire_reader_next(t->reader, &data, &size, &frame, &why)) != 0) {
                if (r < 0) {
                        gone(t, "the host broke the protocol: %s", why);
                        return;
                }
                handle_frame(t, &frame);
        }
}

static int on_link(sd_event_source *source, int fd, uint32_t revents, void *userdata)
{
        TargetSide *t = userdata;

        if (revents & EPOLLIN && t->state < CLOSING)
                read_frames(t);
        else if (revents & (EPOLLHUP | EPOLLERR | EPOLLRDHUP))
                gone(t, t->state == ATTACHING ? "the host went away before it was attached" :
                     "the host went away before it had taken all");
        flush(t);
        return 0;
}

static void on_attached(int r, const char *why, void *userdata)
{
        TargetSide *t = userdata;
        _cleanup_free_ char *json = NULL;
        const CaptureHook *hooks;
        unsigned n;

        t->job = NULL;
        if (r < 0) {
                fail(t, NTPROF_ERROR_CAPTURE_FAILED, "%s", why ?: g_strerror(-r));
                return;
        }
        n = t->capture->ops->get_hooks(t->capture, &hooks);
        json = target_facts_json(t->backend, hooks, n, t->drive_hidden);
        if (t->grant.max_usec > 0 && set_limit(t, t->grant.max_usec, t->grant.limit) < 0) {
                fail(t, NTPROF_ERROR_CAPTURE_FAILED, "no timer");
                return;
        }

        t->state = READY;
        wire_writer_add(t->writer, WIRE_FACTS, json, strlen(json));
        flush(t);
}

int target_side_new(sd_event *event, Backend *backend, const CaptureConfig *config, const PeerGrant *grant,
                    uint64_t duration_usec, const TargetSideHandlers *handlers, TargetSide **ret, int *ret_fd, Error *error)
{
        _cleanup_(target_side_freep) TargetSide *t = g_new0(TargetSide, 1);
        CaptureHandlers capture_handlers = { .target_record = on_record, .userdata = t };
        _cleanup_close_ int other = -1;
        int fds[2], r;

        t->fd = -1;
        t->event = sd_event_ref(event);
        t->backend = backend;
        t->grant = (PeerGrant) { grant->max_threshold, grant->max_usec, g_strdup(grant->limit) };
        t->drive_hidden = target_drive_hidden(backend, config);
        t->duration_usec = duration_usec;
        t->lag_ns = target_sync_lag_ns(config);
        t->handlers = *handlers;
        t->limit_usec = UINT64_MAX;
        t->reader = wire_reader_new(WIRE_SIDE_HOST);
        t->writer = wire_writer_new();

        r = backend->ops->open_target(backend, config, &capture_handlers, &t->capture, error);
        if (r < 0)
                return r;
        if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) < 0)
                return error_set(error, NTPROF_ERROR_CAPTURE_FAILED, "%s: no socket: %s", backend->machine, g_strerror(errno));
        t->fd = fds[0];
        other = fds[1];

        r = sd_event_add_io(event, &t->fd_source, t->fd, EPOLLRDHUP, on_link, t);
        if (r >= 0)
                r = capture_job_start(event, t->capture, CAPTURE_JOB_ATTACH, on_attached, t, &t->job);
        if (r < 0)
                return error_set(error, NTPROF_ERROR_CAPTURE_FAILED, "%s: nothing to attach on: %s", backend->machine,
                                 g_strerror(-r));

        *ret = TAKE_PTR(t);
        *ret_fd = TAKE_FD(other);
        return 0;
}

void target_side_shutdown(TargetSide *t)
{
        _cleanup_free_ char *message = g_strdup_printf("%s: its ntprofd was ended while it recorded", t->backend->machine),
                            *json = target_ended_json(NTPROF_ERROR_SHUTTING_DOWN, message);

        if (t->state >= CLOSING)
                return;
        /* Once: what the link does not take now it won't get. */
        wire_writer_add(t->writer, WIRE_ENDED, json, strlen(json));
        (void) wire_writer_flush(t->writer, t->fd);
}

TargetSide *target_side_free(TargetSide *t)
{
        if (!t)
                return NULL;

        if (t->job) {
                capture_job_end(TAKE_PTR(t->job));
                t->capture = NULL;
        }
        if (t->capture) {
                t->capture->ops->detach(t->capture);
                t->capture->ops->free(t->capture);
        }
        sd_event_source_disable_unref(t->fd_source);
        sd_event_source_disable_unref(t->capture_source);
        sd_event_source_disable_unref(t->tick_source);
        sd_event_source_disable_unref(t->limit_source);
        sd_event_source_disable_unref(t->gone_source);
        if (t->fd >= 0)
                close(t->fd);
        wire_reader_free(t->reader);
        wire_writer_free(t->writer);
        peer_grant_clear(&t->grant);
        g_free(t->drive_hidden);
        g_free(t->limit);
        g_free(t->end_message);
        g_free(t->why);
        sd_event_unref(t->event);
        g_free(t);
        return NULL;
}

const TargetSideCounts *target_side_counts(const TargetSide *t)
{
        return &t->counts;
}
