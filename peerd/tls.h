/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * From a connected socket to an authenticated D-Bus connection: TLS 1.3, a certificate on both sides, known by its SHA-256 and
 * by nothing else, then the D-Bus greeting over it.
 */
#pragma once

#include <gio/gio.h>

G_BEGIN_DECLS

/* For all of it: of who connected to us, and of us when we connect, where the other side may only be started by that. */
#define NP_TLS_TIMEOUT_MSEC 5000
#define NP_TLS_CLIENT_TIMEOUT_MSEC 15000

typedef enum {
        NP_TRUST_NONE,
        NP_TRUST_INVITED,               /* to Hello and Join only */
        NP_TRUST_PINNED,
} NpTrust;

/* Called in the main context of np_tls_secure_async(), more than once. */
typedef NpTrust (*NpTlsTrust)(const char *fingerprint, gpointer data);

typedef struct {
        GSocket *socket;
        GDBusConnection *bus;           /* no message is processed before g_dbus_connection_start_message_processing() */
        char *fingerprint;              /* of the other side */
        char *address;                  /* of the other side: "10.0.0.1:40312" */
        NpTrust trust;
} NpSecured;

void np_secured_free(NpSecured *secured);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(NpSecured, np_secured_free)

/* Small messages leave at once, and a machine that is dead is noticed within about 20 s. */
void np_tls_tune(GSocket *socket);
/* "10.0.0.1:40312", "[fe80::1]:4425" */
char *np_tls_address(GSocket *socket);

/* server: the other side has connected. cancellable is for this alone: it is cancelled when it takes too long. What fails
 * closes the socket. Errors: G_TLS_ERROR_BAD_CERTIFICATE: the other side's is not trusted; others: what went wrong;
 * G_IO_ERROR_CONNECTION_CLOSED: the other side closed after the handshake, which is how it says that it does not trust ours. */
void np_tls_secure_async(GSocket *socket, gboolean server, GTlsCertificate *own, NpTlsTrust trust, gpointer trust_data,
                         GCancellable *cancellable, GAsyncReadyCallback callback, gpointer data);
NpSecured *np_tls_secure_finish(GAsyncResult *result, GError **error);

G_END_DECLS
