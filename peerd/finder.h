/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which peer a path's target is. */
#pragma once

#include <gio/gio.h>

#include "pins.h"

G_BEGIN_DECLS

/* By subsystem NQN, as the peers last told what they export; if several do, or none, by traddr, compared with their addresses,
 * of which names are resolved. Either may be NULL. Returns its name; NO_PEER says what to do. */
void np_finder_find_async(NpPins *pins, const char *subsysnqn, const char *traddr, GAsyncReadyCallback callback, gpointer data);
char *np_finder_find_finish(GAsyncResult *result, GError **error);

G_END_DECLS
