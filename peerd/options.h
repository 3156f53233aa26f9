/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The a{sv} of methods: an unknown key, or a value of another type, is an INVALID_OPTION that begins with the key. */
#pragma once

#include <gio/gio.h>

G_BEGIN_DECLS

typedef struct {
        const char *key;
        char type;              /* 's': to is a char **, and what is there is freed; 't': a guint64 * */
        gpointer to;
} NpOption;

gboolean np_options_parse(GVariant *options, const NpOption *known, gsize n_known, GError **error);

G_END_DECLS
