/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "threshold-log.h"

#define CHANGES_MAX 65536u

typedef struct {
        guint64 ns;
        guint32 threshold;
} Change;

struct _NpThresholdLog {
        GArray *changes;                /* of Change, in the order of time */
};

static const Change *change(const NpThresholdLog *log, guint i)
{
        return &g_array_index(log->changes, Change, i);
}

NpThresholdLog *np_threshold_log_new(void)
{
        NpThresholdLog *log = g_new(NpThresholdLog, 1);

        log->changes = g_array_new(FALSE, FALSE, sizeof(Change));
        return log;
}

void np_threshold_log_free(NpThresholdLog *log)
{
        if (!log)
                return;

        g_array_unref(log->changes);
        g_free(log);
}

void np_threshold_log_add(NpThresholdLog *log, guint64 ns, guint32 threshold)
{
        Change added = { ns, threshold };
        guint i = log->changes->len;

        while (i > 0 && change(log, i - 1)->ns > ns)
                i--;
        g_array_insert_val(log->changes, i, added);
        if (log->changes->len > CHANGES_MAX)
                g_array_remove_range(log->changes, 0, CHANGES_MAX / 2);
}

gboolean np_threshold_log_is_empty(const NpThresholdLog *log)
{
        return log->changes->len == 0;
}

guint32 np_threshold_log_first(const NpThresholdLog *log)
{
        return log->changes->len > 0 ? change(log, 0)->threshold : 0;
}

guint32 np_threshold_log_last(const NpThresholdLog *log)
{
        return log->changes->len > 0 ? change(log, log->changes->len - 1)->threshold : 0;
}

guint32 np_threshold_log_highest(const NpThresholdLog *log)
{
        guint32 highest = 0;

        for (guint i = 0; i < log->changes->len; i++)
                highest = MAX(highest, change(log, i)->threshold);
        return highest;
}

guint32 np_threshold_log_lowest(const NpThresholdLog *log, guint64 from_ns, guint64 to_ns, guint32 before)
{
        guint low = 0, high = log->changes->len;
        guint32 lowest;

        while (low < high) {
                guint mid = low + (high - low) / 2;

                if (change(log, mid)->ns <= from_ns)
                        low = mid + 1;
                else
                        high = mid;
        }

        lowest = low > 0 ? change(log, low - 1)->threshold : before;
        for (; low < log->changes->len && change(log, low)->ns <= to_ns; low++)
                lowest = MIN(lowest, change(log, low)->threshold);
        return lowest;
}

gboolean np_threshold_samples(guint32 threshold, guint32 hash)
{
        return threshold == G_MAXUINT32 || hash < threshold;
}
