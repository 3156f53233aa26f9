/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which process submitted a bio. What it is called is kept by process, in slots picked by its number: at H2, where a command
 * is chosen or not, a worker of the block layer's may be at work for it; and a comparison is all that it costs a bio.
 */
#ifndef NTPROF_HOST_PROCESS_H
#define NTPROF_HOST_PROCESS_H

#define PROCESS_SLOT_BITS 8
#define COMM_LEN 16             /* TASK_COMM_LEN */
struct process_slot {
        __u32 tgid;
        char comm[COMM_LEN];
};
static struct process_slot process_slots[1 << PROCESS_SLOT_BITS];

static __always_inline struct process_slot *process_slot(__u32 tgid)
{
        return &process_slots[tgid % (1 << PROCESS_SLOT_BITS)];
}

/* At H0. The name is that of the process's first thread, as in ps, so that its threads are one in a report. */
static __always_inline __u32 current_process(void)
{
        __u32 tgid = bpf_get_current_pid_tgid() >> 32;
        struct process_slot *slot = process_slot(tgid);

        if (slot->tgid != tgid) {
                struct task_struct *leader = BPF_CORE_READ((struct task_struct *)bpf_get_current_task(), group_leader);

                slot->tgid = 0;
                BPF_CORE_READ_INTO(&slot->comm, leader, comm);
                slot->tgid = tgid;
        }
        return tgid;
}

/* At H2 of a chosen command. Without a name when another process took the slot meanwhile. */
static __always_inline void record_process(struct np_host_record *record, __u32 tgid)
{
        struct process_slot *slot = process_slot(tgid);

        record->tgid = tgid;
        if (tgid && slot->tgid == tgid)
                __builtin_memcpy(record->comm, slot->comm, sizeof(record->comm));
}

#endif
