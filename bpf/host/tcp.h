/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * nvme-tcp on the host: when a command, and the data an R2T asked for, is fully handed to the socket.
 *
 * A queue sends one request at a time, queue->request, and sets that to another when all of it is sent: so a request is
 * fully sent when a send function returns and queue->request is no longer it. Two ways to the request being sent:
 *
 * - nvme_tcp_try_send_cmd_pdu(), _data() and _ddgst() have it as their argument, where the compiler left them as functions
 *   (6.12). They return 1 when their part is sent, else -EAGAIN or an error.
 * - nvme_tcp_try_send(queue) takes it from send_list, or from req_list (newest first) when that is empty, on every kernel
 *   from 5.10 on.
 */
#ifndef NTPROF_HOST_TCP_H
#define NTPROF_HOST_TCP_H

static __always_inline struct request *request_of(struct nvme_tcp_request *request)
{
        return (void *)request - bpf_core_type_size(struct request);
}

/* There is a hook that tells of R2Ts being processed. Without one a command that was sent and is sent once more is sent because
 * of one, which was processed nobody knows when. */
const volatile bool r2ts_are_told;

/* What is sent of the command is data that an R2T asked for. */
static __always_inline bool in_round(const struct host_command *command)
{
        return command->round_start || command->record.h[NP_H3];
}

/* The send call that may be the one that sends the command; stands in for H3 when the response overtakes its return. */
static __always_inline void capsule_begins(struct host_command *command, const struct send_queue *state, __u64 now)
{
        command->send_entry = now;
        command->send_entry_blocked = queue_blocked_since(state, now, command->blocked_mark);
}

/* A round whose R2T was not seen. */
static __always_inline void untold_round_sent(struct np_host_record *record, __u64 now)
{
        if (record->h[NP_H6])
                return;
        record->header.flags |= NP_F_R2T;
        /* Else it was missed: the record lacks H5, and is of no use. */
        if (r2ts_are_told)
                return;
        record->h[NP_H5] = now;
        record->r2t_rounds++;
}

/* H5: the data of this R2T round is sent. */
static __always_inline void round_sent(struct host_command *command, const struct send_queue *state, __u64 now)
{
        struct np_host_record *record = &command->record;

        if (!command->round_start) {
                untold_round_sent(record, now);
                return;
        }
        record->h[NP_H5] = now;
        record->r2t_ns += now - command->round_start;
        record->blocked_r2t_ns += queue_blocked_since(state, now, command->blocked_mark);
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
                record->blocked_submit_ns = queue_blocked_since(state, now, command->blocked_mark);
        }
        if (r2ts_are_told)
                command_sent(&command->sending_command);
}

static __always_inline void request_sent(struct host_command *command, const struct send_queue *state, bool round)
{
        __u64 now = bpf_ktime_get_ns();

        if (round)
                round_sent(command, state, now);
        else
                capsule_sent(command, state, now);
}

/* --- the functions that send a request's parts */

ENTRY(nvme_tcp_try_send_cmd_pdu, nvme_tcp_try_send_cmd_pdu_entry, struct nvme_tcp_request *request)
{
        struct host_command *command;

        if (!any_unsent())
                return 0;
        if (check_wanted(NP_CHECK_TCP_SENDING))
                check(NP_CHECK_TCP_SENDING, READ(request, queue, request) == request);
        command = command_get((__u64)request_of(request));
        if (command)
                capsule_begins(command, queue_get((__u64)READ(request, queue)), bpf_ktime_get_ns());
        return 0;
}

/* The request stays queue->request while more of it is to be sent. On another CPU it can be done and used again before the
 * send returns: a command whose own send has not begun is not the one that was sent. */
static __always_inline struct host_command *sent_command(struct nvme_tcp_request *request, int ret)
{
        struct host_command *command;

        if (!any_unsent() || ret <= 0 || READ(request, queue, request) == request)
                return NULL;
        command = command_get((__u64)request_of(request));
        return command && command->send_entry ? command : NULL;
}

/* The R2T can be processed, on another CPU, before this returns: what was sent is the capsule, whatever the command's state. */
EXIT(nvme_tcp_try_send_cmd_pdu, nvme_tcp_try_send_cmd_pdu_exit, is_sending, struct nvme_tcp_request *request, int ret)
{
        struct host_command *command = sent_command(request, ret);

        if (command)
                request_sent(command, queue_get((__u64)READ(request, queue)), false);
        return 0;
}

/* Data follows the command in the capsule, or is a round's. */
static __always_inline int data_ends(struct nvme_tcp_request *request, int ret)
{
        struct host_command *command = sent_command(request, ret);

        if (command)
                request_sent(command, queue_get((__u64)READ(request, queue)), in_round(command));
        return 0;
}

EXIT(nvme_tcp_try_send_data, nvme_tcp_try_send_data_exit, is_sending, struct nvme_tcp_request *request, int ret)
{
        return data_ends(request, ret);
}

EXIT(nvme_tcp_try_send_ddgst, nvme_tcp_try_send_ddgst_exit, is_sending, struct nvme_tcp_request *request, int ret)
{
        return data_ends(request, ret);
}

/* --- or the one above them */

#define REQ_LIST_WALK 128

