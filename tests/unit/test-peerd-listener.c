/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A paired machine gets in at most 2 s later than alone whatever others do at the door: they don't speak, speak garbage, or
 * begin a handshake and stop. */
#include <errno.h>
#include <netinet/in.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fake-machine.h"
#include "peerd/listener.h"
#include "peerd/silence.h"

#define CROWD 1000
/* A machine that runs the tests may be busy: what should happen at once is waited for so long. */
#define PATIENCE_SEC 60
#define BUSY_FACTOR 10

typedef struct {
        Machine *a, *b;
        GPtrArray *crowd;       /* of GSocket, connected to b */
        gint64 alone_usec;      /* to get in with nobody else at the door */
} Fixture;

/* Where others wait, too, a handshake has one second (listener.c); on a busy machine that may be too little at first. */
static gint64 get_in(Fixture *f)
{
        gint64 start = g_get_monotonic_time();
        g_autoptr(NpLink) link = NULL;

        while (!link) {
                g_autoptr(GError) error = NULL;

                link = machine_get(f->a, "stor-b", PATIENCE_SEC, &error);
                if (!link && g_get_monotonic_time() - start > PATIENCE_SEC * G_USEC_PER_SEC)
                        g_assert_no_error(error);
        }
        return g_get_monotonic_time() - start;
}

static void leave(Fixture *f)
{
        np_links_close(f->a->links, "stor-b", "once more");
        run_for(0.2);
}

static void setup(Fixture *f, gconstpointer data)
{
        f->a = machine_new("host-a");
        f->b = machine_new("stor-b");
        machine_pin(f->a, f->b, TRUE);
        machine_pin(f->b, f->a, FALSE);
        f->crowd = g_ptr_array_new_with_free_func(g_object_unref);
        f->alone_usec = get_in(f);
        leave(f);
}

static void teardown(Fixture *f, gconstpointer data)
{
        g_ptr_array_unref(f->crowd);
        machine_free(f->a);
        machine_free(f->b);
}

/* Connects and says bytes. */
static void come(Fixture *f, gconstpointer bytes, gsize size)
{
        g_autoptr(GSocketAddress) address = g_socket_get_local_address(f->b->socket, NULL);
        g_autoptr(GSocket) socket = g_socket_new(G_SOCKET_FAMILY_IPV4, G_SOCKET_TYPE_STREAM, G_SOCKET_PROTOCOL_TCP, NULL);
        g_autoptr(GError) error = NULL;

        g_assert_true(g_socket_connect(socket, address, NULL, &error));
        if (size > 0)
                g_assert_cmpint(g_socket_send(socket, bytes, size, NULL, NULL), ==, size);
        g_socket_set_blocking(socket, FALSE);
        g_ptr_array_add(f->crowd, g_steal_pointer(&socket));
        /* as a machine that also has other things to do */
        while (g_main_context_iteration(NULL, FALSE))
                ;
}

static guint still_there(Fixture *f)
{
        guint n = 0;

        for (guint i = 0; i < f->crowd->len; i++) {
                char byte;
                ssize_t got = recv(g_socket_get_fd(g_ptr_array_index(f->crowd, i)), &byte, 1, MSG_DONTWAIT | MSG_PEEK);

                n += got > 0 || (got < 0 && errno == EAGAIN);
        }
        return n;
}

static void assert_gets_in(Fixture *f)
{
        gint64 usec = get_in(f);

        g_test_message("in after %.3f s, alone after %.3f s", (double) usec / G_USEC_PER_SEC,
                       (double) f->alone_usec / G_USEC_PER_SEC);
        g_assert_cmpint(usec, <, 2 * G_USEC_PER_SEC + BUSY_FACTOR * f->alone_usec);
}

static guint threads(void)
{
        g_autoptr(GDir) dir = g_dir_open("/proc/self/task", 0, NULL);
        guint n = 0;

        while (g_dir_read_name(dir))
                n++;
        return n;
}

static gboolean nobody(gpointer data)
{
        return still_there(data) == 0;
}

