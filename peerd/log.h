/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* From now on g_message() and its like are a line each of the journal, or of standard error. */
void np_log_init(void);

G_END_DECLS
