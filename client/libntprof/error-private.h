/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <gio/gio.h>

#include "ntprof-error.h"

/* What the errors of calls to one of the services say. */
typedef struct {
        const char *daemon;             /* "ntprofd" */
        const char *who_may;            /* what to do when the bus says no */
        const char *start;              /* what to do when it isn't there */
        NtprofError no_object;          /* the code, and in words, of an object that is gone */
        const char *no_object_text;
        gboolean gdbus;                 /* it says UnknownMethod of an object that isn't there; sd-bus says UnknownObject */
} NpErrorService;

extern const NpErrorService np_error_ntprofd, np_error_peerd;

/* Turns an error of GDBus into one of the domain NTPROF_ERROR, in place.
 * object: what the call was on, for the errors that are about it: "session 3", or NULL for the service. */
void np_error_localize_for(const NpErrorService *service, GError **error, const char *object);

/* Of ntprofd. */
void np_error_localize(GError **error, const char *object);

/* The same for an error of a call on an object of the service. GDBus refuses calls to a service that it knows is gone, with
 * an error that doesn't say so. */
void np_error_localize_call(const NpErrorService *service, GDBusProxy *proxy, GError **error, const char *object);

/* The same for an error of getting on the bus at all. */
void np_error_localize_connection(GError **error, const char *address);
