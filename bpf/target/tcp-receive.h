/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * nvmet-tcp, in detail: TA, when the last byte of a command's header was at the socket, and when that of its data was.
 *
 * nvmet-tcp reads the socket piece by piece (kernel_recvmsg()), never further than the PDU it is in: when it has read a
 * command's header (T1), or the last of its data (T4), tcp_sock.copied_seq is just behind that.
 */
#ifndef NTPROF_TARGET_TCP_RECEIVE_H
#define NTPROF_TARGET_TCP_RECEIVE_H

static __always_inline __u64 req_of(struct nvmet_tcp_cmd *cmd)
{
        return (__u64)cmd + bpf_core_field_offset(struct nvmet_tcp_cmd, req);
}

static __always_inline struct nvmet_tcp_queue *queue_of(__u64 req)
{
        struct nvmet_tcp_cmd *cmd = (void *)(req - bpf_core_field_offset(struct nvmet_tcp_cmd, req));

        return BPF_CORE_READ(cmd, queue);
}

/* Which commands will be sampled is not known before they are read, so every arrival is kept. */
ENTRY(nvmet_tcp_data_ready, nvmet_tcp_data_ready, struct sock *sk)
{
        return data_ready(sk);
}

ENTRY(tcp_add_backlog, tcp_add_backlog, struct sock *sk, struct sk_buff *skb)
{
        return packet_comes(sk, skb);
}

#ifdef NTPROF_PROBES
/* sk_data_ready() is called in softirq, where a kprobe is skipped that came in the middle of another. This is just before. */
TRACEPOINT(tcp_probe, nvmet_tcp_data_ready__traced, struct sock *sk, struct sk_buff *skb)
{
        return packet_comes(sk, skb);
}
#endif

/* Returns when the last byte that was read was at the socket; 0: not seen, or another transport's command. */
static __always_inline __u64 arrival_of_read(__u64 req)
{
        struct arrivals *a = arrivals_get((__u64)queue_of(req));
        struct tcp_sock *tcp;
        __u32 position = 0;

        if (!a)
                return 0;
        tcp = (void *)a->socket;
        bpf_core_read(&position, sizeof(position), &tcp->copied_seq);
        return arrival_of(a, position);
}

/* At T4 of a command that waited for its data since T2. */
static __always_inline void data_read(struct np_target_record *record, __u64 req)
{
        __u64 ns = arrival_of_read(req), since = ns > record->t[NP_T2] ? ns : record->t[NP_T2];

        if (!ns)
                return;
        record->receive_data_ns = record->t[NP_T4] - since;
        record->header.flags |= NP_F_DATA_ARRIVAL;
}

#endif
