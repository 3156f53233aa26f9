/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Are the kernel's structures as those said who told of them? Where that is not the kernel itself but a file or a built-in
 * layout, a session's first commands are compared with what is known otherwise. One that does not hold ends the session, and so
 * does one that is never made although it should have been: then what leads there is wrong.
 */
#ifndef NTPROF_CHECK_H
#define NTPROF_CHECK_H

#define CHECKS 256              /* of each: later a controller may be another one, and the structures have not changed */

/* Which to do, by user space. */
const volatile __u32 checks_wanted;
/* Not static: the compiler would take it apart, and its type with it. */
volatile struct np_checks checks;

static __always_inline bool check_wanted(enum np_check which)
{
#ifdef NTPROF_PROBES
        return checks_wanted & (1U << which) && checks.made[which] < CHECKS;
#else
        return false;
#endif
}

static __always_inline void check(enum np_check which, bool holds)
{
        checks.made[which]++;
        if (holds)
                return;
        checks.failed |= 1U << which;
        count(NP_C_WRONG_TYPES);
}

/* Something has happened after which it is made, whatever the structures are. */
static __always_inline void check_due(enum np_check which)
{
        if (check_wanted(which) && !checks.made[which])
                checks.due[which]++;
}

#endif
