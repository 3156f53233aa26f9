/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Follows the bytes of a D-Bus connection, the lines of its authentication and then its messages, and says when one is wrong or
 * too large, at the last byte of the header: GDBus allocates what a header asks for, up to 128 MiB.
 *
 * It must find the same borders as GDBus does, or another machine could smuggle a header past it: so lines are printable ASCII
 * and end in CR LF, and numbers are little endian.
 */
#pragma once

#include <gio/gio.h>

G_BEGIN_DECLS

#define NP_MESSAGE_MAX ((1U << 20) + (64U << 10))
#define NP_MESSAGE_MAX_UNPINNED (16U << 10)
#define NP_MESSAGE_HEADER 16

#define NP_AUTH_LINE_MAX 256
#define NP_AUTH_MAX 1024

typedef enum {
        NP_BOUNDS_NUL,          /* the first byte of a client */
        NP_BOUNDS_AUTH,
        NP_BOUNDS_HEADER,
        NP_BOUNDS_REST,
} NpBoundsPhase;

typedef struct {
        gboolean from_client;
        gsize max;
        NpBoundsPhase phase;
        gsize auth_size;
        gsize have;             /* bytes in line or header */
        char line[NP_AUTH_LINE_MAX];
        guint8 header[NP_MESSAGE_HEADER];
        gsize rest;             /* bytes of the message that are still to come */
} NpMessageBounds;

/* from_client: the bytes are what the side that calls writes, else what the side that answers does. */
void np_message_bounds_init(NpMessageBounds *bounds, gboolean from_client, gsize max);
/* The next bytes. FALSE, error G_IO_ERROR_INVALID_DATA: nothing more may be taken from there, these bytes neither. */
gboolean np_message_bounds_feed(NpMessageBounds *bounds, gconstpointer data, gsize size, GError **error);
/* How many bytes may be read at once: one during the authentication, for GDBus reads it into a buffer that it throws away. */
gsize np_message_bounds_window(const NpMessageBounds *bounds, gsize wanted);

G_END_DECLS
