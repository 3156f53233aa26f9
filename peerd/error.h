/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The rows of dbus/errors.def as a GError domain: such an error crosses a bus, or a link, as org.ntprof1.Error.NAME. */
#pragma once

#include <gio/gio.h>

G_BEGIN_DECLS

#define NP_ERROR (np_error_quark())
GQuark np_error_quark(void);

typedef enum {
        NP_ERROR_NONE,          /* of no row */
#define NTPROF_ERROR(symbol, name, errno_, exit_) NP_ERROR_##symbol,
#include "../dbus/errors.def"
} NpError;

/* For a caller of ours: a row as it is, without what GDBus puts in front of the message; anything else as
 * org.freedesktop.DBus.Error.Failed. Takes error. */
void np_error_return(GDBusMethodInvocation *invocation, GError *error);

/* The message without "GDBus.Error:NAME: ", in place; error may be NULL. */
void np_error_strip(GError *error);

/* What somebody else wrote, for a message: printable, at most 80 bytes. */
char *np_error_quote(const char *text);

G_END_DECLS
