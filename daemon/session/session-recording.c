/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How a session records: attach, begin, tick, settle, finish; with its targets. */
#include <glib.h>
#include <sys/epoll.h>

#include "session-internal.h"
#include "session-report.h"

#define TICK_USEC (100 * USEC_PER_MSEC)
#define SETTLE_TICK_USEC (20 * USEC_PER_MSEC)
/* How long commands under way at the end are waited for. */
#define SETTLE_USEC (2 * USEC_PER_SEC)
/* A record leaves when its command is done; by then both sides' records of older commands have been drained. */
#define JOIN_DELAY_NS (1500 * NSEC_PER_MSEC)
#define ANNOUNCE_USEC (1 * USEC_PER_SEC)

static void on_host_record(const struct np_host_record *record, void *userdata)
{
        Session *s = userdata;

        np_analysis_add_host(s->analysis, record);
}

/* This machine's. */
static void on_target_record(const struct np_target_record *record, void *userdata)
{
        Session *s = userdata;

        targets_add_local_record(s->targets, record);
}

static int read_counters(Session *s)
{
        const char *wrong;
        int r;

        r = s->capture->ops->get_counters(s->capture, s->counters);
        if (r < 0)
                return r;
        wrong = capture_wrong_types(s->capture);
        if (wrong) {
                session_fail(s, NTPROF_ERROR_KERNEL_UNSUPPORTED, "%s: %s", s->namespace->name, wrong);
                return -ntprof_error_errno(NTPROF_ERROR_KERNEL_UNSUPPORTED);
        }

        s->commands = s->counters->host[NP_C_COMMANDS];
        s->sampled = s->counters->host[NP_C_SAMPLED];
        s->joined = np_analysis_joined(s->analysis);
        session_count_losses(s, s->losses);
        return 0;
}

/* since_ns is taken before, or is 0 when nothing is recorded yet: the target's threshold is then never believed to be
 * higher than it was. */
static int set_threshold(Session *s, uint64_t since_ns)
{
        targets_local_threshold(s->targets, since_ns, s->sampling.threshold);
        targets_set_threshold(s->targets, s->sampling.threshold);
        return s->capture->ops->set_threshold(s->capture, s->sampling.threshold);
}

static void on_detached(int r, const char *why, void *userdata)
{
        Session *s = userdata;
        NpReport *report;

        s->job = NULL;
        s->capture->ops->free(s->capture);
        s->capture = NULL;

        np_analysis_finish(s->analysis);
        s->joined = np_analysis_joined(s->analysis);

        report = session_make_report(s);
        for (int i = 0; i < NP_LOSS_COUNT; i++)
                s->losses[i] = report->facts->losses[i];
        s->report_json = np_report_to_json(report);
        np_report_free(report);

        targets_drop(s->targets);
        session_release_analysis(s);
        session_set_state(s, SESSION_FINISHED);
}

/* The session has ended for others when nothing is attached any more. */
static void finish(Session *s)
{
        int r;

        r = s->capture->ops->drain(s->capture);
        if (r >= 0)
                r = read_counters(s);
        if (r < 0) {
                session_fail(s, NTPROF_ERROR_CAPTURE_FAILED, "%s: the last records could not be read: %s", s->namespace->name,
                             g_strerror(-r));
                return;
        }
        session_release_sources(s);
        r = capture_job_start(s->event, s->capture, CAPTURE_JOB_DETACH, on_detached, s, &s->job);
        if (r < 0) {
                s->capture->ops->detach(s->capture);
                on_detached(0, NULL, s);
        }
}

static int on_settle(sd_event_source *source, uint64_t usec, void *userdata)
{
        Session *s = userdata;
        int r;

        r = s->capture->ops->drain(s->capture);
        if (r >= 0)
                r = read_counters(s);
        if (r < 0) {
                session_fail(s, NTPROF_ERROR_CAPTURE_FAILED, "%s: reading records failed: %s", s->namespace->name,
                             g_strerror(-r));
                return 0;
        }

        if (!s->ending_targets && ((s->counters->host_in_flight == 0 && s->counters->target_in_flight == 0) ||
                                   monotonic_usec() >= s->settle_deadline_usec)) {
                s->ending_targets = true;
                targets_end(s->targets);
        }
        if (s->ending_targets && targets_ended(s->targets)) {
                finish(s);
                return 0;
        }

        r = sd_event_source_set_time_relative(source, SETTLE_TICK_USEC);
        if (r >= 0)
                r = sd_event_source_set_enabled(source, SD_EVENT_ONESHOT);
        if (r < 0)
                session_fail(s, NTPROF_ERROR_CAPTURE_FAILED, "Timer: %s", g_strerror(-r));
        return 0;
}

