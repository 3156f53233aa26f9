/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What ntprofd may do that others may not: its capabilities. It has them permitted and not effective, so that nothing it does
 * uses one by accident; whoever needs one raises it around the calls that need it. docs/privileges.md says what for.
 *
 * Capabilities are a thread's: raised on the one that loads programs, they are not on the one that reads the bus. libcap keeps
 * it so as long as nobody links libpsx.
 */
#pragma once

#include <linux/capability.h>

#include "util.h"

/* Sets of capabilities have bits by number, as CapPrm in /proc/PID/status. */
#define PRIVILEGE(capability) (UINT64_C(1) << (capability))

/* Maps and programs, and before 5.19 every command of bpf() where unprivileged_bpf_disabled is set. */
#define PRIVILEGES_BPF PRIVILEGE(CAP_BPF)
/* Programs that read the kernel's memory, and perf events on its functions. */
#define PRIVILEGES_PROBES (PRIVILEGES_BPF | PRIVILEGE(CAP_PERFMON))
/* The kernel's types of a module, as file descriptors (BPF_BTF_GET_FD_BY_ID). */
#define PRIVILEGES_TYPED (PRIVILEGES_PROBES | PRIVILEGE(CAP_SYS_ADMIN))
/* All that is ever needed. */
#define PRIVILEGES_ALL PRIVILEGES_TYPED

/* Before there are threads: nothing is effective from now on, nothing inherited, and of what is permitted only PRIVILEGES_ALL
 * stays. */
int privileges_start(void);

/* Of the calling thread. */
uint64_t privileges_permitted(void);
uint64_t privileges_effective(void);

typedef struct PrivilegesScope {
        uint64_t before;
} PrivilegesScope;

/* CAP_SYS_ADMIN includes the two others: whoever has it lacks neither. */
uint64_t privileges_lacking(uint64_t needed, uint64_t permitted);

/* Those of the set that are permitted are effective until the end of the scope, on this thread:
 *
 *     _cleanup_(privileges_drop) PrivilegesScope scope = privileges_raise(PRIVILEGES_BPF);
 *
 * CAP_SYS_ADMIN stands in for those that are not permitted. Without it they are refused by the kernel where they are needed. */
PrivilegesScope privileges_raise(uint64_t set);
void privileges_drop(PrivilegesScope *scope);

/* "CAP_PERFMON", by rising number; to be freed with g_strfreev(). */
char **privileges_names(uint64_t set);
/* "CAP_BPF and CAP_PERFMON" */
char *privileges_to_text(uint64_t set);
/* What to do when these are not permitted: a sentence without a full stop. NULL: none is lacking. */
char *privileges_advice(uint64_t lacking);
