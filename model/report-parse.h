/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The parts of reading a report's JSON. Private to np_report_from_json().
 */
#pragma once

#include "json-reader.h"
#include "report.h"

G_BEGIN_DECLS

/* One of `stages`; its id is checked already. */
typedef void (*NpTakeStage)(NpJsonReader *r, JsonObject *o, NpStage stage, gpointer whose);

/* The members `stages` and `largest` of what has stages, a group or a view's row; of_what in errors: "the group's". Returns
 * the largest. */
NpStage np_report_parse_stages(NpJsonReader *r, JsonObject *o, gboolean with_target, const char *of_what, NpTakeStage take,
                               gpointer whose);

/* After the facts. A report of before there were views has none. */
void np_report_parse_views(NpJsonReader *r, JsonObject *root, NpReport *report);

G_END_DECLS
