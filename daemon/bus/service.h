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

/* Peers' files are here in place of NP_PEERS_ETC, and may be the daemon's own user's: for tests. */
void service_set_peers_folder(Service *service, const char *folder);
/* Leaves the event loop when nothing was asked for, no session kept, and nothing recorded for another machine, for so long.
 * The bus starts the daemon again. */
int service_set_idle_exit(Service *service, uint64_t usec);
/* Ends all sessions, and recordings for other machines, and lets their clients know. */
void service_shutdown(Service *service);