void recording_end(Session *s)
{
        int r;

        np_analysis_host_ended(s->analysis, capture_now(s->capture));
        r = s->capture->ops->pause(s->capture);
        s->paused_ns = capture_now(s->capture);
        s->backend->ops->read_iostat(s->backend, s->capture, s->namespace, &s->iostat_end);
        s->recorded_ns = s->paused_ns - s->resumed_ns;
        if (r < 0) {
                session_fail(s, NTPROF_ERROR_CAPTURE_FAILED, "%s: pausing failed: %s", s->namespace->name, g_strerror(-r));
                return;
        }

        s->settle_deadline_usec = monotonic_usec() + SETTLE_USEC;
        s->tick_source = sd_event_source_disable_unref(s->tick_source);
        r = sd_event_add_time_relative(s->event, &s->tick_source, CLOCK_MONOTONIC, 0, USEC_PER_MSEC, on_settle, s);
        if (r < 0) {
                session_fail(s, NTPROF_ERROR_CAPTURE_FAILED, "Timer: %s", g_strerror(-r));
                return;
        }

        session_set_state(s, SESSION_JOINING);
}

static uint64_t duration_left_ns(const Session *s)
{
        uint64_t duration_ns;

        if (s->options.duration_usec == 0 || s->options.duration_usec > UINT64_MAX / NSEC_PER_USEC)
                return UINT64_MAX;
        duration_ns = s->options.duration_usec * NSEC_PER_USEC;
        return duration_ns > s->recorded_ns ? duration_ns - s->recorded_ns : 0;
}

static int drain(Session *s)
{
        int r;

        r = s->capture->ops->drain(s->capture);
        if (r < 0)
                session_fail(s, NTPROF_ERROR_CAPTURE_FAILED, "%s: reading records failed: %s", s->namespace->name,
                             g_strerror(-r));
        return r;
}

static int on_tick(sd_event_source *source, uint64_t usec, void *userdata)
{
        Session *s = userdata;
        uint64_t now, left_usec;
        int r;

        if (drain(s) < 0)
                return 0;

        now = capture_now(s->capture);
        s->recorded_ns = now - s->resumed_ns;
        r = read_counters(s);
        if (r >= 0 && sampling_update(&s->sampling, now, s->commands))
                r = set_threshold(s, capture_now(s->capture));
        if (r < 0) {
                session_fail(s, NTPROF_ERROR_CAPTURE_FAILED, "%s: the programs' maps cannot be used: %s", s->namespace->name,
                             g_strerror(-r));
                return 0;
        }

        if (now > JOIN_DELAY_NS)
                np_analysis_advance(s->analysis, now - JOIN_DELAY_NS);

        s->ended_reason = g_strdup(capture_gone(s->capture));
        if (s->ended_reason || duration_left_ns(s) == 0 || capture_at_end(s->capture)) {
                recording_end(s);
                return 0;
        }

        if (monotonic_usec() - s->announced_usec >= ANNOUNCE_USEC) {
                s->announced_usec = monotonic_usec();
                s->observer->changed(s, SESSION_CHANGED_COUNTERS, s->observer->userdata);
        }

        left_usec = duration_left_ns(s) / NSEC_PER_USEC;
        r = sd_event_source_set_time_relative(source, MIN(TICK_USEC, left_usec));
        if (r >= 0)
                r = sd_event_source_set_enabled(source, SD_EVENT_ONESHOT);
        if (r < 0)
                session_fail(s, NTPROF_ERROR_CAPTURE_FAILED, "Timer: %s", g_strerror(-r));
        return 0;
}

static int on_readable(sd_event_source *source, int fd, uint32_t revents, void *userdata)
{
        Session *s = userdata;

        (void) drain(s);
        return 0;
}

static void add_held(GPtrArray *holds, const char *module)
{
        if (module && !g_ptr_array_find_with_equal_func(holds, module, g_str_equal, NULL))
                g_ptr_array_add(holds, g_strdup(module));
}

static void read_hooks(Session *s)
{
        const CaptureHook *hooks;
        unsigned n;

        n = s->capture->ops->get_hooks(s->capture, &hooks);
        for (unsigned i = 0; i < n; i++) {
                session_hooks_add(s->hooks, hooks[i].boundary, hooks[i].mechanism, hooks[i].symbol, hooks[i].target);
                add_held(s->holds, hooks[i].held);
        }
}

static int watch_records(Session *s)
{
        int fd, r;

        fd = s->capture->ops->get_fd(s->capture);
        if (fd < 0)
                return 0;
        r = sd_event_add_io(s->event, &s->fd_source, fd, EPOLLIN, on_readable, s);
        if (r < 0)
                return r;
        /* Requests of clients come first: a flood of records must not make the daemon deaf. */
        (void) sd_event_source_set_priority(s->fd_source, SD_EVENT_PRIORITY_IDLE);
        return 0;
}

/* The targets first: a record too many there is nothing, one too few is a loss. */
static int begin(Session *s)
{
        s->begun = true;
        s->analysis = np_analysis_new(targets_n_ready(s->targets));
        sampling_start(&s->sampling, &s->options.sample, capture_now(s->capture));
        targets_begin(s->targets, s->analysis, s->sampling.threshold);
        targets_local_threshold(s->targets, 0, s->sampling.threshold);
        return s->capture->ops->set_threshold(s->capture, s->sampling.threshold);
}

