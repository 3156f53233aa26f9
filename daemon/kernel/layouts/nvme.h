/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The structures of the NVMe modules, in all the shapes they have had since 5.10. Which shape, the file of a kernel says
 * (linux-5.10.c), and where it is to be seen: a feature is 1 where it is, and 0, or not named, elsewhere.
 *
 *   REQUEST_START_TIME     nvme_request.start_time, with CONFIG_NVME_MULTIPATH
 *   CTRL_STATE_SECOND      nvme_ctrl.state follows comp_seen, not the flags
 *   CTRL_SRCU              nvme_ctrl's namespaces are under a mutex and SRCU, not under a semaphore
 *   CTRL_NAME              nvme_ctrl.name before cntlid
 *   TCP_H2CDATA_LEFT       nvme_tcp_request.h2cdata_left and h2cdata_offset
 *   NS_BDEV_HANDLE         nvmet_ns's block device has a handle (or file) before it
 *   NS_PDEV                and a PCI device behind it: OFED
 *   SQ_AUTH                nvmet_sq has what DH-HMAC-CHAP needs, with CONFIG_NVME_TARGET_AUTH
 *   SQ_AUTH_INT_STEP       ... with an int dhchap_step
 *   CTRL_DRVDATA           nvmet_ctrl.drvdata
 *   SUBSYS_TEXT_SERIAL     nvmet_subsys.serial is the text, not a number
 *   REQ_PASSTHRU_BIO       nvmet_req.p begins with a bio
 *   REQ_PC_REF             nvmet_req.pc_ref
 *   CMD_CONTROL_BUFFER     nvmet_tcp_cmd.recv_cbuf instead of nr_mapped
 *   QUEUE_KREF             nvmet_tcp_queue.kref
 *
 * CONFIG_NVME_HWMON is taken as set, CONFIG_NVME_TARGET_DEBUGFS as not set: so are they at Debian and Ubuntu.
 */
#pragma once

#include "layout.h"

/* include/linux/nvme.h: what goes over the wire (NVM Express Base Specification, 3.3.3) */
struct nvme_common_command {
        u8 opcode, flags;
        u16 command_id;
        u32 nsid, cdw2[2];
        u64 metadata, dptr[2];
        u32 cdw10, cdw11, cdw12, cdw13, cdw14, cdw15;
};
struct nvme_command {
        struct nvme_common_command common;
};
struct nvme_completion {
        u64 result;
        u16 sq_head, sq_id, command_id, status;
};

/* drivers/nvme/host/nvme.h */
struct nvme_request {
        pointer cmd;
        u64 result;
        u8 genctr, retries, flags;
        u16 status;
#if REQUEST_START_TIME
        u64 start_time;
#endif
        pointer ctrl;
};
struct nvme_ctrl {
        bool comp_seen;
#if CTRL_STATE_SECOND
        int state;
        bool identified;
#else
        bool identified, passthru_err_log_enabled;
        int state;
#endif
        struct spinlock lock;
        struct mutex scan_lock;
        pointer ops, queues[3], dev;
        int instance, numa_node;
        pointer tagsets[2];
        struct list_head namespaces;
#if CTRL_SRCU
        struct mutex namespaces_lock;
        struct srcu_struct srcu;
#else
        struct rw_semaphore namespaces_rwsem;
#endif
        struct device ctrl_device;
        pointer device, hwmon_device;
        struct cdev cdev;
        struct work_struct reset_work, delete_work;
        struct wait_queue_head state_wq;
        pointer subsys;
        struct list_head subsys_entry;
        pointer opal_dev;
#if CTRL_NAME
        char name[12];
#endif
        u16 cntlid;
};
MODULE_HAS(nvme_core, nvme_request);
MODULE_HAS(nvme_core, nvme_ctrl);
MODULE_HAS(nvme_core, nvme_command);
MODULE_HAS(nvme_core, nvme_completion);

