/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A session of two paths (10.0.0.2, 10.0.0.3) whose targets are other machines; all of them are the test's. */
#pragma once

#include "fake-remote.h"

typedef struct RemoteSession {
        sd_event *event;
        FakeBackend *fake;
        FakeFinder *finder;
        FakeObserver observer;
        Session *session;
} RemoteSession;

void rs_set_up(RemoteSession *f, gconstpointer data);
void rs_tear_down(RemoteSession *f, gconstpointer data);

/* Of everything there is. */
void rs_start_with(RemoteSession *f, SessionOptions options);
void rs_run_for(RemoteSession *f, unsigned msec);
void rs_run_until(RemoteSession *f, SessionState state);

/* Both paths lead to one machine, which is attached; and records. */
FakeRemote *rs_one_ready(RemoteSession *f);
FakeRemote *rs_one_recording(RemoteSession *f);
