/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Linux 5.15.135. Planned, not run. Early releases of 5.15 have nvme_tcp_queue.more_requests before request.
 *
 *   drivers/nvme/host/nvme.h      163 nvme_request, 241 nvme_ctrl
 *   drivers/nvme/host/tcp.c       78 nvme_tcp_request, 113 nvme_tcp_queue
 *   drivers/nvme/host/rdma.c      50 nvme_rdma_qe, 62 nvme_rdma_request, 85 nvme_rdma_queue
 *   drivers/nvme/target/nvmet.h   58 nvmet_ns, 98 nvmet_cq, 103 nvmet_sq, 167 nvmet_ctrl, 213 nvmet_subsys,
 *                                 295 nvmet_fabrics_ops, 316 nvmet_req
 *   drivers/nvme/target/tcp.c     46 nvmet_tcp_send_state, 65 nvmet_tcp_cmd, 103 nvmet_tcp_queue
 *   drivers/nvme/target/rdma.c    56 nvmet_rdma_rsp, 85 nvmet_rdma_queue
 *   include/rdma/rw.h             14 rdma_rw_ctx
 *   include/rdma/ib_verbs.h       1345 ib_sge, 1351 ib_cqe, 1355 ib_send_wr, 1371 ib_rdma_wr
 */
#define CTRL_STATE_SECOND 1
#define CTRL_NAME 1
#define SUBSYS_TEXT_SERIAL 1
#define REQ_PASSTHRU_BIO 1

#include "nvme.h"
