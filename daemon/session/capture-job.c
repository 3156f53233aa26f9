/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture-job.h"

#include <glib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>

#include "../util.h"

struct CaptureJob {
        Capture *capture;
        CaptureJobKind kind;
        CaptureJobDone done;
        gint abandoned;                 /* atomic */
        void *userdata;
        GThread *thread;
        int fd;                         /* eventfd, written by the thread as its last act */
        sd_event_source *source;
        /* the thread's until it has ended */
        int r;
        const char *why;
        bool detached;
};

/* One attaches at a time; who is not wanted any more when its turn comes does not hold up the next. */
static GMutex attaching;

static unsigned n_abandoned;            /* the event loop's */

static void attach(CaptureJob *job)
{
        g_mutex_lock(&attaching);
        job->r = g_atomic_int_get(&job->abandoned) ? -ECANCELED : job->capture->ops->attach(job->capture, &job->why);
        g_mutex_unlock(&attaching);
}

static void *run(void *userdata)
{
        CaptureJob *job = userdata;

        if (job->kind == CAPTURE_JOB_ATTACH)
                attach(job);
        if (job->kind == CAPTURE_JOB_DETACH || g_atomic_int_get(&job->abandoned)) {
                job->capture->ops->detach(job->capture);
                job->detached = true;
        }
        (void) eventfd_write(job->fd, 1);
        return NULL;
}

static void job_free(CaptureJob *job)
{
        sd_event_source_disable_unref(job->source);
        close(job->fd);
        g_free(job);
}

static void discard(Capture *capture, bool detached)
{
        if (!detached)
                capture->ops->detach(capture);
        capture->ops->free(capture);
}

static int on_ended(sd_event_source *source, int fd, uint32_t revents, void *userdata)
{
        CaptureJob *job = userdata;
        CaptureJobDone done = job->done;
        void *done_userdata = job->userdata;
        bool abandoned = job->abandoned, detached;
        Capture *capture = job->capture;
        const char *why;
        int r;

        g_thread_join(job->thread);
        r = job->r;
        why = job->why;
        detached = job->detached;
        job_free(job);

        if (!abandoned) {
                done(r, why, done_userdata);
                return 0;
        }
        n_abandoned--;
        discard(capture, detached);
        return 0;
}

int capture_job_start(sd_event *event, Capture *capture, CaptureJobKind kind, CaptureJobDone done, void *userdata,
                      CaptureJob **ret)
{
        CaptureJob *job = g_new0(CaptureJob, 1);
        int r;

        job->capture = capture;
        job->kind = kind;
        job->done = done;
        job->userdata = userdata;
        job->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
        if (job->fd < 0) {
                r = -errno;
                g_free(job);
                return r;
        }
        r = sd_event_add_io(event, &job->source, job->fd, EPOLLIN, on_ended, job);
        if (r < 0) {
                job_free(job);
                return r;
        }
        job->thread = g_thread_try_new("capture", run, job, NULL);
        if (!job->thread) {
                job_free(job);
                return -EAGAIN;
        }
        *ret = job;
        return 0;
}

void capture_job_abandon(CaptureJob *job)
{
        g_atomic_int_set(&job->abandoned, true);
        n_abandoned++;
}

unsigned capture_jobs_abandoned(void)
{
        return n_abandoned;
}

void capture_job_release(sd_event *event, CaptureJob **job, Capture **capture, bool attached)
{
        CaptureJob *detaching;

        if (*job) {
                capture_job_abandon(TAKE_PTR(*job));
                *capture = NULL;
        }
        if (!*capture)
                return;
        if (attached && capture_job_start(event, *capture, CAPTURE_JOB_DETACH, NULL, NULL, &detaching) >= 0)
                capture_job_abandon(detaching);
        else
                discard(*capture, false);
        *capture = NULL;
}

void capture_job_end(CaptureJob *job)
{
        g_atomic_int_set(&job->abandoned, true);
        g_thread_join(job->thread);
        discard(job->capture, job->detached);
        job_free(job);
}
