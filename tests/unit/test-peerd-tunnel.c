/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Streams over a link on loopback: every byte, in order, no more than the other side takes, and an end that both see. */
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "fake-machine.h"
#include "peerd/error.h"
#include "peerd/tunnel.h"

#define MIB (1U << 20)
#define CHUNK_MAX 100000

typedef struct {
        Machine *a, *b;
        int fa, fb;             /* the ends of the stream */
} Fixture;

/* a has opened a stream at b. */
static void setup(Fixture *f, gconstpointer data)
{
        g_autoptr(GError) error = NULL;

        f->a = machine_new("host-a");
        f->b = machine_new("stor-b");
        machine_pin(f->a, f->b, TRUE);
        machine_pin(f->b, f->a, FALSE);
        f->fa = machine_open(f->a, "stor-b", &error);
        g_assert_no_error(error);
        f->fb = f->b->targets[0];
        f->b->targets[0] = -1;
        g_assert_cmpuint(np_links_n_streams(f->a->links, "stor-b"), ==, 1);
        g_assert_cmpuint(np_links_n_streams(f->b->links, "host-a"), ==, 1);
}

static void teardown(Fixture *f, gconstpointer data)
{
        if (f->fa >= 0)
                close(f->fa);
        if (f->fb >= 0)
                close(f->fb);
        if (f->a)
                machine_free(f->a);
        if (f->b)
                machine_free(f->b);
}

static guint8 byte_at(guint64 position)
{
        return (guint8) ((position * 2654435761U) >> 13);
}

/* One direction: writes what is there, in pieces of random size, reads likewise, and compares. */
typedef struct {
        int from, to;
        guint64 total, written, read;
        guint64 most;           /* that was on its way */
} Flow;

static void pump(Flow *f)
{
        static guint8 buffer[CHUNK_MAX];
        gsize n;
        ssize_t done;

        if (f->written < f->total) {
                n = MIN((gsize) g_test_rand_int_range(1, CHUNK_MAX), f->total - f->written);
                for (gsize i = 0; i < n; i++)
                        buffer[i] = byte_at(f->written + i);
                done = send(f->from, buffer, n, MSG_DONTWAIT | MSG_NOSIGNAL);
                g_assert_true(done > 0 || errno == EAGAIN);
                f->written += done > 0 ? (guint64) done : 0;
        }
        f->most = MAX(f->most, f->written - f->read);
        done = recv(f->to, buffer, (gsize) g_test_rand_int_range(1, CHUNK_MAX), MSG_DONTWAIT);
        g_assert_true(done > 0 || errno == EAGAIN);
        for (ssize_t i = 0; i < done; i++)
                g_assert_true(buffer[i] == byte_at(f->read + (guint64) i));
        f->read += done > 0 ? (guint64) done : 0;
}

static void test_intact(Fixture *f, gconstpointer data)
{
        Flow there = { .from = f->fa, .to = f->fb, .total = 64 * MIB },
             back = { .from = f->fb, .to = f->fa, .total = 64 * MIB };
        gint64 start = g_get_monotonic_time();
        struct rusage before, after;

        getrusage(RUSAGE_SELF, &before);
        while (there.read < there.total || back.read < back.total) {
                g_assert_cmpint(g_get_monotonic_time() - start, <, 60 * G_USEC_PER_SEC);
                pump(&there);
                pump(&back);
                g_main_context_iteration(NULL, FALSE);
        }
        getrusage(RUSAGE_SELF, &after);
        g_test_message("%.0f MB/s each way, at most %" G_GUINT64_FORMAT " and %" G_GUINT64_FORMAT
                       " KiB on their way, %ld MiB of memory more",
                       64.0 * MIB / (double) (g_get_monotonic_time() - start), there.most / 1024, back.most / 1024,
                       (after.ru_maxrss - before.ru_maxrss) / 1024);
        /* The credits, and what four sockets hold; the memory is that of both machines, both ways, and a copy for
         * GDBus and TLS */
        g_assert_cmpuint(there.most, <, 4 * MIB);
#ifndef __SANITIZE_ADDRESS__            /* it keeps what was freed */
        g_assert_cmpint(after.ru_maxrss - before.ru_maxrss, <, 48 * 1024);
#endif
}

