/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The arguments of calls that have not returned, for kretprobes (hook.h). A call is known by its place on a stack, which no
 * other call of the function has meanwhile, whatever interrupts it or sleeps in it.
 */
#ifndef NTPROF_CALLS_H
#define NTPROF_CALLS_H

#ifdef NTPROF_PROBES

#define CALLS_MAX 1024
#define CALL_ARGUMENTS 5        /* as many as bpf_tracing.h knows the registers of, on every machine */

struct call {
        __u64 argument[CALL_ARGUMENTS];
};

struct {
        __uint(type, BPF_MAP_TYPE_HASH);
        __uint(max_entries, CALLS_MAX);
        __type(key, __u64);
        __type(value, struct call);
} calls SEC(".maps");

/* Where a call pushes its return address the stack ends there at the entry, and above it at the return; elsewhere it is in a
 * register, and the stack ends at one place. */
#ifdef bpf_target_x86
#define RETURN_ADDRESS sizeof(long)
#else
#define RETURN_ADDRESS 0
#endif

/* Of those in the map: 0 spares all others a look. */
static __s64 calls_kept;

/* The uppermost bits of a stack's address are the same of all. */
static __always_inline __u64 call_key(__u64 stack, __u32 function)
{
        return stack << 8 | function;
}

/* At the entry. What is still known of the same place is a call whose return was missed. */
static __always_inline int call_enters(struct pt_regs *ctx, __u32 function, bool wanted)
{
        __u64 key = call_key(PT_REGS_SP(ctx) + RETURN_ADDRESS, function);
        struct call call = {
                { PT_REGS_PARM1(ctx), PT_REGS_PARM2(ctx), PT_REGS_PARM3(ctx), PT_REGS_PARM4(ctx), PT_REGS_PARM5(ctx) },
        };

        if (calls_kept && bpf_map_delete_elem(&calls, &key) == 0) {
                __sync_fetch_and_add(&calls_kept, -1);
                count(NP_C_CALL_LOST);
        }
        if (!wanted)
                return 0;
        if (bpf_map_update_elem(&calls, &key, &call, BPF_NOEXIST) == 0)
                __sync_fetch_and_add(&calls_kept, 1);
        else
                count(NP_C_CALL_LOST);
        return 0;
}

/* At the return. False when nobody wanted it, or it could not be kept. */
static __always_inline bool call_returns(struct pt_regs *ctx, __u32 function, unsigned long long values[CALL_ARGUMENTS + 1])
{
        __u64 key = call_key(PT_REGS_SP(ctx), function);
        struct call *call;

        if (!calls_kept)
                return false;
        call = bpf_map_lookup_elem(&calls, &key);
        if (!call)
                return false;
        for (__u32 i = 0; i < CALL_ARGUMENTS; i++)
                values[i] = call->argument[i];
        if (bpf_map_delete_elem(&calls, &key) == 0)
                __sync_fetch_and_add(&calls_kept, -1);
        return true;
}

#endif

#endif
