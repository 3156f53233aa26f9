/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "session.h"

/* The model's report of what the session has recorded: by now, or until it was paused. */
NpReport *session_make_report(Session *s);
/* What the programs themselves have counted as lost; a report adds what the join found. */
void session_count_losses(Session *s, uint64_t losses[NP_LOSS_COUNT]);
