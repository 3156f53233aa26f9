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
        GDBusConnection *connection;
        GDBusObjectManager *manager;
        GDBusProxy *proxy;
} NpOpened;

typedef struct {
        const char *bus_name, *interface;       /* the interface of the object at NP_ROOT_PATH, which has a Version */
        GType (*proxy_type)(void);
        const NpErrorService *errors;
        void (*opened)(gpointer object, NpOpened *opened);      /* takes it: object is in touch now */
} NpService;

void np_opened_free(NpOpened *opened);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(NpOpened, np_opened_free)

/* What GInitable and GAsyncInitable ask of an object that stands for a service. connection: NULL, then the bus at address (NULL:
 * the system's). */
gboolean np_service_init_sync(const NpService *service, gpointer object, const char *address, GDBusConnection *connection,
                              GCancellable *cancellable, GError **error);
void np_service_init_async(const NpService *service, gpointer object, const char *address, GDBusConnection *connection,
                           int io_priority, GCancellable *cancellable, GAsyncReadyCallback callback, gpointer user_data);
gboolean np_service_init_finish(GAsyncInitable *object, GAsyncResult *result, GError **error);

/* Unique bus name of the manager's service, NULL when it is gone. */
char *np_manager_dup_owner(GDBusObjectManager *manager);
