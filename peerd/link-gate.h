/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What gets through from the other side of a link: calls of org.ntprof1.internal.Peer with the right arguments, and replies.
 * GDBus would also answer for interfaces of its own; and it queues whatever comes, so no more than NP_GATE_CALLS_MAX calls are
 * let in without an answer. Works in GDBus' thread, before anything is queued.
 */
#pragma once

#include <gio/gio.h>

G_BEGIN_DECLS

#define NP_LINK_PATH "/org/ntprof1/peer"
#define NP_LINK_INTERFACE "org.ntprof1.internal.Peer"
/* 4 Data() of each of 16 streams, and 32 others. */
#define NP_GATE_CALLS_MAX 96

typedef struct _NpGate NpGate;

/* In the main context of np_gate_new(), once; nothing was let in afterwards. */
typedef void (*NpGateViolation)(const char *what, gpointer data);

/* A pure function: this message may come from the other side. pinned: its certificate is; else Hello and Join only. */
gboolean np_gate_check(GDBusMessage *message, gboolean pinned, GError **error);

NpGate *np_gate_new(GDBusConnection *bus, gboolean pinned, NpGateViolation violation, gpointer data);
/* Shuts it: nothing gets in, violation() is not called any more. */
void np_gate_free(NpGate *gate);

/* The call that invocation is of was let in; it counts until the invocation is gone, which is when it was answered. */
void np_gate_count(NpGate *gate, GDBusMethodInvocation *invocation);
/* Calls that were let in and not answered. */
guint np_gate_calls(NpGate *gate);

G_END_DECLS
