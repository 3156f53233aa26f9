/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Modules that are recorded by kprobes alone, which do not hold them: whether they are still those that were attached to. One that
 * is loaded again has no kprobes, and may have other structures.
 */
#pragma once

#include "../kernel/plan.h"

typedef struct LooseModules LooseModules;

/* Of all sides of the plan. sys: "/sys". NULL: there are none. */
LooseModules *loose_modules_open(const char *sys, const HookPlan *plan);
void loose_modules_free(LooseModules *modules);

/* NULL, or which one was unloaded: a sentence without a full stop, as long as modules lives. modules may be NULL. */
const char *loose_modules_gone(LooseModules *modules);
