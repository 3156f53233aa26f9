/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Exactly the kernel internals the programs rely on, and nothing more. Field offsets are relocated at load time from the
 * running kernel's BTF (CO-RE), so only names matter here, not order or size. Each struct cites where it is defined.
 *
 * Programs check the arguments of tracepoints for NULL although these never are: since 6.13, and in 6.12's stable series,
 * the verifier wants it ("bpf: Mark raw_tp arguments with PTR_MAYBE_NULL").
 */
#ifndef NTPROF_KERNEL_TYPES_H
#define NTPROF_KERNEL_TYPES_H

typedef unsigned char __u8;
typedef signed char __s8;
typedef unsigned short __u16;
typedef short __s16;
typedef unsigned int __u32;
typedef int __s32;
typedef unsigned long long __u64;
typedef long long __s64;
typedef __u16 __be16;
typedef __u32 __be32;
typedef __u32 __wsum;
typedef __u16 __le16;
typedef __u32 __le32;
typedef _Bool bool;
typedef unsigned long size_t;

#define true 1
#define false 0
#define NULL ((void *)0)

/* include/uapi/linux/bpf.h */
enum { BPF_ANY = 0, BPF_NOEXIST = 1, BPF_EXIST = 2 };
enum { BPF_RB_NO_WAKEUP = 1, BPF_RB_FORCE_WAKEUP = 2 };
enum { BPF_RB_AVAIL_DATA = 0 };
enum bpf_map_type {
        BPF_MAP_TYPE_HASH = 1,
        BPF_MAP_TYPE_ARRAY = 2,
        BPF_MAP_TYPE_PERCPU_ARRAY = 6,
        BPF_MAP_TYPE_LRU_HASH = 9,
        BPF_MAP_TYPE_RINGBUF = 27,
};

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

/* include/linux/types.h */
struct list_head {
        struct list_head *next, *prev;
};
struct llist_node {
        struct llist_node *next;
};
struct llist_head {
        struct llist_node *first;
};

/* include/linux/blkdev.h, include/linux/blk_types.h, include/linux/blk-mq.h */
struct gendisk {
        int major;
        int first_minor;
        char disk_name[32];
};
struct block_device {
        struct gendisk *bd_disk;
};
struct bvec_iter {
        unsigned int bi_size;
};
struct bio {
        struct bio *bi_next;            /* merged into the same request */
        struct block_device *bi_bdev;
        unsigned short bi_flags;
        struct bvec_iter bi_iter;
        void *bi_private;
};
struct bio___bi_disk {                  /* before 5.12 */
        struct gendisk *bi_disk;
};
struct request_queue {
        struct gendisk *disk;           /* since 5.17; NULL for an admin queue */
};
struct blk_flush_queue;
struct blk_mq_hw_ctx {
        struct blk_flush_queue *fq;
        void *driver_data;              /* struct nvme_tcp_queue or nvme_rdma_queue, set by their init_hctx() */
        unsigned int queue_num;
};
struct request {
        struct request_queue *q;
        struct blk_mq_hw_ctx *mq_hctx;
        __u32 cmd_flags;
        unsigned int __data_len;
        struct list_head queuelist;     /* with the flush it waits for, since 6.6 */
        struct bio *bio;
        void *end_io_data;
        __u64 start_time_ns;            /* when the request was allocated; 0 with iostats off */
};

/* block/blk-mq-tag.h, since 5.16 include/linux/blk-mq.h, with blk_mq_tag_to_rq() */
struct blk_mq_tags {
        struct request **rqs;           /* by tag */
};

struct request___flush_list {           /* before 6.6 */
        struct {
                struct list_head list;
        } flush;
};
struct request___rq_disk {              /* before 5.17 */
        struct gendisk *rq_disk;
};

/* include/linux/sched.h */
struct task_struct {
        struct task_struct *group_leader;
        char comm[16];
};

/* block/blk.h */
struct blk_flush_queue {
        unsigned int flush_running_idx : 1;
        struct list_head flush_queue[2];
        struct request *flush_rq;
};

/* include/linux/nvme.h: the submission queue entry. slba of a read or write is cdw10 and cdw11. */
struct nvme_common_command {
        __u8 opcode;
        __u16 command_id;
        __le32 nsid;
        __le32 cdw10;
        __le32 cdw11;
        __le32 cdw12;
};
struct nvme_command {
        struct nvme_common_command common;
};
struct nvme_completion {
        __le16 sq_id;
        __u16 command_id;
        __le16 status;
};

/* drivers/nvme/host/nvme.h: what follows struct request in memory (blk_mq_rq_to_pdu()) */
struct nvme_ctrl {
        __u16 cntlid;
};
struct nvme_request {
        __u8 retries;
        __u8 flags;
        __u16 status;
        struct nvme_ctrl *ctrl;
};
enum { NVME_REQ_CANCELLED_BIT = 1 << 0 };

