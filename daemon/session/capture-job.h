/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Attaches or detaches a capture on a thread of its own: the kernel takes seconds to patch some tens of functions, and the
 * daemon must go on answering. The capture belongs to the job until it is done.
 */
#pragma once

#include <systemd/sd-event.h>

#include "../capture/capture.h"

typedef struct CaptureJob CaptureJob;

typedef enum CaptureJobKind {
        CAPTURE_JOB_ATTACH,
        CAPTURE_JOB_DETACH,
} CaptureJobKind;

/* Called from the event loop, once; the job is gone then and the capture the caller's again. why: as of CaptureOps.attach. */
typedef void (*CaptureJobDone)(int r, const char *why, void *userdata);

int capture_job_start(sd_event *event, Capture *capture, CaptureJobKind kind, CaptureJobDone done, void *userdata,
                      CaptureJob **ret);

/* done is not called; the capture is detached and freed when the thread is through with it. */
void capture_job_abandon(CaptureJob *job);

/* How many of those are not through yet: they hold what sessions hold, though theirs have ended. */
unsigned capture_jobs_abandoned(void);

/* Whatever else happens, nothing stays attached, and nobody waits for that: a job that runs is abandoned, and a capture that is (or
 * may be) attached is detached and freed by a new one. Both pointers are NULL then. */
void capture_job_release(sd_event *event, CaptureJob **job, Capture **capture, bool attached);

/* As capture_job_abandon(), and waits for it. For a loop that runs no more. */
void capture_job_end(CaptureJob *job);
