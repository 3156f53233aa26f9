/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Who may call what: one table. The bus's policy says the same, and this is asked whatever the policy let through. */
#pragma once

#include <gio/gio.h>

G_BEGIN_DECLS

typedef enum {
        NP_ACTION_PAIR,         /* Invite, Join, Renew, Forget */
        NP_ACTION_TEST,
        NP_ACTION_LINK,         /* org.ntprof1.internal.Links */
        NP_ACTION_COUNT,
} NpAction;

/* Asks the bus who calls, then calls allowed(), or answers the call with AccessDenied. */
typedef void (*NpAllowed)(GDBusMethodInvocation *invocation, gpointer data);
void np_authority_check(GDBusMethodInvocation *invocation, NpAction action, NpAllowed allowed, gpointer data);

G_END_DECLS
