/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How long a queue's sender has been blocked on a full socket buffer.
 *
 * A queue is blocked from a send that found no room (sk_stream_wait_memory(), which a send that must not wait passes too
 * on its way to -EAGAIN) until the stack says that there is room again (the socket's sk_write_space() clears SOCK_NOSPACE
 * and wakes the driver). Both are called only when a buffer was full, so commands pay nothing for it otherwise.
 *
 * The sum is kept per queue, not per command: a command that waits behind a blocked one waits for the network too. A
 * command's share is the difference of the queue's sum between two of its boundaries.
 */
#ifndef NTPROF_SEND_QUEUE_H
#define NTPROF_SEND_QUEUE_H

struct send_queue {
        __u64 blocked_ns;       /* sum of the intervals that have ended */
        __u64 blocked_since;    /* 0: not blocked */
        /* of a send that was entered and has not returned, where only the entry knows which request it sends */
        __u64 sending;          /* key in `live`, 0: none that is sampled */
        __u64 generation;       /* of that entry, so that a reused pointer is not stamped */
        __u64 round;            /* what is sent of it: 0 the capsule, 1 data that an R2T asked for */
};

/* Nothing tells on every kernel when a queue is freed: when it is full, the queue that was not used for longest is forgotten. */
struct {
        __uint(type, BPF_MAP_TYPE_LRU_HASH);
        __uint(max_entries, QUEUES_MAX);
        __type(key, __u64);
        __type(value, struct send_queue);
} queues SEC(".maps");

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

/* What was blocked since the sum was mark; 0 when the queue was forgotten and has begun anew. */
static __always_inline __u64 queue_blocked_since(const struct send_queue *queue, __u64 now, __u64 mark)
{
        __u64 sum = queue_blocked(queue, now);

        return sum > mark ? sum - mark : 0;
}

#define SOCK_NOSPACE_BIT (1UL << 2)      /* include/linux/net.h */

ENTRY(sk_stream_wait_memory, sk_stream_wait_memory, struct sock *sk)
{
        struct send_queue *queue = queue_get((__u64)READ(sk, sk_user_data));

        if (queue && !queue->blocked_since)
                queue->blocked_since = bpf_ktime_get_ns();
        return 0;
}

/* A queue whose driver is told of room: whether it waits for that. */
static __always_inline bool is_blocked(__u64 sk)
{
        struct send_queue *queue = queue_get((__u64)BPF_CORE_READ((struct sock *)sk, sk_user_data));

        return queue && queue->blocked_since;
}

/* After the driver's sk_write_space(). */
static __always_inline int write_space(struct sock *sk)
{
        struct send_queue *queue = queue_get((__u64)READ(sk, sk_user_data));

        if (!queue || !queue->blocked_since || (READ(sk, sk_socket, flags) & SOCK_NOSPACE_BIT))
                return 0;
        queue->blocked_ns += bpf_ktime_get_ns() - queue->blocked_since;
        queue->blocked_since = 0;
        return 0;
}

#endif
