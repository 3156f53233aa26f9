// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The host's programs: one record a sampled command, from the bio's submission to the request's end.
 *
 *   block.h        H0 H1 H6 H8: the block layer, the same for every transport
 *   flush.h        H0 H1 of flushes
 *   nvme.h         H2 H7: nvme-core; chooses what is sampled
 *   tcp.h          H3 H4 H5: nvme-tcp
 *   tcp-receive.h  HA: nvme-tcp, in detail
 *   rdma.h         H3 H6 HA: nvme-rdma
 */
#include "../kernel-types.h"

#ifdef NTPROF_PROBES
#include <asm/ptrace.h>
#endif
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_tracing.h>

#include "../hook.h"
#include "../record.h"
#include "../sample-hash.h"
#include "../live.h"
#include "../calls.h"
#include "../check.h"
#include "../send-queue.h"
#include "../arrivals.h"
#include "../cq.h"

char LICENSE[] SEC("license") = "GPL";

#include "response.h"
#include "command.h"
#include "process.h"
#include "tcp-receive.h"
#include "block.h"
#include "flush.h"
#include "nvme.h"
#include "tcp.h"
#include "rdma.h"