/* drivers/nvme/host/tcp.c */
struct nvme_tcp_queue;
struct nvme_tcp_request {
        struct nvme_tcp_queue *queue;
        struct list_head entry;         /* on nvme_tcp_queue.send_list */
        struct llist_node lentry;       /* on nvme_tcp_queue.req_list */
};
struct nvme_tcp_queue {
        void *pdu;                      /* the header being received */
        struct llist_head req_list;
        struct list_head send_list;
        struct nvme_tcp_request *request;
};

/* include/rdma/ib_verbs.h, include/linux/irq_poll.h, include/linux/workqueue.h */
enum ib_wc_status { IB_WC_SUCCESS };
struct ib_cq;
struct irq_poll {
        struct list_head list;
};
struct work_struct {
        struct list_head entry;
};
struct ib_qp {
        void *qp_context;               /* the driver's queue */
        struct ib_cq *recv_cq;
};
struct ib_cqe {
        void *done;
};
struct ib_wc {
        struct ib_cqe *wr_cqe;          /* inside of what was posted */
        enum ib_wc_status status;
        struct ib_qp *qp;
};
struct ib_cq {
        struct irq_poll iop;            /* when it is polled in softirq */
        struct work_struct work;        /* in a worker */
};

/* drivers/nvme/host/rdma.c */
struct nvme_rdma_qe {
        struct ib_cqe cqe;
        void *data;                     /* of rsp_ring: the struct nvme_completion received into it; of a request: its command */
};
struct nvme_rdma_request {
        struct nvme_rdma_qe sqe;
};
struct nvme_rdma_queue {
        struct nvme_rdma_qe *rsp_ring;
        int queue_size;
        struct ib_qp *qp;
};

/* drivers/nvme/target/nvmet.h */
struct nvmet_subsys {
        char *subsysnqn;
};
struct nvmet_ctrl {
        struct nvmet_subsys *subsys;
        __u16 cntlid;
        char hostnqn[256];
};
struct nvmet_sq {
        struct nvmet_ctrl *ctrl;
        __u16 qid;
        bool sqhd_disabled;
};
struct nvmet_ns {
        __u32 blksize_shift;
};
/* include/linux/nvme.h: trtype of the discovery log page */
enum { NVMF_TRTYPE_TCP = 3 };
struct nvmet_fabrics_ops {
        unsigned int type;
};
struct nvmet_req {
        struct nvme_command *cmd;
        struct nvme_completion *cqe;
        struct nvmet_sq *sq;
        struct nvmet_ns *ns;
        size_t transfer_len;
        const struct nvmet_fabrics_ops *ops;
};

/* drivers/nvme/target/tcp.c */
struct nvmet_tcp_queue;
enum nvmet_tcp_send_state {
        NVMET_TCP_SEND_DATA_PDU,
        NVMET_TCP_SEND_DATA,
        NVMET_TCP_SEND_R2T,
        NVMET_TCP_SEND_DDGST,
        NVMET_TCP_SEND_RESPONSE,
};
struct nvmet_tcp_cmd {
        struct nvmet_tcp_queue *queue;
        struct nvmet_req req;
        __u32 wbytes_done;
        enum nvmet_tcp_send_state state;
};
struct nvmet_tcp_queue {
        struct nvmet_sq nvme_sq;
        bool data_digest;
        struct nvmet_tcp_cmd *snd_cmd;
};

/* drivers/nvme/target/rdma.c */
struct nvmet_rdma_queue {
        struct ib_cq *cq;
        struct nvmet_sq nvme_sq;
};
struct nvmet_rdma_rsp {
        struct ib_cqe send_cqe;
        struct ib_cqe read_cqe;
        struct nvmet_rdma_queue *queue;
        struct nvmet_req req;
};

/* include/linux/net.h, include/net/sock.h */
struct socket;
struct sock {
        void *sk_user_data;             /* the driver's queue */
        struct socket *sk_socket;
        void (*sk_data_ready)(struct sock *sk);
        struct {
                int len;
        } sk_backlog;
};
struct socket {
        unsigned long flags;
        struct sock *sk;
};

/* include/net/inet_connection_sock.h, include/linux/tcp.h, include/linux/skbuff.h, include/net/tcp.h */
struct tcp_ulp_ops;
struct inet_connection_sock {
        const struct tcp_ulp_ops *icsk_ulp_ops; /* TLS, for one */
};
struct tcp_sock {
        struct inet_connection_sock inet_conn;
        __u32 rcv_nxt;                  /* sequence number behind what is here */
        __u32 copied_seq;               /* and behind what was read */
};
struct sk_buff {
        struct sock *sk;
        char cb[48];
};
struct tcp_skb_cb {
        __u32 seq;
        __u32 end_seq;
};

#pragma clang attribute pop

#endif
