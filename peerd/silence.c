/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "silence.h"

#include <errno.h>
#include <gio/gio.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include "source.h"

/* A TLS record's header (type, version, length), and the type of a handshake message. */
#define RECORD_HEADER 5
#define PEEK (RECORD_HEADER + 1)
#define RECORD_HANDSHAKE 22
#define RECORD_MAX 16384
#define CLIENT_HELLO 1

typedef struct {
        NpSilence *silence;
        GSocket *socket;
        GSource *source;
        gint64 deadline;
        int wanted;             /* bytes that must be there for the source to wake us */
        GList link;
} Silent;

struct _NpSilence {
        NpSilenceSpoke spoke;
        gpointer data;
        GQueue queue;           /* of Silent, the oldest first */
        GSource *timer;
};

NpSilence *np_silence_new(NpSilenceSpoke spoke, gpointer data)
{
        NpSilence *silence = g_new0(NpSilence, 1);

        silence->spoke = spoke;
        silence->data = data;
        g_queue_init(&silence->queue);
        return silence;
}

static GSocket *take(Silent *s)
{
        GSocket *socket = s->socket;

        g_queue_unlink(&s->silence->queue, &s->link);
        np_source_clear(&s->source);
        g_free(s);
        return socket;
}

static void drop(Silent *s)
{
        g_autoptr(GSocket) socket = take(s);

        g_socket_close(socket, NULL);
}

void np_silence_free(NpSilence *silence)
{
        while (np_silence_drop_oldest(silence))
                ;
        np_source_clear(&silence->timer);
        g_free(silence);
}

gboolean np_silence_drop_oldest(NpSilence *silence)
{
        GList *head = g_queue_peek_head_link(&silence->queue);

        if (head)
                drop(head->data);
        return head != NULL;
}

guint np_silence_count(NpSilence *silence)
{
        return g_queue_get_length(&silence->queue);
}

/* SO_RCVLOWAT: poll() wakes only when so much is there, or nothing more will come. */
static gboolean want(Silent *s, int bytes)
{
        s->wanted = bytes;
        return g_socket_set_option(s->socket, SOL_SOCKET, SO_RCVLOWAT, bytes, NULL);
}

static gboolean readable(GSocket *socket, GIOCondition condition, gpointer data)
{
        Silent *s = data;
        NpSilence *silence = s->silence;
        int fd = g_socket_get_fd(socket), there = 0, record;
        guint8 head[PEEK];
        ssize_t n = recv(fd, head, sizeof(head), MSG_PEEK | MSG_DONTWAIT);

        if (n < 0 && (errno == EAGAIN || errno == EINTR))
                return G_SOURCE_CONTINUE;
        record = n == PEEK ? RECORD_HEADER + (head[3] << 8 | head[4]) : 0;
        if (n < PEEK || head[0] != RECORD_HANDSHAKE || head[1] != 3 || record > RECORD_HEADER + RECORD_MAX ||
            head[5] != CLIENT_HELLO || ioctl(fd, FIONREAD, &there) < 0) {
                drop(s);
                return G_SOURCE_REMOVE;
        }
        if (there < record) {
                if (s->wanted < record && want(s, record))
                        return G_SOURCE_CONTINUE;
                drop(s);
                return G_SOURCE_REMOVE;
        }
        want(s, 1);
        {
                g_autoptr(GSocket) spoken = take(s);

                silence->spoke(spoken, silence->data);
        }
        return G_SOURCE_REMOVE;
}

static void arm(NpSilence *silence);

static gboolean tick(gpointer data)
{
        NpSilence *silence = data;
        GList *head;

        while ((head = g_queue_peek_head_link(&silence->queue)) && ((Silent *) head->data)->deadline <= g_get_monotonic_time())
                drop(head->data);
        g_clear_pointer(&silence->timer, g_source_unref);
        arm(silence);
        return G_SOURCE_REMOVE;
}

static void arm(NpSilence *silence)
{
        GList *head = g_queue_peek_head_link(&silence->queue);
        gint64 left;

        if (silence->timer || !head)
                return;
        left = ((Silent *) head->data)->deadline - g_get_monotonic_time();
        silence->timer = g_timeout_source_new(MAX(left, 0) / 1000 + 1);
        g_source_set_callback(silence->timer, tick, silence, NULL);
        g_source_attach(silence->timer, g_main_context_get_thread_default());
}

void np_silence_add(NpSilence *silence, GSocket *socket)
{
        Silent *s = g_new0(Silent, 1);

        while (np_silence_count(silence) >= NP_SILENCE_MAX)
                np_silence_drop_oldest(silence);
        s->silence = silence;
        s->socket = g_object_ref(socket);
        s->deadline = g_get_monotonic_time() + NP_SILENCE_SEC * G_USEC_PER_SEC;
        s->link.data = s;
        want(s, PEEK);
        s->source = g_socket_create_source(socket, G_IO_IN, NULL);
        g_source_set_callback(s->source, G_SOURCE_FUNC(readable), s, NULL);
        g_source_attach(s->source, g_main_context_get_thread_default());
        g_queue_push_tail_link(&silence->queue, &s->link);
        arm(silence);
}