/* Nobody reads: the writer has to stop, and nothing is lost. */
static void test_credits(Fixture *f, gconstpointer data)
{
        Flow flow = { .from = f->fa, .to = f->fb, .total = 64 * MIB };
        static guint8 buffer[CHUNK_MAX];
        gint64 quiet = g_get_monotonic_time();

        while (g_get_monotonic_time() - quiet < G_USEC_PER_SEC / 2) {
                ssize_t n;

                for (gsize i = 0; i < CHUNK_MAX; i++)
                        buffer[i] = byte_at(flow.written + i);
                n = send(flow.from, buffer, CHUNK_MAX, MSG_DONTWAIT | MSG_NOSIGNAL);
                if (n > 0) {
                        flow.written += (guint64) n;
                        quiet = g_get_monotonic_time();
                }
                g_assert_cmpuint(flow.written, <, 8 * MIB);
                g_main_context_iteration(NULL, FALSE);
        }
        g_test_message("%" G_GUINT64_FORMAT " KiB were taken", flow.written / 1024);
        g_assert_cmpuint(flow.written, >, NP_STREAM_CREDITS * NP_STREAM_READ_MAX / 2);
        g_assert_cmpuint(flow.written, <, 4 * MIB + MIB);
        flow.total = flow.written + MIB;
        while (flow.read < flow.total) {
                g_assert_cmpint(g_get_monotonic_time() - quiet, <, 20 * G_USEC_PER_SEC);
                pump(&flow);
                g_main_context_iteration(NULL, FALSE);
        }
}

typedef struct {
        int fd;
        GString *read;
        gboolean ended;
} Reader;

static gboolean has_ended(gpointer data)
{
        Reader *r = data;
        char buffer[4096];
        ssize_t n = recv(r->fd, buffer, sizeof(buffer), MSG_DONTWAIT);

        if (n > 0)
                g_string_append_len(r->read, buffer, n);
        r->ended = n == 0 || (n < 0 && errno != EAGAIN);
        return r->ended;
}

static gsize read_to_end(int fd, double seconds)
{
        g_autoptr(GString) text = g_string_new(NULL);
        Reader reader = { .fd = fd, .read = text };

        run_until(has_ended, &reader, seconds);
        return text->len;
}

static gboolean no_streams(gpointer data)
{
        Fixture *f = data;

        return np_links_n_streams(f->a->links, "stor-b") == 0 && np_links_n_streams(f->b->links, "host-a") == 0;
}

static void test_eof(Fixture *f, gconstpointer data)
{
        static guint8 bytes[150000];

        /* a has no more to say, b gets all of it and the end, and goes on saying */
        g_assert_cmpint(send(f->fa, bytes, sizeof(bytes), MSG_NOSIGNAL), >, 0);
        shutdown(f->fa, SHUT_WR);
        g_assert_cmpuint(read_to_end(f->fb, 5), >, 100000);
        run_for(0.2);
        g_assert_cmpuint(np_links_n_streams(f->a->links, "stor-b"), ==, 1);
        g_assert_cmpint(send(f->fb, "so long", 7, MSG_NOSIGNAL), ==, 7);
        close(f->fb);
        f->fb = -1;
        g_assert_cmpuint(read_to_end(f->fa, 5), ==, 7);
        run_until(no_streams, f, 5);
        g_assert_cmpuint(np_link_n_streams(np_links_peek(f->a->links, "stor-b")), ==, 0);
}

/* Closed for good: the other side's stream ends, though that goes on holding its socket. */
static void test_close(Fixture *f, gconstpointer data)
{
        g_assert_cmpint(send(f->fa, "bye", 3, MSG_NOSIGNAL), ==, 3);
        close(f->fa);
        f->fa = -1;
        g_assert_cmpuint(read_to_end(f->fb, 5), ==, 3);
        run_until(no_streams, f, 5);
        g_assert_true(np_link_is_open(np_links_peek(f->a->links, "stor-b")));
}

/* As above, but first only the one direction. */
static void test_shutdown_then_close(Fixture *f, gconstpointer data)
{
        shutdown(f->fb, SHUT_WR);
        g_assert_cmpuint(read_to_end(f->fa, 5), ==, 0);
        g_assert_cmpuint(np_links_n_streams(f->b->links, "host-a"), ==, 1);
        close(f->fb);
        f->fb = -1;
        run_until(no_streams, f, 5);
}

/* b writes into what a has closed. */
static void test_write_to_closed(Fixture *f, gconstpointer data)
{
        static guint8 bytes[100000];

        close(f->fa);
        f->fa = -1;
        for (guint i = 0; i < 20; i++) {
                send(f->fb, bytes, sizeof(bytes), MSG_DONTWAIT | MSG_NOSIGNAL);
                run_for(0.01);
        }
        run_until(no_streams, f, 5);
        g_assert_true(np_link_is_open(np_links_peek(f->a->links, "stor-b")));
}

