/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Linux 5.10.223, as in Debian 11. Run, over TCP and RDMA, and equal to the debug symbols of 5.10.0-32-amd64 in every member
 * that is read; what is only checked by, nvme_rdma_queue and nvmet_rdma_queue.nvme_sq, was seen to hold when it was run.
 * Early releases of 5.10 have no nvme_request.genctr, and so its flags elsewhere.
 *
 *   drivers/nvme/host/nvme.h      164 nvme_request, 241 nvme_ctrl
 *   drivers/nvme/host/tcp.c       78 nvme_tcp_request (without status: the same place), 112 nvme_tcp_queue
 *   drivers/nvme/host/rdma.c      50 nvme_rdma_qe, 62 nvme_rdma_request, 85 nvme_rdma_queue
 *   drivers/nvme/target/nvmet.h   56 nvmet_ns, 96 nvmet_cq, 101 nvmet_sq, 165 nvmet_ctrl, 216 nvmet_subsys,
 *                                 291 nvmet_fabrics_ops, 312 nvmet_req
 *   drivers/nvme/target/tcp.c     37 nvmet_tcp_send_state, 56 nvmet_tcp_cmd, 94 nvmet_tcp_queue
 *   drivers/nvme/target/rdma.c    56 nvmet_rdma_rsp, 85 nvmet_rdma_queue
 *   include/rdma/rw.h             14 rdma_rw_ctx
 *   include/rdma/ib_verbs.h       1340 ib_sge, 1346 ib_cqe, 1350 ib_send_wr, 1366 ib_rdma_wr
 */
#define CTRL_STATE_SECOND 1
#define CTRL_NAME 1

#include "nvme.h"
