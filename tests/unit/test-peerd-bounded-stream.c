/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What may be read of a D-Bus connection: at every split, before anything is allocated, and the same borders as GDBus finds. */
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "peerd/bounded-stream.h"

#define AUTH "\0AUTH\r\nAUTH ANONYMOUS 41\r\nBEGIN\r\n"

static GByteArray *call_bytes(const char *method, gsize body, GByteArray *to)
{
        g_autoptr(GDBusMessage)
                message = g_dbus_message_new_method_call(NULL, "/org/ntprof1/peer", "org.ntprof1.internal.Peer", method);
        g_autofree guint8 *zeroes = g_malloc0(body);
        g_autofree guint8 *blob = NULL;
        gsize size;

        g_dbus_message_set_serial(message, 7);
        if (body > 0)
                g_dbus_message_set_body(message, g_variant_new("(@ay)", g_variant_new_fixed_array(G_VARIANT_TYPE_BYTE, zeroes,
                                                                                                  body, 1)));
        blob = g_dbus_message_to_blob(message, &size, G_DBUS_CAPABILITY_FLAGS_NONE, NULL);
        return g_byte_array_append(to, blob, (guint) size);
}

static void header(guint8 *to, char endian, guint8 type, guint8 version, guint32 body, guint32 serial, guint32 fields)
{
        guint32 numbers[3] = { GUINT32_TO_LE(body), GUINT32_TO_LE(serial), GUINT32_TO_LE(fields) };

        to[0] = (guint8) endian;
        to[1] = type;
        to[2] = 0;
        to[3] = version;
        memcpy(to + 4, numbers, sizeof(numbers));
}

/* The number of bytes that were let through, fed at most step at a time. */
static gsize taken(gboolean from_client, const guint8 *data, gsize size, gsize first, gsize step)
{
        NpMessageBounds bounds;

        np_message_bounds_init(&bounds, from_client, NP_MESSAGE_MAX);
        for (gsize at = 0; at < size;) {
                g_autoptr(GError) error = NULL;
                gsize n = MIN(at == 0 ? first : step, size - at);

                if (!np_message_bounds_feed(&bounds, data + at, n, &error)) {
                        g_assert_error(error, G_IO_ERROR, G_IO_ERROR_INVALID_DATA);
                        return at;
                }
                at += n;
        }
        return size;
}

static void test_splits(void)
{
        g_autoptr(GByteArray) good = g_byte_array_new();
        guint8 large[NP_MESSAGE_HEADER];
        gsize fine;

        g_byte_array_append(good, (const guint8 *) AUTH, sizeof(AUTH) - 1);
        call_bytes("Forget", 0, good);
        call_bytes("Data", 1000, good);
        fine = good->len;
        header(large, 'l', 1, 1, NP_MESSAGE_MAX, 1, 0);
        g_byte_array_append(good, large, sizeof(large));

        for (gsize split = 1; split < good->len; split++) {
                gsize n = taken(TRUE, good->data, good->len, split, good->len);

                /* the piece that ends the wrong header is refused, whatever is in front of it */
                g_assert_cmpuint(n, ==, split);
                g_assert_cmpuint(taken(TRUE, good->data, good->len - 1, split, good->len), ==, good->len - 1);
        }
        for (gsize step = 1; step < 40; step++)
                g_assert_cmpuint(taken(TRUE, good->data, good->len, step, step), >=, fine + NP_MESSAGE_HEADER - step);
        g_assert_cmpuint(taken(TRUE, good->data, good->len, 1, 1), ==, fine + NP_MESSAGE_HEADER - 1);
}

static void test_headers(void)
{
        static const struct { char endian; guint8 type, version; guint32 body, serial, fields; gboolean ok; } cases[] = {
                { 'l', 1, 1, 0, 1, 0, TRUE },
                { 'l', 3, 1, 100, 0xffffffff, 4096, TRUE },
                { 'l', 2, 1, NP_MESSAGE_MAX - 16, 1, 0, TRUE },
                { 'l', 2, 1, NP_MESSAGE_MAX - 16, 1, 1, FALSE },
                { 'l', 1, 1, NP_MESSAGE_MAX - 15, 1, 0, FALSE },
                { 'l', 1, 1, 0xffffffff, 1, 4096, FALSE },
                { 'l', 1, 1, 0, 1, 0xffffffff, FALSE },
                { 'l', 1, 1, 0, 1, 4097, FALSE },
                { 'B', 1, 1, 0, 1, 0, FALSE },
                { 0, 1, 1, 0, 1, 0, FALSE },
                { 'l', 4, 1, 0, 1, 0, FALSE },
                { 'l', 0, 1, 0, 1, 0, FALSE },
                { 'l', 1, 2, 0, 1, 0, FALSE },
                { 'l', 1, 1, 0, 0, 0, FALSE },
        };

        for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
                guint8 bytes[sizeof(AUTH) - 1 + NP_MESSAGE_HEADER] = AUTH;

                header(bytes + sizeof(AUTH) - 1, cases[i].endian, cases[i].type, cases[i].version, cases[i].body,
                       cases[i].serial, cases[i].fields);
                g_assert_cmpuint(taken(TRUE, bytes, sizeof(bytes), 1, 1), ==, cases[i].ok ? sizeof(bytes) : sizeof(bytes) - 1);
        }
}

