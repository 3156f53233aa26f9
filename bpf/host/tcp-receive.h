/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * nvme-tcp on the host, in detail: HA, when the last byte of a command's response was at the socket, and when that of an R2T
 * was.
 *
 * What the driver has read of the stream is told by skb_copy_bits(), with which it takes PDU headers and data digests out of
 * the socket's buffers (nvme_tcp_recv_skb()): a buffer's place in the stream is in its control block. When a response or an R2T
 * is processed, its header is what was copied last. skb_copy_bits() is everybody's: other sockets' buffers leave at once.
 */
#ifndef NTPROF_HOST_TCP_RECEIVE_H
#define NTPROF_HOST_TCP_RECEIVE_H

/* include/linux/nvme-tcp.h: struct nvme_tcp_data_pdu */
#define NVME_TCP_C2H_DATA 0x07
#define NVME_TCP_F_DDGST 0x02
struct c2h_data_pdu {
        __u8 type;
        __u8 flags;
        __u8 others[14];
        __u32 data_length;
};

/* Only what comes while a sampled command is under way can be a response to one. */
ENTRY(nvme_tcp_data_ready, nvme_tcp_data_ready, struct sock *sk)
{
        return under_way ? data_ready(sk) : 0;
}

ENTRY(tcp_add_backlog, tcp_add_backlog, struct sock *sk, struct sk_buff *skb)
{
        return under_way ? packet_comes(sk, skb) : 0;
}

#ifdef NTPROF_PROBES
/* sk_data_ready() is called in softirq, where a kprobe is skipped that came in the middle of another. This is just before. */
TRACEPOINT(tcp_probe, nvme_tcp_data_ready__traced, struct sock *sk, struct sk_buff *skb)
{
        return under_way ? packet_comes(sk, skb) : 0;
}
#endif

ENTRY(skb_copy_bits, skb_copy_bits, struct sk_buff *skb, int offset, void *to, int len)
{
        struct tcp_skb_cb *cb = (void *)skb->cb;
        struct arrivals *a;
        struct sock *sk;

        if (!under_way)
                return 0;
        sk = READ(skb, sk);
        if (!sk || !driver_data_ready || (__u64)READ(sk, sk_data_ready) != driver_data_ready)
                return 0;
        a = arrivals_get((__u64)READ(sk, sk_user_data));
        if (a)
                a->consumed = READ(cb, seq) + offset + len;
        return 0;
}

/* Returns when the last byte that the queue's driver has copied was at the socket, at least since; 0: not seen. */
static __always_inline __u64 arrival_since(struct nvme_tcp_queue *queue, __u64 since)
{
        struct arrivals *a = arrivals_get((__u64)queue);
        struct c2h_data_pdu pdu = {};
        __u32 position;
        __u64 ns;

        if (!a)
                return 0;
        position = a->consumed;
        /* Data that are their own response (NVME_TCP_F_DATA_SUCCESS): they follow their header. Their digest was copied. */
        bpf_probe_read_kernel(&pdu, sizeof(pdu), BPF_CORE_READ(queue, pdu));
        if (pdu.type == NVME_TCP_C2H_DATA && !(pdu.flags & NVME_TCP_F_DDGST))
                position += pdu.data_length;
        ns = arrival_of(a, position);
        return ns >= since ? ns : 0;
}

/* At H6. */
static __always_inline void response_processed(struct host_command *command, struct request *rq)
{
        struct np_host_record *record = &command->record;

        record->ha = arrival_since(BPF_CORE_READ(rq, mq_hctx, driver_data), record->h[NP_H2]);
}

/* At H4 of each round. The flag says that it is known of all rounds. */
static __always_inline void r2t_processed(struct host_command *command, struct nvme_tcp_queue *queue, __u64 now)
{
        struct np_host_record *record = &command->record;
        __u64 ns = arrival_since(queue, record->h[NP_H2]);

        if (ns) {
                record->receive_r2t_ns += now - ns;
                if (record->r2t_rounds == 1)
                        record->header.flags |= NP_F_DATA_ARRIVAL;
        } else {
                record->header.flags &= ~NP_F_DATA_ARRIVAL;
        }
}

#endif
