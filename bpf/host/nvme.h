/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * nvme-core on the host: where a command gets its identity, and where it is chosen or not.
 */
#ifndef NTPROF_HOST_NVME_H
#define NTPROF_HOST_NVME_H

/* as REQ_OP_FLUSH (flush-queue.h) */
#define REQ_OP_DRV_IN 34
#define REQ_OP_DRV_OUT 35

/* A disk's name as words, so that most names differ in one comparison. user space refuses names of 24 bytes and more. */
static __always_inline __u32 filter_index(struct gendisk *disk)
{
#ifdef NTPROF_PROBES
        __u64 name_of_disk[3] = {}, a, b, c;

        /* 5.10 copies the name from an array on the stack: what follows the NUL is anything. */
        bpf_core_read_str(name_of_disk, sizeof(name_of_disk), &disk->disk_name);
        a = name_of_disk[0];
        b = name_of_disk[1];
        c = name_of_disk[2];
#else
        __u64 a = *(__u64 *)&disk->disk_name[0], b = *(__u64 *)&disk->disk_name[8], c = *(__u64 *)&disk->disk_name[16];
#endif

        for (__u32 i = 0; i < NP_FILTERS_MAX; i++) {
                const volatile __u64 *name = (const volatile __u64 *)host_filters[i].disk;

                if (i >= n_host_filters)
                        break;
                if (name[0] == a && name[1] == b && name[2] == c)
                        return i;
        }
        return NP_FILTERS_MAX;
}

static __always_inline struct gendisk *disk_of_request(struct request *rq)
{
#ifdef NTPROF_PROBES
        struct request___rq_disk *old = (void *)rq;

        if (bpf_core_field_exists(old->rq_disk))
                return READ(old, rq_disk);
#endif
        return READ(rq, q, disk);
}

static __always_inline void *request_pdu(struct request *rq)
{
        return (void *)rq + bpf_core_type_size(struct request);
}

/* The request's memory is used again: what is still known of it never completed, or was missed. By whatever comes next, of
 * another namespace or not to be recorded, too: its boundaries would be put down as those of the one before. */
static __always_inline void forget_previous(struct request *rq)
{
        struct host_command *command = command_get((__u64)rq);
        struct nvme_request *nvme_request;
        __u8 retries = 0;

        if (!command)
                return;
        nvme_request = request_pdu(rq);
        bpf_core_read(&retries, sizeof(retries), &nvme_request->retries);
        count(retries ? NP_C_RETRIED : NP_C_STALE);
        command_forget((__u64)rq, command);
}

/* A chosen command: fills the record. */
static __always_inline void sample(struct request *rq, const struct np_record_header *header, const struct origin *origin,
                                   struct np_cpu *cpu)
{
        struct nvme_request *nvme_request = request_pdu(rq);
        struct host_command command = { .record.header = *header };
        struct np_host_record *record = &command.record;
        __u64 key = (__u64)rq, queue;
        struct nvme_ctrl *ctrl;
        __u8 retries = 0;

        cpu->counter[NP_C_SAMPLED]++;
        bpf_core_read(&retries, sizeof(retries), &nvme_request->retries);
        bpf_core_read(&ctrl, sizeof(ctrl), &nvme_request->ctrl);
        bpf_core_read(&record->header.id.cntlid, sizeof(__u16), &ctrl->cntlid);

        if (check_wanted(NP_CHECK_CONTROLLER) && !checks.made[NP_CHECK_CONTROLLER]) {
                __u32 cntlid = host_filters[header->filter % NP_FILTERS_MAX].cntlid;

                /* Once: a controller that is reset meanwhile has another number, and sysfs was asked before. */
                if (cntlid != NP_CNTLID_UNKNOWN)
                        check(NP_CHECK_CONTROLLER, cntlid == record->header.id.cntlid);
        }
        fill_header(&record->header, NP_RECORD_HOST, sizeof(*record));
        record->h[NP_H0] = origin->submitted;
        record->h[NP_H1] = origin->allocated;
        record->h[NP_H2] = bpf_ktime_get_ns();
        record->cpu = bpf_get_smp_processor_id();
        record->header.flags |= origin->flags;
        record_process(record, origin->tgid);
        if (retries)
                record->header.flags |= NP_F_RETRIED;
        if (!record->h[NP_H1])
                record->h[NP_H1] = record->h[NP_H0] ?: record->h[NP_H2];
        if (!record->h[NP_H0]) {
                record->h[NP_H0] = record->h[NP_H1];
                record->header.flags |= NP_F_H0_UNSEEN;
        }
        /* The request came from the plug's cache, or the clock was cached there (blk_time_get_ns(), 6.9). */
        if (record->h[NP_H1] < record->h[NP_H0])
                record->h[NP_H1] = record->h[NP_H0];

