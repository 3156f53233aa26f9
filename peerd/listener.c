/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "listener.h"

#include "silence.h"
#include "source.h"

#define ACCEPT_BATCH 64
#define ACCEPT_PAUSE_MSEC 200           /* when there are no file descriptors, or no memory */

typedef struct {
        GSocket *socket;
        GInetAddress *from;
} Waiting;

typedef struct {
        NpListener *listener;           /* NULL: it was freed */
        GInetAddress *from;
        GCancellable *cancellable;
        gint64 started;
        char *who;                      /* fingerprint, "": some guest, NULL: not known yet */
} Handshake;

typedef struct {
        NpListener *listener;
        GSocket *socket;
        GSource *source;
} Door;

struct _NpListener {
        const NpListenerOps *ops;
        gpointer data;
        GPtrArray *doors;
        NpSilence *silence;
        GQueue waiting;                 /* of Waiting, the latest first */
        GQueue handshakes;              /* of Handshake, the oldest first */
        gboolean oldest_next;           /* whose turn it is, take_next() */
        GSource *hurry;
};

static void open_door(Door *door, guint after_msec);
static void next(NpListener *listener);

static void waiting_free(Waiting *waiting)
{
        g_object_unref(waiting->socket);
        g_object_unref(waiting->from);
        g_free(waiting);
}

static void door_free(Door *door)
{
        np_source_clear(&door->source);
        g_object_unref(door->socket);
        g_free(door);
}

static void secured(GObject *source, GAsyncResult *result, gpointer data)
{
        Handshake *handshake = data;
        NpListener *listener = handshake->listener;
        g_autoptr(GError) error = NULL;
        g_autoptr(NpSecured) secured_ = np_tls_secure_finish(result, &error);

        if (listener) {
                g_queue_remove(&listener->handshakes, handshake);
                if (secured_)
                        listener->ops->entered(g_steal_pointer(&secured_), listener->data);
                else
                        g_debug("a connection was refused: %s", error->message);
        } else if (secured_) {
                g_socket_shutdown(secured_->socket, TRUE, TRUE, NULL);
        }
        g_object_unref(handshake->cancellable);
        g_object_unref(handshake->from);
        g_free(handshake->who);
        g_free(handshake);
        if (listener)
                next(listener);
}

/* Whoever has shown a certificate that is let in competes with itself first, and guests with guests. */
static void make_room(NpListener *listener, const char *who)
{
        guint n = 0;

        for (GList *l = listener->handshakes.tail; l; l = l->prev) {
                Handshake *handshake = l->data;

                if (g_strcmp0(handshake->who, who) == 0 && ++n > NP_HANDSHAKES_EACH_MAX)
                        g_cancellable_cancel(handshake->cancellable);
        }
}

static NpTrust trust(const char *fingerprint, gpointer data)
{
        Handshake *handshake = data;
        NpListener *listener = handshake->listener;
        NpTrust given = listener ? listener->ops->trust(fingerprint, listener->data) : NP_TRUST_NONE;

        /* Asked twice. */
        if (given != NP_TRUST_NONE && !handshake->who) {
                handshake->who = g_strdup(given == NP_TRUST_PINNED ? fingerprint : "");
                make_room(listener, handshake->who);
        }
        return given;
}

static gboolean hurry(gpointer data)
{
        NpListener *listener = data;
        Handshake *oldest = g_queue_peek_head(&listener->handshakes);

        np_source_clear(&listener->hurry);
        if (oldest && g_queue_get_length(&listener->waiting) > 0) {
                gint64 grace = NP_HANDSHAKE_GRACE_MSEC * G_TIME_SPAN_MILLISECOND, now = g_get_monotonic_time();

                for (GList *l = listener->handshakes.head; l && ((Handshake *) l->data)->started + grace <= now; l = l->next)
                        g_cancellable_cancel(((Handshake *) l->data)->cancellable);
        }
        next(listener);
        return G_SOURCE_REMOVE;
}

/* Of an address that has the fewest handshakes under way: who holds all he can, holds up himself. The latest of it, and the
 * oldest, by turns: when later ones never end, the latest alone would leave the others out for ever. */
static Waiting *take_next(NpListener *listener)
{
        gboolean oldest = listener->oldest_next;
        GList *first = oldest ? listener->waiting.tail : listener->waiting.head;
        guint fewest = G_MAXUINT;
        GList *best = NULL;
        Waiting *taken;

        listener->oldest_next = !listener->oldest_next;
        for (GList *l = first; l && fewest > 0; l = oldest ? l->prev : l->next) {
                guint n = 0;

                for (GList *h = listener->handshakes.head; h; h = h->next)
                        n += g_inet_address_equal(((Handshake *) h->data)->from, ((Waiting *) l->data)->from);
                if (n < fewest) {
                        fewest = n;
                        best = l;
                }
        }
        g_queue_unlink(&listener->waiting, best);
        taken = best->data;
        g_list_free(best);
        return taken;
}

/* Makes room in the queue: the oldest of the address that most are of. */
static void drop_waiting(NpListener *listener)
{
        GList *worst = NULL;
        guint most = 0;

        for (GList *l = listener->waiting.tail; l; l = l->prev) {
                guint n = 0;

                for (GList *other = listener->waiting.head; other; other = other->next)
                        n += g_inet_address_equal(((Waiting *) other->data)->from, ((Waiting *) l->data)->from);
                if (n > most) {
                        most = n;
                        worst = l;
                }
        }
        waiting_free(worst->data);
        g_queue_delete_link(&listener->waiting, worst);
}

