/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * nvmet: where a command arrives and is chosen or not, and where it goes to storage and comes back.
 */
#ifndef NTPROF_TARGET_NVMET_H
#define NTPROF_TARGET_NVMET_H

/* NVMe Base Specification 2.0, figure 90: SGL data block descriptor, sub type "offset": the data is in the capsule. */
#define SGL_TYPE_OFFSET 39
#define SGL_IN_CAPSULE 0x01
#define SGL_LENGTH_OFFSET 32
#define OPCODE_TO_CONTROLLER 0x01       /* data transfer direction, bits 1:0 of the opcode */

/* The filter of a controller, remembered by its address and cntlid so that an unsampled command costs a few loads. A
 * sampled one is checked again, by the host's name: a controller's memory can be used again for another host's. */
#define CONTROLLER_SLOT_BITS 8
struct controller_slot {
        __u64 pointer;
        __u64 subsystem;
        __u32 nsid;
        __u16 cntlid;
        __u16 filter;           /* NP_FILTERS_MAX: not ours */
};
static struct controller_slot controllers[1 << CONTROLLER_SLOT_BITS];

struct names {
        char subsysnqn[NP_NQN_LEN];
        char hostnqn[NP_NQN_LEN];
};

struct {
        __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
        __uint(max_entries, 1);
        __type(key, __u32);
        __type(value, struct names);
} scratch SEC(".maps");

static __always_inline bool same_name(const volatile char *a, const char *b)
{
        const volatile __u64 *x = (const volatile __u64 *)a;
        const __u64 *y = (const __u64 *)b;

        for (__u32 i = 0; i < NP_NQN_LEN / 8; i++)
                if (x[i] != y[i])
                        return false;
        return true;
}

/* Compares the controller's two NQNs with the filters'. Returns an index, NP_FILTERS_MAX when it is in none. */
static __noinline __u32 controller_filter(__u64 pointer, __u32 nsid)
{
        struct nvmet_ctrl *controller = (struct nvmet_ctrl *)pointer;
        struct nvmet_subsys *subsystem;
        __u32 zero = 0;
        struct names *names = bpf_map_lookup_elem(&scratch, &zero);
        char *name;

        if (!names)
                return NP_FILTERS_MAX;
        __builtin_memset(names, 0, sizeof(*names));
        bpf_core_read_str(names->hostnqn, sizeof(names->hostnqn), &controller->hostnqn);
        bpf_core_read(&subsystem, sizeof(subsystem), &controller->subsys);
        bpf_core_read(&name, sizeof(name), &subsystem->subsysnqn);
        bpf_probe_read_kernel_str(names->subsysnqn, sizeof(names->subsysnqn), name);

        for (__u32 i = 0; i < NP_FILTERS_MAX; i++) {
                if (i >= n_target_filters)
                        break;
                if (target_filters[i].nsid == nsid && same_name(target_filters[i].hostnqn, names->hostnqn) &&
                    same_name(target_filters[i].subsysnqn, names->subsysnqn))
                        return i;
        }
        return NP_FILTERS_MAX;
}

/* Whether the controller is still that of the filter's host. What follows a name's NUL may be anything. */
static __always_inline bool still_of_host(struct nvmet_ctrl *controller, const volatile struct np_target_filter *filter)
{
        const volatile __u64 *wanted = (const volatile __u64 *)filter->hostnqn;
        __u32 zero = 0, length = filter->hostnqn_length + 1;
        struct names *names = bpf_map_lookup_elem(&scratch, &zero);
        const __u64 *found;

        if (!names || bpf_core_read(names->hostnqn, sizeof(names->hostnqn), &controller->hostnqn) < 0)
                return false;
        found = (const __u64 *)names->hostnqn;
        for (__u32 i = 0; i < NP_NQN_LEN / 8 && i * 8 < length; i++) {
                __u64 differ = wanted[i] ^ found[i];

                if (length - i * 8 < 8)
                        differ <<= 64 - (length - i * 8) * 8;
                if (differ)
                        return false;
        }
        return true;
}

/* The filter of a command, from the slots; NP_FILTERS_MAX: not ours. */
static __always_inline __u32 filter_index(struct nvmet_ctrl *controller, __u16 cntlid, __u32 nsid)
{
        __u32 at = (pointer_slot((__u64)controller, CONTROLLER_SLOT_BITS) + nsid) % (1 << CONTROLLER_SLOT_BITS);
        struct controller_slot *slot = &controllers[at];

        if (slot->pointer != (__u64)controller || slot->nsid != nsid || slot->cntlid != cntlid ||
            slot->subsystem != (__u64)READ(controller, subsys)) {
                slot->subsystem = (__u64)READ(controller, subsys);
                slot->filter = controller_filter((__u64)controller, nsid);
                slot->cntlid = cntlid;
                slot->nsid = nsid;
                slot->pointer = (__u64)controller;
        }
        return slot->filter;
}