static void test_killed(Fixture *f, gconstpointer data)
{
        static guint8 bytes[100000];

        for (guint i = 0; i < 10; i++) {
                send(f->fa, bytes, sizeof(bytes), MSG_DONTWAIT | MSG_NOSIGNAL);
                run_for(0.005);
        }
        machine_free(g_steal_pointer(&f->b));
        read_to_end(f->fa, 5);
        g_assert_cmpuint(np_links_n_streams(f->a->links, "stor-b"), ==, 0);
        g_assert_null(np_links_peek(f->a->links, "stor-b"));
        /* what b had got is still its own */
        g_assert_cmpuint(read_to_end(f->fb, 5), >, 0);
}

/* Each side opens one at the other: they are not the same stream. */
static void test_both_open(Fixture *f, gconstpointer data)
{
        g_autoptr(GError) error = NULL;
        int back = machine_open(f->b, "host-a", &error), other;
        char buffer[16];

        g_assert_no_error(error);
        other = f->a->targets[0];
        g_assert_cmpint(send(f->fa, "one", 3, MSG_NOSIGNAL), ==, 3);
        g_assert_cmpint(send(back, "four", 4, MSG_NOSIGNAL), ==, 4);
        run_for(0.3);
        g_assert_cmpint(recv(f->fb, buffer, sizeof(buffer), MSG_DONTWAIT), ==, 3);
        g_assert_cmpint(recv(other, buffer, sizeof(buffer), MSG_DONTWAIT), ==, 4);
        close(back);
}

static void test_errors(Fixture *f, gconstpointer data)
{
        g_autoptr(GError) error = NULL;
        g_autofree char *request = NULL;
        int open[NP_LINK_STREAMS_MAX];
        guint n_open = 0;

        request = g_variant_print(f->b->requested, TRUE);
        g_assert_nonnull(strstr(request, "'user': <'root'>"));
        f->b->target_error = g_error_new(NP_ERROR, NP_ERROR_KERNEL_UNSUPPORTED, "no BTF\nhere");
        g_assert_cmpint(machine_open(f->a, "stor-b", &error), ==, -1);
        g_assert_error(error, NP_ERROR, NP_ERROR_KERNEL_UNSUPPORTED);
        g_assert_cmpstr(error->message, ==, "stor-b: no BTF?here");
        g_clear_error(&error);

        /* one that is of no row */
        g_clear_error(&f->b->target_error);
        f->b->target_error = g_error_new(G_IO_ERROR, G_IO_ERROR_BROKEN_PIPE, "its ntprofd is gone");
        g_assert_cmpint(machine_open(f->a, "stor-b", &error), ==, -1);
        g_assert_error(error, NP_ERROR, NP_ERROR_PEER_REFUSED);
        g_clear_error(&error);
        g_clear_error(&f->b->target_error);

        for (guint i = 1; i < NP_LINK_STREAMS_MAX; i++) {
                int fd = machine_open(f->a, "stor-b", &error);

                g_assert_no_error(error);
                open[n_open++] = fd;
        }
        g_assert_cmpint(machine_open(f->a, "stor-b", &error), ==, -1);
        g_assert_error(error, NP_ERROR, NP_ERROR_TOO_MANY_SESSIONS);
        while (n_open > 0)
                close(open[--n_open]);
}

int main(int argc, char **argv)
{
        static const struct { const char *path; void (*test)(Fixture *f, gconstpointer data); } tests[] = {
                { "/peerd/tunnel/intact", test_intact },
                { "/peerd/tunnel/credits", test_credits },
                { "/peerd/tunnel/eof", test_eof },
                { "/peerd/tunnel/close", test_close },
                { "/peerd/tunnel/shutdown-then-close", test_shutdown_then_close },
                { "/peerd/tunnel/write-to-closed", test_write_to_closed },
                { "/peerd/tunnel/killed", test_killed },
                { "/peerd/tunnel/both-open", test_both_open },
                { "/peerd/tunnel/errors", test_errors },
        };

        g_test_init(&argc, &argv, NULL);
        for (gsize i = 0; i < G_N_ELEMENTS(tests); i++)
                g_test_add(tests[i].path, Fixture, NULL, setup, tests[i].test, teardown);
        return g_test_run();
}
