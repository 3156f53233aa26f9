/* SPDX-License-Identifier: GPL-2.0-or-later */
/* a{sv} from a caller, checked: every error names the key. */
#pragma once

#include <systemd/sd-bus.h>

#include "../session/session.h"

/* Errors: INVALID_OPTION */
int options_read_session(sd_bus_message *m, SessionOptions *ret, Error *error);
/* Of Inspect(). *ret_namespace: NULL when none is given. Errors: INVALID_OPTION */
int options_read_inspect(sd_bus_message *m, char **ret_namespace, Error *error);
/* For methods that have no option yet. */
int options_read_none(sd_bus_message *m, Error *error);
