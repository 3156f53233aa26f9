/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * nvmet-rdma: write data fetched by RDMA READ, the response posted and its send completed. A completion (struct ib_wc) points
 * to a member of the command's struct nvmet_rdma_rsp, of which its struct nvmet_req is another.
 */
#ifndef NTPROF_TARGET_RDMA_H
#define NTPROF_TARGET_RDMA_H

/* A record leaves when its response's send has completed; else when it is posted. */
const volatile bool wait_for_send_completion;

static __always_inline __u64 req_of_rsp(__u64 rsp)
{
        return rsp + bpf_core_field_offset(struct nvmet_rdma_rsp, req);
}

static __always_inline void check_command(struct nvmet_req *req)
{
        struct nvmet_rdma_rsp *rsp = (void *)req - bpf_core_field_offset(struct nvmet_rdma_rsp, req);
        struct nvmet_rdma_queue *queue;

        if (!check_wanted(NP_CHECK_RDMA_COMMAND))
                return;
        queue = BPF_CORE_READ(rsp, queue);
        check(NP_CHECK_RDMA_COMMAND, (__u64)READ(req, sq) == (__u64)&queue->nvme_sq);
}

/* The driver asks the connection for its queue, too, whatever the completion's status. */
static __always_inline void check_completion(enum np_check which, __u64 rsp_, struct ib_cq *cq, struct ib_wc *wc)
{
        struct nvmet_rdma_rsp *rsp = (void *)rsp_;
        struct nvmet_rdma_queue *queue;

        if (!check_wanted(which) || !under_way)
                return;
        queue = BPF_CORE_READ(rsp, queue);
        check(which, queue == READ(wc, qp, qp_context) && BPF_CORE_READ(queue, cq) == cq);
}

/* Of a response's send completion. */
static __always_inline __u64 rsp_of_send(struct ib_wc *wc)
{
        return (__u64)READ(wc, wr_cqe) - bpf_core_field_offset(struct nvmet_rdma_rsp, send_cqe);
}

/* Goes to storage, or posts the RDMA READ; again for a command that had found the send queue full. */
ENTRY(nvmet_rdma_execute_command, nvmet_rdma_execute_command, struct nvmet_rdma_rsp *rsp)
{
        struct target_command *command = command_get(req_of_rsp((__u64)rsp));

        if (!command)
                return 0;
        if (!command->fetch_posted)
                command->record.ta = cq_arrival(READ(rsp, queue, cq), 0, command->record.t[NP_T1]);
        command->fetch_posted = bpf_ktime_get_ns();
        return 0;
}

/* T3, and so T2: the data is here. */
ENTRY(nvmet_rdma_read_data_done, nvmet_rdma_read_data_done, struct ib_cq *cq, struct ib_wc *wc)
{
        __u64 rsp = (__u64)READ(wc, wr_cqe) - bpf_core_field_offset(struct nvmet_rdma_rsp, read_cqe), now, arrival;
        __u64 req = req_of_rsp(rsp);
        struct target_command *command = command_get(req);
        struct np_target_record *record;

        check_completion(NP_CHECK_RDMA_READ, rsp, cq, wc);
        if (!command)
                return 0;
        /* The connection broke: there will be no response. */
        if (READ(wc, status) != IB_WC_SUCCESS) {
                count(NP_C_STALE);
                command_forget(req, command);
                return 0;
        }
        now = bpf_ktime_get_ns();
        record = &command->record;
        record->t[NP_T2] = command->fetch_posted;
        record->t[NP_T3] = now;
        record->fetch_ns = now - command->fetch_posted;
        record->header.flags |= NP_F_RDMA_READ;
        arrival = cq_arrival(cq, command->fetch_posted, now);
        if (arrival) {
                record->receive_data_ns = now - arrival;
                record->header.flags |= NP_F_DATA_ARRIVAL;
        }
        return 0;
}

