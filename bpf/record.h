/* SPDX-License-Identifier: GPL-2.0-or-later OR LGPL-2.1-or-later */
/*
 * What the programs in the kernel hand to user space: records, counters and the configuration they read.
 * Included by the programs (after kernel-types.h) and by user space (after <linux/types.h>), so only __uN types.
 *
 * Times are ns of CLOCK_MONOTONIC of the machine that took them; 0 means "this boundary was not seen".
 * A record is filled in place in a map, keyed by the kernel's own pointer of the command (struct request on the
 * host, struct nvmet_req on the target), and leaves through a ring buffer once, when its command is done.
 * Records hold no kernel pointers.
 */
#ifndef NTPROF_RECORD_H
#define NTPROF_RECORD_H

#define NP_RECORD_VERSION 2

enum np_record_kind {
        NP_RECORD_HOST = 1,
        NP_RECORD_TARGET = 2,
};

/* The fields of the submission queue entry (NVMe Base Specification 2.0, section 3.3.3) that host and target both see
 * unchanged, read once at H2 and at T1. cid holds the host's generation bits. slba is command dwords 10 and 11, nlb the
 * low half of dword 12 as on the wire (0's based for reads and writes), whatever the opcode. */
struct np_identity {
        __u64 slba;
        __u32 nsid;
        __u16 qid;
        __u16 cid;
        __u16 nlb;
        __u16 cntlid;           /* names the connection together with qid; not part of the hash */
        __u8 opcode;
        __u8 reserved[3];
};

enum np_host_boundary { NP_H0, NP_H1, NP_H2, NP_H3, NP_H4, NP_H5, NP_H6, NP_H7, NP_H8, NP_H_COUNT };
enum np_target_boundary { NP_T1 = 1, NP_T2, NP_T3, NP_T4, NP_T5, NP_T6, NP_T7, NP_T8, NP_T9, NP_T_COUNT };

enum np_record_flags {
        NP_F_CANCELLED = 1 << 0,     /* completed by a reset or a timeout, not by a response (NVME_REQ_CANCELLED) */
        NP_F_RETRIED = 1 << 1,       /* not the first attempt of its request */
        NP_F_H0_UNSEEN = 1 << 2,     /* bio submission not seen (split bio, slot taken): h[NP_H0] is h[NP_H1] */
        NP_F_H3_ENTRY = 1 << 3,      /* the send had not returned when the response came: H3 is the send's entry */
        NP_F_IN_CAPSULE = 1 << 4,    /* target, TCP: write data came behind the command in its capsule, and T2 is there */
        NP_F_R2T = 1 << 5,           /* host: at least one R2T; target: R2T sent */
        NP_F_INIT_FAILED = 1 << 6,   /* target: refused before storage, so T4..T7 are missing by right */
        NP_F_FUA = 1 << 7,           /* write with Force Unit Access (dword 12, bit 30) */
        NP_F_RDMA_READ = 1 << 8,     /* target, RDMA: write data was fetched by RDMA READ: T2 and T3 are there */
        NP_F_DATA_ARRIVAL = 1 << 9,  /* target: receive_data_ns is known; host: receive_r2t_ns is, of all rounds */
        NP_F_PREFLUSH = 1 << 10,     /* host: a flush for which a write waits: the write's record has its time in it, too */
};

struct np_record_header {
        __u16 kind;             /* enum np_record_kind */
        __u16 version;          /* NP_RECORD_VERSION */
        __u32 size;             /* of the whole record, bytes */
        __u32 hash;             /* np_sample_hash() of the identity */
        __u32 threshold;        /* in force when this command was chosen: hash < threshold, 0xffffffff = all */
        __u32 flags;            /* enum np_record_flags */
        __u16 status;           /* NVMe status field of the completion, without the phase bit */
        __u16 filter;           /* host: index of the path; target: index of the (host, subsystem) pair */
        struct np_identity id;
};

/* Sums are over all R2T rounds of the command. blocked_*: the part of it in which the queue's sender was blocked on a
 * full socket buffer (from the send that found no room until there was room again, send-queue.h); it is the network's
 * time. "Recorded in detail only" means: 0 unless the session asked for it, or the kernel has no hook. */
struct np_host_record {
        struct np_record_header header;
        __u64 h[NP_H_COUNT];    /* H4 is the first round's, H5 the last round's. H4 0 with an R2T: no hook for it, so r2t_ns is 0 */
        __u64 r2t_ns;           /* sum of (H5 - H4) */
        __u64 blocked_submit_ns;/* within H2..H3 */
        __u64 blocked_r2t_ns;   /* within the (H4..H5) */
        __u64 ha;               /* HA: the response's last byte was at the socket (TCP), the completion queue's event came (RDMA);
                                 * at most H6. In detail only. 0: not seen */
        __u64 released;         /* RDMA: when the request was handed back, after local invalidation and send completion:
                                 * between H6 and H7. 0 with TCP */
        __u64 receive_r2t_ns;   /* sum over the rounds of (H4 - the R2T's arrival at the socket). In detail only */
        __u32 r2t_rounds;
        __u32 cpu;              /* that ran H2 */
        __u32 cpu_response;     /* that ran H6 */
        __u32 tgid;             /* of the process that submitted the bio; 0: not known */
        char comm[16];          /* its name (of its first thread), zero-padded; empty: not known */
};