/* A chosen command: fills the record. */
static __always_inline void sample(struct nvmet_req *req, struct nvme_command *cmd, const struct np_record_header *header,
                                   struct np_cpu *cpu)
{
        struct target_command command = { .record.header = *header };
        struct np_target_record *record = &command.record;
        __u64 key = (__u64)req;
        __u32 length = 0;
        __u8 sgl = 0;

        cpu->counter[NP_C_SAMPLED]++;
        if (check_wanted(NP_CHECK_REQUEST))
                check(NP_CHECK_REQUEST, READ(req, cmd) == cmd);
        fill_header(&record->header, NP_RECORD_TARGET, sizeof(*record));
        record->t[NP_T1] = bpf_ktime_get_ns();
        record->cpu = bpf_get_smp_processor_id();
        if (arrivals_at_sockets)
                record->ta = arrival_of_read(key);
        if ((header->id.opcode & 3) == OPCODE_TO_CONTROLLER) {
                bpf_probe_read_kernel(&sgl, sizeof(sgl), (void *)cmd + SGL_TYPE_OFFSET);
                bpf_probe_read_kernel(&length, sizeof(length), (void *)cmd + SGL_LENGTH_OFFSET);
                /* Over RDMA the capsule is here with its data, and other data is fetched without a word of nvmet's (rdma.h). */
                if (length && READ(req, ops, type) == NVMF_TRTYPE_TCP) {
                        if (sgl == SGL_IN_CAPSULE)
                                record->header.flags |= NP_F_IN_CAPSULE;
                        else
                                command.needs_r2t = 1;
                }
        }

        if (bpf_map_update_elem(&live, &key, &command, BPF_NOEXIST) != 0) {
                cpu->counter[NP_C_MAP_FULL]++;
                return;
        }
        filter_add(key);
}

/* The command's memory is used again: what is still known of it was missed, or its connection ended. By whatever comes next, of
 * another host or namespace or not to be recorded, too: its boundaries would be put down as those of the one before. */
static __always_inline void forget_previous(struct nvmet_req *req)
{
        struct target_command *command = command_get((__u64)req);

        if (!command)
                return;
        count(NP_C_STALE);
        command_forget((__u64)req, command);
}

/* T1: the command has been read from the transport and is valid. */
TRACEPOINT(nvmet_req_init, nvmet_req_init, struct nvmet_req *req, struct nvme_command *cmd)
{
        struct np_record_header header = {};
        struct nvmet_ctrl *controller;
        struct np_cpu *cpu;
        __u32 index;

        if (!req || !cmd)
                return 0;
        forget_previous(req);
        if (!recording)
                return 0;
        controller = READ(req, sq, ctrl);
        header.id.qid = READ(req, sq, qid);
        if (!header.id.qid)
                return 0;
        read_identity(&header.id, cmd);
        header.id.cntlid = READ(controller, cntlid);
        index = filter_index(controller, header.id.cntlid, header.id.nsid);
        if (index >= NP_FILTERS_MAX)
                return 0;
        if (check_wanted(NP_CHECK_ARRIVAL))
                check(NP_CHECK_ARRIVAL, true);
        barrier_var(index);     /* or the compiler drops the mask that the verifier needs */
        index &= NP_FILTERS_MAX - 1;
        cpu = this_cpu();
        if (!cpu)
                return 0;
        cpu->counter[NP_C_COMMANDS]++;

        if (is_fua_write(cmd))
                header.flags |= NP_F_FUA;
        header.filter = index;
        header.hash = np_sample_hash(&header.id, target_filters[index].seed);
        header.threshold = threshold;
        if (chosen(header.hash, header.threshold) && still_of_host(controller, &target_filters[index]))
                sample(req, cmd, &header, cpu);
        return 0;
}

/* NVMe Base and NVM Command Set Specifications: opcodes whose length is nlb */
#define OPCODE_READ 0x02
#define OPCODE_WRITE_ZEROES 0x08
#define OPCODE_FLUSH 0x00

static __always_inline bool is_read_or_write(__u8 opcode)
{
        return opcode == OPCODE_READ || opcode == OPCODE_WRITE;
}

static __always_inline __u64 drive_bytes(const struct np_identity *id, struct nvmet_req *req)
{
        if (is_read_or_write(id->opcode) || id->opcode == OPCODE_WRITE_ZEROES)
                return (__u64)(id->nlb + 1) << (READ(req, ns, blksize_shift) & 31);
        return id->opcode == OPCODE_FLUSH ? 0 : BYTES_UNKNOWN;
}