static void test_auth(void)
{
        g_autofree char *endless = g_strnfill(10 * NP_AUTH_MAX, 'A');
        g_autoptr(GString) lines = g_string_new_len("", 1);
        static const char *const wrong[] = { "AUTH\r\n", "\nAUTH\r\n", "\rAUTH" };

        g_assert_cmpuint(taken(TRUE, (const guint8 *) "x", 1, 1, 1), ==, 0);
        endless[0] = '\0';
        g_assert_cmpuint(taken(TRUE, (const guint8 *) endless, 10 * NP_AUTH_MAX, 1, 1), ==, 1 + NP_AUTH_LINE_MAX);
        endless[0] = 'A';
        g_assert_cmpuint(taken(FALSE, (const guint8 *) endless, 10 * NP_AUTH_MAX, 1, 1), ==, NP_AUTH_LINE_MAX);
        for (guint i = 0; i < NP_AUTH_MAX; i++)
                g_string_append(lines, "AUTH\r\n");
        g_assert_cmpuint(taken(TRUE, (const guint8 *) lines->str, lines->len, 1, 1), ==, 1 + NP_AUTH_MAX);

        /* GDBus would see the end of the authentication here, or not */
        for (gsize i = 0; i < G_N_ELEMENTS(wrong); i++) {
                g_autoptr(GByteArray) bytes = g_byte_array_new();

                g_byte_array_append(bytes, (const guint8 *) "\0BEGIN", 6);
                g_byte_array_append(bytes, (const guint8 *) (i == 0 ? "\0" : ""), i == 0);
                g_byte_array_append(bytes, (const guint8 *) wrong[i], (guint) strlen(wrong[i]));
                g_assert_cmpuint(taken(TRUE, bytes->data, bytes->len, 1, 1), <, bytes->len);
        }
        /* the other side's: messages after OK */
        g_assert_cmpuint(taken(FALSE, (const guint8 *) "REJECTED ANONYMOUS\r\nOK 12\r\nl\001\000\002............", 42, 1, 1),
                         ==, 42);
        g_assert_cmpuint(taken(FALSE, (const guint8 *) "REJECTED ANONYMOUS\r\nOK 12\r\nl\001\000\002............", 43, 1, 1),
                         ==, 42);
}

/* A pair of streams, the first bounded. */
static GIOStream *streams(gboolean from_client, int *other)
{
        g_autoptr(GSocket) socket = NULL;
        g_autoptr(GSocketConnection) connection = NULL;
        int pair[2];

        g_assert_cmpint(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), ==, 0);
        socket = g_socket_new_from_fd(pair[0], NULL);
        connection = g_socket_connection_factory_create_connection(socket);
        *other = pair[1];
        return np_bounded_stream_new(G_IO_STREAM(connection), from_client, NP_MESSAGE_MAX);
}

