/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "np-dbus.h"
#include "ntprof-client.h"
#include "object-list.h"
#include "service-open.h"

struct _NtprofClient {
        GObject parent;
        GDBusConnection *connection;
        char *address;
        GDBusObjectManager *manager;    /* of the sessions */
        NpDBusManager *service;
        NpObjectList *sessions;
};

void np_client_initable_init(GInitableIface *interface);
void np_client_async_initable_init(GAsyncInitableIface *interface);

/* NpService.opened */
void np_client_opened(gpointer object, NpOpened *opened);
