/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How machines become peers, change their keys, and stop being peers: both sides. */
#pragma once

#include "peerd.h"

G_BEGIN_DECLS

#define NP_INVITATION_DEFAULT_USEC (10 * 60 * (guint64) G_USEC_PER_SEC)
#define NP_INVITATION_MAX_USEC (24 * 3600 * (guint64) G_USEC_PER_SEC)

/* ---- of this machine's administrator ---- */

/* PeerManager.Invite(). name, address: may be NULL. Returns the line. */
void np_pairing_invite_async(NpPeerd *peerd, guint64 expires_usec, const char *name, const char *address,
                             GAsyncReadyCallback callback, gpointer data);
char *np_pairing_invite_finish(NpPeerd *peerd, GAsyncResult *result, gint64 *expires_usec, GError **error);

/* PeerManager.Join(). name: may be NULL. Returns the peer's name; when the link works, it has told its subsystems by then.
 * name_there: what this machine is called there, "": not told. */
void np_pairing_join_async(NpPeerd *peerd, const char *line, const char *name, GAsyncReadyCallback callback, gpointer data);
char *np_pairing_join_finish(NpPeerd *peerd, GAsyncResult *result, gboolean *confirmed, char **name_there, GError **error);

/* PeerManager.Renew(): a(ss), a full reference. */
void np_pairing_renew_async(NpPeerd *peerd, GAsyncReadyCallback callback, gpointer data);
GVariant *np_pairing_renew_finish(NpPeerd *peerd, GAsyncResult *result, GError **error);

/* Peer.Forget(). told: the other machine knows. */
void np_pairing_forget_async(NpPeerd *peerd, const char *name, GAsyncReadyCallback callback, gpointer data);
gboolean np_pairing_forget_finish(NpPeerd *peerd, GAsyncResult *result, gboolean *told, GError **error);

/* ---- of another machine ---- */

/* internal.Peer.Join(): a guest with a code. Returns what it is told, floating. */
GVariant *np_pairing_accept(NpPeerd *peerd, const char *fingerprint, const char *address, const char *code, GVariant *facts,
                            GError **error);
/* internal.Peer.Renew(): FALSE: /etc has fixed the fingerprint. */
gboolean np_pairing_replace(NpPeerd *peerd, const char *name, const char *fingerprint);
/* internal.Peer.Forget() */
void np_pairing_forgotten(NpPeerd *peerd, const char *name);

G_END_DECLS
