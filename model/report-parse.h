/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The parts of reading a report's JSON. Private to np_report_from_json().
 */
#pragma once

#include "json-reader.h"
#include "report.h"

G_BEGIN_DECLS

/* After the facts. A report of before there were views has none. */
void np_report_parse_views(NpJsonReader *r, JsonObject *root, NpReport *report);

G_END_DECLS
