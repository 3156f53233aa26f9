/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * nvmet-tcp: R2T and response, queued and sent. Where the compiler left the send functions as functions (6.12) they are
 * hooked; where it inlined them (6.1) the socket call is, which knows the command through the socket's queue.
 */
#ifndef NTPROF_TARGET_TCP_H
#define NTPROF_TARGET_TCP_H

/* T2 of a write in the capsule: its buffers are mapped, the rest of the capsule is still to be read. */
static __always_inline int buffers_mapped(struct nvmet_tcp_cmd *cmd)
{
        struct target_command *command = command_get(req_of(cmd));

        if (command && (command->record.header.flags & NP_F_IN_CAPSULE) && !command->record.t[NP_T2])
                command->record.t[NP_T2] = bpf_ktime_get_ns();
        return 0;
}

/* Called for writes only, and again for each H2C PDU of one that is fetched. */
ENTRY(nvmet_tcp_build_pdu_iovec, nvmet_tcp_build_pdu_iovec, struct nvmet_tcp_cmd *cmd)
{
        return buffers_mapped(cmd);
}

/* What 5.10 and 5.15 call it. */
ENTRY(nvmet_tcp_map_pdu_iovec, nvmet_tcp_map_pdu_iovec, struct nvmet_tcp_cmd *cmd)
{
        return buffers_mapped(cmd);
}

/* T8; for a write whose data must be asked for the first call queues the R2T. */
ENTRY(nvmet_tcp_queue_response, nvmet_tcp_queue_response, struct nvmet_req *req)
{
        struct target_command *command = command_get((__u64)req);
        struct np_target_record *record;
        struct nvmet_tcp_queue *queue;
        __u16 status;
        __u64 now;

        if (!command)
                return 0;
        now = bpf_ktime_get_ns();
        record = &command->record;
        status = READ(req, cqe, status) >> 1;

        if (command->needs_r2t && !status) {
                record->r2t_queued = now;
                record->header.flags |= NP_F_R2T;
        } else if (!record->t[NP_T8]) {
                check_response(&record->header.id, req);
                storage_answered(command, status, now);
        }
        queue = queue_of((__u64)req);
        if (check_wanted(NP_CHECK_TCP_COMMAND))
                check(NP_CHECK_TCP_COMMAND, (__u64)READ(req, sq) == (__u64)&queue->nvme_sq);
        command_queued(command, queue_get_or_add((__u64)queue), now);
        return 0;
}

#ifdef NTPROF_PROBES
TRACEPOINT(nvmet_req_complete, nvmet_tcp_queue_response__traced, struct nvmet_req *req)
{
        struct target_command *command;

        if (!under_way || READ(req, ops, type) != NVMF_TRTYPE_TCP)
                return 0;
        command = answer_traced(req);
        if (command)
                command_queued(command, queue_get_or_add((__u64)queue_of((__u64)req)), command->record.t[NP_T8]);
        return 0;
}
#endif

static __always_inline void r2t_sent(__u64 req, struct send_queue *queue)
{
        struct target_command *command = command_get(req);
        __u64 now = bpf_ktime_get_ns();

        if (!command)
                return;
        command->record.t[NP_T2] = now;
        command->record.blocked_r2t_ns += queue_blocked_since(queue, now, command->blocked_mark);
        command_sent(command);
}

/* T9: the record is complete. */
static __always_inline void response_sent(__u64 req, struct send_queue *queue)
{
        struct target_command *command = command_get(req);
        struct np_target_record *record;

        if (!command)
                return;
        record = &command->record;
        record->t[NP_T9] = bpf_ktime_get_ns();
        record->cpu_response = bpf_get_smp_processor_id();
        record->blocked_ns += queue_blocked_since(queue, record->t[NP_T9], command->blocked_mark);
        emit(record, sizeof(*record));
        command_forget(req, command);
}

/* --- send functions as functions: they return 1 when all is sent, else -EAGAIN or an error */

