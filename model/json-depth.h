/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Whether text from elsewhere may be handed to json-glib, whose parser calls itself for every level: deep nesting would
 * overrun the stack.
 */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* FALSE: nested deeper than max levels. So is text with comments or single quotes, which json-glib reads though they are no
 * JSON, and which could hide the nesting. */
gboolean np_json_nests_at_most(const char *json, gsize n, guint max);

G_END_DECLS
