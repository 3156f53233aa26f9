/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "stage.h"

static const NpStageInfo stages[NP_STAGE_COUNT_ALL] = {
        { NP_STAGE_HOST_BLOCK,     "host_block",     "host block layer",                    NP_STAGE_WORD_NONE },
        { NP_STAGE_HOST_DRIVER,    "host_driver",    "host driver (%s)",                    NP_STAGE_WORD_HOST_DRIVER },
        { NP_STAGE_NETWORK,        "network",        "network (%s, NICs, wire)",            NP_STAGE_WORD_TRANSPORT },
        { NP_STAGE_TARGET_DRIVER,  "target_driver",  "target driver (%s)",                  NP_STAGE_WORD_TARGET_DRIVER },
        { NP_STAGE_STORAGE,        "storage",        "storage (target block layer, drive)", NP_STAGE_WORD_NONE },
        { NP_STAGE_NETWORK_TARGET, "network_target", "network + target (not told apart)",   NP_STAGE_WORD_NONE },
};

static const struct {
        const char *transport;
        const char *words[4];           /* by NpStageWord */
} transports[] = {
        { "tcp",  { NULL, "nvme-tcp",  "TCP",  "nvmet-tcp" } },
        { "rdma", { NULL, "nvme-rdma", "RDMA", "nvmet-rdma" } },
        /* any other, and when it is not known */
        { NULL,   { NULL, "nvme",      "NVMe-oF", "nvmet" } },
};

#define DETAIL "not recorded: it takes the time at which bytes arrive at the socket"

static const NpComponentInfo components[NP_COMPONENT_COUNT] = {
        { NP_COMPONENT_TAG_WAIT,          NP_STAGE_HOST_BLOCK,    "tag_wait",       "wait for a tag",      "H0 H1", NULL },
        { NP_COMPONENT_DISPATCH,          NP_STAGE_HOST_BLOCK,    "dispatch",       "dispatch",            "H1 H2", NULL },
        { NP_COMPONENT_BLOCK_COMPLETION,  NP_STAGE_HOST_BLOCK,    "completion",     "completion",          "H7 H8", NULL },
        { NP_COMPONENT_SUBMISSION,        NP_STAGE_HOST_DRIVER,   "submission",     "submission",          "H2 H3", NULL },
        { NP_COMPONENT_R2T,               NP_STAGE_HOST_DRIVER,   "r2t",            "R2T handling",        "H4 H5", NULL },
        { NP_COMPONENT_DRIVER_COMPLETION, NP_STAGE_HOST_DRIVER,   "completion",     "completion",          "H6 H7", NULL },
        { NP_COMPONENT_REQUEST_WAY,       NP_STAGE_NETWORK,       "request",        "request",             "H3 T1", NULL, TRUE },
        { NP_COMPONENT_TRANSFER,          NP_STAGE_NETWORK,       "transfer",       "write data transfer", "H4 H5 T2 T4", NULL },
        { NP_COMPONENT_RESPONSE_WAY,      NP_STAGE_NETWORK,       "response",       "response",            "T9 H6", NULL, TRUE },
        { NP_COMPONENT_HOST_RECEIVE,      NP_STAGE_NETWORK,       "host_receive",   "host receive path",   "H6", DETAIL },
        { NP_COMPONENT_TARGET_RECEIVE,    NP_STAGE_NETWORK,       "target_receive", "target receive path", "T1", DETAIL },
        { NP_COMPONENT_WIRE,              NP_STAGE_NETWORK,       "wire",           "NICs and wire",       "H3 H6 T1 T9", DETAIL },
        { NP_COMPONENT_TO_STORAGE,        NP_STAGE_TARGET_DRIVER, "to_storage",     "receive to storage",  "T1 T4", NULL },
        { NP_COMPONENT_RESPONSE,          NP_STAGE_TARGET_DRIVER, "response",       "response",            "T7 T9", NULL },
        { NP_COMPONENT_TARGET_BLOCK,      NP_STAGE_STORAGE,       "target_block",   "target block layer",  "T4 T5 T6 T7", NULL },
        { NP_COMPONENT_DRIVE,             NP_STAGE_STORAGE,       "drive",          "drive",               "T5 T6", NULL },
};

const NpStageInfo *np_stage_info(NpStage stage)
{
        g_return_val_if_fail((guint) stage < NP_STAGE_COUNT_ALL, NULL);

        return &stages[stage];
}

