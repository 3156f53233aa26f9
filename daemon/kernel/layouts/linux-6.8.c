/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Linux 6.8.0, with CONFIG_NVME_MULTIPATH and CONFIG_NVME_TARGET_AUTH. Planned, not run.
 *
 *   drivers/nvme/host/nvme.h      171 nvme_request, 263 nvme_ctrl
 *   drivers/nvme/host/tcp.c       94 nvme_tcp_request, 131 nvme_tcp_queue
 *   drivers/nvme/host/rdma.c      50 nvme_rdma_qe, 62 nvme_rdma_request, 85 nvme_rdma_queue
 *   drivers/nvme/target/nvmet.h   59 nvmet_ns, 100 nvmet_cq, 105 nvmet_sq, 193 nvmet_ctrl, 248 nvmet_subsys,
 *                                 339 nvmet_fabrics_ops, 361 nvmet_req
 *   drivers/nvme/target/tcp.c     90 nvmet_tcp_send_state, 109 nvmet_tcp_cmd, 149 nvmet_tcp_queue
 *   drivers/nvme/target/rdma.c    59 nvmet_rdma_rsp, 88 nvmet_rdma_queue
 *   include/rdma/rw.h             14 rdma_rw_ctx
 *   include/rdma/ib_verbs.h       1370 ib_sge, 1376 ib_cqe, 1380 ib_send_wr, 1396 ib_rdma_wr
 */
#define REQUEST_START_TIME 1
#define CTRL_NAME 1
#define TCP_H2CDATA_LEFT 1
#define NS_BDEV_HANDLE 1
#define SQ_AUTH 1
#define SQ_AUTH_INT_STEP 1
#define SUBSYS_TEXT_SERIAL 1
#define REQ_PASSTHRU_BIO 1
#define CMD_CONTROL_BUFFER 1
#define QUEUE_KREF 1

#include "nvme.h"
