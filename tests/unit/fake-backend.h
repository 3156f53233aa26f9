/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A source of records under a test's control, which writes down what was asked of it. */
#pragma once

#include <glib.h>

#include "daemon/session/manager.h"

typedef struct FakeBackend {
        Backend backend;

        /* What it does */
        NamespaceInfo *info;            /* what any name resolves to; NULL: no such namespace */
        const char *drive_hidden;
        const char *no_target_reason;   /* the target's side cannot be had */
        int open_error, attach_error, resume_error, pause_error, drain_error, counters_error, threshold_error;
        const char *attach_why;
        const char *wrong_types, *gone;
        bool iostat_invalid;
        gint hold_attach, hold_detach;  /* atomic: it goes on until this is 0 again */
        bool with_fd;                   /* records can be announced by fake_announce() */
        bool at_end;
        CaptureCounters counters;
        IoStat iostat;

        /* What was asked of it: "open attach threshold resume iostat ..."; drain and counters are left out */
        GString *calls;
        CaptureConfig config;
        CaptureHandlers handlers;       /* of the last capture */
        uint32_t threshold;
        unsigned drains;
        gint attaching;                 /* atomic: how often it was begun */
        int open_captures;
        int announce_fd;
        void (*on_drain)(struct FakeBackend *fake);
} FakeBackend;

FakeBackend *fake_backend_new(void);
void fake_backend_free(FakeBackend *fake);
/* One command, joined when target; commands and sampled are counted too. */
void fake_command(FakeBackend *fake, bool target);
/* Of that path, without the target's side, which is *ret. */
void fake_command_on(FakeBackend *fake, unsigned path, struct np_target_record *ret);
void fake_announce(FakeBackend *fake);

/* What the observer was told: "added:1 1:recording 1:counters ..." */
typedef struct FakeObserver {
        SessionObserver observer;
        GString *told;
} FakeObserver;

void fake_observer_init(FakeObserver *fake);
void fake_observer_clear(FakeObserver *fake);
