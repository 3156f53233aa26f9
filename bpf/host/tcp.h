/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * nvme-tcp on the host: when a command, and the data an R2T asked for, is fully handed to the socket.
 *
 * nvme_tcp_try_send(queue) sends one PDU's worth of queue->request, which it takes from send_list, or from req_list
 * (newest first) when send_list is empty. So the request is known at entry, and it is fully sent when queue->request is
 * another at return. One rule for every kernel from 5.10 on, whichever of the functions inside are inlined.
 */
#ifndef NTPROF_HOST_TCP_H
#define NTPROF_HOST_TCP_H

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

static __always_inline struct request *request_of(struct nvme_tcp_request *request)
{
        return (void *)request - bpf_core_type_size(struct request);
}

SEC("fentry/nvme_tcp_try_send")
int BPF_PROG(nvme_tcp_try_send_entry, struct nvme_tcp_queue *queue)
{
        struct nvme_tcp_request *request;
        struct host_command *command;
        struct send_queue *state;
        __u64 now, rq;

        if (!unsent && !blocked_queues)
                return 0;
        state = queue_get((__u64)queue);
        if (!state)
                return 0;
        now = bpf_ktime_get_ns();
        queue_unblock(state, now);
        state->sending = 0;

        request = send_candidate(queue);
        if (!request)
                return 0;
        rq = (__u64)request_of(request);
        command = command_get(rq);
        if (!command)
                return 0;
        state->sending = rq;
        state->generation = command->record.h[NP_H2];
        state->round = command->round_start != 0;
        if (!state->round) {
                command->send_entry = now;
                command->send_entry_blocked = queue_blocked(state, now) - command->blocked_mark;
        }
        return 0;
}

/* H3 and H5 */
SEC("fexit/nvme_tcp_try_send")
int BPF_PROG(nvme_tcp_try_send_exit, struct nvme_tcp_queue *queue, int ret)
{
        struct nvme_tcp_request *request = queue->request;
        struct np_host_record *record;
        struct host_command *command;
        struct send_queue *state;
        __u64 now, rq;

        if (!unsent && !request)
                return 0;
        state = queue_get((__u64)queue);
        if (!state)
                return 0;
        now = bpf_ktime_get_ns();
        /* 0 with a request at hand: EAGAIN, whether some bytes went or none. */
        if (request && ret == 0)
                queue_block(state, now);

        rq = state->sending;
        if (!rq)
                return 0;
        state->sending = 0;
        if (request && (__u64)request_of(request) == rq)
                return 0;       /* not all of it is sent */
        command = command_get(rq);
        if (!command || command->record.h[NP_H2] != state->generation)
                return 0;
        record = &command->record;

        if (state->round) {
                record->h[NP_H5] = now;
                record->r2t_ns += now - command->round_start;
                record->blocked_r2t_ns += queue_blocked(state, now) - command->blocked_mark;
                command->round_start = 0;
                command_sent(&command->sending_data);
        } else {
                /* The R2T can be processed on another CPU before this return. */
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
