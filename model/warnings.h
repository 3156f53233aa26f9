/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What a reader of a report must know before believing it.
 */
#pragma once

#include "report.h"

G_BEGIN_DECLS

void np_report_add_warnings(NpReport *report);

G_END_DECLS
