/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * When a side changed its sampling threshold, and what was in force at a time.
 */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

typedef struct _NpThresholdLog NpThresholdLog;

NpThresholdLog *np_threshold_log_new(void);
void np_threshold_log_free(NpThresholdLog *log);

/* In any order of time; the oldest are forgotten when there are very many. */
void np_threshold_log_add(NpThresholdLog *log, guint64 ns, guint32 threshold);

gboolean np_threshold_log_is_empty(const NpThresholdLog *log);
/* The first and the last change's; 0 when empty. */
guint32 np_threshold_log_first(const NpThresholdLog *log);
guint32 np_threshold_log_last(const NpThresholdLog *log);
/* The highest of all changes; 0 when empty. */
guint32 np_threshold_log_highest(const NpThresholdLog *log);
/* The lowest in force at any time from .. to; before is what was in force before the first change. */
guint32 np_threshold_log_lowest(const NpThresholdLog *log, guint64 from_ns, guint64 to_ns, guint32 before);

/* Whether a side with that threshold samples a command of that hash. */
gboolean np_threshold_samples(guint32 threshold, guint32 hash);

G_END_DECLS
