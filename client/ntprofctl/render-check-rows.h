/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <json-glib/json-glib.h>

#include "output.h"

#define RENDER_CHECK_INDENT 4

void render_check_style(GString *text, Style style);
/* Adds words to the last line of text, and goes on in new ones behind indent. */
void render_check_wrapped(GString *text, unsigned indent, const char *words);
/* A row of the plan: the boundary, its hook, and why better ones were not taken. */
void render_check_boundary(GString *text, JsonObject *row);
