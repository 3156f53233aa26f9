/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "../kernel/plan.h"
#include "capture.h"

/* The plan is needed only during the call. -EINVAL..: as of libbpf; nothing is attached before ops->attach(). */
int capture_bpf_new(const HookPlan *plan, const CaptureConfig *config, const CaptureHandlers *handlers, Capture **ret);

/* Names of all programs of a side's skeleton, for the test of the hook table; to be freed with g_strfreev(). */
char **capture_bpf_programs(HookSides side);
