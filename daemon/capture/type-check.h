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

typedef struct TypeChecks {
        uint32_t wanted;                        /* bits by enum np_check */
        char *wrong[NP_CHECK_COUNT];            /* of those: a sentence for when it fails */
} TypeChecks;

/* Right after the types of the side's programs were composed. */
void type_checks_make(KernelTypes *types, HookSides side, TypeChecks *ret);
void type_checks_done(TypeChecks *checks);
/* The sentence for what has failed (bits), NULL: nothing has. */
const char *type_checks_wrong(const TypeChecks *checks, uint32_t failed);
