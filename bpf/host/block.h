/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The host's block layer.
 */
#ifndef NTPROF_HOST_BLOCK_H
#define NTPROF_HOST_BLOCK_H

/* H0 of the bios on their way to H2, in slots picked by bits of the pointer. A bio whose slot was taken by another before
 * its request reached H2 has no H0: the record says so and H1 stands in. H2 marks the slot as passed, so that memory reused
 * by a bio that is not seen here doesn't find an old time; only what was split off the bio may still look. */
#define BIO_SLOT_BITS 14
#define BIO_PASSED (1ULL << 63) /* in bio_slot.ns */
struct bio_slot {
        __u64 bio;
        __u64 ns;
        __u32 tgid;             /* of the process that submitted it */
};
static struct bio_slot bio_slots[1 << BIO_SLOT_BITS];

static __always_inline struct bio_slot *bio_slot(__u64 bio)
{
        return &bio_slots[pointer_slot(bio, BIO_SLOT_BITS)];
}

#define BIO_CLONED_BIT (1 << 1) /* enum in include/linux/blk_types.h: BIO_CLONED, the same since 4.x */
#define BIO_CHAIN_MAX 4

/* Where a command comes from, 0 where not known. */
struct origin {
        __u64 submitted;        /* H0 */
        __u64 allocated;        /* H1 */
        __u32 tgid;             /* of the process that submitted the bio */
        __u32 flags;            /* NP_F_PREFLUSH */
};

/* What the block layer splits off a bio is a bio of its own, never submitted to the device, whose bi_private is the bio it was
 * split off (bio_split(), bio_chain()); the rest remains the old bio. The one they all come from counts. */
static __always_inline void split_submitted(struct bio *piece, struct origin *origin)
{
        __u64 owner = (__u64)READ(piece, bi_private);

        for (__u32 i = 0; i < BIO_CHAIN_MAX && owner; i++) {
                struct bio *bio = (struct bio *)owner;
                struct bio_slot *slot = bio_slot(owner);
                __u16 flags = 0;

                if (slot->bio == owner) {
                        origin->submitted = slot->ns & ~BIO_PASSED;
                        origin->tgid = slot->tgid;
                }
                if (bpf_core_read(&flags, sizeof(flags), &bio->bi_flags) < 0 || !(flags & BIO_CLONED_BIT) ||
                    bpf_core_read(&owner, sizeof(owner), &bio->bi_private) < 0)
                        break;
        }
}

/* Of a bio that reached H2: when it was submitted to the namespace's device, and by whom. */
static __always_inline void bio_submitted(struct bio *bio, struct origin *origin)
{
        struct bio_slot *slot;

        if (READ(bio, bi_flags) & BIO_CLONED_BIT)
                split_submitted(bio, origin);
        slot = bio_slot((__u64)bio);
        if (slot->bio != (__u64)bio || slot->ns & BIO_PASSED)
                return;
        if (!origin->submitted) {
                origin->submitted = slot->ns;
                origin->tgid = slot->tgid;
        }
        slot->ns |= BIO_PASSED;
}

#define MERGED_MAX 64

/* The other bios that were merged into a request: the first one's H0 counts, but all have reached H2. */
static __always_inline void merged_pass(struct bio *bio)
{
        for (__u32 i = 0; i < MERGED_MAX; i++) {
                struct bio_slot *slot;

                bio = READ(bio, bi_next);
                if (!bio)
                        return;
                slot = bio_slot((__u64)bio);
                if (slot->bio == (__u64)bio)
                        slot->ns |= BIO_PASSED;
        }
}

static __always_inline struct gendisk *disk_of_bio(struct bio *bio)
{
#ifdef NTPROF_PROBES
        struct bio___bi_disk *old = (void *)bio;

        if (bpf_core_field_exists(old->bi_disk))
                return READ(old, bi_disk);
#endif
        return READ(bio, bi_bdev, bd_disk);
}

/* H0: submit_bio_noacct_nocheck(), once a bio: for the device applications open, not again for a path's. */
static __always_inline int bio_queued(struct bio *bio)
{
        struct bio_slot *slot;
        struct gendisk *disk;

        if (!bio)
                return 0;
        disk = disk_of_bio(bio);
        if ((__u32)READ(disk, first_minor) != head_minor || (__u32)READ(disk, major) != head_major || !recording)
                return 0;

        slot = bio_slot((__u64)bio);
        slot->bio = (__u64)bio;
        slot->ns = bpf_ktime_get_ns();
        slot->tgid = current_process();
        return 0;
}

TRACEPOINT(block_bio_queue, block_bio_queue, struct bio *bio)
{
        return bio_queued(bio);
}

/* Before 5.11. */
TRACEPOINT(block_bio_queue, block_bio_queue_of_queue, struct request_queue *queue, struct bio *bio)
{
        return bio_queued(bio);
}

/* H6: the driver matched the response to its request. Cancelled requests pass here too (H7 tells). nvme-rdma has matched it
 * before (rdma.h), and hands the request back here when all else that it waited for is done, too. */
ENTRY(blk_mq_complete_request_remote, blk_mq_complete_request_remote, struct request *rq)
{
        struct host_command *command = command_get((__u64)rq);
        __u64 now;

        if (!command)
                return 0;
        now = bpf_ktime_get_ns();
        if (!command->record.h[NP_H6]) {
                command_responded(command, now);
                if (arrivals_at_sockets)
                        response_processed(command, rq);
        }
        if (command->response.queue)
                command->record.released = now;
        return 0;
}

#ifdef NTPROF_PROBES
/* H6 at H7, which follows at once on the same CPU. nvme-rdma's responses are handled in softirq, and a kprobe is skipped there when
 * that came in the middle of another. */
static __always_inline void responded_unseen(struct host_command *command, __u64 now)
{
        struct nvme_rdma_queue *queue = (void *)command->response.queue;

        command_responded(command, now);
        if (!queue)
                return;
        command->record.released = now;
        if (bpf_core_field_exists(queue->qp))   /* not while the module is not loaded */
                command->record.ha = cq_arrival(BPF_CORE_READ(queue, qp, recv_cq), command->send_entry, now);
}
#endif

/* H8: blk_update_request(). */
TRACEPOINT(block_rq_complete, host_block_rq_complete, struct request *rq)
{
        struct host_command *command = command_get((__u64)rq);
        struct np_host_record *record;

        if (!rq || !command)
                return 0;

        record = &command->record;
        record->h[NP_H8] = bpf_ktime_get_ns();
        /* On another CPU the response can be here before the send call has returned. */
        if (command->send_entry && (!record->h[NP_H3] || record->h[NP_H3] > record->h[NP_H6])) {
                record->h[NP_H3] = command->send_entry;
                record->blocked_submit_ns = command->send_entry_blocked;
                record->header.flags |= NP_F_H3_ENTRY;
        }
        /* So that it is within the time between them. */
        if (record->ha && record->ha < record->h[NP_H3])
                record->ha = record->h[NP_H3];
        /* nvme_failover_req() took the bios away to send them down another path: this is not the end of the I/O. */
        if (!READ(rq, bio) && record->header.id.opcode)
                record->header.flags |= NP_F_RETRIED;
        emit(record, sizeof(*record));
        command_forget((__u64)rq, command);
        return 0;
}

#endif