/* Begins what there is room for, and sees to it that there will be. */
static void next(NpListener *listener)
{
        Handshake *oldest;
        gint64 left;

        while (g_queue_get_length(&listener->waiting) > 0 && g_queue_get_length(&listener->handshakes) < NP_HANDSHAKES_MAX) {
                Waiting *waiting = take_next(listener);
                Handshake *handshake = g_new0(Handshake, 1);

                handshake->listener = listener;
                handshake->from = g_object_ref(waiting->from);
                handshake->cancellable = g_cancellable_new();
                handshake->started = g_get_monotonic_time();
                g_queue_push_tail(&listener->handshakes, handshake);
                np_tls_secure_async(waiting->socket, TRUE, listener->ops->certificate(listener->data), trust, handshake,
                                    handshake->cancellable, secured, handshake);
                waiting_free(waiting);
        }
        if (g_queue_get_length(&listener->waiting) == 0 || listener->hurry)
                return;
        oldest = g_queue_peek_head(&listener->handshakes);
        left = oldest->started / 1000 + NP_HANDSHAKE_GRACE_MSEC - g_get_monotonic_time() / 1000;
        listener->hurry = g_timeout_source_new(CLAMP(left, 10, NP_HANDSHAKE_GRACE_MSEC));
        g_source_set_callback(listener->hurry, hurry, listener, NULL);
        g_source_attach(listener->hurry, g_main_context_get_thread_default());
}

static void spoke(GSocket *socket, gpointer data)
{
        NpListener *listener = data;
        g_autoptr(GSocketAddress) address = g_socket_get_remote_address(socket, NULL);
        Waiting *waiting;

        /* NULL: it is gone already. */
        if (!address || !G_IS_INET_SOCKET_ADDRESS(address))
                return;
        if (g_queue_get_length(&listener->waiting) >= NP_HANDSHAKE_QUEUE_MAX)
                drop_waiting(listener);
        waiting = g_new0(Waiting, 1);
        waiting->socket = g_object_ref(socket);
        waiting->from = g_object_ref(g_inet_socket_address_get_address(G_INET_SOCKET_ADDRESS(address)));
        g_queue_push_head(&listener->waiting, waiting);
        next(listener);
}

static gboolean somebody_is_there(GSocket *socket, GIOCondition condition, gpointer data)
{
        Door *door = data;

        for (guint i = 0; i < ACCEPT_BATCH; i++) {
                g_autoptr(GError) error = NULL;
                g_autoptr(GSocket) accepted = g_socket_accept(socket, NULL, &error);

                if (accepted) {
                        g_socket_set_blocking(accepted, FALSE);
                        np_silence_add(door->listener->silence, accepted);
                } else if (g_error_matches(error, G_IO_ERROR, G_IO_ERROR_WOULD_BLOCK)) {
                        break;
                } else {
                        /* Without a file descriptor for it, it would be there again at once. */
                        g_debug("a connection can't be accepted: %s", error->message);
                        np_silence_drop_oldest(door->listener->silence);
                        open_door(door, ACCEPT_PAUSE_MSEC);
                        return G_SOURCE_REMOVE;
                }
        }
        return G_SOURCE_CONTINUE;
}

static gboolean open_again(gpointer data)
{
        open_door(data, 0);
        return G_SOURCE_REMOVE;
}

static void open_door(Door *door, guint after_msec)
{
        np_source_clear(&door->source);
        if (after_msec > 0) {
                door->source = g_timeout_source_new(after_msec);
                g_source_set_callback(door->source, open_again, door, NULL);
        } else {
                door->source = g_socket_create_source(door->socket, G_IO_IN, NULL);
                g_source_set_callback(door->source, G_SOURCE_FUNC(somebody_is_there), door, NULL);
        }
        g_source_attach(door->source, g_main_context_get_thread_default());
}

NpListener *np_listener_new(const NpListenerOps *ops, gpointer data)
{
        NpListener *listener = g_new0(NpListener, 1);

        listener->ops = ops;
        listener->data = data;
        listener->doors = g_ptr_array_new_with_free_func((GDestroyNotify) door_free);
        listener->silence = np_silence_new(spoke, listener);
        g_queue_init(&listener->waiting);
        g_queue_init(&listener->handshakes);
        return listener;
}

void np_listener_free(NpListener *listener)
{
        Waiting *waiting;
        Handshake *handshake;

        np_source_clear(&listener->hurry);
        g_ptr_array_unref(listener->doors);
        np_silence_free(listener->silence);
        while ((waiting = g_queue_pop_head(&listener->waiting)))
                waiting_free(waiting);
        while ((handshake = g_queue_pop_head(&listener->handshakes))) {
                handshake->listener = NULL;
                g_cancellable_cancel(handshake->cancellable);
        }
        g_free(listener);
}

void np_listener_add(NpListener *listener, GSocket *socket)
{
        Door *door = g_new0(Door, 1);

        g_socket_set_blocking(socket, FALSE);
        door->listener = listener;
        door->socket = g_object_ref(socket);
        g_ptr_array_add(listener->doors, door);
        open_door(door, 0);
}