        queue = (__u64)READ(rq, mq_hctx, driver_data);
        command.blocked_mark = queue_blocked(queue_get_or_add(queue), record->h[NP_H2]);
        command.sending_command = 1;

        if (bpf_map_update_elem(&live, &key, &command, BPF_NOEXIST) != 0) {
                cpu->counter[NP_C_MAP_FULL]++;
                return;
        }
        filter_add(key);
        __sync_fetch_and_add(&unsent, 1);
}

/* H2: the driver has the request and its cid. */
TRACEPOINT(nvme_setup_cmd, nvme_setup_cmd, struct request *rq, struct nvme_command *cmd)
{
        struct np_record_header header = {};
        struct np_cpu *cpu;
        struct origin origin = {};
        __u32 index, op;
        bool fua;

        if (!rq || !cmd)
                return 0;
        forget_previous(rq);
        if (!recording)
                return 0;
        index = filter_index(disk_of_request(rq));
        if (index >= NP_FILTERS_MAX)
                return 0;
        barrier_var(index);     /* or the compiler drops the mask that the verifier needs */
        index &= NP_FILTERS_MAX - 1;
        cpu = this_cpu();
        if (!cpu)
                return 0;
        op = READ(rq, cmd_flags) & REQ_OP_MASK;
        if (op == REQ_OP_DRV_IN || op == REQ_OP_DRV_OUT) {
                cpu->counter[NP_C_PASSTHROUGH]++;
                return 0;
        }

        read_identity(&header.id, cmd);
        header.id.qid = READ(rq, mq_hctx, queue_num) + 1;
        header.filter = index;
        header.hash = np_sample_hash(&header.id, host_filters[index].seed);
        header.threshold = threshold;
        fua = is_fua_write(cmd);
        if (fua)
                header.flags |= NP_F_FUA;
        count_command(cpu, index, header.id.opcode, header.id.nlb, fua);
        if (op == REQ_OP_FLUSH) {
                flush_waited(rq, &origin);
        } else {
                struct bio *bio = READ(rq, bio);

                if (bio) {
                        bio_submitted(bio, &origin);
                        if (READ(bio, bi_next))
                                merged_pass(bio);
                }
        }
        if (!origin.allocated && bpf_core_field_exists(rq->start_time_ns))
                origin.allocated = READ(rq, start_time_ns);

        if (chosen(header.hash, header.threshold))
                sample(rq, &header, &origin, cpu);
        return 0;
}

/* H7: the block layer calls the driver back, on the CPU it chose. */
TRACEPOINT(nvme_complete_rq, nvme_complete_rq, struct request *rq)
{
        struct host_command *command = command_get((__u64)rq);
        struct nvme_request *nvme_request;
        __u8 flags = 0;

        if (!rq || !command)
                return 0;
        command->record.h[NP_H7] = bpf_ktime_get_ns();
#ifdef NTPROF_PROBES
        if (!command->record.h[NP_H6])
                responded_unseen(command, command->record.h[NP_H7]);
#endif
        nvme_request = request_pdu(rq);
        bpf_core_read(&flags, sizeof(flags), &nvme_request->flags);
        bpf_core_read(&command->record.header.status, sizeof(__u16), &nvme_request->status);
        if (flags & NVME_REQ_CANCELLED_BIT)
                command->record.header.flags |= NP_F_CANCELLED;
        return 0;
}

#endif
