/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * All links of this machine with others, in and out: D-Bus peer to peer over TLS 1.3 (dbus/org.ntprof1.internal.Peer.xml,
 * docs/peers.md). Owns the listening sockets and the connections; whom to trust and what to answer is the owner's, by
 * NpLinksOps. Everything happens in the main context of the thread that made it; nothing blocks.
 *
 * Errors are of NP_ERROR (error.h) or, when what the other side answered is none of those, G_IO_ERROR_FAILED.
 */
#pragma once

#include <gio/gio.h>

#include "../shared/peer-config.h"
#include "error.h"
#include "link.h"

G_BEGIN_DECLS

typedef struct _NpLinks NpLinks;

typedef struct {
        /* This machine's certificate with its key, for new connections; no reference is taken over. */
        GTlsCertificate *(*certificate)(gpointer data);
        /* The peer that this certificate is pinned for, NULL: none. Used at once, not kept. */
        const NpPeerConfig *(*pinned)(const char *fingerprint, gpointer data);
        /* The peer that is called so, with the pin and the address to connect to; NULL: none. */
        const NpPeerConfig *(*peer)(const char *name, gpointer data);
        /* A certificate that is not pinned may connect now, to call Join: an invitation stands. */
        gboolean (*invited)(gpointer data);
        /* What Hello tells of this machine, a{sv}; a floating reference will do. Only "software" and "machine" of it go to whom
         * is not pinned. */
        GVariant *(*facts)(gpointer data);

        /* Hello was exchanged, and np_link_facts() are other than before. Also for links that np_links_join_async() made, and
         * for whom is not pinned. */
        void (*met)(NpLink *link, gpointer data);
        /* The link is no more, or np_link_n_streams() is another. */
        void (*changed)(NpLink *link, gpointer data);

        /* Calls of the other side. Those with a task may answer later: g_task_return_pointer() a GVariant a{sv} (a reference),
         * or g_task_return_int() a socket, or an error; what an error says reaches the other side. All arguments are checked
         * before. */
        void (*join)(NpLink *link, const char *code, GVariant *facts, GTask *task, gpointer data);
        void (*open_target)(NpLink *link, GVariant *request, GTask *task, gpointer data); /* pinned only, as the next two */
        /* FALSE: the administrator has fixed the old one. The link is closed afterwards. */
        gboolean (*renew)(NpLink *link, const char *fingerprint, gpointer data);
        void (*forget)(NpLink *link, gpointer data);
} NpLinksOps;

/* ops stay the caller's. */
NpLinks *np_links_new(const NpLinksOps *ops, gpointer data);
/* Closes all at once. */
void np_links_free(NpLinks *links);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(NpLinks, np_links_free)

/* A socket that listens: of socket activation, or a test's. It is made non-blocking. */
void np_links_listen(NpLinks *links, GSocket *socket);

/* Closes the links whose certificate is not pinned any more, or for a peer of another name; to be called when pins change. */
void np_links_check_pins(NpLinks *links);
/* Flushes and closes all links with a peer. */
void np_links_close(NpLinks *links, const char *peer, const char *reason);

/* The link with a peer that is there, NULL: none. */
NpLink *np_links_peek(NpLinks *links, const char *peer);
/* All streams of a peer, over all links with it. */
guint np_links_n_streams(NpLinks *links, const char *peer);

/* The link that is there, or a new one: connects, compares the pin, and calls Hello. NO_PEER, PEER_UNREACHABLE, PEER_REFUSED,
 * PEER_VERSION. */
void np_links_get_async(NpLinks *links, const char *peer, GCancellable *cancellable, GAsyncReadyCallback callback,
                        gpointer data);
NpLink *np_links_get_finish(NpLinks *links, GAsyncResult *result, GError **error);

/* As np_links_get_async() and np_link_open_target_async(). Returns a socket, -1: error. */
void np_links_open_target_async(NpLinks *links, const char *peer, GVariant *request, GCancellable *cancellable,
                                GAsyncReadyCallback callback, gpointer data);
int np_links_open_target_finish(NpLinks *links, GAsyncResult *result, GError **error);

/* Connects to whom an invitation is of, compares the fingerprint before anything is said, calls Hello and Join. The link is
 * closed afterwards. facts: a{sv}, as internal.Peer.Join(). Returns Join's its_facts; hello_facts: what it told of itself
 * before. */
void np_links_join_async(NpLinks *links, GSocketConnectable *address, const char *fingerprint, const char *code,
                         GVariant *facts, GCancellable *cancellable, GAsyncReadyCallback callback, gpointer data);
GVariant *np_links_join_finish(NpLinks *links, GAsyncResult *result, GVariant **hello_facts, GError **error);

G_END_DECLS