EXIT(nvmet_try_send_r2t, nvmet_try_send_r2t, is_sending, struct nvmet_tcp_cmd *cmd, bool last_in_batch, int ret)
{
        if (any_unsent() && ret > 0)
                r2t_sent(req_of(cmd), queue_get((__u64)READ(cmd, queue)));
        return 0;
}

/* cmd was put back inside, but its memory is the queue's, and the queue is busy here. */
EXIT(nvmet_try_send_response, nvmet_try_send_response, is_sending, struct nvmet_tcp_cmd *cmd, bool last_in_batch, int ret)
{
        if (any_unsent() && ret > 0)
                response_sent(req_of(cmd), queue_get((__u64)READ(cmd, queue)));
        return 0;
}

/* Without flow control of the submission queue (sqhd_disabled) the last data, or their digest, are all the response that a
 * read that succeeded has. */
EXIT(nvmet_try_send_data, nvmet_try_send_data, is_sending, struct nvmet_tcp_cmd *cmd, bool last_in_batch, int ret)
{
        if (any_unsent() && ret > 0 && READ(cmd, queue, nvme_sq.sqhd_disabled) && !READ(cmd, queue, data_digest))
                response_sent(req_of(cmd), queue_get((__u64)READ(cmd, queue)));
        return 0;
}

EXIT(nvmet_try_send_ddgst, nvmet_try_send_ddgst, is_sending, struct nvmet_tcp_cmd *cmd, bool last_in_batch, int ret)
{
        if (any_unsent() && ret > 0 && READ(cmd, queue, nvme_sq.sqhd_disabled))
                response_sent(req_of(cmd), queue_get((__u64)READ(cmd, queue)));
        return 0;
}

/* --- or the socket call below them: kernel_sendpage(sock, page, offset, size, flags), up to 6.4. Other sockets' queues
 * are not in the map `queues`. */

/* As nvmet_try_send_data() above. The sum of what was sent is counted after the call. */
static __always_inline bool is_last_of_all(struct nvmet_tcp_queue *queue, struct nvmet_tcp_cmd *cmd, int ret)
{
        return BPF_CORE_READ(queue, nvme_sq.sqhd_disabled) && !BPF_CORE_READ(queue, data_digest) &&
                BPF_CORE_READ(cmd, wbytes_done) + ret == BPF_CORE_READ(cmd, req.transfer_len);
}

static __always_inline bool socket_is_sending(__u64 sock)
{
        return any_unsent() && queue_get((__u64)BPF_CORE_READ((struct socket *)sock, sk, sk_user_data));
}

EXIT(kernel_sendpage, kernel_sendpage, socket_is_sending, struct socket *sock, void *page, int offset, size_t size, int flags,
     int ret)
{
        struct nvmet_tcp_queue *queue;
        struct nvmet_tcp_cmd *cmd;
        struct send_queue *state;
        enum nvmet_tcp_send_state sent;

        if (!any_unsent() || ret <= 0 || (size_t)ret != size)
                return 0;
        queue = READ(sock, sk, sk_user_data);
        state = queue_get((__u64)queue);
        if (!state)
                return 0;
        cmd = BPF_CORE_READ(queue, snd_cmd);
        if (check_wanted(NP_CHECK_TCP_RESPONDING))
                check(NP_CHECK_TCP_RESPONDING, cmd && READ(cmd, queue) == queue);
        if (!cmd)
                return 0;
        sent = BPF_CORE_READ(cmd, state);
        if (sent == NVMET_TCP_SEND_R2T)
                r2t_sent(req_of(cmd), state);
        else if (sent == NVMET_TCP_SEND_RESPONSE || (sent == NVMET_TCP_SEND_DATA && is_last_of_all(queue, cmd, ret)))
                response_sent(req_of(cmd), state);
        return 0;
}

EXIT_VOID(nvmet_tcp_write_space, nvmet_tcp_write_space, is_blocked, struct sock *sk)
{
        return write_space(sk);
}

#endif
