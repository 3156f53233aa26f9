/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The daemon on a bus, until it is to end: the objects, the name, the sockets, idleness. */
#pragma once

#include "peerd.h"

G_BEGIN_DECLS

typedef struct _NpService NpService;

/* ended() is called once, from the main loop: error is NULL when it has been idle for so long, else what went wrong. ready():
 * it owns its name. */
typedef struct {
        void (*ready)(gpointer data);
        void (*ended)(const GError *error, gpointer data);
        gpointer data;
} NpServiceHandlers;

/* idle_sec 0: never. */
NpService *np_service_new(NpPeerd *peerd, GDBusConnection *bus, guint idle_sec, const NpServiceHandlers *handlers,
                          GError **error);
void np_service_free(NpService *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(NpService, np_service_free)

G_END_DECLS