const NpStageInfo *np_stage_by_id(const char *id)
{
        for (gsize i = 0; i < G_N_ELEMENTS(stages); i++)
                if (g_str_equal(stages[i].id, id))
                        return &stages[i];
        return NULL;
}

char *np_stage_name(NpStage stage, const char *transport)
{
        const NpStageInfo *info = np_stage_info(stage);
        g_autoptr(GString) name = g_string_new(info->name);
        gsize i = 0;

        while (transports[i].transport && g_strcmp0(transports[i].transport, transport) != 0)
                i++;

        if (info->word != NP_STAGE_WORD_NONE)
                g_string_replace(name, "%s", transports[i].words[info->word], 1);
        return g_string_free(g_steal_pointer(&name), FALSE);
}

const NpComponentInfo *np_component_info(NpComponent component)
{
        g_return_val_if_fail((guint) component < NP_COMPONENT_COUNT, NULL);

        return &components[component];
}

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

/* A request taken from the plug's cache was allocated before its bio came: it waited for nothing. */
static guint64 allocated(const struct np_host_record *host)
{
        return MAX(host->h[NP_H0], host->h[NP_H1]);
}

NpDefect np_host_record_defect(const struct np_host_record *host)
{
        static const guint8 always[] = { NP_H0, NP_H1, NP_H2, NP_H3, NP_H6, NP_H7, NP_H8 };
        static const guint8 fetched[] = { NP_H4, NP_H5 };
        gboolean r2t = host->header.flags & NP_F_R2T;
        __u64 times[NP_H_COUNT];

        if (host->header.flags & NP_F_CANCELLED)
                return NP_DEFECT_CANCELLED;
        if (host->header.flags & NP_F_RETRIED)
                return NP_DEFECT_RETRIED;
        if (!all_there(host->h, always, G_N_ELEMENTS(always)))
                return NP_DEFECT_BOUNDARY_MISSING;
        if (r2t && !all_there(host->h, fetched, G_N_ELEMENTS(fetched)))
                return NP_DEFECT_BOUNDARY_MISSING;

        memcpy(times, host->h, sizeof(times));
        times[NP_H1] = allocated(host);
        if (!r2t)
                times[NP_H4] = times[NP_H5] = 0;
        if (!in_order(times, NP_H_COUNT))
                return NP_DEFECT_OUT_OF_ORDER;

        if (host->blocked_submit_ns > host->h[NP_H3] - host->h[NP_H2])
                return NP_DEFECT_OUT_OF_ORDER;
        if (r2t && (host->r2t_ns > host->h[NP_H5] - host->h[NP_H4] || host->blocked_r2t_ns > host->r2t_ns))
                return NP_DEFECT_OUT_OF_ORDER;
        return NP_DEFECT_NONE;
}

NpDefect np_target_record_defect(const struct np_target_record *target)
{
        static const guint8 always[] = { NP_T1, NP_T8, NP_T9 };
        static const guint8 stored[] = { NP_T4, NP_T7 };
        static const guint8 fetched[] = { NP_T2 };
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

        if (!in_order(target->t + NP_T1, NP_T_COUNT - NP_T1))
                return NP_DEFECT_OUT_OF_ORDER;
        if (target->r2t_queued && target->t[NP_T2] &&
            (target->r2t_queued < target->t[NP_T1] || target->r2t_queued > target->t[NP_T2]))
                return NP_DEFECT_OUT_OF_ORDER;
        if (target->fetch_ns + target->blocked_ns + target->blocked_r2t_ns > target->t[NP_T9] - target->t[NP_T1])
                return NP_DEFECT_OUT_OF_ORDER;
        return NP_DEFECT_NONE;
}

static void set_component(NpStageTimes *ret, NpComponent component, gint64 ns)
{
        ret->component_ns[component] = ns;
        ret->components_known |= 1u << component;
}

/* Signed from here on: np_*_record_valid() bounds every operand, so nothing overflows. */
static gint64 between(const __u64 *times, guint from, guint to)
{
        return (gint64) times[to] - (gint64) times[from];
}

