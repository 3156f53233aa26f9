/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The requests that a flush serves, block/blk-flush.c. They stay on their list from the flush's issue to its end.
 */
#ifndef NTPROF_FLUSH_QUEUE_H
#define NTPROF_FLUSH_QUEUE_H

/* include/linux/blk_types.h: the low 8 bits of cmd_flags */
#define REQ_OP_MASK 0xff
#define REQ_OP_FLUSH 2

static __always_inline struct request *flush_served(struct list_head *at, struct list_head *end)
{
        struct request___flush_list *old = NULL;

        if (!at || at == end)
                return NULL;
        if (bpf_core_field_exists(old->flush.list))
                return (void *)at - bpf_core_field_offset(struct request___flush_list, flush.list);
        return (void *)at - bpf_core_field_offset(struct request, queuelist);
}

/* The first request that waits for the flush, NULL when this is no flush of blk-flush, or its queue is not found. *ret_at and
 * *ret_end are for flush_next(). */
static __always_inline struct request *flush_first(struct request *flush, struct list_head **ret_at, struct list_head **ret_end)
{
        struct blk_flush_queue *queue = READ(flush, mq_hctx, fq);
        struct list_head *end, *at = NULL;

        if (!queue || READ(queue, flush_rq) != flush)
                return NULL;
        end = (void *)queue + bpf_core_field_offset(struct blk_flush_queue, flush_queue) +
              BPF_CORE_READ_BITFIELD_PROBED(queue, flush_running_idx) * sizeof(struct list_head);
        if (bpf_core_read(&at, sizeof(at), &end->next) < 0)
                return NULL;
        *ret_at = at;
        *ret_end = end;
        return flush_served(at, end);
}

static __always_inline struct request *flush_next(struct list_head **at, struct list_head *end)
{
        if (bpf_core_read(at, sizeof(*at), &(*at)->next) < 0)
                return NULL;
        return flush_served(*at, end);
}

#endif
