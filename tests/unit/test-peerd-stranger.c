/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A link whose other side is not ours: what it may send, and what ends it. */
#include <gnutls/gnutls.h>
#include <gnutls/x509.h>
#include <string.h>

#include "fake-machine.h"
#include "peerd/error.h"
#include "peerd/link-gate.h"
#include "peerd/link-internal.h"

#define LARGE ((1U << 20) + (64U << 10))

/* g_test_expect_message() would want the other messages expected, too. */
static const char *expected;
static gboolean warned;

static void note_warning(const char *domain, GLogLevelFlags level, const char *message, gpointer data)
{
        g_test_message("warning: %s", message);
        g_assert_nonnull(expected);
        g_assert_nonnull(strstr(message, expected));
        warned = TRUE;
}

static void expect_warning(const char *text)
{
        expected = text;
        warned = FALSE;
}

static void assert_warned(void)
{
        g_assert_true(warned);
        expected = NULL;
}

/* A client that is not ours: what it sends by itself. */
typedef struct {
        Machine *m;
        GDBusConnection *bus;
        gboolean closed;
} Stranger;

static gboolean trust_anybody(GTlsConnection *tls, GTlsCertificate *certificate, GTlsCertificateFlags flags, gpointer data)
{
        return TRUE;
}

static gpointer connect_plainly(gpointer data)
{
        Stranger *s = data;
        g_autoptr(GSocketClient) client = g_socket_client_new();
        g_autoptr(GSocketConnection) connection = g_socket_client_connect_to_host(client, s->m->address, 0, NULL, NULL);
        g_autoptr(GIOStream) tls = NULL;

        tls = g_tls_client_connection_new(G_IO_STREAM(connection), NULL, NULL);
        g_tls_connection_set_certificate(G_TLS_CONNECTION(tls), np_identity_certificate(s->m->identity));
        g_signal_connect(tls, "accept-certificate", G_CALLBACK(trust_anybody), NULL);
        s->bus = g_dbus_connection_new_sync(tls, NULL, G_DBUS_CONNECTION_FLAGS_AUTHENTICATION_CLIENT, NULL, NULL, NULL);
        return NULL;
}

static void stranger_closed(GDBusConnection *bus, gboolean vanished, GError *error, gpointer data)
{
        ((Stranger *) data)->closed = TRUE;
}

static gboolean is_set(gpointer data)
{
        return *(gboolean *) data;
}

static gboolean has_bus(gpointer data)
{
        return ((Stranger *) data)->bus != NULL;
}

/* It has the certificate of m itself, which m pins or invites. */
static void stranger_init(Stranger *s, Machine *m)
{
        GThread *thread;

        s->m = m;
        thread = g_thread_new("stranger", connect_plainly, s);
        run_until(has_bus, s, 5);
        g_thread_join(thread);
        g_signal_connect(s->bus, "closed", G_CALLBACK(stranger_closed), s);
}

static void stranger_clear(Stranger *s)
{
        g_signal_handlers_disconnect_by_data(s->bus, s);
        g_dbus_connection_close(s->bus, NULL, NULL, NULL);
        g_object_unref(s->bus);
        memset(s, 0, sizeof(*s));
}

static void stranger_call(Stranger *s, const char *path, const char *interface, const char *method, GVariant *arguments)
{
        g_dbus_connection_call(s->bus, NULL, path, interface, method, arguments, NULL, G_DBUS_CALL_FLAGS_NONE, -1, NULL, NULL,
                               NULL);
}

static GVariant *hello_arguments(guint minimum, guint maximum)
{
        return g_variant_new_parsed("(%u, %u, {'software': <'ntprof 9'>, 'machine': <'stranger'>})", minimum, maximum);
}

/* Connects, and says Hello. */
static void stranger_greet(Stranger *s, Machine *m)
{
        stranger_init(s, m);
        stranger_call(s, NP_LINK_PATH, NP_LINK_INTERFACE, "Hello", hello_arguments(1, 1));
}

