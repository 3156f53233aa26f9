/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A sampled command of the target under way, keyed by its struct nvmet_req.
 */
#ifndef NTPROF_TARGET_COMMAND_H
#define NTPROF_TARGET_COMMAND_H

struct target_command {
        struct np_target_record record;
        __u64 blocked_mark;     /* the queue's blocked sum when the send under way was queued */
        __u32 sending;          /* counted in `unsent` */
        __u32 needs_r2t;        /* a write whose data is not in the capsule and not here yet */
        __u32 at_storage;       /* counted in `at_storage` */
        __u32 issues_bio;       /* T7 is its bio's */
        __u64 bytes;            /* that the drive is to move, BYTES_UNKNOWN for commands that name ranges */
        __u64 bytes_issued, bytes_completed;    /* that the drive was seen to move */
        __u64 fetch_posted;     /* RDMA: when the command was last gone on with: if that posts an RDMA READ, T2 */
};

#define BYTES_UNKNOWN (~0ULL)

/* Sampled commands between T4 and T8. */
static __s64 at_storage;

/* False lets the drive's hooks leave at once. */
static __always_inline bool any_at_storage(void)
{
#ifdef NTPROF_PROBES
        return under_way != 0;
#else
        return at_storage != 0;
#endif
}

struct {
        __uint(type, BPF_MAP_TYPE_HASH);
        __uint(max_entries, LIVE_MAX);
        __type(key, __u64);
        __type(value, struct target_command);
} live SEC(".maps");

const volatile struct np_target_filter target_filters[NP_FILTERS_MAX];
const volatile __u32 n_target_filters;

static __always_inline struct target_command *command_get(__u64 pointer)
{
        if (!maybe_live(pointer))
                return NULL;
        return bpf_map_lookup_elem(&live, &pointer);
}

/* Queued to be sent: the response, or an R2T. */
static __always_inline void command_queued(struct target_command *command, const struct send_queue *queue, __u64 now)
{
        command->blocked_mark = queue_blocked(queue, now);
        flag_set(&command->sending, &unsent);
}

static __always_inline void command_sent(struct target_command *command)
{
        flag_clear(&command->sending, &unsent);
}

static __always_inline void command_to_storage(struct target_command *command)
{
        flag_set(&command->at_storage, &at_storage);
}

static __always_inline void command_back(struct target_command *command)
{
        flag_clear(&command->at_storage, &at_storage);
}

static __always_inline void command_forget(__u64 pointer, struct target_command *command)
{
        command_sent(command);
        command_back(command);
        if (bpf_map_delete_elem(&live, &pointer) == 0)
                filter_remove(pointer);
}

#endif
