/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Links over real TLS on loopback: who gets in, what gets through, and what it says when not. */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <gnutls/gnutls.h>
#include <gnutls/x509.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

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

static void pair(Machine *a, Machine *b)
{
        machine_pin(a, b, TRUE);
        machine_pin(b, a, FALSE);
}

static void test_pinned(void)
{
        g_autoptr(Machine) a = machine_new("host-a"), b = machine_new("stor-b");
        g_autoptr(GError) error = NULL;
        g_autoptr(NpLink) link = NULL, again = NULL, back = NULL;
        const char *machine;

        pair(a, b);
        link = machine_get(a, "stor-b", 5, &error);
        g_assert_no_error(error);
        g_assert_cmpstr(np_link_peer(link), ==, "stor-b");
        g_assert_cmpstr(np_link_fingerprint(link), ==, np_identity_fingerprint(b->identity));
        g_assert_cmpstr(np_link_address(link), ==, b->address);
        g_assert_true(np_link_outgoing(link));
        g_assert_cmpuint(np_link_protocol(link), ==, 1);
        g_assert_true(g_variant_lookup(np_link_facts(link), "machine", "&s", &machine));
        g_assert_cmpstr(machine, ==, "stor-b");
        g_assert_cmpuint(a->met, ==, 1);

        /* the link that is there serves both, also the side that can't connect */
        again = machine_get(a, "stor-b", 5, &error);
        g_assert_true(again == link);
        back = machine_get(b, "host-a", 5, &error);
        g_assert_no_error(error);
        g_assert_false(np_link_outgoing(back));
        g_assert_cmpuint(b->met, ==, 1);
        g_assert_true(g_variant_lookup(np_link_facts(back), "machine", "&s", &machine));
        g_assert_cmpstr(machine, ==, "host-a");
}

static void test_both_connect(void)
{
        g_autoptr(Machine) a = machine_new("host-a"), b = machine_new("stor-b");
        g_autoptr(GError) error = NULL;
        g_autoptr(NpLink) ab = NULL, ba = NULL;
        g_autoptr(NpLink) second = NULL;

        machine_pin(a, b, TRUE);
        machine_pin(b, a, TRUE);
        ab = machine_get(a, "stor-b", 5, &error);
        g_assert_no_error(error);
        /* b's own view of it goes, and it connects itself */
        np_links_close(b->links, "host-a", "test");
        ba = machine_get(b, "host-a", 5, &error);
        g_assert_no_error(error);
        g_assert_true(np_link_outgoing(ba));
        second = machine_get(a, "stor-b", 5, &error);
        g_assert_no_error(error);
        g_assert_true(np_link_is_open(second));
}

static void test_wrong_pin_of_target(void)
{
        g_autoptr(Machine) a = machine_new("host-a"), b = machine_new("stor-b"), c = machine_new("stor-c");
        g_autoptr(GError) error = NULL;

        machine_pin(b, a, FALSE);
        machine_pin(a, c, TRUE);
        /* c's name and pin, b's address */
        {
                NpPeerConfig *config = g_hash_table_lookup(a->pins, np_identity_fingerprint(c->identity));

                g_free(config->address);
                config->address = g_strdup(b->address);
        }
        g_assert_null(machine_get(a, "stor-c", 5, &error));
        g_assert_error(error, NP_ERROR, NP_ERROR_PEER_UNREACHABLE);
        g_assert_nonnull(strstr(error->message, "is not stor-c"));
        g_assert_nonnull(strstr(error->message, np_identity_fingerprint(b->identity)));
        g_assert_cmpuint(b->met, ==, 0);
}

static void test_wrong_pin_of_host(void)
{
        g_autoptr(Machine) a = machine_new("host-a"), b = machine_new("stor-b"), c = machine_new("host-c");
        g_autoptr(GError) error = NULL;

        machine_pin(a, b, TRUE);
        machine_pin(b, c, FALSE);
        g_assert_null(machine_get(a, "stor-b", 5, &error));
        g_assert_error(error, NP_ERROR, NP_ERROR_PEER_REFUSED);
        g_assert_nonnull(strstr(error->message, "does not know this machine's certificate"));
        g_assert_cmpuint(b->met, ==, 0);
        g_assert_null(np_links_peek(b->links, "host-c"));
}

