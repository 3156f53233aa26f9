/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <gio/gio.h>

G_BEGIN_DECLS

/* The address that this machine has towards its default route. NULL, error: it has none, and what to do. */
char *np_own_address(GError **error);

G_END_DECLS
