/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the two program sets share: counters, the test that lets a hook leave at once for a command that is not sampled,
 * and the ring buffer. Included once by each set, which defines its own map `live` of commands under way.
 *
 * Almost every run of a program is for a command that is not sampled. `filter` answers "certainly not" for those from
 * one load: a table of counters indexed by bits of the pointer, counting the entries of `live` that fall on each slot.
 */
#ifndef NTPROF_LIVE_H
#define NTPROF_LIVE_H

#define LIVE_MAX 16384          /* sampled commands under way; more are counted as NP_C_MAP_FULL */
#define QUEUES_MAX 4096         /* queues with sampled commands that are remembered */
#define RING_BYTES (8 * 1024 * 1024)
#define FILTER_BITS 13

struct {
        __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
        __uint(max_entries, 1);
        __type(key, __u32);
        __type(value, struct np_cpu);
} cpus SEC(".maps");

struct {
        __uint(type, BPF_MAP_TYPE_RINGBUF);
        __uint(max_entries, RING_BYTES);
} ring SEC(".maps");

/* What arrives at nvme-tcp's or nvmet-tcp's sockets is recorded (arrivals.h). Else what the shared programs do for that is never
 * reached, and the verifier does not mind that it names types of modules that are not loaded. */
const volatile bool arrivals_at_sockets;

/* Written by user space while the programs run. */
volatile __u32 recording;       /* count and sample */
volatile __u32 threshold;       /* hash < threshold, or 0xffffffff for all */

static __u32 filter[1 << FILTER_BITS];
/* Entries of `live`: 0 lets most hooks leave at once. User space waits for 0 at the end of a session. */
volatile __s64 under_way;
/* Sampled commands whose bytes are not all sent yet. */
static __s64 unsent;

/* The verifier refuses arithmetic on a typed pointer, except to copy its low half, which makes a number of it. */
static __always_inline __u32 pointer_low(__u64 pointer)
{
        __u32 low;

        asm volatile("%[low] = %[pointer]" : [low] "=w"(low) : [pointer] "w"((__u32)pointer));
        return low;
}

/* Spreads a pointer over 2^bits slots. */
static __always_inline __u32 pointer_slot(__u64 pointer, __u32 bits)
{
        return (pointer_low(pointer) >> 4) * 0x9e3779b1U >> (32 - bits);
}

static __always_inline __u32 *filter_slot(__u64 pointer)
{
        return &filter[pointer_slot(pointer, FILTER_BITS)];
}

static __always_inline bool maybe_live(__u64 pointer)
{
        return under_way && *(volatile __u32 *)filter_slot(pointer) != 0;
}

static __always_inline void filter_add(__u64 pointer)
{
        __sync_fetch_and_add(filter_slot(pointer), 1);
        __sync_fetch_and_add(&under_way, 1);
}

static __always_inline void filter_remove(__u64 pointer)
{
        __sync_fetch_and_add(filter_slot(pointer), -1);
        __sync_fetch_and_add(&under_way, -1);
}

/* Counts a command in *how_many while *flag is set: each once, whoever is first. 5.10 has no atomic instruction that tells who
 * that was; probes look at `under_way` instead, which is kept by what is in `live`. */
static __always_inline void flag_set(__u32 *flag, __s64 *how_many)
{
#ifndef NTPROF_PROBES
        if (!__sync_lock_test_and_set(flag, 1))
                __sync_fetch_and_add(how_many, 1);
#endif
}

static __always_inline void flag_clear(__u32 *flag, __s64 *how_many)
{
#ifndef NTPROF_PROBES
        if (__sync_lock_test_and_set(flag, 0))
                __sync_fetch_and_add(how_many, -1);
#endif
}

/* False lets the send hooks leave at once. */
static __always_inline bool any_unsent(void)
{
#ifdef NTPROF_PROBES
        return under_way != 0;
#else
        return unsent != 0;
#endif
}

/* Whether a send that begins now is to be looked at when it ends (hook.h). */
static __always_inline bool is_sending(__u64 argument)
{
        return any_unsent();
}

static __always_inline struct np_cpu *this_cpu(void)
{
        __u32 zero = 0;

        return bpf_map_lookup_elem(&cpus, &zero);
}

static __always_inline void count(enum np_counter which)
{
        struct np_cpu *cpu = this_cpu();

        if (cpu)
                cpu->counter[which]++;
}

/* Counts one command of a kind. The programs that call this can't interrupt themselves on a CPU (the kernel skips a
 * program that is already running there), so a plain increment is enough. */
static __always_inline void count_command(struct np_cpu *cpu, __u32 filter_index, __u8 opcode, __u16 nlb, bool fua)
{
        __u64 key = NP_KIND_KEY(filter_index, opcode, nlb) | (fua ? NP_KIND_FUA : 0);
        __u32 start = (opcode * 7 + nlb + filter_index * 17) % NP_KIND_SLOTS;

        cpu->counter[NP_C_COMMANDS]++;

        for (__u32 i = 0; i < 16; i++) {
                struct np_kind_count *slot = &cpu->kinds.slot[(start + i) % NP_KIND_SLOTS];

                if (slot->key == 0)
                        slot->key = key;
                if (slot->key == key) {
                        slot->count++;
                        return;
                }
        }
        cpu->counter[NP_C_KIND_OVERFLOW]++;
}

static __always_inline bool chosen(__u32 hash, __u32 limit)
{
        return limit == 0xffffffff || hash < limit;
}

static __always_inline void fill_header(struct np_record_header *header, enum np_record_kind kind, __u32 size)
{
        header->kind = kind;
        header->version = NP_RECORD_VERSION;
        header->size = size;
}

/* User space drains the ring by timer and on demand: a wake-up per record would cost more than the record. */
static __always_inline void emit(void *record, __u64 size)
{
        __u64 flags = bpf_ringbuf_query(&ring, BPF_RB_AVAIL_DATA) > RING_BYTES / 4 ? BPF_RB_FORCE_WAKEUP : BPF_RB_NO_WAKEUP;

        count(bpf_ringbuf_output(&ring, record, size, flags) == 0 ? NP_C_EMITTED : NP_C_RING_FULL);
}

/* Reads the identity from a submission queue entry. Two loads for slba: verifiers do not read across members. */
static __always_inline void read_identity(struct np_identity *id, struct nvme_command *cmd)
{
        id->opcode = READ(cmd, common.opcode);
        id->cid = READ(cmd, common.command_id);
        id->nsid = READ(cmd, common.nsid);
        id->slba = (__u64)READ(cmd, common.cdw11) << 32 | READ(cmd, common.cdw10);
        id->nlb = (__u16)READ(cmd, common.cdw12);
}

#define OPCODE_WRITE 0x01
#define CDW12_FUA (1U << 30)

static __always_inline bool is_fua_write(struct nvme_command *cmd)
{
        return READ(cmd, common.opcode) == OPCODE_WRITE && READ(cmd, common.cdw12) & CDW12_FUA;
}

#endif