/* drivers/nvme/host/tcp.c */
struct nvme_tcp_request {
        struct nvme_request req;
        pointer pdu, queue;
        u32 data_len, pdu_len, pdu_sent;
#if TCP_H2CDATA_LEFT
        u32 h2cdata_left, h2cdata_offset;
#endif
        u16 ttag, status;
        struct list_head entry;
        struct llist_node lentry;
};
struct nvme_tcp_queue {
        pointer sock;
        struct work_struct io_work;
        int io_cpu;
        struct mutex queue_lock, send_mutex;
        struct llist_head req_list;
        struct list_head send_list;
        pointer pdu;
        int pdu_remaining, pdu_offset;
        u64 data_remaining, ddgst_remaining;
        u32 nr_cqe;
        pointer request;
};
MODULE_HAS(nvme_tcp, nvme_tcp_request);
MODULE_HAS(nvme_tcp, nvme_tcp_queue);

/* include/rdma/ib_verbs.h */
struct ib_cqe {
        pointer done;
};
struct ib_sge {
        u64 addr;
        u32 length, lkey;
};
struct ib_send_wr {
        pointer next, wr_cqe, sg_list;
        int num_sge, opcode, send_flags;
        u32 ex;
};
struct ib_rdma_wr {
        struct ib_send_wr wr;
        u64 remote_addr;
        u32 rkey;
};

/* drivers/nvme/host/rdma.c */
struct nvme_rdma_qe {
        struct ib_cqe cqe;
        pointer data;
        u64 dma;
};
struct nvme_rdma_request {
        struct nvme_request req;
        pointer mr;
        struct nvme_rdma_qe sqe;
};
struct nvme_rdma_queue {
        pointer rsp_ring;
        int queue_size;
        u64 cmnd_capsule_len;
        pointer ctrl, device, ib_cq, qp;
};
MODULE_HAS(nvme_rdma, nvme_rdma_qe);
MODULE_HAS(nvme_rdma, nvme_rdma_request);
MODULE_HAS(nvme_rdma, nvme_rdma_queue);

/* drivers/nvme/target/nvmet.h; NVMET_ASYNC_EVENTS is 4, NVMF_NQN_FIELD_LEN 256, NVMET_SN_MAX_SIZE 20,
 * NVMET_MAX_INLINE_BIOVEC 8 */
struct nvmet_ns {
        struct percpu_ref ref;
#if NS_BDEV_HANDLE
        pointer bdev_handle;
#endif
        pointer bdev;
#if NS_PDEV
        pointer pdev;
#endif
        pointer file;
        bool readonly;
        u32 nsid, blksize_shift;
};
struct nvmet_cq {
        u16 qid, size;
};
struct nvmet_sq {
        pointer ctrl;
        struct percpu_ref ref;
        u16 qid, size;
        u32 sqhd;
        bool sqhd_disabled;
#if SQ_AUTH
        bool authenticated;
        struct delayed_work auth_expired_work;
        u16 dhchap_tid;
#if SQ_AUTH_INT_STEP
        u16 dhchap_status;
        int dhchap_step;
#else
        u8 dhchap_status, dhchap_step;
#endif
        pointer dhchap_c1, dhchap_c2;
        u32 dhchap_s1, dhchap_s2;
        pointer dhchap_skey;
        int dhchap_skey_len;
#endif
        struct completion free_done, confirm_done;
};
struct nvmet_ctrl {
        pointer subsys, sqs;
#if CTRL_DRVDATA
        pointer drvdata;
#endif
        bool reset_tbkas;
        struct mutex lock;
        u64 cap;
        u32 cc, csts;
        u8 hostid[16];
        u16 cntlid;
        u32 kato;
        pointer port;
        u32 aen_enabled;
        u64 aen_masked;
        pointer async_event_cmds[4];
        u32 nr_async_event_cmds;
        struct list_head async_events;
        struct work_struct async_event_work;
        struct list_head subsys_entry;
        int ref;
        struct delayed_work ka_work;
        struct work_struct fatal_err_work;
        pointer ops, changed_ns_list;
        u32 nr_changed_ns;
        char subsysnqn[256], hostnqn[256];
};
struct nvmet_subsys {
        int type;
        struct mutex lock;
        int ref;
        struct xarray namespaces;
        u32 nr_namespaces, max_nsid;
        u16 cntlid_min, cntlid_max;
        struct list_head ctrls, hosts;
        bool allow_any_host;
        u16 max_qid;
        u64 ver;
#if SUBSYS_TEXT_SERIAL
        char serial[20];
        bool subsys_discovered;
#else
        u64 serial;
#endif
        pointer subsysnqn;
};
struct nvmet_fabrics_ops {
        pointer owner;
        u32 type;
};
struct nvmet_req {
        pointer cmd, cqe, sq, cq, ns, sg, metadata_sg;
        struct bio_vec inline_bvec[8];
        union {
                struct {
                        struct bio inline_bio;
                } b;
                struct {
                        bool mpool_alloc;
                        struct kiocb iocb;
                        pointer bvec;
                        struct work_struct work;
                } f;
                struct {
#if REQ_PASSTHRU_BIO
                        struct bio inline_bio;
#endif
                        pointer rq;
                        struct work_struct work;
                        bool use_workqueue;
                } p;
        };
        int sg_cnt, metadata_sg_cnt;
        u64 transfer_len, metadata_len;
        pointer port, execute, ops, p2p_dev, p2p_client;
        u16 error_loc;
        u64 error_slba;
#if REQ_PC_REF
        pointer pc_ref;
#endif
};
MODULE_HAS(nvmet, nvmet_ns);
MODULE_HAS(nvmet, nvmet_sq);
MODULE_HAS(nvmet, nvmet_ctrl);
MODULE_HAS(nvmet, nvmet_subsys);
MODULE_HAS(nvmet, nvmet_fabrics_ops);
MODULE_HAS(nvmet, nvmet_req);
/* nvmet can be loaded without nvme_core */
MODULE_HAS(nvmet, nvme_command);
MODULE_HAS(nvmet, nvme_completion);

