/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A report on stdout. */
#pragma once

#include <ntprof.h>

void render_report(NtprofReport *report, gboolean json);
