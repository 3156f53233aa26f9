/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What other machines had recorded here, or wanted to, is in the journal: each request and each end, with fields to look for
 * (journalctl -u ntprofd NTPROF_PEER=host-a). */
#pragma once

#include "../peer/target-sides.h"

void target_journal_accepted(const PeerWho *who, const PeerRequest *request);
/* who and request as far as they could be read; problems may be NULL. */
void target_journal_refused(const PeerWho *who, const PeerRequest *request, const Error *error, const char *problems);
void target_journal_ended(const TargetSidesEntry *entry, const char *why);
