/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tls.h"

#include <netinet/in.h>
#include <netinet/tcp.h>

#include "../shared/peer-config.h"
#include "bounded-stream.h"
#include "source.h"

/* Seconds and a count; TCP_USER_TIMEOUT is for data that nobody acknowledges, in ms. */
#define KEEPALIVE_IDLE 5
#define KEEPALIVE_INTERVAL 5
#define KEEPALIVE_COUNT 3
#define USER_TIMEOUT 20000

typedef struct {
        GTlsConnection *tls;
        gboolean server;
        gboolean timed_out, refused;
        NpTlsTrust decide;
        gpointer decide_data;
        GSource *timer;
        NpSecured *secured;
} Job;

void np_secured_free(NpSecured *secured)
{
        g_clear_object(&secured->socket);
        g_clear_object(&secured->bus);
        g_free(secured->fingerprint);
        g_free(secured->address);
        g_free(secured);
}

static void job_free(Job *job)
{
        np_source_clear(&job->timer);
        g_clear_object(&job->tls);
        g_clear_pointer(&job->secured, np_secured_free);
        g_free(job);
}

void np_tls_tune(GSocket *socket)
{
        static const struct { int level, name, value; } options[] = {
                { IPPROTO_TCP, TCP_NODELAY, 1 },
                { SOL_SOCKET, SO_KEEPALIVE, 1 },
                { IPPROTO_TCP, TCP_KEEPIDLE, KEEPALIVE_IDLE },
                { IPPROTO_TCP, TCP_KEEPINTVL, KEEPALIVE_INTERVAL },
                { IPPROTO_TCP, TCP_KEEPCNT, KEEPALIVE_COUNT },
                { IPPROTO_TCP, TCP_USER_TIMEOUT, USER_TIMEOUT },
        };

        for (gsize i = 0; i < G_N_ELEMENTS(options); i++) {
                g_autoptr(GError) error = NULL;

                if (!g_socket_set_option(socket, options[i].level, options[i].name, options[i].value, &error))
                        g_debug("socket option %d: %s", options[i].name, error->message);
        }
}

char *np_tls_address(GSocket *socket)
{
        g_autoptr(GSocketAddress) address = g_socket_get_remote_address(socket, NULL);

        return address && G_IS_SOCKET_CONNECTABLE(address) ? g_socket_connectable_to_string(G_SOCKET_CONNECTABLE(address)) :
                                                             g_strdup("?");
}

static char *fingerprint_of(GTlsCertificate *certificate)
{
        g_autoptr(GByteArray) der = NULL;

        if (!certificate)
                return NULL;
        g_object_get(certificate, "certificate", &der, NULL);
        return der ? np_fingerprint_of_der(der->data, der->len) : NULL;
}

/* Whatever GLib thinks of the certificate (there is no CA, so it thinks ill of all): the pin alone counts. */
static gboolean accept_certificate(GTlsConnection *tls, GTlsCertificate *certificate, GTlsCertificateFlags flags, gpointer data)
{
        GTask *task = data;
        Job *job = g_task_get_task_data(task);
        g_autofree char *fingerprint = fingerprint_of(certificate);
        gboolean ok = fingerprint && job->decide(fingerprint, job->decide_data) != NP_TRUST_NONE;

        if (!ok) {
                job->refused = TRUE;
                g_free(job->secured->fingerprint);
                job->secured->fingerprint = g_steal_pointer(&fingerprint);
        }
        return ok;
}

static guint timeout_msec(const Job *job)
{
        return job->server ? NP_TLS_TIMEOUT_MSEC : NP_TLS_CLIENT_TIMEOUT_MSEC;
}

static gboolean out_of_time(gpointer data)
{
        GTask *task = data;
        Job *job = g_task_get_task_data(task);

        job->timed_out = TRUE;
        g_cancellable_cancel(g_task_get_cancellable(task));
        return G_SOURCE_REMOVE;
}

static void finish(GTask *task, GError *error)
{
        Job *job = g_task_get_task_data(task);

        np_source_clear(&job->timer);
        /* The handler's data is the task. */
        g_signal_handlers_disconnect_by_data(job->tls, task);
        if (!error) {
                g_task_return_pointer(task, g_steal_pointer(&job->secured), (GDestroyNotify) np_secured_free);
                return;
        }
        g_socket_shutdown(job->secured->socket, TRUE, TRUE, NULL);
        if (job->refused) {
                g_clear_error(&error);
                error = g_error_new(G_TLS_ERROR, G_TLS_ERROR_BAD_CERTIFICATE, "its certificate (%s) is not pinned here",
                                    job->secured->fingerprint ?: "none");
        } else if (job->timed_out) {
                g_clear_error(&error);
                error = g_error_new(G_IO_ERROR, G_IO_ERROR_TIMED_OUT, "it did not finish the handshake within %d s",
                                    timeout_msec(job) / 1000);
        }
        g_task_return_error(task, error);
}

static void greeted(GObject *source, GAsyncResult *result, gpointer data)
{
        g_autoptr(GTask) task = data;
        Job *job = g_task_get_task_data(task);
        GError *error = NULL;

        job->secured->bus = g_dbus_connection_new_finish(result, &error);
        if (error && !job->timed_out && !g_error_matches(error, G_IO_ERROR, G_IO_ERROR_CANCELLED) && !job->server) {
                GError *closed = g_error_new(G_IO_ERROR, G_IO_ERROR_CONNECTION_CLOSED, "%s", error->message);

                g_error_free(error);
                error = closed;
        }
        finish(task, error);
}

