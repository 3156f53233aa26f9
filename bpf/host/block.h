/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The host's block layer.
 */
#ifndef NTPROF_HOST_BLOCK_H
#define NTPROF_HOST_BLOCK_H

/* H0 of the bios on their way to H2, in slots picked by bits of the pointer. A bio whose slot was taken by another before
 * its request reached H2 has no H0: the record says so and H1 stands in. H2 empties the slot, so that memory reused by
 * a bio that is not seen here (a split one) doesn't find an old time. */
#define BIO_SLOT_BITS 14
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

/* Returns when the bio was submitted to the namespace's device, and by which process; 0 when that was not seen. */
static __always_inline __u64 bio_submitted(__u64 bio, __u32 *ret_tgid)
{
        struct bio_slot *slot = bio_slot(bio);
        __u64 ns;

        *ret_tgid = 0;
        if (!bio || slot->bio != bio)
                return 0;
        ns = slot->ns;
        *ret_tgid = slot->tgid;
        slot->bio = 0;
        return ns;
}

/* H0: submit_bio_noacct_nocheck(). With native multipath the event comes again for the path device (bio_set_dev() in
 * nvme_ns_head_submit_bio() clears nothing that prevents it); only the device applications open counts. */
SEC("tp_btf/block_bio_queue")
int BPF_PROG(block_bio_queue, struct bio *bio)
{
        struct bio_slot *slot;
        struct gendisk *disk;

        if (!bio)
                return 0;
        disk = bio->bi_bdev->bd_disk;
        if ((__u32)disk->first_minor != head_minor || (__u32)disk->major != head_major || !recording)
                return 0;

        slot = bio_slot((__u64)bio);
        slot->bio = (__u64)bio;
        slot->ns = bpf_ktime_get_ns();
        slot->tgid = current_process();
        return 0;
}

/* H6: the driver matched the response to its request. Cancelled requests pass here too (H7 tells). */
SEC("fentry/blk_mq_complete_request_remote")
int BPF_PROG(blk_mq_complete_request_remote, struct request *rq)
{
        struct host_command *command = command_get((__u64)rq);

        if (!command || command->record.h[NP_H6])
                return 0;
        command->record.h[NP_H6] = bpf_ktime_get_ns();
        command->record.cpu_response = bpf_get_smp_processor_id();
        if (detail)
                response_processed(command, rq);
        return 0;
}

/* H8: blk_update_request(). */
SEC("tp_btf/block_rq_complete")
int BPF_PROG(host_block_rq_complete, struct request *rq)
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
        if (!rq->bio && record->header.id.opcode)
                record->header.flags |= NP_F_RETRIED;
        emit(record, sizeof(*record));
        command_forget((__u64)rq, command);
        return 0;
}

#endif
