/* SPDX-License-Identifier: GPL-2.0-or-later */
/* For how long something is waited for, at most: a cancellable that cancels itself. */
#pragma once

#include <gio/gio.h>

G_BEGIN_DECLS

typedef struct {
        GCancellable *cancellable;
        guint timer;
} NpTimeLimit;

/* The time runs from here on. */
void np_time_limit_begin(NpTimeLimit *limit, guint seconds);
/* Of one that has begun, or is all zero. */
void np_time_limit_clear(NpTimeLimit *limit);

G_END_DECLS
