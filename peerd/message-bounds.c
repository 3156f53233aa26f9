/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "message-bounds.h"

#include <string.h>

#define HEADER_FIELDS_MAX 4096U

void np_message_bounds_init(NpMessageBounds *bounds, gboolean from_client, gsize max)
{
        memset(bounds, 0, sizeof(*bounds));
        bounds->from_client = from_client;
        bounds->max = max;
        bounds->phase = from_client ? NP_BOUNDS_NUL : NP_BOUNDS_AUTH;
}

static gboolean wrong(GError **error, const char *what)
{
        g_set_error(error, G_IO_ERROR, G_IO_ERROR_INVALID_DATA, "what it sends is no D-Bus of a peer's: %s", what);
        return FALSE;
}

static gboolean last_line(const NpMessageBounds *bounds)
{
        if (bounds->from_client)
                return bounds->have == 5 && memcmp(bounds->line, "BEGIN", 5) == 0;
        return bounds->have >= 3 && memcmp(bounds->line, "OK ", 3) == 0;
}

static gboolean auth_byte(NpMessageBounds *bounds, guint8 byte, GError **error)
{
        gboolean after_cr = bounds->have > 0 && bounds->line[bounds->have - 1] == '\r';

        if (++bounds->auth_size > NP_AUTH_MAX)
                return wrong(error, "its authentication does not end");
        if (after_cr != (byte == '\n') || (!after_cr && byte != '\r' && !g_ascii_isprint(byte)))
                return wrong(error, "a line of the authentication has a byte that does not belong there");
        if (after_cr) {
                bounds->have--;
                if (last_line(bounds))
                        bounds->phase = NP_BOUNDS_HEADER;
                bounds->have = 0;
                return TRUE;
        }
        if (bounds->have == sizeof(bounds->line))
                return wrong(error, "a line of the authentication is too long");
        bounds->line[bounds->have++] = (char) byte;
        return TRUE;
}

static guint32 number(const guint8 *p)
{
        guint32 value;

        memcpy(&value, p, sizeof(value));
        return GUINT32_FROM_LE(value);
}

static gboolean header(NpMessageBounds *bounds, GError **error)
{
        guint32 body = number(bounds->header + 4), serial = number(bounds->header + 8), fields = number(bounds->header + 12);
        guint64 size;

        if (bounds->header[0] != 'l')
                return wrong(error, "not little endian");
        if (bounds->header[1] < G_DBUS_MESSAGE_TYPE_METHOD_CALL || bounds->header[1] > G_DBUS_MESSAGE_TYPE_ERROR)
                return wrong(error, "neither a call nor a reply");
        if (bounds->header[3] != 1)
                return wrong(error, "another version of D-Bus");
        if (serial == 0)
                return wrong(error, "a message without a number");
        if (fields > HEADER_FIELDS_MAX)
                return wrong(error, "a header is too large");
        size = NP_MESSAGE_HEADER + ((guint64) fields + 7) / 8 * 8 + body;
        if (size > bounds->max) {
                g_set_error(error, G_IO_ERROR, G_IO_ERROR_INVALID_DATA,
                            "what it sends is no D-Bus of a peer's: a message of %" G_GUINT64_FORMAT
                            " bytes, at most %" G_GSIZE_FORMAT " are taken",
                            size, bounds->max);
                return FALSE;
        }
        bounds->rest = size - NP_MESSAGE_HEADER;
        bounds->have = 0;
        bounds->phase = bounds->rest > 0 ? NP_BOUNDS_REST : NP_BOUNDS_HEADER;
        return TRUE;
}

gboolean np_message_bounds_feed(NpMessageBounds *bounds, gconstpointer data, gsize size, GError **error)
{
        const guint8 *p = data, *end = p + size;

        while (p < end) {
                gsize n;

                switch (bounds->phase) {
                case NP_BOUNDS_NUL:
                        if (*p++ != '\0')
                                return wrong(error, "its authentication does not begin with a zero byte");
                        bounds->phase = NP_BOUNDS_AUTH;
                        break;
                case NP_BOUNDS_AUTH:
                        if (!auth_byte(bounds, *p++, error))
                                return FALSE;
                        break;
                case NP_BOUNDS_HEADER:
                        n = MIN((gsize) (end - p), NP_MESSAGE_HEADER - bounds->have);
                        memcpy(bounds->header + bounds->have, p, n);
                        bounds->have += n;
                        p += n;
                        if (bounds->have == NP_MESSAGE_HEADER && !header(bounds, error))
                                return FALSE;
                        break;
                case NP_BOUNDS_REST:
                        n = MIN((gsize) (end - p), bounds->rest);
                        bounds->rest -= n;
                        p += n;
                        if (bounds->rest == 0)
                                bounds->phase = NP_BOUNDS_HEADER;
                        break;
                }
        }
        return TRUE;
}

gsize np_message_bounds_window(const NpMessageBounds *bounds, gsize wanted)
{
        return bounds->phase <= NP_BOUNDS_AUTH ? MIN(wanted, 1) : wanted;
}
