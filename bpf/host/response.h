/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which sampled request a response is for, by its queue and cid. nvme-tcp's hooks have the request; nvme-rdma's completion has
 * only the response. As with `live`, a table of counters says "of none" from one load.
 */
#ifndef NTPROF_HOST_RESPONSE_H
#define NTPROF_HOST_RESPONSE_H

#define AWAITED_BITS 12

struct response_key {
        __u64 queue;
        __u64 cid;              /* with its generation bits */
};

struct {
        __uint(type, BPF_MAP_TYPE_HASH);
        __uint(max_entries, LIVE_MAX);
        __type(key, struct response_key);
        __type(value, __u64);   /* struct request */
} responses SEC(".maps");

static __u32 awaited[1 << AWAITED_BITS];

static __always_inline __u32 *awaited_slot(const struct response_key *key)
{
        /* Newer verifiers (7.3) know that the queue is a pointer also when it comes from the stack. */
        __u32 low = pointer_low(key->queue) ^ (__u32)key->cid << 4;

        return &awaited[(low >> 4) * 0x9e3779b1U >> (32 - AWAITED_BITS)];
}

static __always_inline bool response_await(const struct response_key *key, __u64 rq)
{
        if (bpf_map_update_elem(&responses, key, &rq, BPF_NOEXIST) != 0)
                return false;
        __sync_fetch_and_add(awaited_slot(key), 1);
        return true;
}

static __always_inline void response_forget(const struct response_key *key)
{
        if (bpf_map_delete_elem(&responses, key) == 0)
                __sync_fetch_and_add(awaited_slot(key), -1);
}

/* 0: of none that is sampled. */
static __always_inline __u64 response_request(const struct response_key *key)
{
        __u64 *rq;

        if (*(volatile __u32 *)awaited_slot(key) == 0)
                return 0;
        rq = bpf_map_lookup_elem(&responses, key);
        return rq ? *rq : 0;
}

#endif
