/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <gio/gio.h>
#include <gio/gunixfdlist.h>

/* The whole text of the file that a handle out of a D-Bus reply refers to; what: "report", for errors. Errors are of the
 * domain NTPROF_ERROR. */
char *np_read_handle(GUnixFDList *fds, GVariant *handle, const char *what, GError **error);
