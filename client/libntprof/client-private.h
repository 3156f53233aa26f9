/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "np-dbus.h"
#include "ntprof-client.h"
#include "service-open.h"

struct _NtprofClient {
        GObject parent;
        GDBusConnection *connection;
        char *address;
        GDBusObjectManager *manager;    /* of the sessions */
        NpDBusManager *service;
        GHashTable *sessions;           /* object path -> NtprofSession, of those that exist */
};

void np_client_initable_init(GInitableIface *interface);
void np_client_async_initable_init(GAsyncInitableIface *interface);

/* Takes over the object manager, and the sessions it knows. */
void np_client_manager_ready(NtprofClient *self, GDBusObjectManager *manager);

/* The session of a proxy, made when there is none for its path yet. Owned by the client. */
NtprofSession *np_client_adopt(NtprofClient *self, NpDBusSession *proxy);
NtprofSession *np_client_lookup(NtprofClient *self, const char *path);