static void test_wrong_calls_close(void)
{
        static const struct { const char *path, *interface, *method, *arguments; } cases[] = {
                { "/org/ntprof1/peer", "org.freedesktop.DBus.Introspectable", "Introspect", "()" },
                { "/org/ntprof1/peer", "org.freedesktop.DBus.Properties", "GetAll", "('org.ntprof1.internal.Peer',)" },
                { "/org/ntprof1/peer", "org.freedesktop.DBus.Peer", "Ping", "()" },
                { "/org/ntprof1", "org.ntprof1.internal.Peer", "Forget", "()" },
                { "/org/ntprof1/peer", "org.ntprof1.internal.Peer", "Reboot", "()" },
                { "/org/ntprof1/peer", "org.ntprof1.internal.Peer", "Close", "('1', '')" },
                { "/org/ntprof1/peer", "org.ntprof1.internal.Peer", "Forget", "(1,)" },
        };
        g_autoptr(Machine) m = machine_new("stor-b");

        machine_pin(m, m, FALSE);
        for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
                Stranger s = { 0 };

                g_test_message("%s", cases[i].method);
                stranger_greet(&s, m);
                expect_warning("it sent a call");
                stranger_call(&s, cases[i].path, cases[i].interface, cases[i].method, g_variant_new_parsed(cases[i].arguments));
                run_until(is_set, &s.closed, 5);
                assert_warned();
                stranger_clear(&s);
        }
        g_assert_cmpuint(m->forgotten, ==, 0);
}

static void test_uninvited_calls(void)
{
        static const char *const methods[][2] = { { "Forget", "()" }, { "Renew", "('x',)" }, { "Close", "(uint64 1, '')" },
                                                  { "Data", "(uint64 1, [byte 1])" }, { "OpenTarget", "(@a{sv} {},)" } };
        g_autoptr(Machine) m = machine_new("stor-b");

        m->invited = TRUE;
        for (gsize i = 0; i < G_N_ELEMENTS(methods); i++) {
                Stranger s = { 0 };

                stranger_greet(&s, m);
                expect_warning("only a paired machine");
                stranger_call(&s, NP_LINK_PATH, NP_LINK_INTERFACE, methods[i][0], g_variant_new_parsed(methods[i][1]));
                run_until(is_set, &s.closed, 5);
                assert_warned();
                stranger_clear(&s);
        }
        g_assert_cmpuint(m->forgotten + m->renewed + m->n_targets, ==, 0);
        g_assert_null(m->requested);
}

static void replied(GObject *source, GAsyncResult *result, gpointer data)
{
        g_autoptr(GVariant) reply = g_dbus_connection_call_finish(G_DBUS_CONNECTION(source), result, data);
}

static gboolean has_error(gpointer data)
{
        return *(GError **) data != NULL;
}

static void test_versions(void)
{
        static const struct { guint minimum, maximum; const char *update; } cases[] = {
                { 2, 3, "update ntprof on stor-b" },
                { 0, 0, "update ntprof on stranger" },
                { 3, 1, "update ntprof on stranger" },
        };
        g_autoptr(Machine) m = machine_new("stor-b");

        machine_pin(m, m, FALSE);
        for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
                Stranger s = { 0 };
                g_autoptr(GError) error = NULL;

                stranger_init(&s, m);
                g_dbus_connection_call(s.bus, NULL, NP_LINK_PATH, NP_LINK_INTERFACE, "Hello",
                                       hello_arguments(cases[i].minimum, cases[i].maximum), NULL, G_DBUS_CALL_FLAGS_NONE, -1,
                                       NULL, replied, &error);
                run_until(has_error, &error, 5);
                g_assert_error(error, NP_ERROR, NP_ERROR_PEER_VERSION);
                g_assert_nonnull(strstr(error->message, cases[i].update));
                g_assert_nonnull(strstr(error->message, "ntprof 9"));
                g_assert_nonnull(strstr(error->message, "ntprof 0.1.0"));
                run_until(is_set, &s.closed, 5);
                stranger_clear(&s);
        }
        g_assert_cmpuint(m->met, ==, 0);
}

static void test_hello_first(void)
{
        g_autoptr(Machine) m = machine_new("stor-b");
        Stranger s = { 0 };

        machine_pin(m, m, FALSE);
        stranger_init(&s, m);
        stranger_call(&s, NP_LINK_PATH, NP_LINK_INTERFACE, "Forget", NULL);
        run_until(is_set, &s.closed, 5);
        g_assert_cmpuint(m->forgotten, ==, 0);
        stranger_clear(&s);
}

static GVariant *data_arguments(gsize size)
{
        g_autofree char *zeroes = g_malloc0(size);

        return g_variant_new("(t@ay)", (guint64) 3, g_variant_new_fixed_array(G_VARIANT_TYPE_BYTE, zeroes, size, 1));
}

