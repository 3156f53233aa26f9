/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The arguments of org.ntprof1.internal.Target.OpenTarget(), checked: ntprof-peerd passes on what another machine wrote. */
#pragma once

#include <systemd/sd-bus.h>

#include "../peer/policy.h"

/* Fills who and request also in part, when it fails. Errors: INVALID_OPTION */
int target_request_read(sd_bus_message *m, PeerWho *who, PeerRequest *request, Error *error);
