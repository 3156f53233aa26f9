/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How long a queue's sender has been blocked on a full socket buffer, and which command it is sending.
 *
 * A queue is blocked from a send that returned short (or EAGAIN) to the next attempt. The sum is kept per queue, not per
 * command: a command that waits behind a blocked one waits for the network too. A command's share is the difference of
 * the queue's sum between two of its boundaries.
 *
 * Both drivers serialise the sends of a queue (host: send_mutex, target: the queue's io_work), so one writer at a time.
 */
#ifndef NTPROF_SEND_QUEUE_H
#define NTPROF_SEND_QUEUE_H

struct send_queue {
        __u64 blocked_ns;       /* sum of the intervals that have ended */
        __u64 blocked_since;    /* 0: not blocked */
        /* the send under way, between its entry and its return */
        __u64 sending;          /* key in `live`, 0: none that is sampled */
        __u64 generation;       /* of that entry, so that a reused pointer is not stamped */
        __u32 round;            /* 0: the command, 1: data asked for by an R2T */
        __u32 reserved;
};

struct {
        __uint(type, BPF_MAP_TYPE_HASH);
        __uint(max_entries, QUEUES_MAX);
        __type(key, __u64);
        __type(value, struct send_queue);
} queues SEC(".maps");

/* Queues that are blocked now: 0 lets the send's entry hook leave at once. */
static __s64 blocked_queues;

static __always_inline struct send_queue *queue_get(__u64 pointer)
{
        return bpf_map_lookup_elem(&queues, &pointer);
}

static __always_inline struct send_queue *queue_get_or_add(__u64 pointer)
{
        struct send_queue *queue = bpf_map_lookup_elem(&queues, &pointer);
        struct send_queue fresh = {};

        if (queue)
                return queue;
        bpf_map_update_elem(&queues, &pointer, &fresh, BPF_NOEXIST);
        return bpf_map_lookup_elem(&queues, &pointer);
}

/* Blocked time up to now, an interval that has not ended included. queue may be NULL. */
static __always_inline __u64 queue_blocked(const struct send_queue *queue, __u64 now)
{
        __u64 since;

        if (!queue)
                return 0;
        since = queue->blocked_since;
        return queue->blocked_ns + (since && now > since ? now - since : 0);
}

static __always_inline void queue_block(struct send_queue *queue, __u64 now)
{
        if (queue->blocked_since)
                return;
        queue->blocked_since = now;
        __sync_fetch_and_add(&blocked_queues, 1);
}

static __always_inline void queue_unblock(struct send_queue *queue, __u64 now)
{
        __u64 since = queue->blocked_since;

        if (!since)
                return;
        queue->blocked_ns += now - since;
        queue->blocked_since = 0;
        __sync_fetch_and_add(&blocked_queues, -1);
}

#endif
