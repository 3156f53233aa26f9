/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "links-internal.h"

/* Two are enough; more are what a peer left behind that was cut off, until that is noticed. */
#define ACCEPTED_PER_PEER_MAX 4
#define ACCEPTED_UNPINNED_MAX 8

NpLinks *np_links_ref(NpLinks *links)
{
        links->references++;
        return links;
}

void np_links_unref(NpLinks *links)
{
        if (--links->references > 0)
                return;
        g_ptr_array_unref(links->links);
        g_hash_table_unref(links->attempts);
        g_object_unref(links->cancellable);
        g_free(links);
}

static void gone(NpLink *link, gpointer data)
{
        NpLinks *links = data;

        g_ptr_array_remove(links->links, link);
}

/* Of the links that this peer has made (NULL: of those without a pin), the oldest go when there are too many. */
static void make_room(NpLinks *links, const char *peer)
{
        guint n = 0, max = peer ? ACCEPTED_PER_PEER_MAX : ACCEPTED_UNPINNED_MAX;

        for (guint i = links->links->len; i-- > 0;) {
                NpLink *link = g_ptr_array_index(links->links, i);

                if (!np_link_outgoing(link) && g_strcmp0(np_link_peer(link), peer) == 0 && ++n >= max)
                        np_link_abort(link, "later ones took its place");
        }
}

NpLink *np_links_add(NpLinks *links, NpSecured *secured, const char *peer, gboolean outgoing)
{
        g_autoptr(NpSecured) owned = secured;
        g_autoptr(NpLink) link = NULL;

        if (!outgoing)
                make_room(links, peer);
        /* First in the list, as it may be closed at once. */
        link = np_link_new(owned, peer, outgoing, links->ops, links->data, gone, links);
        if (!np_link_is_open(link))
                return NULL;
        g_ptr_array_add(links->links, g_object_ref(link));
        return link;
}

static GTlsCertificate *certificate(gpointer data)
{
        NpLinks *links = data;

        return links->ops->certificate(links->data);
}

static NpTrust trust(const char *fingerprint, gpointer data)
{
        NpLinks *links = data;

        if (links->ops->pinned(fingerprint, links->data))
                return NP_TRUST_PINNED;
        return links->ops->invited(links->data) ? NP_TRUST_INVITED : NP_TRUST_NONE;
}

static void entered(NpSecured *secured, gpointer data)
{
        NpLinks *links = data;
        const NpPeerConfig *peer = links->ops->pinned(secured->fingerprint, links->data);
        g_autofree char *name = peer ? g_strdup(peer->name) : NULL;

        /* Pins may have changed during the greeting, and what was agreed on then is what the stream allows. */
        if ((name != NULL) != (secured->trust == NP_TRUST_PINNED)) {
                g_socket_shutdown(secured->socket, TRUE, TRUE, NULL);
                np_secured_free(secured);
                return;
        }
        np_links_add(links, secured, name, FALSE);
}

static const NpListenerOps listener_ops = { certificate, trust, entered };

NpLinks *np_links_new(const NpLinksOps *ops, gpointer data)
{
        NpLinks *links = g_new0(NpLinks, 1);

        /* Errors that come by D-Bus are known only after this. */
        (void) NP_ERROR;
        links->references = 1;
        links->ops = ops;
        links->data = data;
        links->listener = np_listener_new(&listener_ops, links);
        links->links = g_ptr_array_new_with_free_func(g_object_unref);
        links->attempts = g_hash_table_new(g_str_hash, g_str_equal);
        links->cancellable = g_cancellable_new();
        return links;
}

void np_links_free(NpLinks *links)
{
        links->freed = TRUE;
        g_cancellable_cancel(links->cancellable);
        g_clear_pointer(&links->listener, np_listener_free);
        for (guint i = 0; i < links->links->len; i++)
                np_link_orphan(g_ptr_array_index(links->links, i));
        g_ptr_array_set_size(links->links, 0);
        np_links_unref(links);
}

void np_links_listen(NpLinks *links, GSocket *socket)
{
        np_listener_add(links->listener, socket);
}

void np_links_check_pins(NpLinks *links)
{
        for (guint i = 0; i < links->links->len; i++) {
                NpLink *link = g_ptr_array_index(links->links, i);
                const NpPeerConfig *peer = links->ops->pinned(np_link_fingerprint(link), links->data);

                /* Those without a pin end soon anyway, and Join is what may just have pinned it. */
                if (np_link_peer(link) && (!peer || g_strcmp0(peer->name, np_link_peer(link)) != 0))
                        np_link_close(link, "it is not pinned any more");
        }
}

void np_links_close(NpLinks *links, const char *peer, const char *reason)
{
        for (guint i = 0; i < links->links->len; i++) {
                NpLink *link = g_ptr_array_index(links->links, i);

                if (g_strcmp0(np_link_peer(link), peer) == 0)
                        np_link_close(link, reason);
        }
}

NpLink *np_links_peek(NpLinks *links, const char *peer)
{
        for (guint i = links->links->len; i-- > 0;) {
                NpLink *link = g_ptr_array_index(links->links, i);

                if (np_link_is_open(link) && np_link_protocol(link) > 0 && g_strcmp0(np_link_peer(link), peer) == 0)
                        return link;
        }
        return NULL;
}

guint np_links_n_streams(NpLinks *links, const char *peer)
{
        guint n = 0;

        for (guint i = 0; i < links->links->len; i++) {
                NpLink *link = g_ptr_array_index(links->links, i);

                if (g_strcmp0(np_link_peer(link), peer) == 0)
                        n += np_link_n_streams(link);
        }
        return n;
}
