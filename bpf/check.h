/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Are the kernel's structures as those said who told of them? Where that is not the kernel itself but a file or a built-in
 * layout, a session's first commands are compared with what is known otherwise. One that does not hold ends the session.
 */
#ifndef NTPROF_CHECK_H
#define NTPROF_CHECK_H

#define CHECKS 256              /* of each: later a controller may be another one, and the structures have not changed */

/* Bits by enum np_check, for user space: which to do, and which have failed. */
const volatile __u32 checks_wanted;
volatile __u32 checks_failed;
/* Not static: the compiler would take it apart, and its type with it. */
__u32 n_checked[NP_CHECK_COUNT];

static __always_inline bool check_wanted(enum np_check which)
{
#ifdef NTPROF_PROBES
        return checks_wanted & (1U << which) && n_checked[which] < CHECKS;
#else
        return false;
#endif
}

static __always_inline void check(enum np_check which, bool holds)
{
        n_checked[which]++;
        if (holds)
                return;
        checks_failed |= 1U << which;
        count(NP_C_WRONG_TYPES);
}

#endif
