/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The daemon on its bus: the connection, the name, and the objects of dbus/. */
#pragma once

#include <systemd/sd-event.h>

#include "../session/backend.h"

typedef struct Service Service;

/* address: "system" or a D-Bus address. backend must outlive the service. *ret_error (to be freed) is for a person. */
int service_new(sd_event *event, const char *address, Backend *backend, Service **ret, char **ret_error);
Service *service_free(Service *service);
DEFINE_CLEANUP_FUNC(Service *, service_free);

/* Leaves the event loop when nothing was asked for, and no session kept, for so long. The bus starts the daemon again. */
int service_set_idle_exit(Service *service, uint64_t usec);
/* Ends all sessions and lets their clients know. */
void service_shutdown(Service *service);
