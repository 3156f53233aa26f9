/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What this machine's ntprofd is asked for on behalf of others: org.ntprof1.internal.Target. The bus starts it when it does not
 * run. */
#pragma once

#include <gio/gio.h>

G_BEGIN_DECLS

typedef struct _NpTarget NpTarget;

NpTarget *np_target_new(GDBusConnection *bus);
void np_target_free(NpTarget *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(NpTarget, np_target_free)

/* Describe(), at most 10 s old: a{sv}. */
void np_target_describe_async(NpTarget *self, GAsyncReadyCallback callback, gpointer data);
GVariant *np_target_describe_finish(NpTarget *self, GAsyncResult *result, GError **error);

/* What it answered last, NULL: nothing yet. Asks again when that is more than 10 s ago, for the next time. */
GVariant *np_target_known(NpTarget *self);

/* Called when Describe() answers something else than before, but for the first time. */
typedef void (*NpTargetChanged)(gpointer data);
void np_target_set_changed(NpTarget *self, NpTargetChanged changed, gpointer data);

/* peer: a{sv} "name", "fingerprint", "address". Returns a socket, -1: error. */
void np_target_open_async(NpTarget *self, GVariant *peer, GVariant *request, GAsyncReadyCallback callback, gpointer data);
int np_target_open_finish(NpTarget *self, GAsyncResult *result, GError **error);

/* Strings of a fact of Describe() or of a peer; never NULL. */
char **np_facts_strv(GVariant *facts, const char *key);

G_END_DECLS