/* T8 */
ENTRY(nvmet_rdma_queue_response, nvmet_rdma_queue_response_entry, struct nvmet_req *req)
{
        struct target_command *command = command_get((__u64)req);
        __u64 now;

        if (!command)
                return 0;
        now = bpf_ktime_get_ns();
        if (!command->record.t[NP_T8]) {
                check_response(&command->record.header.id, req);
                check_command(req);
                storage_answered(command, READ(req, cqe, status) >> 1, now);
        }
        command_queued(command, NULL, now);
        return 0;
}

#ifdef NTPROF_PROBES
TRACEPOINT(nvmet_req_complete, nvmet_rdma_queue_response_entry__traced, struct nvmet_req *req)
{
        struct target_command *command;

        if (!under_way || READ(req, ops, type) == NVMF_TRTYPE_TCP)
                return 0;
        command = answer_traced(req);
        if (command)
                command_queued(command, NULL, command->record.t[NP_T8]);
        return 0;
}
#endif

static __always_inline void response_posted(struct target_command *command, __u64 now)
{
        command->record.t[NP_T9] = now;
        command->record.cpu_response = bpf_get_smp_processor_id();
        command_sent(command);
}

static __always_inline void done(__u64 req, struct target_command *command)
{
        emit(&command->record, sizeof(command->record));
        command_forget(req, command);
}

/* T9: the response is posted, and before it the data of a read. The send can complete on another CPU before this returns, and
 * the memory be another command's already: that has no T8 then. */
EXIT_VOID(nvmet_rdma_queue_response, nvmet_rdma_queue_response_exit, is_sending, struct nvmet_req *req)
{
        struct target_command *command;

        if (!any_unsent())
                return 0;
        command = command_get((__u64)req);
        if (!command || !command->record.t[NP_T8] || command->record.t[NP_T9])
                return 0;
        response_posted(command, bpf_ktime_get_ns());
        if (!wait_for_send_completion)
                done((__u64)req, command);
        return 0;
}

/* T9 of a response whose send completed before the call that posted it was seen to return. By probes most of these returns were
 * missed, in the drive's interrupt: nothing is known of them but when the call began, and it takes less time than an answer. */
static __always_inline __u64 posted_unseen(const struct target_command *command, __u64 now)
{
#ifdef NTPROF_PROBES
        return command->record.t[NP_T8];
#else
        return now;
#endif
}

#ifdef NTPROF_PROBES
/* The commands of which that return was missed are the only ones that are still known here, unless the session is in detail. */
ENTRY(nvmet_rdma_send_done, nvmet_rdma_queue_response_exit__completed, struct ib_cq *cq, struct ib_wc *wc)
{
        struct target_command *command;
        __u64 req;

        if (!under_way || wait_for_send_completion)
                return 0;
        req = req_of_rsp(rsp_of_send(wc));
        command = command_get(req);
        if (!command || !command->record.t[NP_T8])
                return 0;
        response_posted(command, posted_unseen(command, 0));
        done(req, command);
        return 0;
}
#endif

/* TS: the host's side has acknowledged the response, and all data before it. */
ENTRY(nvmet_rdma_send_done, nvmet_rdma_send_done, struct ib_cq *cq, struct ib_wc *wc)
{
        __u64 rsp = rsp_of_send(wc), now;
        __u64 req = req_of_rsp(rsp);
        struct target_command *command = command_get(req);

        check_completion(NP_CHECK_RDMA_SENT, rsp, cq, wc);
        if (!command || !command->record.t[NP_T8])
                return 0;
        now = bpf_ktime_get_ns();
        if (!command->record.t[NP_T9])
                response_posted(command, posted_unseen(command, now));
        if (READ(wc, status) == IB_WC_SUCCESS)
                command->record.ts = now;
        done(req, command);
        return 0;
}

ENTRY(ib_cq_completion_workqueue, ib_cq_completion_workqueue, struct ib_cq *cq)
{
        cq_event(cq);
        return 0;
}

ENTRY(ib_cq_poll_work, ib_cq_poll_work, struct work_struct *work)
{
        if (!rounds_are_traced)
                cq_round_begins((__u64)work - bpf_core_field_offset(struct ib_cq, work));
        return 0;
}

CQ_TRACED(ib_cq_completion_workqueue, ib_cq_poll_work)

#endif
