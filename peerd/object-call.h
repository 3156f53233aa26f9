/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the objects that are always there (manager-object.c, links-object.c) do alike. */
#pragma once

#include <gio/gio.h>

G_BEGIN_DECLS

/* A call while it is carried out. Freed with g_free(). */
typedef struct {
        gpointer object;        /* that was called */
        GDBusMethodInvocation *invocation;
} NpObjectCall;

NpObjectCall *np_object_call_new(gpointer object, GDBusMethodInvocation *invocation);

/* Takes it off the bus, if it got that far, and drops the reference. */
void np_object_withdraw(gpointer skeleton);

G_END_DECLS
