/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "session.h"

#include <glib.h>
#include <stdarg.h>
#include <string.h>

#include "session-internal.h"
#include "session-report.h"

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

bool session_has_target(const Session *s)
{
        return targets_any(s->targets);
}

void session_options_clear(SessionOptions *options)
{
        g_free(options->namespace);
        g_free(options->peer);
        *options = (SessionOptions) {};
}

void session_release_sources(Session *s)
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
        session_release_sources(s);
        capture_job_release(s->event, &s->job, &s->capture, s->attached);
}

void session_release_analysis(Session *s)
{
        g_clear_pointer(&s->analysis, np_analysis_free);
        iostat_clear(&s->iostat_start);
        iostat_clear(&s->iostat_end);
}

void session_set_state(Session *s, SessionState state)
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
        targets_drop(s->targets);
        session_release_analysis(s);
        s->error = code;
        s->message = message;
        session_set_state(s, SESSION_FAILED);
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
        targets_drop(s->targets);
        session_release_analysis(s);
        s->cancelled = true;
        session_set_state(s, SESSION_FINISHED);
}

void session_stop(Session *s)
{
        if (s->state == SESSION_PREPARING) {
                s->stop_requested = true;
                /* Whoever stops it does not want to wait for other machines; attaching cannot be hurried. */
                targets_give_up(s->targets, "the session was stopped before it was ready");
                recording_go_on(s);
        } else if (s->state == SESSION_RECORDING)
                recording_end(s);
}

static void add_target_filter(CaptureConfig *config, const NamespaceInfo *info, const NamespacePath *path)
{
        /* Several paths of one host are one pair of NQNs to the target. */
        for (unsigned i = 0; i < config->n_target_filters; i++)
                if (g_str_equal(config->target_filters[i].hostnqn, path->hostnqn))
                        return;

        namespace_target_filter(info, path, config->target_filters + config->n_target_filters++);
}

/* The lengths of all names were checked when the namespace was resolved; zero padding is part of the contract. */
static void make_config(const NamespaceInfo *info, const SessionOptions *options, CaptureConfig *ret)
{
        *ret = (CaptureConfig) { .head_major = info->major, .head_minor = info->minor, .detail = options->detail };
        for (size_t i = 0; i < info->n_paths; i++) {
                const NamespacePath *path = info->paths + i;
                CapturePath *to = ret->host_paths + ret->n_host_filters;
                struct np_host_filter *host = ret->host_filters + ret->n_host_filters++;

                strncpy(host->disk, path->disk, sizeof(host->disk) - 1);
                host->seed = namespace_seed(path->hostnqn);
                host->nsid = info->nsid;
                host->cntlid = path->cntlid < 0 ? NP_CNTLID_UNKNOWN : path->cntlid;
                to->transport = transport_by_name(path->transport)->transport;
                ret->transports |= to->transport;
                to->to_target = path->local && !options->no_target;
                if (to->to_target)
                        add_target_filter(ret, info, path);
        }
}

static int check_options(const SessionOptions *options, const NamespaceInfo *info, Error *error)
{
        if (!options->peer)
                return 0;
        if (options->no_target)
                return error_set(error, NTPROF_ERROR_INVALID_OPTION, "peer: goes not with no-target");
        for (size_t i = 0; i < info->n_paths; i++)
                if (!info->paths[i].exported_here && !info->paths[i].local)
                        return 0;
        return error_set(error, NTPROF_ERROR_INVALID_OPTION, "peer: the target of %s is this machine, by all its paths",
                         info->name);
}

int session_new(sd_event *event, Backend *backend, RemoteFinder *finder, const SessionObserver *observer, const char *id,
                uid_t owner, const SessionOptions *options, Session **ret, Error *error)
{
        _cleanup_(session_freep) Session *s = g_new0(Session, 1);
        CaptureConfig config;
        int r;

        s->id = g_strdup(id);
        s->owner = owner;
        s->options = *options;
        s->options.namespace = g_strdup(options->namespace);
        s->options.peer = g_strdup(options->peer);
        s->event = sd_event_ref(event);
        s->backend = backend;
        s->observer = observer;
        s->counters = g_new0(CaptureCounters, 1);
        s->hooks = session_hooks_new();
        s->holds = g_ptr_array_new_with_free_func(g_free);

        r = backend->ops->resolve(backend, options->namespace, &s->namespace, error);
        if (r < 0)
                return r;
        r = check_options(options, s->namespace, error);
        if (r < 0)
                return r;

        make_config(s->namespace, options, &config);
        r = recording_prepare(s, finder, &config, error);
        if (r < 0)
                return r;

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
        session_release_sources(s);
        free_capture(s);
        targets_free(s->targets);
        session_release_analysis(s);
        g_array_unref(s->hooks);
        g_ptr_array_unref(s->holds);
        g_free(s->ended_reason);
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