/* The request that nvme_tcp_try_send() will send, NULL when there is none. */
static __always_inline struct nvme_tcp_request *send_candidate(struct nvme_tcp_queue *queue)
{
        struct nvme_tcp_request *request = READ(queue, request);
        struct list_head *first;
        struct llist_node *node;

        if (request)
                return request;

        first = READ(queue, send_list.next);
        if ((__u64)first != (__u64)queue + bpf_core_field_offset(struct nvme_tcp_queue, send_list))
                return (void *)first - bpf_core_field_offset(struct nvme_tcp_request, entry);

        node = READ(queue, req_list.first);
        if (!node)
                return NULL;
        for (__u32 i = 0; i < REQ_LIST_WALK; i++) {
                struct llist_node *next = READ(node, next);

                if (!next)
                        return (void *)node - bpf_core_field_offset(struct nvme_tcp_request, lentry);
                node = next;
        }
        count(NP_C_WALK_TRUNCATED);
        return NULL;
}

ENTRY(nvme_tcp_try_send, nvme_tcp_try_send_entry, struct nvme_tcp_queue *queue)
{
        struct nvme_tcp_request *request;
        struct host_command *command;
        struct send_queue *state;
        __u64 rq;

        if (!any_unsent())
                return 0;
        state = queue_get((__u64)queue);
        if (!state)
                return 0;
        state->sending = 0;
        request = send_candidate(queue);
        if (!request)
                return 0;
        if (check_wanted(NP_CHECK_TCP_SENDING))
                check(NP_CHECK_TCP_SENDING, READ(request, queue) == queue);
        rq = (__u64)request_of(request);
        command = command_get(rq);
        if (!command)
                return 0;
        state->sending = rq;
        state->generation = command->record.h[NP_H2];
        state->round = in_round(command);
        if (!state->round)
                capsule_begins(command, state, bpf_ktime_get_ns());
        return 0;
}

EXIT_VOID(nvme_tcp_try_send, nvme_tcp_try_send_exit, is_sending, struct nvme_tcp_queue *queue)
{
        struct nvme_tcp_request *current;
        struct host_command *command;
        struct send_queue *state;
        __u64 rq;

        if (!any_unsent())
                return 0;
        state = queue_get((__u64)queue);
        if (!state)
                return 0;
        rq = state->sending;
        state->sending = 0;
        current = READ(queue, request);
        if (!rq || (current && (__u64)request_of(current) == rq))
                return 0;
        command = command_get(rq);
        if (command && command->record.h[NP_H2] == state->generation)
                request_sent(command, state, state->round);
        return 0;
}

/* H4: an R2T is being processed. */
static __always_inline void round_begins(struct host_command *command, __u64 queue)
{
        __u64 now = bpf_ktime_get_ns();

        if (!command->record.h[NP_H4])
                command->record.h[NP_H4] = now;
        command->record.r2t_rounds++;
        command->record.header.flags |= NP_F_R2T;
        command->round_start = now;
        if (arrivals_at_sockets)
                r2t_processed(command, (void *)queue, now);
        command->blocked_mark = queue_blocked(queue_get(queue), now);
        flag_set(&command->sending_data, &unsent);
}

static __always_inline __u64 queue_of_request(struct request *rq)
{
        return (__u64)BPF_CORE_READ(rq, mq_hctx, driver_data);
}

/* Also called for each further H2C PDU of the same round: only the first counts. */
ENTRY(nvme_tcp_setup_h2c_data_pdu, nvme_tcp_setup_h2c_data_pdu, struct nvme_tcp_request *request)
{
        struct request *rq = request_of(request);
        struct host_command *command = command_get((__u64)rq);

        if (command && !command->round_start)
                round_begins(command, queue_of_request(rq));
        return 0;
}

/* include/linux/nvme-tcp.h: struct nvme_tcp_r2t_pdu */
#define NVME_TCP_R2T 0x09
struct r2t_pdu {
        __u8 type;
        __u8 others[7];
        __u16 command_id;
};

/* Where the compiler inlined all that processes an R2T (5.10), it still asks for the request with its tag, as it does for each PDU
 * that is received: the header of that tells. Other drivers' requests, and nvme-rdma's, have none that could be one. */
ENTRY(blk_mq_tag_to_rq, blk_mq_tag_to_rq, struct blk_mq_tags *tags, unsigned int tag)
{
        struct host_command *command;
        struct nvme_tcp_queue *queue;
        struct request *rq = NULL;
        struct r2t_pdu pdu = {};

        if (!under_way)
                return 0;
        bpf_probe_read_kernel(&rq, sizeof(rq), READ(tags, rqs) + tag);
        command = command_get((__u64)rq);
        if (!command || command->round_start || command->response.queue)
                return 0;
        queue = (void *)queue_of_request(rq);
        bpf_probe_read_kernel(&pdu, sizeof(pdu), BPF_CORE_READ(queue, pdu));
        if (pdu.type == NVME_TCP_R2T && pdu.command_id == command->record.header.id.cid)
                round_begins(command, (__u64)queue);
        return 0;
}

EXIT_VOID(nvme_tcp_write_space, nvme_tcp_write_space, is_blocked, struct sock *sk)
{
        return write_space(sk);
}

#endif
