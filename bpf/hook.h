/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How programs are written, so that one source makes two families of them:
 *
 * - typed: the kernel knows the types of their arguments from BTF, so that they load through pointers (tp_btf, fentry, fexit).
 *   They cost least and lose nothing. They need the module's BTF and, where nobody else is given it, CAP_SYS_ADMIN.
 * - probes (-DNTPROF_PROBES): arguments are numbers, and what is behind them is read by a helper (raw_tp, kprobe, kretprobe).
 *   They need only the symbol, and the structures from anywhere (daemon/kernel/types.h). They load on 5.10: there is no atomic
 *   instruction that returns anything in them, and no younger helper.
 *
 *   TRACEPOINT(tracepoint, program, arguments...) { ... }
 *   ENTRY(function, program, arguments...) { ... }
 *   EXIT(function, program, wanted, arguments..., ret) { ... }         all the function's arguments, 5 at most
 *   EXIT_VOID(function, program, wanted, arguments...) { ... }         the first of them, and no return value
 *   READ(p, a, b)                                                      p->a->b
 *
 * A program is called the same in both. `wanted` is bool wanted(__u64 first_argument): whether anybody will look at this call
 * when it returns, asked when it is entered. Only a probe asks: registers are another's by the time a function returns, so
 * what they held is kept from its entry on (calls.h), by a program of the same name with __kept behind it.
 *
 * A program that has another's name, "__" and more is loaded with that one. "__traced" makes up by a tracepoint for what a kprobe
 * misses, where there is that tracepoint.
 */
#ifndef NTPROF_HOOK_H
#define NTPROF_HOOK_H

#ifndef NTPROF_PROBES

#define TRACEPOINT(tracepoint, program, args...) SEC("tp_btf/" #tracepoint) int BPF_PROG(program, ##args)
#define ENTRY(function, program, args...) SEC("fentry/" #function) int BPF_PROG(program, ##args)
#define EXIT(function, program, wanted, args...) SEC("fexit/" #function) int BPF_PROG(program, ##args)
#define EXIT_VOID(function, program, wanted, args...) SEC("fexit/" #function) int BPF_PROG(program, ##args)

#define READ(p, a...) ___arrow((p), ##a)

#else

#define TRACEPOINT(tracepoint, program, args...) SEC("raw_tp/" #tracepoint) int BPF_PROG(program, ##args)
#define ENTRY(function, program, args...) SEC("kprobe/" #function) int BPF_KPROBE(program, ##args)

#define READ(p, a...) BPF_CORE_READ((p), ##a)

/* The program is called as one of fexit is. */
#define NTPROF_RETURN(function, program, wanted, at, args...)                                   \
        enum { program##_function = __COUNTER__ };                                              \
        static __always_inline int program##_body(unsigned long long *ctx);                     \
        SEC("kprobe/" #function) int program##__kept(struct pt_regs *ctx)                        \
        {                                                                                       \
                return call_enters(ctx, program##_function, wanted(PT_REGS_PARM1(ctx)));         \
        }                                                                                       \
        SEC("kretprobe/" #function) int program(struct pt_regs *ctx)                            \
        {                                                                                       \
                unsigned long long values[CALL_ARGUMENTS + 1];                                  \
                                                                                                \
                if (!call_returns(ctx, program##_function, values))                             \
                        return 0;                                                               \
                values[at] = PT_REGS_RC(ctx);                                                   \
                return program##_body(values);                                                  \
        }                                                                                       \
        static __always_inline int BPF_PROG(program##_body, ##args)

#define EXIT(function, program, wanted, args...) \
        NTPROF_RETURN(function, program, wanted, ___bpf_narg(args) - 1, ##args)
#define EXIT_VOID(function, program, wanted, args...) \
        NTPROF_RETURN(function, program, wanted, ___bpf_narg(args), ##args)

#endif

#endif
