/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * When bytes arrived at a socket of the driver's, by their place in the TCP stream (sequence numbers): for each queue a ring
 * of (time, first sequence number that was not there yet). In detail only; nothing here is attached or asked otherwise.
 *
 * Bytes come to a socket in two ways. The stack puts them into the receive queue, moves tcp_sock.rcv_nxt, and calls
 * sk_data_ready(), the driver's (tcp_queue_rcv(), then tcp_data_ready()). When somebody has the socket locked, as the driver
 * has while it sends and reads, they wait in the backlog, and whoever unlocks it does the same later: to take only that for
 * their arrival would hide that a busy processor let them wait. So both are hooked, and what comes first counts.
 *
 * Who writes holds the socket's lock, but for the backlog being worked off on one processor while another adds to it: then
 * what is worked off is in the ring already, unless packets were lost or overtook others. Who reads consumes the bytes, so
 * under the same lock, later.
 */
#ifndef NTPROF_ARRIVALS_H
#define NTPROF_ARRIVALS_H

#define ARRIVALS 512            /* of a queue: what it has received and not read is in so many pieces at most */
#define ARRIVAL_QUEUES 1024     /* of all hosts' or targets': the ring of a queue begins when bytes come */

struct arrivals {
        __u64 socket;           /* struct tcp_sock */
        __u32 count;            /* arrivals so far: the last is at (count - 1) % ARRIVALS */
        __u32 consumed;         /* host: behind what the driver has copied out of the stream so far */
        __u64 ns[ARRIVALS];
        __u32 next[ARRIVALS];   /* sequence number behind what was there then; grows, modulo 2^32 */
};

struct {
        __uint(type, BPF_MAP_TYPE_LRU_HASH);    /* as `queues` (send-queue.h) */
        __uint(max_entries, ARRIVAL_QUEUES);
        __type(key, __u64);     /* struct sock.sk_user_data: the driver's queue */
        __type(value, struct arrivals);
} arrivals SEC(".maps");

/* What new entries are made from: too large for the stack. */
static const struct arrivals no_arrivals;

/* The driver's sk_data_ready(), once it was seen: tells its sockets from others in functions that all pass. */
static __u64 driver_data_ready;

static __always_inline bool before(__u32 a, __u32 b)
{
        return (__s32)(a - b) < 0;
}

static __always_inline struct arrivals *arrivals_get(__u64 queue)
{
        return bpf_map_lookup_elem(&arrivals, &queue);
}

static __always_inline struct arrivals *arrivals_get_or_add(__u64 queue)
{
        struct arrivals *found = arrivals_get(queue);

        if (found || !queue)
                return found;
        bpf_map_update_elem(&arrivals, &queue, &no_arrivals, BPF_NOEXIST);
        return arrivals_get(queue);
}

static __always_inline void arrivals_add(struct arrivals *a, __u32 next)
{
        __u32 at = a->count % ARRIVALS;

        a->ns[at] = bpf_ktime_get_ns();
        a->next[at] = next;
        __sync_fetch_and_add(&a->count, 1);
}

/* Returns when the byte before position was at the socket; 0: not seen, or so long ago that it was overwritten.
 *
 * A binary search without branches: the verifier follows each that depends on data, ten of them in a dozen programs took seconds.
 * Without barrier_var() the compiler makes branches of the sums. */
static __always_inline __u64 arrival_of(const struct arrivals *a, __u32 position)
{
        __u32 count = a->count, kept = count < ARRIVALS ? count : ARRIVALS - 1, oldest = count - kept, earlier = 0;

        /* earlier: how many of those that are kept, oldest first, end before position. */
        for (__u32 step = ARRIVALS / 2; step; step /= 2) {
                __u32 at = earlier + step - 1, is_kept = (at - kept) >> 31, ends_before;

                ends_before = (a->next[(oldest + at) % ARRIVALS] - position) >> 31;
                barrier_var(is_kept);
                barrier_var(ends_before);
                earlier += step * (is_kept & ends_before);
        }
        if (earlier >= kept || (earlier == 0 && oldest > 0))
                return 0;
        return a->ns[(oldest + earlier) % ARRIVALS];
}

/* A socket of the driver's: so it is one of TCP. */
static __always_inline struct tcp_sock *tcp_of(struct sock *sk)
{
#ifdef NTPROF_PROBES
        return (void *)sk;
#else
        return bpf_skc_to_tcp_sock(sk);
#endif
}

/* NULL when the socket's bytes are not those of the driver's stream: with TLS (an upper layer protocol) records are decrypted
 * in between, and the driver's place in the stream cannot be told. */
static __always_inline struct tcp_sock *plain_tcp(struct sock *sk)
{
        struct tcp_sock *tcp = tcp_of(sk);

        return tcp && !READ(tcp, inet_conn.icsk_ulp_ops) ? tcp : NULL;
}

/* The driver's sk_data_ready(): all before rcv_nxt is here. */
static __always_inline int data_ready(struct sock *sk)
{
        struct tcp_sock *tcp = plain_tcp(sk);
        __u64 queue = (__u64)READ(sk, sk_user_data);
        struct arrivals *a;
        __u32 next;

        if (!tcp) {
                /* The queue's memory can have been that of a connection without TLS, whose ring tells nothing of this one. */
                if (arrivals_get(queue))
                        bpf_map_delete_elem(&arrivals, &queue);
                return 0;
        }
        driver_data_ready = (__u64)READ(sk, sk_data_ready);
        a = arrivals_get_or_add(queue);
        if (!a)
                return 0;
        next = READ(tcp, rcv_nxt);
        /* Another connection of the queue. Or with the same memory: what came before it is in the ring, it is no backlog. */
        if (a->socket != (__u64)tcp ||
            (before(next, a->next[(a->count - 1) % ARRIVALS]) && READ(sk, sk_backlog.len) == 0)) {
                a->socket = (__u64)tcp;
                a->count = 0;
        }
        if (a->count == 0 || before(a->next[(a->count - 1) % ARRIVALS], next))
                arrivals_add(a, next);
        return 0;
}

/* A packet that is not in the receive queue yet. It counts when it goes on where the last one ended: not when one is missing before
 * it. */
static __always_inline int packet_comes(struct sock *sk, struct sk_buff *skb)
{
        struct tcp_skb_cb *cb = (void *)skb->cb;
        struct tcp_sock *tcp;
        struct arrivals *a;
        __u32 next, last;

        if (!driver_data_ready || (__u64)READ(sk, sk_data_ready) != driver_data_ready)
                return 0;
        next = READ(cb, end_seq);
        if (READ(cb, seq) == next)
                return 0;
        tcp = plain_tcp(sk);
        a = tcp ? arrivals_get((__u64)READ(sk, sk_user_data)) : NULL;
        if (!a || a->socket != (__u64)tcp)
                return 0;
        last = READ(tcp, rcv_nxt);
        if (a->count && before(last, a->next[(a->count - 1) % ARRIVALS]))
                last = a->next[(a->count - 1) % ARRIVALS];
        if (before(last, next) && !before(last, READ(cb, seq)))
                arrivals_add(a, next);
        return 0;
}

#endif
