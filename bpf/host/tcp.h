/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * nvme-tcp on the host: when a command, and the data an R2T asked for, is fully handed to the socket.
 *
 * A queue sends one request at a time, queue->request, and sets that to another when all of it is sent: so a request is
 * fully sent when a send function returns and queue->request is no longer it. Two ways to the request being sent:
 *
 * - nvme_tcp_try_send_cmd_pdu(), _data_pdu(), _data() and _ddgst() have it as their argument, where the compiler left
 *   them as functions (6.12). Each returns 1 when its part is sent, else -EAGAIN or an error.
 * - nvme_tcp_try_send(queue) takes it from send_list, or from req_list (newest first) when that is empty, on every kernel
 *   from 5.10 on. It returns 0 instead of -EAGAIN.
 */
#ifndef NTPROF_HOST_TCP_H
#define NTPROF_HOST_TCP_H

static __always_inline struct request *request_of(struct nvme_tcp_request *request)
{
        return (void *)request - bpf_core_type_size(struct request);
}

/* The next attempt to send on a queue that may have been blocked. */
static __always_inline void send_begins(__u64 queue, __u64 rq)
{
        struct host_command *command;
        struct send_queue *state;
        __u64 now;

        state = queue_get(queue);
        if (!state)
                return;
        now = bpf_ktime_get_ns();
        queue_unblock(state, now);
        state->sending = 0;
        command = rq ? command_get(rq) : NULL;
        if (!command)
                return;
        state->sending = rq;
        state->generation = command->record.h[NP_H2];
        state->round = command->round_start != 0;
        if (!state->round) {
                command->send_entry = now;
                command->send_entry_blocked = queue_blocked(state, now) - command->blocked_mark;
        }
}

/* H5: the data of this R2T round is sent. */
static __always_inline void round_sent(struct host_command *command, const struct send_queue *state, __u64 now)
{
        struct np_host_record *record = &command->record;

        record->h[NP_H5] = now;
        record->r2t_ns += now - command->round_start;
        record->blocked_r2t_ns += queue_blocked(state, now) - command->blocked_mark;
        command->round_start = 0;
        command_sent(&command->sending_data);
}

/* H3: the command, with its data when that is in the capsule, is sent. */
static __always_inline void capsule_sent(struct host_command *command, const struct send_queue *state, __u64 now)
{
        struct np_host_record *record = &command->record;

        /* The R2T can be processed on another CPU before the send has returned. */
        if (record->h[NP_H4]) {
                record->h[NP_H3] = command->send_entry;
                record->blocked_submit_ns = command->send_entry_blocked;
                record->header.flags |= NP_F_H3_ENTRY;
        } else {
                record->h[NP_H3] = now;
                record->blocked_submit_ns = queue_blocked(state, now) - command->blocked_mark;
        }
        command_sent(&command->sending_command);
}

/* current: queue->request as the send returned; blocked: it sent less than it had. */
static __always_inline void send_ends(__u64 queue, __u64 current, bool blocked)
{
        struct host_command *command;
        struct send_queue *state;
        __u64 now, rq;

        state = queue_get(queue);
        if (!state)
                return;
        now = bpf_ktime_get_ns();
        if (blocked)
                queue_block(state, now);

        rq = state->sending;
        state->sending = 0;
        if (!rq || rq == current)
                return;
        command = command_get(rq);
        if (!command || command->record.h[NP_H2] != state->generation)
                return;
        if (state->round)
                round_sent(command, state, now);
        else
                capsule_sent(command, state, now);
}

/* --- the functions that send a request's parts */

static __always_inline int part_begins(struct nvme_tcp_request *request)
{
        if (unsent || blocked_queues)
                send_begins((__u64)request->queue, (__u64)request_of(request));
        return 0;
}

static __always_inline int part_ends(struct nvme_tcp_request *request, int ret)
{
        struct nvme_tcp_request *current;

        if (!unsent && ret > 0)
                return 0;
        current = request->queue->request;
        send_ends((__u64)request->queue, current ? (__u64)request_of(current) : 0, ret <= 0);
        return 0;
}

#define SENDS_PART(function)                                                            \
        SEC("fentry/" #function)                                                        \
        int BPF_PROG(function##_entry, struct nvme_tcp_request *request)                \
        {                                                                               \
                return part_begins(request);                                            \
        }                                                                               \
        SEC("fexit/" #function)                                                         \
        int BPF_PROG(function##_exit, struct nvme_tcp_request *request, int ret)        \
        {                                                                               \
                return part_ends(request, ret);                                         \
        }

SENDS_PART(nvme_tcp_try_send_cmd_pdu)
SENDS_PART(nvme_tcp_try_send_data_pdu)
SENDS_PART(nvme_tcp_try_send_data)
SENDS_PART(nvme_tcp_try_send_ddgst)

/* --- or the one above them */

#define REQ_LIST_WALK 128

/* The request that nvme_tcp_try_send() will send, NULL when there is none. */
static __always_inline struct nvme_tcp_request *send_candidate(struct nvme_tcp_queue *queue)
{
        struct nvme_tcp_request *request = queue->request;
        struct list_head *first;
        struct llist_node *node;

        if (request)
                return request;

        first = queue->send_list.next;
        if ((__u64)first != (__u64)queue + bpf_core_field_offset(struct nvme_tcp_queue, send_list))
                return (void *)first - bpf_core_field_offset(struct nvme_tcp_request, entry);

        node = queue->req_list.first;
        if (!node)
                return NULL;
        for (__u32 i = 0; i < REQ_LIST_WALK; i++) {
                struct llist_node *next = node->next;

                if (!next)
                        return (void *)node - bpf_core_field_offset(struct nvme_tcp_request, lentry);
                node = next;
        }
        count(NP_C_WALK_TRUNCATED);
        return NULL;
}

SEC("fentry/nvme_tcp_try_send")
int BPF_PROG(nvme_tcp_try_send_entry, struct nvme_tcp_queue *queue)
{
        struct nvme_tcp_request *request;

        if (!unsent && !blocked_queues)
                return 0;
        request = send_candidate(queue);
        send_begins((__u64)queue, request ? (__u64)request_of(request) : 0);
        return 0;
}

SEC("fexit/nvme_tcp_try_send")
int BPF_PROG(nvme_tcp_try_send_exit, struct nvme_tcp_queue *queue, int ret)
{
        struct nvme_tcp_request *current = queue->request;

        if (!unsent && !current)
                return 0;
        send_ends((__u64)queue, current ? (__u64)request_of(current) : 0, current && ret == 0);
        return 0;
}

/* H4: an R2T is being processed. Also called for each further H2C PDU of the same round: only the first counts. */
SEC("fentry/nvme_tcp_setup_h2c_data_pdu")
int BPF_PROG(nvme_tcp_setup_h2c_data_pdu, struct nvme_tcp_request *request)
{
        struct request *rq = request_of(request);
        struct host_command *command = command_get((__u64)rq);
        __u64 now, queue;

        if (!command || command->round_start)
                return 0;
        now = bpf_ktime_get_ns();
        if (!command->record.h[NP_H4])
                command->record.h[NP_H4] = now;
        command->record.r2t_rounds++;
        command->record.header.flags |= NP_F_R2T;
        command->round_start = now;
        queue = (__u64)BPF_CORE_READ(rq, mq_hctx, driver_data);
        command->blocked_mark = queue_blocked(queue_get(queue), now);
        if (!__sync_lock_test_and_set(&command->sending_data, 1))
                __sync_fetch_and_add(&unsent, 1);
        return 0;
}

#endif