static gboolean only_the_latest(gpointer data)
{
        return still_there(data) == NP_SILENCE_MAX;
}

static void test_silent(Fixture *f, gconstpointer data)
{
        for (guint i = 0; i < CROWD; i++)
                come(f, NULL, 0);
        /* the latest may stay, without a thread for any */
        run_until(only_the_latest, f, PATIENCE_SEC);
        g_assert_cmpuint(threads(), <, 16);
        assert_gets_in(f);
        run_until(nobody, f, NP_SILENCE_SEC + PATIENCE_SEC);
}

static void test_garbage(Fixture *f, gconstpointer data)
{
        static const struct { const char *bytes; gsize size;
        } garbage[] = {
                { "GET / HTTP/1.1\r\n\r\n", 18 },  { "SSH-2.0-x\r\n", 11 },           { "\x16\x02\x00\x00\x10\x01", 6 },
                { "\x16\x03\x01\xff\xff\x01", 6 }, { "\x17\x03\x03\x00\x01\x01", 6 }, { "\x16\x03\x01\x00\x02\x02\x00", 7 },
        };

        for (guint i = 0; i < CROWD; i++)
                come(f, garbage[i % G_N_ELEMENTS(garbage)].bytes, garbage[i % G_N_ELEMENTS(garbage)].size);
        assert_gets_in(f);
        run_until(nobody, f, PATIENCE_SEC);
}

/* What a client would say first, as far as the header goes; TLS itself is to find that the rest is not. */
static void make_hello(guint8 *hello, gsize size)
{
        memset(hello, 0, size);
        memcpy(hello, "\x16\x03\x01", 3);
        hello[3] = (guint8) ((size - 5) >> 8);
        hello[4] = (guint8) (size - 5);
        hello[5] = 1;
        hello[8] = 255;         /* a handshake message that is longer than the record: more is to come */
}

/* A part of it, or all, and then nothing. */
static void test_stalled(Fixture *f, gconstpointer data)
{
        guint8 hello[100];

        make_hello(hello, sizeof(hello));
        for (guint i = 0; i < CROWD; i++)
                come(f, hello, i % 2 ? sizeof(hello) : 1 + i % (sizeof(hello) - 1));
        g_assert_cmpuint(threads(), <, 16 + NP_HANDSHAKES_MAX);
        assert_gets_in(f);
        g_assert_cmpuint(still_there(f), <=, NP_SILENCE_MAX + NP_HANDSHAKE_QUEUE_MAX + NP_HANDSHAKES_MAX);
        run_until(nobody, f, NP_SILENCE_SEC + 2 * NP_TLS_TIMEOUT_MSEC / 1000 + NP_HANDSHAKE_QUEUE_MAX / NP_HANDSHAKES_MAX +
                             PATIENCE_SEC);
}

/* One address begins handshakes all the time, faster than they can be given up. */
static void test_flood(Fixture *f, gconstpointer data)
{
        g_autoptr(GSocketAddress) address = g_socket_get_local_address(f->b->socket, NULL);
        pid_t child = fork();

        g_assert_cmpint(child, >=, 0);
        if (child == 0) {
                struct sockaddr_in from = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(0x7f000002) }, to;
                guint8 hello[100];
                int fds[256] = { 0 };

                prctl(PR_SET_PDEATHSIG, SIGKILL);
                make_hello(hello, sizeof(hello));
                g_socket_address_to_native(address, &to, sizeof(to), NULL);
                for (guint i = 0;; i++) {
                        int *fd = fds + i % G_N_ELEMENTS(fds);

                        if (*fd > 0)
                                close(*fd);
                        *fd = socket(AF_INET, SOCK_STREAM, 0);
                        if (bind(*fd, (struct sockaddr *) &from, sizeof(from)) < 0 ||
                            connect(*fd, (struct sockaddr *) &to, sizeof(to)) < 0 ||
                            send(*fd, hello, sizeof(hello), MSG_NOSIGNAL) < 0)
                                usleep(10000);
                        usleep(2000);
                }
        }
        run_for(2);
        for (guint i = 0; i < 3; i++) {
                assert_gets_in(f);
                leave(f);
        }
        kill(child, SIGKILL);
        waitpid(child, NULL, 0);
}

