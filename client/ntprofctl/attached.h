/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Starting a session and staying with it: progress, Ctrl-C, the report at the end. */
#pragma once

#include "verbs.h"

typedef struct {
        const char *namespace_name;
        GVariant *options;      /* for ntprof_client_start_session(); floating is fine */
        gboolean detach;        /* leave when it records, instead of when it has ended */
        gboolean json;
        NtprofReportTextFlags text_flags;
} AttachedOptions;

/* Returns the exit status. */
int attached_run(Invocation *call, NtprofClient *client, const AttachedOptions *options);
