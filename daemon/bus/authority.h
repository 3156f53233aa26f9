/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Who may call what: one table of methods, and one function that every method asks first. */
#pragma once

#include <sys/types.h>
#include <systemd/sd-bus.h>

#include "../error.h"

typedef enum Method {
        METHOD_START_SESSION,
        METHOD_START_SESSION_KEEP,      /* StartSession with keep=true, in addition */
        METHOD_INSPECT,
        METHOD_STOP,
        METHOD_CANCEL,
        METHOD_REMOVE,
        METHOD_GET_REPORT,
        METHOD_OPEN_TARGET,
        METHOD_DESCRIBE,
        METHOD_COUNT,
} Method;

#define OWNER_NONE ((uid_t) -1)

/* owner: of the session the method is called on, else OWNER_NONE. ret_uid (may be NULL): the caller's. Errors: ACCESS_DENIED.
 * Now decided at once; polkit will answer later, which is why a method must call this before it does anything else. */
int authority_check(Method method, sd_bus_message *message, uid_t owner, uid_t *ret_uid, Error *error);

/* The polkit action that allows method to a caller: on its own session, or on another's. NULL: needs none. */
const char *authority_action(Method method, bool own);
