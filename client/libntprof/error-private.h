/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <gio/gio.h>

#include "ntprof-error.h"

/* Turns an error of GDBus into one of the domain NTPROF_ERROR, in place.
 * object: what the call was on, for the errors that are about it: "session 3", or NULL for the service. */
void np_error_localize(GError **error, const char *object);

/* The same for an error of getting on the bus at all. */
void np_error_localize_connection(GError **error, const char *address);

/* In errors of "there is no ntprofd". */
#define NP_HINT_START "is it installed? Try 'systemctl status ntprofd'"