/* T4: all data is here, the command goes to storage. What was waited for since T2 was the transfer of the data. */
static __always_inline int to_storage(struct nvmet_req *req, bool block_device)
{
        struct target_command *command = command_get((__u64)req);
        struct np_target_record *record;

        if (!command || command->record.t[NP_T4])
                return 0;
        record = &command->record;
        record->t[NP_T4] = bpf_ktime_get_ns();
        command->needs_r2t = 0;
        /* Others may find that there is nothing to do. */
        command->issues_bio = block_device && is_read_or_write(record->header.id.opcode);
        command->bytes = block_device ? drive_bytes(&record->header.id, req) : BYTES_UNKNOWN;
        command_to_storage(command);
        if (record->t[NP_T2] && !record->t[NP_T3]) {
                record->fetch_ns += record->t[NP_T4] - record->t[NP_T2];
                if (arrivals_at_sockets)
                        data_read(record, (__u64)req);
        }
        return 0;
}

#define TO_STORAGE(function, block_device)                      \
        ENTRY(function, function, struct nvmet_req *req)        \
        {                                                       \
                return to_storage(req, block_device);           \
        }

TO_STORAGE(nvmet_bdev_execute_rw, true)
TO_STORAGE(nvmet_bdev_execute_flush, true)
TO_STORAGE(nvmet_bdev_execute_dsm, true)
TO_STORAGE(nvmet_bdev_execute_write_zeroes, true)
TO_STORAGE(nvmet_bdev_execute_zone_append, false)
TO_STORAGE(nvmet_bdev_execute_zone_mgmt_send, false)
TO_STORAGE(nvmet_bdev_execute_zone_mgmt_recv, false)
TO_STORAGE(nvmet_file_execute_rw, false)
TO_STORAGE(nvmet_file_execute_flush, false)
TO_STORAGE(nvmet_file_execute_dsm, false)
TO_STORAGE(nvmet_file_execute_write_zeroes, false)
TO_STORAGE(nvmet_passthru_execute_cmd, false)

/* Whether every piece of the command was seen to go to the drive and to come back: else T5 can be too late, or T6 too early. */
static __always_inline bool drive_seen(const struct target_command *command)
{
        return command->record.t[NP_T5] && command->record.t[NP_T6] >= command->record.t[NP_T5] &&
                command->bytes_issued >= command->bytes && command->bytes_completed == command->bytes;
}

static __always_inline int from_storage(__u64 req)
{
        struct target_command *command = command_get(req);
        struct np_target_record *record;

        if (!command)
                return 0;
        record = &command->record;
        if (!record->t[NP_T7])
                record->t[NP_T7] = bpf_ktime_get_ns();
        if (!drive_seen(command))
                record->t[NP_T5] = record->t[NP_T6] = 0;
        return 0;
}

/* T7: storage is done. Commands that end without a bio of nvmet's do so at T8 (storage_answered()). */
ENTRY(nvmet_bio_done, nvmet_bio_done, struct bio *bio)
{
        return from_storage((__u64)READ(bio, bi_private));
}

ENTRY(nvmet_passthru_req_done, nvmet_passthru_req_done, struct request *rq)
{
        return from_storage((__u64)READ(rq, end_io_data));
}

static __always_inline void check_response(const struct np_identity *id, struct nvmet_req *req)
{
        if (check_wanted(NP_CHECK_RESPONSE))
                check(NP_CHECK_RESPONSE, READ(req, cqe, command_id) == id->cid && READ(req, cqe, sq_id) == id->qid);
}

/* T8, for every transport: the response is queued. What T7 is where storage has no such event, and what was refused. */
static __always_inline void storage_answered(struct target_command *command, __u16 status, __u64 now)
{
        struct np_target_record *record = &command->record;

        command_back(command);
        record->t[NP_T8] = now;
        record->header.status = status;
        if (record->t[NP_T4]) {
                /* A bio's T7 that is missing was missed, unless the command was refused before it became one. */
                if (!record->t[NP_T7] && (!command->issues_bio || status)) {
                        record->t[NP_T7] = now;
                        record->t[NP_T5] = record->t[NP_T6] = 0;
                }
        } else if (status) {
                record->header.flags |= NP_F_INIT_FAILED;
        }
}

#ifdef NTPROF_PROBES
/* What queues a response runs in the drive's interrupt, as nvmet_bio_done() does, and a kprobe is skipped there when it came in the
 * middle of another. A tracepoint is not, and nvmet_req_complete is between the two. NULL: nothing to do. */
static __always_inline struct target_command *answer_traced(struct nvmet_req *req)
{
        struct target_command *command = command_get((__u64)req);
        __u16 status;

        if (!command || command->record.t[NP_T8])
                return NULL;
        status = READ(req, cqe, status) >> 1;
        check_response(&command->record.header.id, req);
        if (command->issues_bio && !status)
                from_storage((__u64)req);
        storage_answered(command, status, bpf_ktime_get_ns());
        return command;
}
#endif

#endif
