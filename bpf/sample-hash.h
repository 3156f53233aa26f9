/* SPDX-License-Identifier: GPL-2.0-or-later OR LGPL-2.1-or-later */
/*
 * The hash by which host and target choose the same commands without a word between them. It is part of what two
 * machines of different versions agree on: changing it is changing the protocol. tests/unit/test-sample-hash.c pins it.
 *
 * Included by the programs in the kernel and by user space, after record.h.
 */
#ifndef NTPROF_SAMPLE_HASH_H
#define NTPROF_SAMPLE_HASH_H

/* Finalizer of splitmix64 (Steele, Lea, Flood 2014): every input bit reaches every output bit. */
static inline __u64 np_mix64(__u64 x)
{
        x ^= x >> 30;
        x *= 0xbf58476d1ce4e5b9ULL;
        x ^= x >> 27;
        x *= 0x94d049bb133111ebULL;
        x ^= x >> 31;
        return x;
}

/* hash32(qid, cid, opcode, nsid, slba, nlb, seed) of docs/model.md; cntlid is not part of it. */
static inline __u32 np_sample_hash(const struct np_identity *id, __u32 seed)
{
        __u64 a = (__u64)id->qid << 48 | (__u64)id->cid << 32 | (__u64)id->nlb << 16 | id->opcode;
        __u64 b = (__u64)id->nsid << 32 | seed;

        return (__u32)(np_mix64(np_mix64(a ^ id->slba * 0x9e3779b97f4a7c15ULL) ^ b) >> 32);
}

#endif