static void test_oversized(void)
{
        g_autoptr(Machine) m = machine_new("stor-b");
        g_autoptr(GError) error = NULL;
        Stranger s = { 0 };

        machine_pin(m, m, FALSE);
        stranger_greet(&s, m);
        /* 1 MiB gets through, to a stream that there is not, and the link goes on */
        g_dbus_connection_call(s.bus, NULL, NP_LINK_PATH, NP_LINK_INTERFACE, "Data", data_arguments(1 << 20), NULL,
                               G_DBUS_CALL_FLAGS_NONE, -1, NULL, replied, &error);
        run_until(has_error, &error, 5);
        g_assert_true(g_dbus_error_is_remote_error(error));
        g_assert_nonnull(strstr(error->message, "there is no stream 3"));
        g_assert_false(s.closed);
        stranger_call(&s, NP_LINK_PATH, NP_LINK_INTERFACE, "Data", data_arguments(LARGE));
        run_until(is_set, &s.closed, 5);
        stranger_clear(&s);
}

static void test_too_many_calls(void)
{
        g_autoptr(Machine) m = machine_new("stor-b");
        Stranger s = { 0 };

        machine_pin(m, m, FALSE);
        stranger_init(&s, m);
        expect_warning("more calls at once");
        for (guint i = 0; i < 20 * NP_GATE_CALLS_MAX; i++)
                stranger_call(&s, NP_LINK_PATH, NP_LINK_INTERFACE, "Hello", hello_arguments(1, 1));
        /* they all are there before one is answered */
        g_dbus_connection_flush_sync(s.bus, NULL, NULL);
        g_usleep(300000);
        run_until(is_set, &s.closed, 5);
        assert_warned();
        stranger_clear(&s);
}

/* gnutls: what GIO can't be made to do. */
typedef struct {
        Machine *m;
        const char *priority;
        gboolean with_certificate;
        int result;             /* of the handshake, or of reading after it */
        gboolean done;
} Raw;

static gpointer raw_handshake(gpointer data)
{
        Raw *raw = data;
        g_autoptr(GSocketClient) client = g_socket_client_new();
        g_autoptr(GSocketConnection) connection = g_socket_client_connect_to_host(client, raw->m->address, 0, NULL, NULL);
        gnutls_certificate_credentials_t credentials;
        gnutls_session_t session;
        g_autofree char *pem = g_build_filename(raw->m->folder, NP_IDENTITY_FILE, NULL);
        char byte;

        g_assert_nonnull(connection);
        gnutls_certificate_allocate_credentials(&credentials);
        if (raw->with_certificate)
                g_assert_cmpint(gnutls_certificate_set_x509_key_file(credentials, pem, pem, GNUTLS_X509_FMT_PEM), >=, 0);
        gnutls_init(&session, GNUTLS_CLIENT);
        g_assert_cmpint(gnutls_priority_set_direct(session, raw->priority, NULL), ==, 0);
        gnutls_credentials_set(session, GNUTLS_CRD_CERTIFICATE, credentials);
        gnutls_transport_set_int(session, g_socket_get_fd(g_socket_connection_get_socket(connection)));
        g_socket_set_blocking(g_socket_connection_get_socket(connection), TRUE);
        gnutls_handshake_set_timeout(session, 5000);
        do
                raw->result = gnutls_handshake(session);
        while (raw->result < 0 && !gnutls_error_is_fatal(raw->result));
        if (raw->result == 0) {
                gnutls_record_set_timeout(session, 5000);
                gnutls_record_send(session, "\0AUTH\r\n", 7);
                do
                        raw->result = (int) gnutls_record_recv(session, &byte, 1);
                while (raw->result == GNUTLS_E_AGAIN || raw->result == GNUTLS_E_INTERRUPTED);
        }
        gnutls_deinit(session);
        gnutls_certificate_free_credentials(credentials);
        g_atomic_int_set(&raw->done, TRUE);
        return NULL;
}

static int raw_result(Machine *m, const char *priority, gboolean with_certificate)
{
        Raw raw = { .m = m, .priority = priority, .with_certificate = with_certificate };
        GThread *thread = g_thread_new("raw", raw_handshake, &raw);

        run_until(is_set, &raw.done, 10);
        g_thread_join(thread);
        return raw.result;
}