/* The certificate is the authentication; GDBus' other mechanisms would even write into the home directory. */
static gboolean allow_mechanism(GDBusAuthObserver *observer, const char *mechanism, gpointer data)
{
        return g_str_equal(mechanism, "ANONYMOUS");
}

static void greet(GTask *task)
{
        Job *job = g_task_get_task_data(task);
        g_autoptr(GDBusAuthObserver) observer = g_dbus_auth_observer_new();
        gboolean pinned = job->secured->trust == NP_TRUST_PINNED;
        g_autoptr(GIOStream) bounded = np_bounded_stream_new(G_IO_STREAM(job->tls), job->server,
                                                             pinned ? NP_MESSAGE_MAX : NP_MESSAGE_MAX_UNPINNED);
        g_autofree char *guid = job->server ? g_dbus_generate_guid() : NULL;
        GDBusConnectionFlags flags = G_DBUS_CONNECTION_FLAGS_DELAY_MESSAGE_PROCESSING;

        flags |= job->server ? G_DBUS_CONNECTION_FLAGS_AUTHENTICATION_SERVER |
                                       G_DBUS_CONNECTION_FLAGS_AUTHENTICATION_ALLOW_ANONYMOUS :
                               G_DBUS_CONNECTION_FLAGS_AUTHENTICATION_CLIENT;
        g_signal_connect(observer, "allow-mechanism", G_CALLBACK(allow_mechanism), NULL);
        g_dbus_connection_new(bounded, guid, flags, observer, g_task_get_cancellable(task), greeted, g_object_ref(task));
}

static void handshaken(GObject *source, GAsyncResult *result, gpointer data)
{
        g_autoptr(GTask) task = data;
        Job *job = g_task_get_task_data(task);
        g_autofree char *fingerprint = NULL;
        GError *error = NULL;

        if (!g_tls_connection_handshake_finish(job->tls, result, &error)) {
                finish(task, error);
                return;
        }
        if (g_tls_connection_get_protocol_version(job->tls) != G_TLS_PROTOCOL_VERSION_TLS_1_3) {
                finish(task, g_error_new(G_TLS_ERROR, G_TLS_ERROR_NOT_TLS, "it does not speak TLS 1.3"));
                return;
        }
        /* Also when accept_certificate() was not asked: it is not when a CA vouches. */
        fingerprint = fingerprint_of(g_tls_connection_get_peer_certificate(job->tls));
        g_free(job->secured->fingerprint);
        job->secured->fingerprint = g_steal_pointer(&fingerprint);
        if (job->secured->fingerprint)
                job->secured->trust = job->decide(job->secured->fingerprint, job->decide_data);
        if (job->secured->trust == NP_TRUST_NONE) {
                job->refused = TRUE;
                finish(task, g_error_new(G_TLS_ERROR, G_TLS_ERROR_BAD_CERTIFICATE, "not trusted"));
                return;
        }
        greet(task);
}

void np_tls_secure_async(GSocket *socket, gboolean server, GTlsCertificate *own, NpTlsTrust trust, gpointer trust_data,
                         GCancellable *cancellable, GAsyncReadyCallback callback, gpointer data)
{
        g_autoptr(GTask) task = g_task_new(NULL, cancellable, callback, data);
        g_autoptr(GSocketConnection) connection = g_socket_connection_factory_create_connection(socket);
        Job *job = g_new0(Job, 1);
        GError *error = NULL;
        GIOStream *tls;

        /* A result that came as the time was over is a result. */
        g_task_set_check_cancellable(task, FALSE);
        job->server = server;
        job->decide = trust;
        job->decide_data = trust_data;
        job->secured = g_new0(NpSecured, 1);
        job->secured->socket = g_object_ref(socket);
        job->secured->address = np_tls_address(socket);
        g_task_set_task_data(task, job, (GDestroyNotify) job_free);

        np_tls_tune(socket);
        if (server)
                tls = g_tls_server_connection_new(G_IO_STREAM(connection), own, &error);
        else
                tls = g_tls_client_connection_new(G_IO_STREAM(connection), NULL, &error);
        if (!tls) {
                g_socket_shutdown(socket, TRUE, TRUE, NULL);
                g_task_return_error(task, error);
                return;
        }
        job->tls = G_TLS_CONNECTION(tls);
        if (server)
                g_object_set(tls, "authentication-mode", G_TLS_AUTHENTICATION_REQUIRED, NULL);
        else
                g_tls_connection_set_certificate(job->tls, own);
        g_tls_connection_set_database(job->tls, NULL);
        g_tls_connection_set_require_close_notify(job->tls, FALSE);
        g_signal_connect(tls, "accept-certificate", G_CALLBACK(accept_certificate), task);

        job->timer = g_timeout_source_new(timeout_msec(job));
        g_source_set_callback(job->timer, out_of_time, task, NULL);
        g_source_attach(job->timer, g_task_get_context(task));
        g_tls_connection_handshake_async(job->tls, G_PRIORITY_DEFAULT, cancellable, handshaken, g_steal_pointer(&task));
}

NpSecured *np_tls_secure_finish(GAsyncResult *result, GError **error)
{
        return g_task_propagate_pointer(G_TASK(result), error);
}
