/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * When completions arrived at a completion queue of the RDMA core (drivers/infiniband/core/cq.c).
 *
 * The core asks for one event, and when that comes polls in rounds, in softirq or in a worker, until the queue is empty; then it
 * asks for the next event. So what a round finds was at the queue since the event that began it, at the earliest; and what a
 * round finds that no event began came while the one before was busy. Queues that are polled by those who wait have no events.
 *
 * Nothing is attached for it, and the map is empty, unless the session is in detail.
 */
#ifndef NTPROF_CQ_H
#define NTPROF_CQ_H

struct cq_round {
        __u64 event;            /* came, and no round has begun since; 0: none */
        __u64 arrival;          /* the event that began the round under way, 0: none did */
};

struct {
        __uint(type, BPF_MAP_TYPE_LRU_HASH);    /* as `queues` (send-queue.h) */
        __uint(max_entries, QUEUES_MAX);
        __type(key, __u64);
        __type(value, struct cq_round);
} rounds SEC(".maps");

static __always_inline void cq_event(struct ib_cq *cq)
{
        struct cq_round fresh = { .event = bpf_ktime_get_ns() }, *round;
        __u64 key = (__u64)cq;

        if (!recording && !under_way)
                return;
        check_due(NP_CHECK_RDMA_ROUND);
        round = bpf_map_lookup_elem(&rounds, &key);
        if (round)
                round->event = fresh.event;
        else
                bpf_map_update_elem(&rounds, &key, &fresh, BPF_NOEXIST);
}

static __always_inline void cq_round_begins(__u64 cq)
{
        struct cq_round *round;

        if (!recording && !under_way)
                return;
        round = bpf_map_lookup_elem(&rounds, &cq);
        if (!round)
                return;
        if (check_wanted(NP_CHECK_RDMA_ROUND))
                check(NP_CHECK_RDMA_ROUND, true);
        /* No event comes in between: the core has not asked for another. */
        round->arrival = round->event;
        round->event = 0;
}

#ifdef NTPROF_PROBES
/* By probes what is hooked by functions can be missed: a kprobe is skipped in an interrupt that came in the middle of another. So
 * the core's tracepoints tell the same once more. An event may be told twice; a round only once, by these when they are there. */
static bool rounds_are_traced;

#define CQ_TRACED(event_program, round_program)                                 \
        TRACEPOINT(cq_schedule, event_program##__traced, struct ib_cq *cq)      \
        {                                                                       \
                cq_event(cq);                                                   \
                return 0;                                                       \
        }                                                                       \
        TRACEPOINT(cq_process, round_program##__traced, struct ib_cq *cq)       \
        {                                                                       \
                if (rounds_are_traced)                                          \
                        cq_round_begins((__u64)cq);                             \
                rounds_are_traced = true;                                       \
                return 0;                                                       \
        }
#else
static const bool rounds_are_traced;
#define CQ_TRACED(event_program, round_program)
#endif

/* When what is handled now arrived, which was not before `earliest`: now when it was found by polling, 0 when that is not
 * known. */
static __always_inline __u64 cq_arrival(struct ib_cq *cq, __u64 earliest, __u64 now)
{
        __u64 key = (__u64)cq;
        const struct cq_round *round = bpf_map_lookup_elem(&rounds, &key);

        if (!round)
                return 0;
        return round->arrival > earliest ? round->arrival : now;
}

#endif
