/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A sampled command of the host under way, keyed by its struct request.
 */
#ifndef NTPROF_HOST_COMMAND_H
#define NTPROF_HOST_COMMAND_H

struct host_command {
        struct np_host_record record;
        __u64 send_entry;       /* entry of the last attempt to send the command */
        __u64 send_entry_blocked;/* the queue's blocked sum then */
        __u64 blocked_mark;     /* the queue's blocked sum at H2, then at the round's H4 */
        __u64 round_start;      /* H4 of the R2T round under way, 0: none */
        /* counted in `unsent`, each once */
        __u32 sending_command;
        __u32 sending_data;
        struct response_key response;   /* RDMA: awaited; queue 0: not */
};

struct {
        __uint(type, BPF_MAP_TYPE_HASH);
        __uint(max_entries, LIVE_MAX);
        __type(key, __u64);
        __type(value, struct host_command);
} live SEC(".maps");

const volatile struct np_host_filter host_filters[NP_FILTERS_MAX];
const volatile __u32 n_host_filters;
const volatile __u32 head_major, head_minor;

static __always_inline struct host_command *command_get(__u64 pointer)
{
        if (!maybe_live(pointer))
                return NULL;
        return bpf_map_lookup_elem(&live, &pointer);
}

/* H6 */
static __always_inline void command_responded(struct host_command *command, __u64 now)
{
        command->record.h[NP_H6] = now;
        command->record.cpu_response = bpf_get_smp_processor_id();
}

static __always_inline void command_sent(__u32 *sending)
{
        flag_clear(sending, &unsent);
}

static __always_inline void command_forget(__u64 pointer, struct host_command *command)
{
        command_sent(&command->sending_command);
        command_sent(&command->sending_data);
        if (command->response.queue)
                response_forget(&command->response);
        if (bpf_map_delete_elem(&live, &pointer) == 0)
                filter_remove(pointer);
}

#endif
