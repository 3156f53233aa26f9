/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The drive's request below nvmet. nvmet's bio points to its request (bi_private, nvmet_bdev_execute_rw()); where dm, md or
 * a split put other bios in between, T5 and T6 stay unseen and storage is still right as a whole.
 */
#ifndef NTPROF_TARGET_BLOCK_H
#define NTPROF_TARGET_BLOCK_H

static __always_inline struct target_command *command_of(struct request *rq)
{
        struct bio *bio = rq ? rq->bio : NULL;

        return bio ? command_get((__u64)bio->bi_private) : NULL;
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
