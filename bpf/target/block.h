/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The drive's requests below nvmet. nvmet's bio points to its nvmet_req (bi_private, nvmet_bdev_execute_rw()); a bio that was
 * split off or chained points to the bio it belongs to (bio_chain()). Where dm or md put bios of their own in between, T5
 * and T6 stay unseen. What was seen is counted in bytes, so that T5 and T6 of only some of a command's pieces are not taken
 * for the drive's time (drive_seen(), nvmet.h). Either way storage is right as a whole.
 */
#ifndef NTPROF_TARGET_BLOCK_H
#define NTPROF_TARGET_BLOCK_H

#define BIO_CHAIN_MAX 4
#define MERGED_MAX 8            /* of a request's bios, and of the requests that one flush serves */

static __always_inline struct target_command *command_of(__u64 owner)
{
        struct target_command *command;

        for (__u32 i = 0; i < BIO_CHAIN_MAX && owner; i++) {
                command = command_get(owner);
                if (command)
                        return command;
                if (bpf_core_read(&owner, sizeof(owner), &((struct bio *)owner)->bi_private) < 0)
                        return NULL;
        }
        return NULL;
}

static __always_inline void begun(struct target_command *command, __u64 now)
{
        if (command && !command->record.t[NP_T5])
                command->record.t[NP_T5] = now;
}

static __always_inline void issued(struct target_command *command, __u32 bytes, __u64 now)
{
        begun(command, now);
        if (command)
                __sync_fetch_and_add(&command->bytes_issued, bytes);
}

/* The command is of a request without a bio, which serves those that wait for it. */
static __always_inline void flush_issued(struct request *rq, __u64 now)
{
        struct list_head *at = NULL, *end = NULL;
        struct request *served = flush_first(rq, &at, &end);

        for (__u32 i = 0; i < MERGED_MAX && served; i++) {
                struct bio *bio = NULL;
                __u64 owner = 0;

                if (bpf_core_read(&bio, sizeof(bio), &served->bio) == 0 && bio &&
                    bpf_core_read(&owner, sizeof(owner), &bio->bi_private) == 0)
                        begun(command_of(owner), now);
                served = flush_next(&at, end);
        }
}

/* T5: of the first request. */
static __always_inline int rq_issued(struct request *rq)
{
        struct bio *bio;
        __u64 now;

        if (!any_at_storage() || !rq)
                return 0;
        now = bpf_ktime_get_ns();
        bio = READ(rq, bio);
        if (!bio && (READ(rq, cmd_flags) & REQ_OP_MASK) == REQ_OP_FLUSH)
                flush_issued(rq, now);
        for (__u32 i = 0; i < MERGED_MAX && bio; i++) {
                issued(command_of((__u64)READ(bio, bi_private)), READ(bio, bi_iter.bi_size), now);
                bio = READ(bio, bi_next);
        }
        return 0;
}

TRACEPOINT(block_rq_issue, block_rq_issue, struct request *rq)
{
        return rq_issued(rq);
}

/* Before 5.11, but for later ones of 5.10. */
TRACEPOINT(block_rq_issue, block_rq_issue_of_queue, struct request_queue *queue, struct request *rq)
{
        return rq_issued(rq);
}

/* T6: of the last. A request that waited for a flush, or has one after its data (REQ_FUA on a drive without it), comes here
 * when that is done. */
TRACEPOINT(block_rq_complete, target_block_rq_complete, struct request *rq)
{
        struct bio *bio;
        __u64 now;

        if (!any_at_storage() || !rq)
                return 0;
        now = bpf_ktime_get_ns();
        bio = READ(rq, bio);
        for (__u32 i = 0; i < MERGED_MAX && bio; i++) {
                struct target_command *command = command_of((__u64)READ(bio, bi_private));

                if (command) {
                        command->record.t[NP_T6] = now;
                        __sync_fetch_and_add(&command->bytes_completed, READ(bio, bi_iter.bi_size));
                }
                bio = READ(bio, bi_next);
        }
        return 0;
}

#endif
