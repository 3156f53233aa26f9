/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What can be measured on this kernel, for people, on stdout. */
#pragma once

#include <glib.h>

/* inspection: a document of the schema org.ntprof.inspection/1. verbose: with the hook of each boundary, and why better ones
 * were not taken. *ret_usable: whether a session can run. NULL when it isn't such a document. */
char *render_check(const char *inspection, gboolean verbose, gboolean *ret_usable, GError **error);