static void test_read(void)
{
        g_autoptr(GIOStream) stream = NULL;
        g_autoptr(GError) error = NULL, again = NULL;
        guint8 bytes[sizeof(AUTH) - 1 + NP_MESSAGE_HEADER] = AUTH, buffer[256];
        GPollableInputStream *input;
        gssize n;
        int other;

        stream = streams(TRUE, &other);
        input = G_POLLABLE_INPUT_STREAM(g_io_stream_get_input_stream(stream));
        g_assert_true(g_pollable_input_stream_can_poll(input));
        g_assert_false(g_pollable_input_stream_is_readable(input));
        header(bytes + sizeof(AUTH) - 1, 'l', 1, 1, NP_MESSAGE_MAX, 1, 0);
        g_assert_cmpint(write(other, bytes, sizeof(bytes)), ==, sizeof(bytes));
        g_assert_true(g_pollable_input_stream_is_readable(input));
        /* byte by byte while it authenticates, however much is asked for */
        for (gsize i = 0; i < sizeof(AUTH) - 1; i++) {
                if (i % 2)
                        n = g_pollable_input_stream_read_nonblocking(input, buffer, sizeof(buffer), NULL, &error);
                else
                        n = g_input_stream_read(G_INPUT_STREAM(input), buffer, sizeof(buffer), NULL, &error);
                g_assert_no_error(error);
                g_assert_cmpint(n, ==, 1);
                g_assert_cmpint(buffer[0], ==, bytes[i]);
        }
        n = g_pollable_input_stream_read_nonblocking(input, buffer, sizeof(buffer), NULL, &error);
        g_assert_cmpint(n, ==, -1);
        g_assert_error(error, G_IO_ERROR, G_IO_ERROR_INVALID_DATA);
        g_assert_nonnull(strstr(error->message, "1114128 bytes"));
        /* and from now on */
        g_assert_true(g_pollable_input_stream_is_readable(input));
        g_assert_cmpint(g_input_stream_read(G_INPUT_STREAM(input), buffer, 1, NULL, &again), ==, -1);
        g_assert_error(again, G_IO_ERROR, G_IO_ERROR_INVALID_DATA);
        g_assert_cmpint(g_input_stream_skip(G_INPUT_STREAM(input), 1, NULL, NULL), ==, -1);
        close(other);
}

static void store(GObject *source, GAsyncResult *result, gpointer data)
{
        *(GDBusConnection **) data = g_dbus_connection_new_finish(result, NULL);
        g_assert_nonnull(*(GDBusConnection **) data);
}

/* Takes it: GDBus would answer, and can't by a socket's stream that is within another. */
static GDBusMessage *note(GDBusConnection *bus, GDBusMessage *message, gboolean incoming, gpointer data)
{
        g_assert_true(incoming);
        g_atomic_pointer_set((GDBusMessage **) data, message);
        return NULL;
}

static gboolean allow_anonymous(GDBusAuthObserver *observer, const char *mechanism, gpointer data)
{
        return g_str_equal(mechanism, "ANONYMOUS");
}

/* All at once: GDBus must not lose in a buffer what comes after a line, or it would read the next header elsewhere than was
 * checked. */
static void test_pipelined(void)
{
        g_autoptr(GIOStream) stream = NULL;
        g_autoptr(GByteArray) bytes = g_byte_array_new();
        g_autoptr(GDBusConnection) bus = NULL;
        g_autoptr(GDBusAuthObserver) observer = g_dbus_auth_observer_new();
        g_autofree char *guid = g_dbus_generate_guid();
        GDBusMessage *got = NULL;
        gint64 end = g_get_monotonic_time() + 5 * G_USEC_PER_SEC;
        int other;

        stream = streams(TRUE, &other);
        g_signal_connect(observer, "allow-mechanism", G_CALLBACK(allow_anonymous), NULL);
        g_byte_array_append(bytes, (const guint8 *) AUTH, sizeof(AUTH) - 1);
        call_bytes("Forget", 0, bytes);
        g_assert_cmpint(write(other, bytes->data, bytes->len), ==, bytes->len);
        g_dbus_connection_new(stream, guid,
                              G_DBUS_CONNECTION_FLAGS_AUTHENTICATION_SERVER |
                                      G_DBUS_CONNECTION_FLAGS_AUTHENTICATION_ALLOW_ANONYMOUS |
                                      G_DBUS_CONNECTION_FLAGS_DELAY_MESSAGE_PROCESSING,
                              observer, NULL, store, &bus);
        while (!bus && g_get_monotonic_time() < end)
                g_main_context_iteration(NULL, TRUE);
        g_assert_nonnull(bus);
        g_dbus_connection_add_filter(bus, note, &got, NULL);
        g_dbus_connection_start_message_processing(bus);
        while (!g_atomic_pointer_get(&got) && g_get_monotonic_time() < end)
                g_usleep(1000);
        g_assert_nonnull(got);
        g_assert_cmpstr(g_dbus_message_get_member(got), ==, "Forget");
        g_object_unref(got);
        g_dbus_connection_close_sync(bus, NULL, NULL);
        g_assert_true(g_io_stream_is_closed(stream));
        close(other);
}

int main(int argc, char **argv)
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/peerd/bounded-stream/splits", test_splits);
        g_test_add_func("/peerd/bounded-stream/headers", test_headers);
        g_test_add_func("/peerd/bounded-stream/auth", test_auth);
        g_test_add_func("/peerd/bounded-stream/read", test_read);
        g_test_add_func("/peerd/bounded-stream/pipelined", test_pipelined);
        return g_test_run();
}
