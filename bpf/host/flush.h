/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Flushes on the host. The command is of a request that belongs to the queue (blk_kick_flush()): it has no bio, and its own
 * start is when the flush before it was done. Who waits are the requests it serves, so H0 and H1 are those of the first of them.
 */
#ifndef NTPROF_HOST_FLUSH_H
#define NTPROF_HOST_FLUSH_H

#include "../flush-queue.h"

static __always_inline void flush_waited(struct request *flush, struct origin *origin)
{
        struct list_head *at = NULL, *end = NULL;
        struct request *first = flush_first(flush, &at, &end);
        struct bio *bio = NULL;
        struct bio_slot *slot;
        __u32 length = 0;

        if (!first || bpf_core_read(&bio, sizeof(bio), &first->bio) < 0 ||
            bpf_core_read(&length, sizeof(length), &first->__data_len) < 0)
                return;
        bpf_core_read(&origin->allocated, sizeof(origin->allocated), &first->start_time_ns);
        if (length)
                origin->flags = NP_F_PREFLUSH;
        slot = bio_slot((__u64)bio);
        if (!bio || slot->bio != (__u64)bio || slot->ns & BIO_PASSED)
                return;
        origin->submitted = slot->ns;
        origin->tgid = slot->tgid;
        /* A write that flushes first comes to H2 itself, and looks then. */
        if (!length)
                slot->ns |= BIO_PASSED;
}

#endif