static void test_unreachable(void)
{
        g_autoptr(Machine) a = machine_new("host-a"), b = machine_new("stor-b"), c = machine_new("stor-c");
        g_autoptr(GError) error = NULL;
        NpPeerConfig *config;

        g_assert_null(machine_get(a, "nobody", 5, &error));
        g_assert_error(error, NP_ERROR, NP_ERROR_NO_PEER);
        g_clear_error(&error);

        machine_pin(a, b, FALSE);
        g_assert_null(machine_get(a, "stor-b", 5, &error));
        g_assert_error(error, NP_ERROR, NP_ERROR_PEER_UNREACHABLE);
        g_assert_nonnull(strstr(error->message, "its address is not known"));
        g_clear_error(&error);

        machine_pin(a, c, TRUE);
        config = g_hash_table_lookup(a->pins, np_identity_fingerprint(c->identity));
        g_free(config->address);
        config->address = g_strdup("127.0.0.1:1");
        g_assert_null(machine_get(a, "stor-c", 5, &error));
        g_assert_error(error, NP_ERROR, NP_ERROR_PEER_UNREACHABLE);
        g_assert_nonnull(strstr(error->message, "no connection to 127.0.0.1:1"));
}

static void test_invited(void)
{
        g_autoptr(Machine) a = machine_new("host-a"), b = machine_new("stor-b"), c = machine_new("stor-c");
        g_autoptr(GError) error = NULL;
        g_autoptr(GVariant) joined = NULL;
        g_autofree char *nqn = NULL;
        const char *name;
        gboolean confirmed;

        /* no invitation stands */
        g_assert_null(machine_join(a, b, np_identity_fingerprint(b->identity), "AAAA-BBBB", &error));
        g_assert_error(error, NP_ERROR, NP_ERROR_INVITATION_INVALID);
        g_assert_nonnull(strstr(error->message, "expired or was used"));
        g_clear_error(&error);

        /* not the fingerprint of the line: the code is not sent */
        b->invited = TRUE;
        g_assert_null(machine_join(a, b, np_identity_fingerprint(c->identity), "AAAA-BBBB", &error));
        g_assert_error(error, NP_ERROR, NP_ERROR_INVITATION_INVALID);
        g_clear_error(&error);
        g_assert_cmpuint(b->joins, ==, 0);
        g_assert_cmpuint(b->met, ==, 0);

        b->join_error = g_strdup("a wrong code\nwith \033[31mcolour");
        g_assert_null(machine_join(a, b, np_identity_fingerprint(b->identity), "AAAA-BBBB", &error));
        g_assert_error(error, NP_ERROR, NP_ERROR_INVITATION_INVALID);
        g_assert_nonnull(strstr(error->message, "a wrong code?with ?[31mcolour"));
        g_clear_error(&error);
        g_clear_pointer(&b->join_error, g_free);

        joined = machine_join(a, b, np_identity_fingerprint(b->identity), "AAAA-BBBB", &error);
        g_assert_no_error(error);
        g_assert_cmpstr(b->joined_code, ==, "AAAA-BBBB");
        g_assert_true(g_variant_lookup(joined, "name", "&s", &name) && g_variant_lookup(joined, "confirmed", "b", &confirmed));
        g_assert_cmpstr(name, ==, "guest");
        g_assert_true(confirmed);
        nqn = g_variant_print(b->joined_facts, FALSE);
        g_assert_nonnull(strstr(nqn, "uuid:1234"));
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

static void test_forget_renew(void)
{
        g_autoptr(Machine) a = machine_new("host-a"), b = machine_new("stor-b");
        g_autoptr(GError) error = NULL;
        g_autoptr(NpLink) link = NULL;

        pair(a, b);
        link = machine_get(a, "stor-b", 5, &error);
        g_assert_no_error(error);
        g_assert_nonnull(np_links_peek(b->links, "host-a"));
        machine_unpin(b, a);
        np_links_check_pins(b->links);
        g_assert_null(np_links_peek(b->links, "host-a"));
        while (np_link_is_open(link))
                g_main_context_iteration(NULL, TRUE);
        g_clear_object(&link);
        g_assert_null(machine_get(a, "stor-b", 5, &error));
        g_assert_error(error, NP_ERROR, NP_ERROR_PEER_REFUSED);
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

typedef struct {
        GAsyncResult *result;
        gboolean done;
} Answer;

static void store_answer(GObject *source, GAsyncResult *result, gpointer data)
{
        ((Answer *) data)->result = g_object_ref(result);
        ((Answer *) data)->done = TRUE;
}

static gboolean answered(gpointer data)
{
        return ((Answer *) data)->done;
}

static gboolean link_closed(gpointer data)
{
        return !np_link_is_open(data);
}

static GAsyncResult *wait_for(Answer *answer)
{
        GAsyncResult *result;

        run_until(answered, answer, 5);
        result = answer->result;
        memset(answer, 0, sizeof(*answer));
        return result;
}

static void test_asking(void)
{
        g_autoptr(Machine) a = machine_new("host-a"), b = machine_new("stor-b");
        g_autoptr(GError) error = NULL;
        g_autoptr(NpLink) link = NULL;
        g_autoptr(GAsyncResult) hello = NULL, renewed = NULL, refused = NULL, forgotten = NULL, late = NULL;
        Answer answer = { 0 };
        gboolean pinned;
        const char *machine;

        pair(a, b);
        link = machine_get(a, "stor-b", 5, &error);
        g_assert_no_error(error);
        b->facts = g_variant_ref_sink(
                g_variant_new_parsed("{'machine': <'renamed'>, 'software': <'two\nlines'>, 'subsystems': <7>}"));
        np_link_hello_async(link, NULL, store_answer, &answer);
        hello = wait_for(&answer);
        g_assert_cmpuint(np_link_hello_finish(link, hello, &error), <, 5 * G_USEC_PER_SEC);
        g_assert_no_error(error);
        g_assert_true(g_variant_lookup(np_link_facts(link), "machine", "&s", &machine));
        g_assert_cmpstr(machine, ==, "renamed");
        g_assert_true(g_variant_lookup(np_link_facts(link), "software", "&s", &machine));
        g_assert_cmpstr(machine, ==, "");
        g_assert_cmpuint(a->met, ==, 2);
        g_assert_cmpuint(b->met, ==, 1);

        /* the administrator has fixed it: nothing changes, the link neither */
        b->renewable = FALSE;
        np_link_renew_async(link, np_identity_fingerprint(b->identity), NULL, store_answer, &answer);
        refused = wait_for(&answer);
        g_assert_true(np_link_renew_finish(link, refused, &pinned, &error));
        g_assert_false(pinned);
        g_assert_true(np_link_is_open(link));
        b->renewable = TRUE;
        np_link_renew_async(link, np_identity_fingerprint(b->identity), NULL, store_answer, &answer);
        renewed = wait_for(&answer);
        g_assert_true(np_link_renew_finish(link, renewed, &pinned, &error));
        g_assert_true(pinned);
        g_assert_cmpuint(b->renewed, ==, 2);
        run_until(link_closed, link, 5);

        g_clear_object(&link);
        link = machine_get(a, "stor-b", 5, &error);
        np_link_forget_async(link, NULL, store_answer, &answer);
        forgotten = wait_for(&answer);
        g_assert_true(np_link_forget_finish(link, forgotten, &error));
        g_assert_no_error(error);
        g_assert_cmpuint(b->forgotten, ==, 1);
        run_until(link_closed, link, 5);
        np_link_forget_async(link, NULL, store_answer, &answer);
        late = wait_for(&answer);
        g_assert_false(np_link_forget_finish(link, late, &error));
        g_assert_error(error, NP_ERROR, NP_ERROR_PEER_UNREACHABLE);
}

/* Nothing is under way for long enough; and a stream is something. */
static void test_idle(void)
{
        g_autoptr(Machine) a = machine_new("host-a"), b = machine_new("stor-b");
        g_autoptr(GError) error = NULL;
        g_autoptr(NpLink) link = NULL;
        int fd;

        pair(a, b);
        fd = machine_open(a, "stor-b", &error);
        g_assert_no_error(error);
        link = g_object_ref(np_links_peek(a->links, "stor-b"));
        link->idle_since -= 100 * G_USEC_PER_SEC;
        run_for(1.5);
        g_assert_true(np_link_is_open(link));
        close(fd);
        run_for(0.3);
        g_assert_cmpuint(np_link_n_streams(link), ==, 0);
        link->idle_since -= 58 * G_USEC_PER_SEC;
        run_for(0.5);
        g_assert_true(np_link_is_open(link));
        link->idle_since -= 3 * G_USEC_PER_SEC;
        run_until(link_closed, link, 2);
        /* and anew when it is needed */
        g_clear_object(&link);
        link = machine_get(a, "stor-b", 5, &error);
        g_assert_no_error(error);
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
        g_test_add_func("/peerd/link/pinned", test_pinned);
        g_test_add_func("/peerd/link/both-connect", test_both_connect);
        g_test_add_func("/peerd/link/wrong-pin-of-target", test_wrong_pin_of_target);
        g_test_add_func("/peerd/link/wrong-pin-of-host", test_wrong_pin_of_host);
        g_test_add_func("/peerd/link/unreachable", test_unreachable);
        g_test_add_func("/peerd/link/invited", test_invited);
        g_test_add_func("/peerd/link/wrong-calls-close", test_wrong_calls_close);
        g_test_add_func("/peerd/link/uninvited-calls", test_uninvited_calls);
        g_test_add_func("/peerd/link/versions", test_versions);
        g_test_add_func("/peerd/link/hello-first", test_hello_first);
        g_test_add_func("/peerd/link/oversized", test_oversized);
        g_test_add_func("/peerd/link/too-many-calls", test_too_many_calls);
        g_test_add_func("/peerd/link/forget-renew", test_forget_renew);
        g_test_add_func("/peerd/link/asking", test_asking);
        g_test_add_func("/peerd/link/idle", test_idle);
        g_test_add_func("/peerd/link/short-life", test_short_life);
        g_test_add_func("/peerd/link/beyond-credits", test_beyond_credits);
        g_test_add_func("/peerd/link/tls", test_tls);
        return g_test_run();
}
