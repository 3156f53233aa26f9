/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How far a running session is, on stderr: one line kept up to date on a terminal, else a line now and then. */
#pragma once

#include <ntprof.h>

typedef struct {
        NtprofSessionState state;
        guint64 elapsed_usec;
        guint64 duration_usec;  /* 0: until it is stopped */
        guint64 commands;
        double rate;            /* commands/s */
        guint64 sampled, joined, lost;
        gboolean has_target;
        GVariant *targets;      /* NtprofSession:targets, or NULL */
} ProgressFacts;

/* "3.2 s of 10 s: 42.1k commands, 13.3k/s, 3066 sampled, 3060 joined, 6 lost; without stor-b" */
char *progress_text(const ProgressFacts *facts);

/* A line each for the machines that ended before the session did and are not in told yet, to which it adds their names. */
char *progress_missed(GVariant *targets, GHashTable *told);

typedef struct Progress Progress;

Progress *progress_start(NtprofSession *session);

/* Makes room for something else on the terminal; the next change shows the line again. */
void progress_clear(Progress *progress);

/* Ends it, without a trace on a terminal. */
void progress_end(Progress *progress);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Progress, progress_end)
