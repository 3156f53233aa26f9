/* SPDX-License-Identifier: LGPL-2.1-or-later */
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

#define NONE NP_COMPONENT_NONE
#define DETAIL .detail = TRUE
#define ONE_WAY .one_way = TRUE
#define TO_TARGET .to_target = TRUE

static const NpComponentInfo components[NP_COMPONENT_COUNT] = {
        { NP_COMPONENT_TAG_WAIT,          NP_STAGE_HOST_BLOCK,    NONE, "tag_wait",   "wait for a tag", "H0 H1" },
        { NP_COMPONENT_DISPATCH,          NP_STAGE_HOST_BLOCK,    NONE, "dispatch",   "dispatch",       "H1 H2" },
        { NP_COMPONENT_BLOCK_COMPLETION,  NP_STAGE_HOST_BLOCK,    NONE, "completion", "completion",     "H7 H8" },
        { NP_COMPONENT_SUBMISSION,        NP_STAGE_HOST_DRIVER,   NONE, "submission", "submission",     "H2 H3" },
        { NP_COMPONENT_R2T,               NP_STAGE_HOST_DRIVER,   NONE, "r2t",        "R2T handling",   "H4 H5", "tcp",
          TO_TARGET },
        { NP_COMPONENT_INVALIDATION,      NP_STAGE_HOST_DRIVER,   NONE, "invalidation", "invalidation, send completion",
          "H6 HR", "rdma" },
        { NP_COMPONENT_DRIVER_COMPLETION, NP_STAGE_HOST_DRIVER,   NONE, "completion", "completion",     "H6 H7" },

        { NP_COMPONENT_REQUEST_WAY,       NP_STAGE_NETWORK,       NONE, "request",    "request",        "H3 T1", ONE_WAY },
        { NP_COMPONENT_REQUEST_WIRE,      NP_STAGE_NETWORK,       NP_COMPONENT_REQUEST_WAY, "request_wire", "NICs and wire",
          "H3 T1 TA", DETAIL, ONE_WAY },
        { NP_COMPONENT_TARGET_RECEIVE,    NP_STAGE_NETWORK,       NP_COMPONENT_REQUEST_WAY, "target_receive",
          "target receive path", "TA T1", DETAIL },
        { NP_COMPONENT_TRANSFER,          NP_STAGE_NETWORK,       NONE, "transfer",   "write data transfer", "H4 H5 T2 T4",
          TO_TARGET },
        { NP_COMPONENT_TRANSFER_WIRE,     NP_STAGE_NETWORK,       NP_COMPONENT_TRANSFER, "transfer_wire", "NICs and wire",
          "H4 H5 HA T2 T4 TA", DETAIL, TO_TARGET },
        { NP_COMPONENT_TRANSFER_HOST_RECEIVE, NP_STAGE_NETWORK,   NP_COMPONENT_TRANSFER, "transfer_host_receive",
          "host receive path", "HA H4", "tcp", DETAIL, TO_TARGET },
        { NP_COMPONENT_TRANSFER_TARGET_RECEIVE, NP_STAGE_NETWORK, NP_COMPONENT_TRANSFER, "transfer_target_receive",
          "target receive path", "TA T4", DETAIL, TO_TARGET },
        { NP_COMPONENT_RESPONSE_WAY,      NP_STAGE_NETWORK,       NONE, "response",   "response",       "T9 H6", ONE_WAY },
        { NP_COMPONENT_RESPONSE_WIRE,     NP_STAGE_NETWORK,       NP_COMPONENT_RESPONSE_WAY, "response_wire", "NICs and wire",
          "T9 HA H6", DETAIL, ONE_WAY },
        { NP_COMPONENT_HOST_RECEIVE,      NP_STAGE_NETWORK,       NP_COMPONENT_RESPONSE_WAY, "host_receive",
          "host receive path", "HA H6", DETAIL },

        { NP_COMPONENT_TO_STORAGE,        NP_STAGE_TARGET_DRIVER, NONE, "to_storage", "receive to storage", "T1 T4" },
        { NP_COMPONENT_RESPONSE,          NP_STAGE_TARGET_DRIVER, NONE, "response",   "response",       "T7 T9" },
        { NP_COMPONENT_SEND_COMPLETION,   NP_STAGE_TARGET_DRIVER, NONE, "send_completion", "send completion, with its ack",
          "T9 TS", "rdma", DETAIL, .information = TRUE },
        { NP_COMPONENT_TARGET_BLOCK,      NP_STAGE_STORAGE,       NONE, "target_block", "target block layer",
          "T4 T5 T6 T7", DETAIL },
        { NP_COMPONENT_DRIVE,             NP_STAGE_STORAGE,       NONE, "drive",      "drive",          "T5 T6", DETAIL },
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

NpComponent np_component_by_id(NpStage stage, const char *id)
{
        for (guint i = 0; i < NP_COMPONENT_COUNT; i++)
                if (components[i].stage == stage && g_str_equal(components[i].id, id))
                        return i;
        return NP_COMPONENT_NONE;
}

const char *np_component_name(NpComponent component, const char *transport)
{
        if (component == NP_COMPONENT_TRANSFER && g_strcmp0(transport, "rdma") == 0)
                return "write data transfer (RDMA READ)";
        return np_component_info(component)->name;
}

static void set_component(NpStageTimes *ret, NpComponent component, gint64 ns, gboolean known)
{
        ret->component_ns[component] = ns;
        if (known)
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
        gboolean refused = target->header.flags & NP_F_INIT_FAILED, seen = target->t[NP_T5] && target->t[NP_T6];
        gint64 storage = refused ? 0 : between(target->t, NP_T4, NP_T7);
        gint64 drive = seen && !refused ? between(target->t, NP_T5, NP_T6) : 0;
        gint64 to_storage = refused ? 0 : between(target->t, NP_T1, NP_T4) - fetch - blocked_r2t;

        ret->stage_ns[NP_STAGE_NETWORK] = away - residence;
        ret->stage_ns[NP_STAGE_TARGET_DRIVER] = residence - storage;
        ret->stage_ns[NP_STAGE_STORAGE] = storage;

        set_component(ret, NP_COMPONENT_TO_STORAGE, to_storage, TRUE);
        set_component(ret, NP_COMPONENT_RESPONSE, residence - storage - to_storage, TRUE);
        set_component(ret, NP_COMPONENT_SEND_COMPLETION, target->ts ? (gint64) target->ts - (gint64) target->t[NP_T9] : 0,
                      target->ts != 0);
        set_component(ret, NP_COMPONENT_TARGET_BLOCK, storage - drive, seen || refused);
        set_component(ret, NP_COMPONENT_DRIVE, drive, seen || refused);
}

void np_stage_times(const struct np_host_record *host, const struct np_target_record *target, NpStageTimes *ret)
{
        gboolean r2t = host->header.flags & NP_F_R2T;
        gint64 blocked_submit = (gint64) host->blocked_submit_ns;
        gint64 r2t_ns = r2t ? (gint64) host->r2t_ns : 0, blocked_r2t = r2t ? (gint64) host->blocked_r2t_ns : 0;
        gint64 away = between(host->h, NP_H3, NP_H6) - r2t_ns + blocked_submit + blocked_r2t;
        gint64 held = host->released ? (gint64) (host->released - host->h[NP_H6]) : 0;

        *ret = (NpStageTimes) {
                .latency_ns = between(host->h, NP_H0, NP_H8),
                .tag_wait_ns = (gint64) (np_host_record_allocated(host) - host->h[NP_H0]),
        };

        ret->uncounted_ns = host->header.flags & NP_F_PREFLUSH ? ret->latency_ns : ret->tag_wait_ns;

        set_component(ret, NP_COMPONENT_TAG_WAIT, ret->tag_wait_ns, !(host->header.flags & NP_F_H0_UNSEEN));
        set_component(ret, NP_COMPONENT_DISPATCH, between(host->h, NP_H0, NP_H2) - ret->tag_wait_ns, TRUE);
        set_component(ret, NP_COMPONENT_BLOCK_COMPLETION, between(host->h, NP_H7, NP_H8), TRUE);
        set_component(ret, NP_COMPONENT_SUBMISSION, between(host->h, NP_H2, NP_H3) - blocked_submit, TRUE);
        set_component(ret, NP_COMPONENT_R2T, r2t_ns - blocked_r2t, !r2t || host->h[NP_H4]);
        set_component(ret, NP_COMPONENT_INVALIDATION, held, host->released != 0);
        set_component(ret, NP_COMPONENT_DRIVER_COMPLETION, between(host->h, NP_H6, NP_H7) - held, TRUE);

        ret->stage_ns[NP_STAGE_HOST_BLOCK] = between(host->h, NP_H0, NP_H2) + between(host->h, NP_H7, NP_H8);
        ret->stage_ns[NP_STAGE_HOST_DRIVER] = between(host->h, NP_H2, NP_H3) - blocked_submit +
                                              between(host->h, NP_H6, NP_H7) + r2t_ns - blocked_r2t;
        ret->stage_ns[NP_STAGE_NETWORK] = away;
        if (target)
                target_times(target, away, ret);
}

/* A way is from the sender to the receiver's driver: what of it the receiver had the bytes already, and what is left. */
static void set_parts(NpStageTimes *times, NpComponent whole, NpComponent wire, NpComponent receive, gint64 receive_ns,
                      gboolean seen)
{
        gint64 ns = seen ? receive_ns : 0;

        set_component(times, receive, ns, seen);
        set_component(times, wire, times->component_ns[whole] - ns, seen);
}

static void transfer_parts(const struct np_host_record *host, const struct np_target_record *target, NpStageTimes *times)
{
        gboolean fetched = target->header.flags & (NP_F_R2T | NP_F_RDMA_READ), r2t = host->header.flags & NP_F_R2T;
        gboolean host_seen = !r2t || host->header.flags & NP_F_DATA_ARRIVAL;
        gboolean target_seen = !fetched || target->header.flags & NP_F_DATA_ARRIVAL;
        gint64 at_host = r2t && host_seen ? (gint64) host->receive_r2t_ns : 0;
        gint64 at_target = fetched && target_seen ? (gint64) target->receive_data_ns : 0;

        set_component(times, NP_COMPONENT_TRANSFER_HOST_RECEIVE, at_host, host_seen);
        set_component(times, NP_COMPONENT_TRANSFER_TARGET_RECEIVE, at_target, target_seen);
        set_component(times, NP_COMPONENT_TRANSFER_WIRE, times->component_ns[NP_COMPONENT_TRANSFER] - at_host - at_target,
                      host_seen && target_seen);
}

/* With RDMA the arrival is the event of the completion queue, and another completion of it (of a send) can have been what it
 * was for: what came to the queue while its poller had not run yet. It did not come before it was sent. */
static gint64 received_within(const struct np_host_record *host, gint64 receive, gint64 way)
{
        return host->released ? MIN(receive, MAX(way, 0)) : receive;
}

void np_stage_one_way(const struct np_host_record *host, const struct np_target_record *target, NpInterval offset,
                      NpStageTimes *times)
{
        gboolean fetched = (host->header.flags | target->header.flags) & (NP_F_R2T | NP_F_RDMA_READ);
        gboolean in_capsule = target->header.flags & NP_F_IN_CAPSULE && !fetched;
        gint64 middle = offset.min + (offset.max - offset.min) / 2;
        gint64 request = (gint64) target->t[NP_T1] - (gint64) host->h[NP_H3] - middle + (gint64) host->blocked_submit_ns;
        gint64 response = (gint64) host->h[NP_H6] - (gint64) target->t[NP_T9] + middle + (gint64) target->blocked_ns;

        /* Data in the capsule are a part of the request. */
        if (!fetched)
                request += (gint64) target->fetch_ns;

        times->margin_ns = offset.max - middle;
        set_component(times, NP_COMPONENT_REQUEST_WAY, request, TRUE);
        set_component(times, NP_COMPONENT_RESPONSE_WAY, response, TRUE);
        set_component(times, NP_COMPONENT_TRANSFER, times->stage_ns[NP_STAGE_NETWORK] - request - response, TRUE);

        set_parts(times, NP_COMPONENT_REQUEST_WAY, NP_COMPONENT_REQUEST_WIRE, NP_COMPONENT_TARGET_RECEIVE,
                  received_within(host, (gint64) (target->t[NP_T1] - target->ta), request) +
                  (in_capsule ? (gint64) target->receive_data_ns : 0),
                  target->ta != 0 && (!in_capsule || target->header.flags & NP_F_DATA_ARRIVAL));
        set_parts(times, NP_COMPONENT_RESPONSE_WAY, NP_COMPONENT_RESPONSE_WIRE, NP_COMPONENT_HOST_RECEIVE,
                  received_within(host, (gint64) (host->h[NP_H6] - host->ha), response), host->ha != 0);
        transfer_parts(host, target, times);
}

double np_threshold_weight(guint32 threshold)
{
        return threshold == G_MAXUINT32 ? 1 : 4294967296.0 / threshold;
}
