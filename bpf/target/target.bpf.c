// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The target's programs: one record a sampled command, from its arrival at the driver to its response's last byte.
 *
 *   nvmet.h        T1 T4 T7: nvmet; chooses what is sampled
 *   block.h        T5 T6: the drive's request, in detail
 *   tcp.h          T2 T8 T9: nvmet-tcp
 *   tcp-receive.h  TA: nvmet-tcp, in detail
 *   rdma.h         T2 T3 T8 T9 TA TS: nvmet-rdma
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
#include "../flush-queue.h"
#include "../cq.h"

char LICENSE[] SEC("license") = "GPL";

#include "command.h"
#include "tcp-receive.h"
#include "nvmet.h"
#include "block.h"
#include "tcp.h"
#include "rdma.h"
