/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "np-dbus.h"
#include "ntprof-client.h"

#define NP_BUS_NAME "org.ntprof1"
#define NP_ROOT_PATH "/org/ntprof1"

/* Attaching to an emulated machine's kernel takes its time; nothing that takes longer is worth waiting for. */
#define NP_CALL_TIMEOUT_MSEC (90 * 1000)

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

/* Unique bus name of the service, NULL when it is gone. */
char *np_client_dup_owner(NtprofClient *self);
