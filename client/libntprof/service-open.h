/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Getting in touch with a service: the bus, the object manager of what it has, the proxy of the service itself; blocking
 * and not. */
#pragma once

#include "error-private.h"

#define NP_ROOT_PATH "/org/ntprof1"

/* Attaching to an emulated machine's kernel takes its time, as does a machine far away; nothing that takes longer is worth
 * waiting for. */
#define NP_CALL_TIMEOUT_MSEC (90 * 1000)

typedef struct {
        const char *bus_name, *interface;       /* the interface of the object at NP_ROOT_PATH, which has a Version */
        GType (*proxy_type)(void);
        const NpErrorService *errors;
} NpService;

typedef struct {
        GDBusConnection *connection;
        GDBusObjectManager *manager;
        GDBusProxy *proxy;
} NpOpened;

void np_opened_free(NpOpened *opened);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(NpOpened, np_opened_free)

/* connection: NULL, then the bus at address (NULL: the system's). */
NpOpened *np_service_open_sync(const NpService *service, const char *address, GDBusConnection *connection,
                               GCancellable *cancellable, GError **error);
void np_service_open(const NpService *service, const char *address, GDBusConnection *connection, GCancellable *cancellable,
                     GAsyncReadyCallback callback, gpointer user_data);
NpOpened *np_service_open_finish(GAsyncResult *result, GError **error);

/* Unique bus name of the manager's service, NULL when it is gone. */
char *np_manager_dup_owner(GDBusObjectManager *manager);