static void target_times(const struct np_target_record *target, gint64 away, NpStageTimes *ret)
{
        gint64 fetch = (gint64) target->fetch_ns, blocked = (gint64) target->blocked_ns, blocked_r2t = (gint64) target->blocked_r2t_ns;
        gint64 residence = between(target->t, NP_T1, NP_T9) - fetch - blocked - blocked_r2t;
        gboolean refused = target->header.flags & NP_F_INIT_FAILED;
        gint64 storage = refused ? 0 : between(target->t, NP_T4, NP_T7);

        ret->stage_ns[NP_STAGE_NETWORK] = away - residence;
        ret->stage_ns[NP_STAGE_TARGET_DRIVER] = residence - storage;
        ret->stage_ns[NP_STAGE_STORAGE] = storage;

        if (refused) {
                set_component(ret, NP_COMPONENT_TO_STORAGE, 0);
                set_component(ret, NP_COMPONENT_RESPONSE, residence);
                set_component(ret, NP_COMPONENT_TARGET_BLOCK, 0);
                set_component(ret, NP_COMPONENT_DRIVE, 0);
                return;
        }

        set_component(ret, NP_COMPONENT_TO_STORAGE, between(target->t, NP_T1, NP_T4) - fetch - blocked_r2t);
        set_component(ret, NP_COMPONENT_RESPONSE, between(target->t, NP_T7, NP_T9) - blocked);

        if (target->t[NP_T5] && target->t[NP_T6]) {
                gint64 drive = between(target->t, NP_T5, NP_T6);

                set_component(ret, NP_COMPONENT_TARGET_BLOCK, storage - drive);
                set_component(ret, NP_COMPONENT_DRIVE, drive);
        }
}

void np_stage_times(const struct np_host_record *host, const struct np_target_record *target, NpStageTimes *ret)
{
        gboolean r2t = host->header.flags & NP_F_R2T;
        gint64 blocked_submit = (gint64) host->blocked_submit_ns;
        gint64 r2t_ns = r2t ? (gint64) host->r2t_ns : 0, blocked_r2t = r2t ? (gint64) host->blocked_r2t_ns : 0;
        gint64 away = between(host->h, NP_H3, NP_H6) - r2t_ns + blocked_submit + blocked_r2t;

        *ret = (NpStageTimes) {
                .latency_ns = between(host->h, NP_H0, NP_H8),
                .tag_wait_ns = (gint64) (allocated(host) - host->h[NP_H0]),
        };

        if (!(host->header.flags & NP_F_H0_UNSEEN))
                set_component(ret, NP_COMPONENT_TAG_WAIT, ret->tag_wait_ns);
        set_component(ret, NP_COMPONENT_DISPATCH, between(host->h, NP_H0, NP_H2) - ret->tag_wait_ns);
        set_component(ret, NP_COMPONENT_BLOCK_COMPLETION, between(host->h, NP_H7, NP_H8));
        set_component(ret, NP_COMPONENT_SUBMISSION, between(host->h, NP_H2, NP_H3) - blocked_submit);
        set_component(ret, NP_COMPONENT_R2T, r2t_ns - blocked_r2t);
        set_component(ret, NP_COMPONENT_DRIVER_COMPLETION, between(host->h, NP_H6, NP_H7));

        ret->stage_ns[NP_STAGE_HOST_BLOCK] = between(host->h, NP_H0, NP_H2) + between(host->h, NP_H7, NP_H8);
        ret->stage_ns[NP_STAGE_HOST_DRIVER] = between(host->h, NP_H2, NP_H3) - blocked_submit +
                                              between(host->h, NP_H6, NP_H7) + r2t_ns - blocked_r2t;
        ret->stage_ns[NP_STAGE_NETWORK] = away;
        if (target)
                target_times(target, away, ret);
}

void np_stage_one_way(const struct np_host_record *host, const struct np_target_record *target, NpInterval offset,
                      NpStageTimes *times)
{
        gboolean r2t = (host->header.flags | target->header.flags) & NP_F_R2T;
        gint64 middle = offset.min + (offset.max - offset.min) / 2;
        gint64 request = (gint64) target->t[NP_T1] - (gint64) host->h[NP_H3] - middle + (gint64) host->blocked_submit_ns;
        gint64 response = (gint64) host->h[NP_H6] - (gint64) target->t[NP_T9] + middle;

        /* Data in the capsule are a part of the request. */
        if (!r2t)
                request += (gint64) target->fetch_ns;
        response += (gint64) target->blocked_ns;

        times->margin_ns = offset.max - middle;
        set_component(times, NP_COMPONENT_REQUEST_WAY, request);
        set_component(times, NP_COMPONENT_RESPONSE_WAY, response);
        set_component(times, NP_COMPONENT_TRANSFER, times->stage_ns[NP_STAGE_NETWORK] - request - response);
}

double np_threshold_weight(guint32 threshold)
{
        return threshold == G_MAXUINT32 ? 1 : 4294967296.0 / threshold;
}