/* More bytes of a first record than were there at first: it is waited for. */
static void test_in_pieces(Fixture *f, gconstpointer data)
{
        guint8 hello[100];

        make_hello(hello, sizeof(hello));
        hello[8] = sizeof(hello) - 9;
        come(f, hello, 3);
        run_for(0.1);
        g_assert_cmpuint(still_there(f), ==, 1);
        g_socket_send(g_ptr_array_index(f->crowd, 0), (char *) hello + 3, 50, NULL, NULL);
        run_for(0.1);
        g_assert_cmpuint(still_there(f), ==, 1);
        g_socket_send(g_ptr_array_index(f->crowd, 0), (char *) hello + 53, 47, NULL, NULL);
        /* TLS has looked at it, and did not like it. */
        run_until(nobody, f, PATIENCE_SEC);
}

/* No file descriptors: it waits for some, and meanwhile does nothing. */
static void test_no_descriptors(Fixture *f, gconstpointer data)
{
        g_autoptr(GSocketAddress) address = g_socket_get_local_address(f->b->socket, NULL);
        struct rlimit all, few;
        struct rusage before, after;
        int highest = dup(0);
        pid_t child;

        close(highest);
        getrlimit(RLIMIT_NOFILE, &all);
        few = all;
        few.rlim_cur = (rlim_t) highest + 20;
        child = fork();
        g_assert_cmpint(child, >=, 0);
        if (child == 0) {
                struct sockaddr_storage to;

                prctl(PR_SET_PDEATHSIG, SIGKILL);
                g_socket_address_to_native(address, &to, sizeof(to), NULL);
                for (guint i = 0; i < 300; i++) {
                        int fd = socket(AF_INET, SOCK_STREAM, 0);

                        if (connect(fd, (struct sockaddr *) &to, sizeof(struct sockaddr_in)) < 0)
                                _exit(1);
                }
                for (;;)
                        pause();
        }
        setrlimit(RLIMIT_NOFILE, &few);
        run_for(0.3);
        getrusage(RUSAGE_SELF, &before);
        for (gint64 end = g_get_monotonic_time() + G_USEC_PER_SEC; g_get_monotonic_time() < end;) {
                g_main_context_iteration(NULL, FALSE);
                g_usleep(5000);
        }
        getrusage(RUSAGE_SELF, &after);
        setrlimit(RLIMIT_NOFILE, &all);
        g_assert_cmpint((after.ru_utime.tv_sec - before.ru_utime.tv_sec) * 1000000 + after.ru_utime.tv_usec -
                                before.ru_utime.tv_usec,
                        <, 300000);
        assert_gets_in(f);
        kill(child, SIGKILL);
        waitpid(child, NULL, 0);
}

int main(int argc, char **argv)
{
        struct rlimit limit;

        g_test_init(&argc, &argv, NULL);
        g_test_add("/peerd/listener/no-descriptors", Fixture, NULL, setup, test_no_descriptors, teardown);
        g_test_add("/peerd/listener/in-pieces", Fixture, NULL, setup, test_in_pieces, teardown);
        g_test_add("/peerd/listener/silent", Fixture, NULL, setup, test_silent, teardown);
        g_test_add("/peerd/listener/garbage", Fixture, NULL, setup, test_garbage, teardown);
        g_test_add("/peerd/listener/stalled", Fixture, NULL, setup, test_stalled, teardown);
        g_test_add("/peerd/listener/flood", Fixture, NULL, setup, test_flood, teardown);
        getrlimit(RLIMIT_NOFILE, &limit);
        limit.rlim_cur = limit.rlim_max;
        setrlimit(RLIMIT_NOFILE, &limit);
        if (limit.rlim_cur < 3 * CROWD) {
                g_print("1..0 # SKIP %u connections need more file descriptors than the limit of %lu\n", CROWD,
                        (gulong) limit.rlim_cur);
                return 0;
        }
        return g_test_run();
}
