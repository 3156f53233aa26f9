/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "record-check.h"

static gboolean header_valid(const struct np_record_header *header, guint16 kind, guint32 size)
{
        return header->kind == kind && header->version == NP_RECORD_VERSION && header->size == size &&
               header->threshold != 0 && header->filter < NP_FILTERS_MAX;
}

static gboolean times_valid(const __u64 *times, gsize n)
{
        for (gsize i = 0; i < n; i++)
                if (times[i] >= NP_TIME_MAX)
                        return FALSE;
        return TRUE;
}

gboolean np_host_record_valid(const struct np_host_record *host)
{
        const __u64 sums[] = { host->r2t_ns, host->blocked_submit_ns, host->blocked_r2t_ns, host->ha, host->released,
                               host->receive_r2t_ns };

        return header_valid(&host->header, NP_RECORD_HOST, sizeof(*host)) && times_valid(host->h, NP_H_COUNT) &&
               times_valid(sums, G_N_ELEMENTS(sums));
}

gboolean np_target_record_valid(const struct np_target_record *target)
{
        const __u64 others[] = { target->r2t_queued, target->fetch_ns, target->blocked_ns, target->blocked_r2t_ns, target->ta,
                                 target->receive_data_ns, target->ts };

        return header_valid(&target->header, NP_RECORD_TARGET, sizeof(*target)) &&
               times_valid(target->t + NP_T1, NP_T_COUNT - NP_T1) && times_valid(others, G_N_ELEMENTS(others));
}

static gboolean all_there(const __u64 *times, const guint8 *which, gsize n)
{
        for (gsize i = 0; i < n; i++)
                if (times[which[i]] == 0)
                        return FALSE;
        return TRUE;
}

/* A missing boundary is no witness of the order. */
static gboolean in_order(const __u64 *times, gsize n)
{
        guint64 last = 0;

        for (gsize i = 0; i < n; i++) {
                if (times[i] == 0)
                        continue;
                if (times[i] < last)
                        return FALSE;
                last = times[i];
        }
        return TRUE;
}

guint64 np_host_record_allocated(const struct np_host_record *host)
{
        return MAX(host->h[NP_H0], host->h[NP_H1]);
}

NpDefect np_host_record_defect(const struct np_host_record *host)
{
        static const guint8 always[] = { NP_H0, NP_H1, NP_H2, NP_H3, NP_H6, NP_H7, NP_H8 };
        gboolean r2t = host->header.flags & NP_F_R2T;
        __u64 times[NP_H_COUNT];

        if (host->header.flags & NP_F_CANCELLED)
                return NP_DEFECT_CANCELLED;
        if (host->header.flags & NP_F_RETRIED)
                return NP_DEFECT_RETRIED;
        if (!all_there(host->h, always, G_N_ELEMENTS(always)))
                return NP_DEFECT_BOUNDARY_MISSING;
        /* Without a hook for H4 nothing is known of what lies between: it is the network's. */
        if (r2t && (!host->h[NP_H5] || (!host->h[NP_H4] && (host->r2t_ns || host->blocked_r2t_ns || host->receive_r2t_ns))))
                return NP_DEFECT_BOUNDARY_MISSING;

        memcpy(times, host->h, sizeof(times));
        times[NP_H1] = np_host_record_allocated(host);
        if (!r2t)
                times[NP_H4] = times[NP_H5] = 0;
        if (!in_order(times, NP_H_COUNT))
                return NP_DEFECT_OUT_OF_ORDER;

        if (host->blocked_submit_ns > host->h[NP_H3] - host->h[NP_H2])
                return NP_DEFECT_OUT_OF_ORDER;
        if (r2t && (host->r2t_ns > host->h[NP_H5] - host->h[NP_H4] || host->blocked_r2t_ns > host->r2t_ns))
                return NP_DEFECT_OUT_OF_ORDER;
        /* An R2T may come before the send of its command has returned, and so may a response. */
        if (host->receive_r2t_ns > (r2t ? host->h[NP_H5] - host->h[NP_H2] - host->r2t_ns : 0))
                return NP_DEFECT_OUT_OF_ORDER;
        if (host->ha && (host->ha < host->h[NP_H2] || host->ha > host->h[NP_H6]))
                return NP_DEFECT_OUT_OF_ORDER;
        if (host->released && (host->released < host->h[NP_H6] || host->released > host->h[NP_H7]))
                return NP_DEFECT_OUT_OF_ORDER;
        return NP_DEFECT_NONE;
}

/* 0 when one of them is missing. */
static guint64 span(guint64 from, guint64 to)
{
        return from && to ? to - from : 0;
}

/* So that the target driver's time is not below zero, nor a part of it. Of a command that was refused it may not be known until
 * when it waited for data. */
static gboolean target_sums_fit(const struct np_target_record *target, gboolean refused)
{
        gboolean fetched = target->header.flags & NP_F_RDMA_READ;
        const __u64 *t = target->t;
        guint64 sums = target->fetch_ns + target->blocked_ns + target->blocked_r2t_ns;

        return sums <= t[NP_T9] - t[NP_T1] && target->blocked_ns <= t[NP_T9] - t[NP_T8] &&
               target->blocked_r2t_ns <= span(target->r2t_queued, t[NP_T2]) &&
               (refused || target->fetch_ns <= span(t[NP_T2], fetched ? t[NP_T3] : t[NP_T4]));
}

NpDefect np_target_record_defect(const struct np_target_record *target)
{
        static const guint8 always[] = { NP_T1, NP_T8, NP_T9 };
        static const guint8 stored[] = { NP_T4, NP_T7 };
        static const guint8 fetched[] = { NP_T2 }, read[] = { NP_T2, NP_T3 };
        guint32 flags = target->header.flags;
        gboolean refused = flags & NP_F_INIT_FAILED;

        if (flags & NP_F_CANCELLED)
                return NP_DEFECT_CANCELLED;
        if (flags & NP_F_RETRIED)
                return NP_DEFECT_RETRIED;
        if (!all_there(target->t, always, G_N_ELEMENTS(always)))
                return NP_DEFECT_BOUNDARY_MISSING;
        if (!refused && !all_there(target->t, stored, G_N_ELEMENTS(stored)))
                return NP_DEFECT_BOUNDARY_MISSING;
        if (!refused && flags & (NP_F_R2T | NP_F_IN_CAPSULE) && !all_there(target->t, fetched, G_N_ELEMENTS(fetched)))
                return NP_DEFECT_BOUNDARY_MISSING;
        if (!refused && flags & NP_F_RDMA_READ && !all_there(target->t, read, G_N_ELEMENTS(read)))
                return NP_DEFECT_BOUNDARY_MISSING;

        if (!in_order(target->t + NP_T1, NP_T_COUNT - NP_T1))
                return NP_DEFECT_OUT_OF_ORDER;
        if (target->r2t_queued && target->t[NP_T2] &&
            (target->r2t_queued < target->t[NP_T1] || target->r2t_queued > target->t[NP_T2]))
                return NP_DEFECT_OUT_OF_ORDER;
        if (!target_sums_fit(target, refused))
                return NP_DEFECT_OUT_OF_ORDER;
        if (target->ta > target->t[NP_T1] || target->receive_data_ns > target->fetch_ns)
                return NP_DEFECT_OUT_OF_ORDER;
        /* The completion of a send may be there before the call that posted it has returned. */
        if (target->ts && target->ts < target->t[NP_T8])
                return NP_DEFECT_OUT_OF_ORDER;
        return NP_DEFECT_NONE;
}