/* drivers/nvme/target/tcp.c; CMSG_LEN(1) is 17, and the longest of union nvme_tcp_pdu is an ICReq with its 128 bytes */
enum nvmet_tcp_send_state {
        NVMET_TCP_SEND_DATA_PDU,
        NVMET_TCP_SEND_DATA,
        NVMET_TCP_SEND_R2T,
        NVMET_TCP_SEND_DDGST,
        NVMET_TCP_SEND_RESPONSE,
};
struct nvmet_tcp_cmd {
        pointer queue;
        struct nvmet_req req;
        pointer pdus[4];
        u32 rbytes_done, wbytes_done, pdu_len, pdu_recv;
        int sg_idx;
#if CMD_CONTROL_BUFFER
        char recv_cbuf[17];
#else
        int nr_mapped;
#endif
        struct msghdr recv_msg;
        pointer iov;
        u32 flags;
        struct list_head entry;
        struct llist_node lentry;
        u32 offset;
        pointer cur_sg;
        enum nvmet_tcp_send_state state;
};
struct nvmet_tcp_queue {
        pointer sock, port;
        struct work_struct io_work;
        struct nvmet_cq nvme_cq;
        struct nvmet_sq nvme_sq;
#if QUEUE_KREF
        int kref;
#endif
        pointer cmds;
        u32 nr_cmds;
        struct list_head free_list;
        struct llist_head resp_list;
        struct list_head resp_send_list;
        int send_list_len;
        pointer snd_cmd;
        int offset, left, rcv_state;
        pointer cmd;
        u64 pdu[16];
        bool hdr_digest, data_digest;
};
MODULE_HAS(nvmet_tcp, nvmet_tcp_cmd);
MODULE_HAS(nvmet_tcp, nvmet_tcp_queue);

/* include/rdma/rw.h */
struct rdma_rw_ctx {
        u32 nr_ops;
        u8 type;
        struct ib_sge sge;
        struct ib_rdma_wr wr;
};

/* drivers/nvme/target/rdma.c */
struct nvmet_rdma_rsp {
        struct ib_sge send_sge;
        struct ib_cqe send_cqe;
        struct ib_send_wr send_wr;
        pointer cmd, queue;
        struct ib_cqe read_cqe, write_cqe;
        struct rdma_rw_ctx rw;
        struct nvmet_req req;
};
struct nvmet_rdma_queue {
        pointer cm_id, qp, port, cq;
        int sq_wr_avail;
        pointer dev, nsrq;
        struct spinlock state_lock;
        int state;
        struct nvmet_cq nvme_cq;
        struct nvmet_sq nvme_sq;
};
MODULE_HAS(nvmet_rdma, nvmet_rdma_rsp);
MODULE_HAS(nvmet_rdma, nvmet_rdma_queue);
