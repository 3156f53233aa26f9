/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The drive's requests below nvmet. nvmet's bio points to its nvmet_req (bi_private, nvmet_bdev_execute_rw()); a bio that was
 * split off or chained points to the bio it belongs to (bio_chain()). Where dm or md put bios of their own in between, T5
 * and T6 stay unseen and storage is still right as a whole.
 */
#ifndef NTPROF_TARGET_BLOCK_H
#define NTPROF_TARGET_BLOCK_H

#define BIO_CHAIN_MAX 4

static __always_inline struct target_command *command_of(struct request *rq)
{
        struct target_command *command;
        struct bio *bio;
        __u64 owner;

        if (!at_storage || !rq)
                return NULL;
        bio = rq->bio;
        if (!bio)
                return NULL;
        owner = (__u64)bio->bi_private;
        for (__u32 i = 0; i < BIO_CHAIN_MAX && owner; i++) {
                command = command_get(owner);
                if (command)
                        return command;
                if (bpf_core_read(&owner, sizeof(owner), &((struct bio *)owner)->bi_private) < 0)
                        return NULL;
        }
        return NULL;
}

/* T5: of the first request, T6: of the last. */
SEC("tp_btf/block_rq_issue")
int BPF_PROG(block_rq_issue, struct request *rq)
{
        struct target_command *command = command_of(rq);

        if (command && !command->record.t[NP_T5])
                command->record.t[NP_T5] = bpf_ktime_get_ns();
        return 0;
}

SEC("tp_btf/block_rq_complete")
int BPF_PROG(target_block_rq_complete, struct request *rq)
{
        struct target_command *command = command_of(rq);

        if (command)
                command->record.t[NP_T6] = bpf_ktime_get_ns();
        return 0;
}

#endif
