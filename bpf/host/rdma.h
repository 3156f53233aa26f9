/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * nvme-rdma on the host: when a command is posted, when its response is handled, and since when that was at the completion
 * queue.
 */
#ifndef NTPROF_HOST_RDMA_H
#define NTPROF_HOST_RDMA_H

static __always_inline __u64 request_of_qe(struct nvme_rdma_qe *qe)
{
        return (__u64)qe - bpf_core_field_offset(struct nvme_rdma_request, sqe) - bpf_core_type_size(struct request);
}

/* Of a queue that has sampled commands. An asynchronous event request is in no request, but on the controller's first queue,
 * which has none. */
static __always_inline void check_posted(struct nvme_rdma_queue *queue, struct request *rq)
{
        if (check_wanted(NP_CHECK_RDMA_SENDING) && queue_get((__u64)queue))
                check(NP_CHECK_RDMA_SENDING, BPF_CORE_READ(rq, mq_hctx, driver_data) == queue);
}

static __always_inline void check_command(struct nvme_rdma_qe *qe, __u16 cid)
{
        struct nvme_command *cmd;

        if (!check_wanted(NP_CHECK_RDMA_SENDING))
                return;
        cmd = READ(qe, data);
        check(NP_CHECK_RDMA_SENDING, BPF_CORE_READ(cmd, common.command_id) == cid);
}

/* Before the response itself is looked at, which need not be the one that came (below). */
static __always_inline void check_response(struct ib_wc *wc, struct nvme_rdma_qe *qe)
{
        struct nvme_rdma_queue *queue;
        __u64 at;

        if (!check_wanted(NP_CHECK_RDMA_RESPONSE))
                return;
        queue = READ(wc, qp, qp_context);
        at = (__u64)qe - (__u64)BPF_CORE_READ(queue, rsp_ring);
        check(NP_CHECK_RDMA_RESPONSE, BPF_CORE_READ(queue, qp) == READ(wc, qp) &&
              at < BPF_CORE_READ(queue, queue_size) * (__u64)bpf_core_type_size(struct nvme_rdma_qe));
}

/* Also called for asynchronous event requests, whose qe is in no request. */
ENTRY(nvme_rdma_post_send, nvme_rdma_post_send_entry, struct nvme_rdma_queue *queue, struct nvme_rdma_qe *qe)
{
        struct response_key key = { .queue = (__u64)queue };
        struct host_command *command;
        __u64 rq;

        if (!any_unsent())
                return 0;
        rq = request_of_qe(qe);
        check_posted(queue, (struct request *)rq);
        command = command_get(rq);
        if (!command || command->send_entry)
                return 0;
        check_command(qe, command->record.header.id.cid);
        command->send_entry = bpf_ktime_get_ns();
        key.cid = command->record.header.id.cid;
        if (response_await(&key, rq))
                command->response = key;
        return 0;
}

/* H3: posted. On another CPU the command can be done before this returns, and the request used again: a command whose own
 * posting has not begun is not the one that was posted. When the response overtakes, H3 is the posting's entry (block.h). */
EXIT(nvme_rdma_post_send, nvme_rdma_post_send_exit, is_sending, struct nvme_rdma_queue *queue, struct nvme_rdma_qe *qe,
     void *sge, __u32 num_sge, void *first, int ret)
{
        struct host_command *command;

        if (!any_unsent() || ret)
                return 0;
        command = command_get(request_of_qe(qe));
        if (!command || !command->send_entry)
                return 0;
        command->record.h[NP_H3] = bpf_ktime_get_ns();
        command_sent(&command->sending_command);
        return 0;
}

/* H6: the driver takes the response. It ends the request now, or later: when the memory that the command gave access to is
 * invalidated (unless the target did that with its response), and when its own send has completed. Were the response not
 * in memory before the driver has it synchronized (bounce buffers), another one's cid would be read: then H6 is the end. */
ENTRY(nvme_rdma_recv_done, nvme_rdma_recv_done, struct ib_cq *cq, struct ib_wc *wc)
{
        struct nvme_completion *response;
        struct response_key key = {};
        struct host_command *command;
        struct nvme_rdma_qe *qe;
        __u16 cid;
        __u64 now;

        if (!under_way || READ(wc, status) != IB_WC_SUCCESS)
                return 0;
        qe = (void *)READ(wc, wr_cqe) - bpf_core_field_offset(struct nvme_rdma_qe, cqe);
        check_response(wc, qe);
        if (bpf_core_read(&response, sizeof(response), &qe->data) < 0 ||
            bpf_core_read(&cid, sizeof(cid), &response->command_id) < 0)
                return 0;
        key.queue = (__u64)READ(wc, qp, qp_context);
        key.cid = cid;
        command = command_get(response_request(&key));
        if (!command || command->record.h[NP_H6])
                return 0;
        now = bpf_ktime_get_ns();
        command_responded(command, now);
        command->record.ha = cq_arrival(cq, command->send_entry, now);
        return 0;
}

ENTRY(ib_cq_completion_softirq, ib_cq_completion_softirq, struct ib_cq *cq)
{
        cq_event(cq);
        return 0;
}

ENTRY(ib_poll_handler, ib_poll_handler, struct irq_poll *iop)
{
        if (!rounds_are_traced)
                cq_round_begins((__u64)iop - bpf_core_field_offset(struct ib_cq, iop));
        return 0;
}

CQ_TRACED(ib_cq_completion_softirq, ib_poll_handler)

#endif
