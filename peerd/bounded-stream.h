/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A stream for a GDBusConnection, around a TLS connection (not a socket's: GDBus takes shortcuts when it sees one): reading
 * fails before GDBus has seen the header of a message that message-bounds.h does not allow. Closing it closes the other.
 */
#pragma once

#include <gio/gio.h>

#include "message-bounds.h"

G_BEGIN_DECLS

#define NP_TYPE_BOUNDED_STREAM (np_bounded_stream_get_type())
G_DECLARE_FINAL_TYPE(NpBoundedStream, np_bounded_stream, NP, BOUNDED_STREAM, GIOStream)

GIOStream *np_bounded_stream_new(GIOStream *base, gboolean from_client, gsize max);

G_END_DECLS
