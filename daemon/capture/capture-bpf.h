/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "../kernel/plan.h"
#include "capture.h"

/* The plan is needed only during the call. -EINVAL..: as of libbpf; nothing is attached before ops->attach(). */
int capture_bpf_new(const HookPlan *plan, const CaptureConfig *config, const CaptureHandlers *handlers, Capture **ret);