struct np_target_record {
        struct np_record_header header;
        __u64 t[NP_T_COUNT];    /* t[0] is unused, so that t[NP_T1] is T1 */
        __u64 r2t_queued;       /* an R2T: when it was queued (T2 is when it was sent) */
        __u64 fetch_ns;         /* waiting for write data: sum of (T4 - T2) over all rounds, with RDMA READ T3 - T2 */
        __u64 blocked_ns;       /* within T8..T9 */
        __u64 blocked_r2t_ns;   /* within R2T queued..sent */
        __u64 ta;               /* TA: as HA, of the command; at most T1. In detail only. 0: not seen */
        __u64 receive_data_ns;  /* the part of fetch_ns in which all of the data were at the socket, or the RDMA READ's completion
                                 * at its queue, and the driver had not come to it. In detail only */
        __u64 ts;               /* TS: RDMA: send completion of the response. In detail only */
        __u32 cpu;              /* that ran T1 */
        __u32 cpu_response;     /* that ran T9 */
};

/* Per-CPU counters, each incremented where the thing happens. */
enum np_counter {
        NP_C_COMMANDS,          /* commands of the session's namespaces that passed H2 (a retry counts again) or T1 */
        NP_C_SAMPLED,           /* of them (and of retries) chosen by the hash */
        NP_C_EMITTED,           /* records handed to the ring buffer */
        NP_C_RING_FULL,         /* lost: no room in the ring buffer */
        NP_C_MAP_FULL,          /* lost: no room in the map of commands under way */
        NP_C_RETRIED,           /* lost: the request was sent again before it completed */
        NP_C_STALE,             /* lost: the pointer was reused and no completion had been seen */
        NP_C_PASSTHROUGH,       /* not measured: REQ_OP_DRV_IN/OUT (io_uring passthrough, ioctl) */
        NP_C_WALK_TRUNCATED,    /* the list of requests to send was longer than the program may walk */
        NP_C_KIND_OVERFLOW,     /* counted in COMMANDS, but no slot for its (filter, opcode, nlb) */
        NP_C_CALL_LOST,         /* not seen: a function's return, or what its arguments were (probes only) */
        NP_C_WRONG_TYPES,       /* sampled, and a structure of the kernel's did not hold what it should where it should */
        NP_C_COUNT,
};

/* What a session's first commands show of structures that are known from elsewhere than the kernel itself (check.h). */
enum np_check {
        NP_CHECK_CONTROLLER,    /* host: a request's controller has the number that sysfs tells */
        NP_CHECK_TCP_SENDING,   /* host: what a queue is to send next is a request of that queue */
        NP_CHECK_RDMA_SENDING,  /* host: what a queue posts is a request of that queue, with the command that H2 saw */
        NP_CHECK_RDMA_RESPONSE, /* host: a response is in the ring of its connection's queue */
        NP_CHECK_RDMA_ROUND,    /* both: what is polled is a completion queue that had an event */
        NP_CHECK_ARRIVAL,       /* target: what a host here was answered had come from one of the filters */
        NP_CHECK_REQUEST,       /* target: a request's command is the one that the tracepoint tells */
        NP_CHECK_RESPONSE,      /* target: a response has its command's number, and its queue's */
        NP_CHECK_TCP_COMMAND,   /* target: a command's connection has the queue that its request has */
        NP_CHECK_TCP_RESPONDING,/* target: what a connection sends is a command of that connection */
        NP_CHECK_RDMA_COMMAND,  /* target: a command's connection has the queue that its request has */
        NP_CHECK_RDMA_READ,     /* target: the completion of an RDMA READ is of a command of that connection */
        NP_CHECK_RDMA_SENT,     /* target: the completion of a response's send is */
        NP_CHECK_COUNT,
};

struct np_checks {
        __u32 failed;                   /* bits by enum np_check */
        __u32 made[NP_CHECK_COUNT];
        __u32 due[NP_CHECK_COUNT];      /* it should have been made by then, and none has been; where the programs can tell */
};

/* Count of all commands by kind, per CPU: open addressing, a key of 0 is free. Key: filter + 1 in bits 32..47, FUA in bit
 * 24, opcode in bits 16..23, nlb in bits 0..15. */
#define NP_KIND_SLOTS 64
struct np_kind_count {
        __u64 key;
        __u64 count;
};
struct np_kind_table {
        struct np_kind_count slot[NP_KIND_SLOTS];
};
/* The map `cpus`, one value a CPU. */
struct np_cpu {
        __u64 counter[NP_C_COUNT];
        struct np_kind_table kinds;
};

#define NP_KIND_KEY(filter, opcode, nlb) (((__u64)((filter) + 1) << 32) | ((__u64)(opcode) << 16) | (__u64)(nlb))
#define NP_KIND_FUA (1ULL << 24)

#define NP_FILTERS_MAX 8
#define NP_DISK_NAME_LEN 32     /* DISK_NAME_LEN */
#define NP_CNTLID_UNKNOWN 0xffff /* is no controller's */
#define NP_NQN_LEN 224          /* NVMF_NQN_FIELD_LEN is 256, an NQN has at most 223 bytes */

/* Which commands a session records: a path device on the host, a controller's two NQNs and a namespace on the target. */
struct np_host_filter {
        char disk[NP_DISK_NAME_LEN];    /* nvme6c6n1, or nvme6n1 without native multipath; zero-padded */
        __u32 seed;                     /* hash32 of the path's host NQN */
        __u32 nsid;
        __u32 cntlid;                   /* of the path's controller, NP_CNTLID_UNKNOWN while that reconnects */
        __u32 reserved;
};
struct np_target_filter {
        char subsysnqn[NP_NQN_LEN];     /* zero-padded */
        char hostnqn[NP_NQN_LEN];
        __u32 seed;
        __u32 nsid;
        __u32 hostnqn_length;                   /* bytes, without the final NUL; set by capture-bpf.c */
        __u32 reserved;
};

#endif
