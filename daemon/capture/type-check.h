/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the programs compare of the kernel's structures (enum np_check) where these are from a file or a built-in layout, and what
 * is to be said when one is not as it was told.
 */
#pragma once

#include <linux/types.h>

#include "../kernel/plan.h"
#include "../kernel/types.h"
#include "../../bpf/record.h"
#include "../transport.h"
#include "program-set.h"

/* So often must it have been time for a check that was never made. */
#define TYPE_CHECKS_DUE 64

typedef struct TypeChecks {
        uint32_t wanted;                        /* bits by enum np_check */
        char *wrong[NP_CHECK_COUNT];            /* of those: a sentence for when it fails */
        char *never[NP_CHECK_COUNT];            /* and for when it is never made; NULL: that may be */
        uint32_t due[NP_CHECK_COUNT];
} TypeChecks;

/* Right after the types of the side's programs were composed. Those that none of the chosen programs makes are left out. */
void type_checks_make(KernelTypes *types, HookSides side, const ProgramSet *programs, TypeChecks *ret);
void type_checks_done(TypeChecks *checks);
/* One of the host's commands has been sent by this transport, and answered: of the target's checks, by a target here. */
void type_checks_answered(TypeChecks *checks, Transports transport);
/* The sentence for what has failed, or was never made though it should have been, more than TYPE_CHECKS_DUE times; NULL: all is
 * well. */
const char *type_checks_wrong(const TypeChecks *checks, const volatile struct np_checks *seen);
