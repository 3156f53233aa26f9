/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "session.h"

#include <glib.h>
#include <stdarg.h>
#include <string.h>
#include <sys/epoll.h>

#include "session-report.h"

#define TICK_USEC (100 * USEC_PER_MSEC)
#define SETTLE_TICK_USEC (20 * USEC_PER_MSEC)
/* How long commands under way at the end are waited for. */
#define SETTLE_USEC (2 * USEC_PER_SEC)
/* A record leaves when its command is done; by then both sides' records of older commands have been drained. */
#define JOIN_DELAY_NS (1500 * NSEC_PER_MSEC)
#define ANNOUNCE_USEC (1 * USEC_PER_SEC)

const char *session_state_to_string(SessionState state)
{
        static const char *const names[] = {
                [SESSION_PREPARING] = "preparing",
                [SESSION_RECORDING] = "recording",
                [SESSION_JOINING] = "joining",
                [SESSION_FINISHED] = "finished",
                [SESSION_FAILED] = "failed",
        };

        return names[state];
}

const char *session_result(const Session *s)
{
        if (s->state == SESSION_FAILED)
                return ntprof_error_name(s->error);
        if (s->state == SESSION_FINISHED)
                return s->cancelled ? "cancelled" : "done";
        return "";
}

bool session_has_ended(const Session *s)
{
        return s->state == SESSION_FINISHED || s->state == SESSION_FAILED;
}

void session_options_clear(SessionOptions *options)
{
        g_free(options->namespace);
        *options = (SessionOptions) {};
}

static void session_hook_clear(void *data)
{
        SessionHook *hook = data;

        g_free(hook->boundary);
        g_free(hook->mechanism);
        g_free(hook->symbol);
}

static uint64_t monotonic_usec(void)
{
        /* Not the loop's cached time: a drain can take long. */
        return now_ns(CLOCK_MONOTONIC) / NSEC_PER_USEC;
}

static uint64_t capture_now(Session *s)
{
        return s->capture->ops->now ? s->capture->ops->now(s->capture) : now_ns(CLOCK_MONOTONIC);
}

static void release_sources(Session *s)
{
        s->start_source = sd_event_source_disable_unref(s->start_source);
        s->tick_source = sd_event_source_disable_unref(s->tick_source);
        s->fd_source = sd_event_source_disable_unref(s->fd_source);
}

static void free_capture(Session *s)
{
        if (!s->capture)
                return;
        s->capture->ops->detach(s->capture);
        s->capture->ops->free(s->capture);
        s->capture = NULL;
}

/* The source of records goes first of all: whatever else happens, nothing stays attached. The session does not wait for it. */
static void release_capture(Session *s)
{
        bool attached = s->state != SESSION_PREPARING;
        CaptureJob *job;

        release_sources(s);

        if (s->job) {
                capture_job_abandon(TAKE_PTR(s->job));
                s->capture = NULL;
        } else if (s->capture && attached && capture_job_start(s->event, s->capture, CAPTURE_JOB_DETACH, NULL, NULL, &job) >= 0) {
                capture_job_abandon(job);
                s->capture = NULL;
        }
        free_capture(s);
}

static void release_analysis(Session *s)
{
        g_clear_pointer(&s->analysis, np_analysis_free);
        iostat_clear(&s->iostat_start);
        iostat_clear(&s->iostat_end);
}

static void set_state(Session *s, SessionState state)
{
        s->state = state;
        s->observer->changed(s, SESSION_CHANGED_STATE | SESSION_CHANGED_COUNTERS, s->observer->userdata);
}

static void fail_with(Session *s, NtprofError code, char *message)
{
        if (session_has_ended(s)) {
                g_free(message);
                return;
        }

        release_capture(s);
        release_analysis(s);
        s->error = code;
        s->message = message;
        set_state(s, SESSION_FAILED);
}

void session_fail(Session *s, NtprofError code, const char *format, ...)
{
        va_list ap;

        va_start(ap, format);
        fail_with(s, code, g_strdup_vprintf(format, ap));
        va_end(ap);
}

void session_cancel(Session *s)
{
        if (session_has_ended(s))
                return;

        release_capture(s);
        release_analysis(s);
        s->cancelled = true;
        set_state(s, SESSION_FINISHED);
}

static void on_host_record(const struct np_host_record *record, void *userdata)
{
        Session *s = userdata;

        np_analysis_add_host(s->analysis, record);
}

static void on_target_record(const struct np_target_record *record, void *userdata)
{
        Session *s = userdata;

        np_analysis_add_target(s->analysis, 0, record);
}