static int begin_recording(Session *s)
{
        int r;

        r = watch_records(s);
        if (r < 0)
                return r;
        r = sd_event_add_time_relative(s->event, &s->tick_source, CLOCK_MONOTONIC,
                                       MIN(TICK_USEC, duration_left_ns(s) / NSEC_PER_USEC), USEC_PER_MSEC, on_tick, s);
        if (r < 0)
                return r;

        s->started_realtime_usec = now_ns(CLOCK_REALTIME) / NSEC_PER_USEC;
        s->announced_usec = monotonic_usec();
        r = s->capture->ops->resume(s->capture);
        if (r < 0)
                return r;
        s->resumed_ns = capture_now(s->capture);
        np_analysis_host_began(s->analysis, s->resumed_ns);
        s->backend->ops->read_iostat(s->backend, s->capture, s->namespace, &s->iostat_start);
        s->sampling.window_start_ns = s->resumed_ns;
        return 0;
}

void recording_go_on(Session *s)
{
        int r = 0;

        if (s->state != SESSION_PREPARING || !s->attached || !targets_settled(s->targets))
                return;
        if (!s->begun)
                r = begin(s);
        if (r >= 0) {
                if (!targets_started(s->targets))
                        return;
                r = begin_recording(s);
        }
        if (r < 0) {
                session_fail(s, NTPROF_ERROR_CAPTURE_FAILED, "%s: the recording could not be started: %s", s->namespace->name,
                             g_strerror(-r));
                return;
        }

        session_set_state(s, SESSION_RECORDING);
        if (s->stop_requested)
                recording_end(s);
}

static void on_attached(int r, const char *why, void *userdata)
{
        Session *s = userdata;

        s->job = NULL;
        if (r < 0) {
                session_fail(s, NTPROF_ERROR_CAPTURE_FAILED, "%s: %s", s->namespace->name, why ?: g_strerror(-r));
                return;
        }
        s->attached = true;
        read_hooks(s);
        s->observer->changed(s, SESSION_CHANGED_HOOKS, s->observer->userdata);
        recording_go_on(s);
}

static void on_targets_changed(void *userdata)
{
        Session *s = userdata;
        const Error *error = targets_error(s->targets), *untrue = targets_untrue(s->targets);

        s->observer->changed(s, SESSION_CHANGED_TARGETS, s->observer->userdata);
        if (untrue)
                session_fail(s, untrue->code, "%s: %s", s->namespace->name, untrue->message);
        else if (error && s->state == SESSION_PREPARING && !s->stop_requested)
                session_fail(s, error->code, "%s: %s", s->namespace->name, error->message);
        else
                recording_go_on(s);
}

static uint64_t targets_clock(void *userdata)
{
        const Session *s = userdata;

        return capture_now(s->capture);
}

static uint64_t targets_recorded(void *userdata)
{
        const Session *s = userdata;

        return s->state == SESSION_RECORDING ? capture_now(s->capture) - s->resumed_ns : s->recorded_ns;
}

static int on_start(sd_event_source *source, void *userdata)
{
        Session *s = userdata;
        int r;

        r = capture_job_start(s->event, s->capture, CAPTURE_JOB_ATTACH, on_attached, s, &s->job);
        if (r < 0)
                session_fail(s, NTPROF_ERROR_CAPTURE_FAILED, "%s: no thread to attach on: %s", s->namespace->name,
                             g_strerror(-r));
        else if (!s->stop_requested)
                targets_connect(s->targets, &(TargetsOptions) {
                        .peer = s->options.peer,
                        .duration_usec = s->options.duration_usec,
                        .detail = s->options.detail,
                        .owner = s->owner,
                });
        return 0;
}

int recording_prepare(Session *s, RemoteFinder *finder, CaptureConfig *config, Error *error)
{
        const CaptureHandlers handlers = {
                .host_record = on_host_record,
                .target_record = on_target_record,
                .userdata = s,
        };
        const TargetsHandlers targets_handlers = {
                .changed = on_targets_changed,
                .now_ns = targets_clock,
                .recorded_ns = targets_recorded,
                .userdata = s,
        };
        int r;

        r = s->backend->ops->open(s->backend, s->namespace, config, &handlers, &s->capture, &s->no_target_reason, error);
        if (r < 0)
                return r;

        s->targets = targets_new(s->event, s->options.no_target ? NULL : finder, s->namespace, &targets_handlers);
        if (config->n_target_filters > 0)
                targets_add_local(s->targets, s->backend->machine, s->backend->kernel, NTPROF_VERSION);

        r = sd_event_add_defer(s->event, &s->start_source, on_start, s);
        if (r < 0)
                return error_set(error, NTPROF_ERROR_CAPTURE_FAILED, "Event loop: %s", g_strerror(-r));
        /* After the answer to StartSession() has left: attaching takes its time. */
        (void) sd_event_source_set_priority(s->start_source, SD_EVENT_PRIORITY_IDLE);
        return 0;
}
