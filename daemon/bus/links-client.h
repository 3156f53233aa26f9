/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Other machines by ntprof-peerd: dbus/org.ntprof1.internal.Links.xml. The bus starts it when it is called. */
#pragma once

#include <systemd/sd-bus.h>

#include "../session/remote.h"

/* bus and event must outlive it, and it what it has found and opened. */
RemoteFinder *links_client_new(sd_bus *bus, sd_event *event);
RemoteFinder *links_client_free(RemoteFinder *finder);