/* Who is invited and stays. */
static void test_short_life(void)
{
        g_autoptr(Machine) m = machine_new("stor-b");
        Stranger s = { 0 };
        NpLink *link;

        m->invited = TRUE;
        stranger_greet(&s, m);
        run_for(1.2);
        link = np_links_peek(m->links, NULL);
        g_assert_nonnull(link);
        g_assert_cmpint(link->deadline - g_get_monotonic_time(), <, 30 * G_USEC_PER_SEC);
        link->deadline -= 30 * G_USEC_PER_SEC;
        run_until(is_set, &s.closed, 2);
        stranger_clear(&s);
}

/* More Data() than the credits allow: that stream ends, and nothing else. */
static void test_beyond_credits(void)
{
        g_autoptr(Machine) m = machine_new("stor-b");
        g_autoptr(GError) error = NULL;
        Stranger s = { 0 };

        machine_pin(m, m, FALSE);
        stranger_greet(&s, m);
        stranger_call(&s, NP_LINK_PATH, NP_LINK_INTERFACE, "OpenTarget", g_variant_new("(@a{sv})", request_new()));
        stranger_call(&s, NP_LINK_PATH, NP_LINK_INTERFACE, "OpenTarget", g_variant_new("(@a{sv})", request_new()));
        run_for(0.3);
        g_assert_cmpuint(m->n_targets, ==, 2);
        for (guint i = 0; i < 5; i++)
                stranger_call(&s, NP_LINK_PATH, NP_LINK_INTERFACE, "Data", data_arguments(1 << 20));
        g_assert_cmpuint(np_links_n_streams(m->links, "stor-b"), ==, 2);
        g_dbus_connection_call(s.bus, NULL, NP_LINK_PATH, NP_LINK_INTERFACE, "Data", data_arguments(1), NULL,
                               G_DBUS_CALL_FLAGS_NONE, -1, NULL, replied, &error);
        run_until(has_error, &error, 5);
        g_assert_cmpuint(np_links_n_streams(m->links, "stor-b"), ==, 1);
        g_assert_false(s.closed);
        stranger_clear(&s);
}

static void test_tls(void)
{
        g_autoptr(Machine) m = machine_new("stor-b");

        machine_pin(m, m, FALSE);
        /* That it can succeed: the first byte of "REJECTED ANONYMOUS" */
        g_assert_cmpint(raw_result(m, "NORMAL:-VERS-ALL:+VERS-TLS1.3", TRUE), ==, 1);
        g_assert_cmpint(raw_result(m, "NORMAL:-VERS-ALL:+VERS-TLS1.3", FALSE), <=, 0);
        g_assert_cmpint(raw_result(m, "NORMAL:-VERS-ALL:+VERS-TLS1.2", TRUE), <=, 0);
        machine_unpin(m, m);
        g_assert_cmpint(raw_result(m, "NORMAL:-VERS-ALL:+VERS-TLS1.3", TRUE), <=, 0);
        /* An invitation is no excuse. */
        m->invited = TRUE;
        g_assert_cmpint(raw_result(m, "NORMAL:-VERS-ALL:+VERS-TLS1.3", FALSE), <=, 0);
        g_assert_cmpint(raw_result(m, "NORMAL:-VERS-ALL:+VERS-TLS1.3", TRUE), ==, 1);
}

int main(int argc, char **argv)
{
        g_test_init(&argc, &argv, NULL);
        g_log_set_always_fatal(G_LOG_LEVEL_CRITICAL | G_LOG_FATAL_MASK);
        g_log_set_handler("ntprof-peerd", G_LOG_LEVEL_WARNING, note_warning, NULL);
        g_test_add_func("/peerd/stranger/wrong-calls-close", test_wrong_calls_close);
        g_test_add_func("/peerd/stranger/uninvited-calls", test_uninvited_calls);
        g_test_add_func("/peerd/stranger/versions", test_versions);
        g_test_add_func("/peerd/stranger/hello-first", test_hello_first);
        g_test_add_func("/peerd/stranger/oversized", test_oversized);
        g_test_add_func("/peerd/stranger/too-many-calls", test_too_many_calls);
        g_test_add_func("/peerd/stranger/short-life", test_short_life);
        g_test_add_func("/peerd/stranger/beyond-credits", test_beyond_credits);
        g_test_add_func("/peerd/stranger/tls", test_tls);
        return g_test_run();
}
