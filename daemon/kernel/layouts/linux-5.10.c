/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Linux 5.10.223, in Debian's configuration of bullseye: CONFIG_NVME_HWMON and CONFIG_NVME_MULTIPATH set, CONFIG_NVME_TARGET_PASSTHRU not.
 * Members are those of the files and lines named. Earlier releases of 5.10 have no nvme_request.genctr, and its flags at another place.
 */
#include "nvme-command.h"

/* drivers/nvme/host/nvme.h:164 */
struct nvme_request {
        pointer cmd;
        u64 result;
        u8 genctr, retries, flags;
        u16 status;
        pointer ctrl;
};

/* drivers/nvme/host/nvme.h:241 */
struct nvme_ctrl {
        bool comp_seen;
        int state;
        bool identified;
        struct spinlock lock;
        struct mutex scan_lock;
        pointer ops, queues[3], dev;
        int instance, numa_node;
        pointer tagsets[2];
        struct list_head namespaces;
        struct rw_semaphore namespaces_rwsem;
        struct device ctrl_device;
        pointer device, hwmon_device;
        struct cdev cdev;
        struct work_struct reset_work, delete_work;
        struct wait_queue_head state_wq;
        pointer subsys;
        struct list_head subsys_entry;
        pointer opal_dev;
        char name[12];
        u16 cntlid;
};

MODULE_HAS(nvme_core, nvme_request);
MODULE_HAS(nvme_core, nvme_ctrl);
MODULE_HAS(nvme_core, nvme_command);
MODULE_HAS(nvme_core, nvme_completion);

/* drivers/nvme/host/tcp.c:78 */
struct nvme_tcp_request {
        struct nvme_request req;
        pointer pdu, queue;
        u32 data_len, pdu_len, pdu_sent;
        u16 ttag;
        struct list_head entry;
        struct llist_node lentry;
};

/* drivers/nvme/host/tcp.c:112 */
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

/* include/rdma/ib_verbs.h:1326 (ib_cqe), 1340 (ib_sge), 1346 (ib_send_wr), 1366 (ib_rdma_wr) */
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

/* drivers/nvme/host/rdma.c:50 */
struct nvme_rdma_qe {
        struct ib_cqe cqe;
        pointer data;
        u64 dma;
};

/* drivers/nvme/host/rdma.c:62 */
struct nvme_rdma_request {
        struct nvme_request req;
        pointer mr;
        struct nvme_rdma_qe sqe;
};

MODULE_HAS(nvme_rdma, nvme_rdma_qe);
MODULE_HAS(nvme_rdma, nvme_rdma_request);

/* drivers/nvme/target/nvmet.h:56 */
struct nvmet_ns {
        struct percpu_ref ref;
        pointer bdev, file;
        bool readonly;
        u32 nsid, blksize_shift;
};

/* drivers/nvme/target/nvmet.h:96 */
struct nvmet_cq {
        u16 qid, size;
};

/* drivers/nvme/target/nvmet.h:101 */
struct nvmet_sq {
        pointer ctrl;
        struct percpu_ref ref;
        u16 qid, size;
        u32 sqhd;
        bool sqhd_disabled;
        struct completion free_done, confirm_done;
};

/* drivers/nvme/target/nvmet.h:165; NVMET_ASYNC_EVENTS is 4, NVMF_NQN_FIELD_LEN 256 */
struct nvmet_ctrl {
        pointer subsys, sqs;
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

/* drivers/nvme/target/nvmet.h:216 */
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
        u64 ver, serial;
        pointer subsysnqn;
};

/* drivers/nvme/target/nvmet.h:291 */
struct nvmet_fabrics_ops {
        pointer owner;
        u32 type;
};

/* drivers/nvme/target/nvmet.h:312; NVMET_MAX_INLINE_BIOVEC is 8 */
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

/* drivers/nvme/target/tcp.c:37 */
enum nvmet_tcp_send_state {
        NVMET_TCP_SEND_DATA_PDU,
        NVMET_TCP_SEND_DATA,
        NVMET_TCP_SEND_R2T,
        NVMET_TCP_SEND_DDGST,
        NVMET_TCP_SEND_RESPONSE,
};

/* drivers/nvme/target/tcp.c:56 */
struct nvmet_tcp_cmd {
        pointer queue;
        struct nvmet_req req;
        pointer pdus[4];
        u32 rbytes_done, wbytes_done, pdu_len, pdu_recv;
        int sg_idx, nr_mapped;
        struct msghdr recv_msg;
        pointer iov;
        u32 flags;
        struct list_head entry;
        struct llist_node lentry;
        u32 offset;
        pointer cur_sg;
        enum nvmet_tcp_send_state state;
};

/* drivers/nvme/target/tcp.c:94; the longest of union nvme_tcp_pdu (include/linux/nvme-tcp.h:181) is an ICReq's 128 bytes */
struct nvmet_tcp_queue {
        pointer sock, port;
        struct work_struct io_work;
        struct nvmet_cq nvme_cq;
        struct nvmet_sq nvme_sq;
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

/* include/rdma/rw.h:12 */
struct rdma_rw_ctx {
        u32 nr_ops;
        u8 type;
        struct ib_sge sge;
        struct ib_rdma_wr wr;
};

/* drivers/nvme/target/rdma.c:56 */
struct nvmet_rdma_rsp {
        struct ib_sge send_sge;
        struct ib_cqe send_cqe;
        struct ib_send_wr send_wr;
        pointer cmd, queue;
        struct ib_cqe read_cqe, write_cqe;
        struct rdma_rw_ctx rw;
        struct nvmet_req req;
};

/* drivers/nvme/target/rdma.c:85 */
struct nvmet_rdma_queue {
        pointer cm_id, qp, port, cq;
};

MODULE_HAS(nvmet_rdma, nvmet_rdma_rsp);
MODULE_HAS(nvmet_rdma, nvmet_rdma_queue);
