/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A session of this machine's own target, fed by fake-backend. */
#pragma once

#include "daemon/session/session.h"
#include "fake-backend.h"

typedef struct LocalSession {
        sd_event *event;
        FakeBackend *fake;
        FakeObserver observer;
        Session *session;
} LocalSession;

void ls_set_up(LocalSession *f, gconstpointer data);
void ls_tear_down(LocalSession *f, gconstpointer data);

void ls_start(LocalSession *f, const SessionOptions *options);
/* Of every command. */
void ls_start_all(LocalSession *f);
/* Until then, or for so long. */
bool ls_run(LocalSession *f, SessionState until, unsigned msec);
/* What was attached is detached on a thread. */
void ls_run_until_let_go(LocalSession *f);

NpReport *ls_report(LocalSession *f);
void ls_no_report(LocalSession *f, const char *why);