static int read_counters(Session *s)
{
        int r;

        r = s->capture->ops->get_counters(s->capture, s->counters);
        if (r < 0)
                return r;

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
        if (s->has_target)
                np_analysis_target_threshold(s->analysis, 0, since_ns, s->sampling.threshold);
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

        release_analysis(s);
        set_state(s, SESSION_FINISHED);
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
        release_sources(s);
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
                session_fail(s, NTPROF_ERROR_CAPTURE_FAILED, "%s: reading records failed: %s", s->namespace->name, g_strerror(-r));
                return 0;
        }

        if ((s->counters->host_in_flight == 0 && s->counters->target_in_flight == 0) ||
            monotonic_usec() >= s->settle_deadline_usec) {
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

static void begin_joining(Session *s)
{
        int r;

        np_analysis_host_ended(s->analysis, capture_now(s));
        r = s->capture->ops->pause(s->capture);
        s->paused_ns = capture_now(s);
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

        set_state(s, SESSION_JOINING);
}

void session_stop(Session *s)
{
        if (s->state == SESSION_PREPARING)
                s->stop_requested = true;
        else if (s->state == SESSION_RECORDING)
                begin_joining(s);
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
                session_fail(s, NTPROF_ERROR_CAPTURE_FAILED, "%s: reading records failed: %s", s->namespace->name, g_strerror(-r));
        return r;
}

static int on_tick(sd_event_source *source, uint64_t usec, void *userdata)
{
        Session *s = userdata;
        uint64_t now, left_usec;
        int r;

        if (drain(s) < 0)
                return 0;

        now = capture_now(s);
        s->recorded_ns = now - s->resumed_ns;
        r = read_counters(s);
        if (r >= 0 && sampling_update(&s->sampling, now, s->commands))
                r = set_threshold(s, capture_now(s));
        if (r < 0) {
                session_fail(s, NTPROF_ERROR_CAPTURE_FAILED, "%s: the programs' maps cannot be used: %s", s->namespace->name,
                             g_strerror(-r));
                return 0;
        }

        if (now > JOIN_DELAY_NS)
                np_analysis_advance(s->analysis, now - JOIN_DELAY_NS);

        if (duration_left_ns(s) == 0 || (s->capture->ops->at_end && s->capture->ops->at_end(s->capture))) {
                begin_joining(s);
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

static void read_hooks(Session *s)
{
        const CaptureHook *hooks;
        unsigned n;

        n = s->capture->ops->get_hooks(s->capture, &hooks);
        for (unsigned i = 0; i < n; i++) {
                SessionHook hook = {
                        .boundary = g_strdup(hooks[i].boundary),
                        .mechanism = g_strdup(hooks[i].mechanism),
                        .symbol = g_strdup(hooks[i].symbol),
                        .target = hooks[i].target,
                };

                g_array_append_val(s->hooks, hook);
        }
}

static void on_attached(int r, const char *why, void *userdata)
{
        Session *s = userdata;
        int fd;

        s->job = NULL;
        if (r < 0) {
                session_fail(s, NTPROF_ERROR_CAPTURE_FAILED, "%s: %s", s->namespace->name, why ?: g_strerror(-r));
                return;
        }
        read_hooks(s);
        s->observer->changed(s, SESSION_CHANGED_HOOKS, s->observer->userdata);

        sampling_start(&s->sampling, &s->options.sample, capture_now(s));
        r = set_threshold(s, 0);
        if (r < 0)
                goto fail;

        fd = s->capture->ops->get_fd(s->capture);
        if (fd >= 0) {
                r = sd_event_add_io(s->event, &s->fd_source, fd, EPOLLIN, on_readable, s);
                if (r < 0)
                        goto fail;
                /* Requests of clients come first: a flood of records must not make the daemon deaf. */
                (void) sd_event_source_set_priority(s->fd_source, SD_EVENT_PRIORITY_IDLE);
        }
        r = sd_event_add_time_relative(s->event, &s->tick_source, CLOCK_MONOTONIC,
                                       MIN(TICK_USEC, duration_left_ns(s) / NSEC_PER_USEC), USEC_PER_MSEC, on_tick, s);
        if (r < 0)
                goto fail;

        s->started_realtime_usec = now_ns(CLOCK_REALTIME) / NSEC_PER_USEC;
        s->announced_usec = monotonic_usec();
        r = s->capture->ops->resume(s->capture);
        if (r < 0)
                goto fail;
        s->resumed_ns = capture_now(s);
        np_analysis_host_began(s->analysis, s->resumed_ns);
        s->backend->ops->read_iostat(s->backend, s->capture, s->namespace, &s->iostat_start);
        s->sampling.window_start_ns = s->resumed_ns;

        set_state(s, SESSION_RECORDING);
        if (s->stop_requested)
                begin_joining(s);
        return;

fail:
        session_fail(s, NTPROF_ERROR_CAPTURE_FAILED, "%s: the recording could not be started: %s", s->namespace->name,
                     g_strerror(-r));
}

static int on_start(sd_event_source *source, void *userdata)
{
        Session *s = userdata;
        int r;

        r = capture_job_start(s->event, s->capture, CAPTURE_JOB_ATTACH, on_attached, s, &s->job);
        if (r < 0)
                session_fail(s, NTPROF_ERROR_CAPTURE_FAILED, "%s: no thread to attach on: %s", s->namespace->name, g_strerror(-r));
        return 0;
}

static void add_target_filter(CaptureConfig *config, const NamespaceInfo *info, const NamespacePath *path)
{
        struct np_target_filter *target = config->target_filters + config->n_target_filters;

        /* Several paths of one host are one pair of NQNs to the target. */
        for (unsigned i = 0; i < config->n_target_filters; i++)
                if (g_str_equal(config->target_filters[i].hostnqn, path->hostnqn))
                        return;

        strncpy(target->subsysnqn, info->subsystem_nqn, sizeof(target->subsysnqn) - 1);
        strncpy(target->hostnqn, path->hostnqn, sizeof(target->hostnqn) - 1);
        target->seed = namespace_seed(path->hostnqn);
        target->nsid = info->nsid;
        config->n_target_filters++;
}

/* The lengths of all names were checked when the namespace was resolved; zero padding is part of the contract. */
static void make_config(const NamespaceInfo *info, CaptureConfig *ret)
{
        *ret = (CaptureConfig) { .head_major = info->major, .head_minor = info->minor };

        for (size_t i = 0; i < info->n_paths; i++) {
                const NamespacePath *path = info->paths + i;
                struct np_host_filter *host = ret->host_filters + ret->n_host_filters++;

                strncpy(host->disk, path->disk, sizeof(host->disk) - 1);
                host->seed = namespace_seed(path->hostnqn);
                host->nsid = info->nsid;
                if (path->local)
                        add_target_filter(ret, info, path);
        }
}

int session_new(sd_event *event, Backend *backend, const SessionObserver *observer, const char *id, uid_t owner,
                const SessionOptions *options, Session **ret, Error *error)
{
        _cleanup_(session_freep) Session *s = g_new0(Session, 1);
        CaptureConfig config;
        CaptureHandlers handlers = {
                .host_record = on_host_record,
                .target_record = on_target_record,
                .userdata = s,
        };
        int r;

        s->id = g_strdup(id);
        s->owner = owner;
        s->options = *options;
        s->options.namespace = g_strdup(options->namespace);
        s->event = sd_event_ref(event);
        s->backend = backend;
        s->observer = observer;
        s->counters = g_new0(CaptureCounters, 1);
        s->hooks = g_array_new(false, true, sizeof(SessionHook));
        g_array_set_clear_func(s->hooks, session_hook_clear);

        r = backend->ops->resolve(backend, options->namespace, &s->namespace, error);
        if (r < 0)
                return r;

        make_config(s->namespace, &config);
        r = backend->ops->open(backend, s->namespace, &config, &handlers, &s->capture, &s->no_target_reason, error);
        if (r < 0)
                return r;
        s->has_target = config.n_target_filters > 0;
        if (!s->has_target && !s->no_target_reason)
                s->no_target_reason = g_strdup(s->namespace->no_target_reason);
        s->analysis = np_analysis_new(s->has_target);
        for (size_t i = 0; s->has_target && i < s->namespace->n_paths; i++)
                np_analysis_set_target(s->analysis, i, 0);

        r = sd_event_add_defer(event, &s->start_source, on_start, s);
        if (r < 0)
                return error_set(error, NTPROF_ERROR_CAPTURE_FAILED, "Event loop: %s", g_strerror(-r));
        /* After the answer to StartSession() has left: attaching takes its time. */
        (void) sd_event_source_set_priority(s->start_source, SD_EVENT_PRIORITY_IDLE);

        *ret = TAKE_PTR(s);
        return 0;
}

Session *session_free(Session *s)
{
        if (!s)
                return NULL;

        if (s->job) {
                capture_job_end(TAKE_PTR(s->job));
                s->capture = NULL;
        }
        release_sources(s);
        free_capture(s);
        release_analysis(s);
        g_array_unref(s->hooks);
        g_free(s->counters);
        g_free(s->report_json);
        g_free(s->message);
        g_free(s->no_target_reason);
        namespace_info_free(s->namespace);
        session_options_clear(&s->options);
        sd_event_unref(s->event);
        g_free(s->id);
        g_free(s);
        return NULL;
}

int session_report(Session *s, char **ret_json, Error *error)
{
        NpReport *report;

        if (s->report_json) {
                *ret_json = g_strdup(s->report_json);
                return 0;
        }
        if (s->state != SESSION_RECORDING && s->state != SESSION_JOINING)
                return error_set(error, NTPROF_ERROR_NO_REPORT, "Session %s has no report: it %s", s->id,
                                 s->state == SESSION_PREPARING ? "has not begun to record" :
                                 s->cancelled ? "was cancelled" : "failed");

        report = session_make_report(s);
        *ret_json = np_report_to_json(report);
        np_report_free(report);
        return 0;
}
