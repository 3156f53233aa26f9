/* SPDX-License-Identifier: GPL-2.0-or-later */
/* New links to others: connect, TLS with the one certificate that is expected, Hello. */
#include "error.h"
#include "links-internal.h"
#include "source.h"

#define CONNECT_MSEC 5000

/* One connection that is being made, for all who wait for it. */
typedef struct {
        NpLinks *links;
        char *peer;             /* NULL: to join */
        char *fingerprint;      /* that is expected */
        char *address;          /* as people write it */
        GCancellable *cancellable;
        GSource *timer;
        gboolean timed_out;
        GPtrArray *tasks;       /* of GTask */
        char *code;             /* to join */
        GVariant *facts;
} Attempt;

typedef struct {
        GVariant *joined, *hello;
} Joined;

static void attempt_free(Attempt *attempt)
{
        np_source_clear(&attempt->timer);
        g_free(attempt->peer);
        g_free(attempt->fingerprint);
        g_free(attempt->address);
        g_object_unref(attempt->cancellable);
        g_ptr_array_unref(attempt->tasks);
        g_free(attempt->code);
        g_clear_pointer(&attempt->facts, g_variant_unref);
        np_links_unref(attempt->links);
        g_free(attempt);
}

static void joined_free(Joined *joined)
{
        g_clear_pointer(&joined->joined, g_variant_unref);
        g_clear_pointer(&joined->hello, g_variant_unref);
        g_free(joined);
}

/* The end of an attempt: one of them is NULL. */
static void attempt_end(Attempt *attempt, gpointer result, GError *error)
{
        if (attempt->peer && g_hash_table_lookup(attempt->links->attempts, attempt->peer) == attempt)
                g_hash_table_remove(attempt->links->attempts, attempt->peer);
        for (guint i = 0; i < attempt->tasks->len; i++) {
                GTask *task = g_ptr_array_index(attempt->tasks, i);

                if (error)
                        g_task_return_error(task, g_error_copy(error));
                else if (attempt->peer)
                        g_task_return_pointer(task, g_object_ref(result), g_object_unref);
                else
                        g_task_return_pointer(task, result, (GDestroyNotify) joined_free);
        }
        g_clear_error(&error);
        attempt_free(attempt);
}

static void attempt_fail(Attempt *attempt, int code, const char *format, ...) G_GNUC_PRINTF(3, 4);

static void attempt_fail(Attempt *attempt, int code, const char *format, ...)
{
        va_list args;
        GError *error;

        va_start(args, format);
        error = attempt->links->freed ? g_error_new_literal(G_IO_ERROR, G_IO_ERROR_CANCELLED, "ntprof-peerd ends")
                                      : g_error_new_valist(NP_ERROR, code, format, args);
        va_end(args);
        attempt_end(attempt, NULL, error);
}

static void joined(GObject *source, GAsyncResult *result, gpointer data)
{
        Attempt *attempt = data;
        g_autoptr(NpLink) link = g_object_ref(NP_LINK(source));
        GError *error = NULL;
        g_autoptr(GVariant) facts = np_link_join_finish(link, result, &error);
        Joined *both;

        np_link_close(link, "paired");
        if (!facts) {
                attempt_end(attempt, NULL, error);
                return;
        }
        both = g_new0(Joined, 1);
        both->joined = g_steal_pointer(&facts);
        both->hello = g_variant_ref(np_link_facts(link));
        attempt_end(attempt, both, NULL);
}

static void greeted(GObject *source, GAsyncResult *result, gpointer data)
{
        Attempt *attempt = data;
        g_autoptr(NpLink) link = g_object_ref(NP_LINK(source));
        GError *error = NULL;

        if (np_link_hello_finish(link, result, &error) == G_MAXUINT64) {
                np_link_abort(link, "it did not answer Hello as it should");
                attempt_end(attempt, NULL, error);
                return;
        }
        if (attempt->peer)
                attempt_end(attempt, link, NULL);
        else
                np_link_join_async(link, attempt->code, attempt->facts, attempt->cancellable, joined, attempt);
}

/* What went wrong in the handshake, for people. */
static void explain(Attempt *attempt, const GError *error)
{
        const char *who = attempt->peer ?: "the machine of the invitation";

        if (g_error_matches(error, G_TLS_ERROR, G_TLS_ERROR_BAD_CERTIFICATE)) {
                if (attempt->peer)
                        attempt_fail(
                                attempt, NP_ERROR_PEER_UNREACHABLE,
                                "what answers at %s is not %s: %s; if it has made itself a new identity, pair with it again",
                                attempt->address, who, error->message);
                else
                        attempt_fail(attempt, NP_ERROR_INVITATION_INVALID,
                                     "what answers at %s has not the fingerprint of the invitation; the code was not sent",
                                     attempt->address);
        } else if (g_error_matches(error, G_IO_ERROR, G_IO_ERROR_CONNECTION_CLOSED)) {
                if (attempt->peer)
                        attempt_fail(
                                attempt, NP_ERROR_PEER_REFUSED,
                                "%s (%s) closed the connection: it does not know this machine's certificate (pair them again), "
                                "or it is too busy to let anybody in (try again)",
                                who, attempt->address);
                else
                        attempt_fail(
                                attempt, NP_ERROR_INVITATION_INVALID,
                                "%s lets in nobody who is not paired: the invitation has expired or was used; get another",
                                attempt->address);
        } else {
                attempt_fail(attempt, NP_ERROR_PEER_UNREACHABLE, "%s at %s: %s", who, attempt->address, error->message);
        }
}

static void secured(GObject *source, GAsyncResult *result, gpointer data)
{
        Attempt *attempt = data;
        g_autoptr(GError) error = NULL;
        NpSecured *secured_ = np_tls_secure_finish(result, &error);
        NpLink *link;

        if (!secured_) {
                explain(attempt, error);
                return;
        }
        if (attempt->links->freed) {
                g_socket_shutdown(secured_->socket, TRUE, TRUE, NULL);
                np_secured_free(secured_);
                attempt_fail(attempt, NP_ERROR_PEER_UNREACHABLE, "ended");
                return;
        }
        link = np_links_add(attempt->links, secured_, attempt->peer, TRUE);
        if (link)
                np_link_hello_async(link, attempt->cancellable, greeted, attempt);
        else
                attempt_fail(attempt, NP_ERROR_PEER_UNREACHABLE, "%s closed the connection", attempt->address);
}

static NpTrust expected(const char *fingerprint, gpointer data)
{
        Attempt *attempt = data;

        if (attempt->links->freed || g_strcmp0(fingerprint, attempt->fingerprint) != 0)
                return NP_TRUST_NONE;
        return attempt->peer ? NP_TRUST_PINNED : NP_TRUST_INVITED;
}

static void connected(GObject *source, GAsyncResult *result, gpointer data)
{
        Attempt *attempt = data;
        g_autoptr(GError) error = NULL;
        g_autoptr(GSocketConnection) connection = g_socket_client_connect_finish(G_SOCKET_CLIENT(source), result, &error);

        np_source_clear(&attempt->timer);
        if (!connection) {
                attempt_fail(attempt, NP_ERROR_PEER_UNREACHABLE,
                             "%s: no connection to %s: %s; is ntprof-peerd.socket enabled there, and the port open?",
                             attempt->peer ?: "the machine of the invitation", attempt->address,
                             attempt->timed_out ? "no answer" : error->message);
                return;
        }
        if (attempt->links->freed) {
                attempt_fail(attempt, NP_ERROR_PEER_UNREACHABLE, "ended");
                return;
        }
        np_tls_secure_async(g_socket_connection_get_socket(connection), FALSE,
                            attempt->links->ops->certificate(attempt->links->data), expected, attempt, attempt->cancellable,
                            secured, attempt);
}

static gboolean out_of_time(gpointer data)
{
        Attempt *attempt = data;

        attempt->timed_out = TRUE;
        g_cancellable_cancel(attempt->cancellable);
        return G_SOURCE_REMOVE;
}

static void all_cancelled(GCancellable *all, gpointer data)
{
        g_cancellable_cancel(data);
}

static Attempt *attempt_new(NpLinks *links, const char *peer, const char *fingerprint)
{
        Attempt *attempt = g_new0(Attempt, 1);

        attempt->links = np_links_ref(links);
        attempt->peer = g_strdup(peer);
        attempt->fingerprint = g_strdup(fingerprint);
        attempt->cancellable = g_cancellable_new();
        attempt->tasks = g_ptr_array_new_with_free_func(g_object_unref);
        return attempt;
}

static void attempt_begin(Attempt *attempt, GSocketConnectable *address)
{
        g_autoptr(GSocketClient) client = g_socket_client_new();

        attempt->address = g_socket_connectable_to_string(address);
        g_signal_connect_object(attempt->links->cancellable, "cancelled", G_CALLBACK(all_cancelled), attempt->cancellable, 0);
        attempt->timer = g_timeout_source_new(CONNECT_MSEC);
        g_source_set_callback(attempt->timer, out_of_time, attempt, NULL);
        g_source_attach(attempt->timer, g_main_context_get_thread_default());
        g_socket_client_set_enable_proxy(client, FALSE);
        g_socket_client_connect_async(client, address, attempt->cancellable, connected, attempt);
}

void np_links_get_async(NpLinks *links, const char *peer, GCancellable *cancellable, GAsyncReadyCallback callback,
                        gpointer data)
{
        g_autoptr(GTask) task = g_task_new(NULL, cancellable, callback, data);
        g_autoptr(GSocketConnectable) address = NULL;
        g_autoptr(GError) error = NULL;
        const NpPeerConfig *config;
        Attempt *attempt;
        NpLink *link = np_links_peek(links, peer);

        if (link) {
                g_task_return_pointer(task, g_object_ref(link), g_object_unref);
                return;
        }
        attempt = g_hash_table_lookup(links->attempts, peer);
        if (attempt) {
                g_ptr_array_add(attempt->tasks, g_steal_pointer(&task));
                return;
        }
        config = links->ops->peer(peer, links->data);
        if (!config || !config->fingerprint) {
                g_task_return_new_error(task, NP_ERROR, NP_ERROR_NO_PEER,
                                        "no machine called %s is paired with this one: see ntprofctl peer list", peer);
                return;
        }
        if (!config->address) {
                g_task_return_new_error(
                        task, NP_ERROR, NP_ERROR_PEER_UNREACHABLE,
                        "%s is not connected, and its address is not known: let it connect, or write Address= into %s/%s.conf",
                        peer, NP_PEERS_ETC, peer);
                return;
        }
        address = np_address_parse(config->address, &error);
        if (!address) {
                g_task_return_new_error(task, NP_ERROR, NP_ERROR_PEER_UNREACHABLE, "the address of %s: %s", peer,
                                        error->message);
                return;
        }
        attempt = attempt_new(links, peer, config->fingerprint);
        g_ptr_array_add(attempt->tasks, g_steal_pointer(&task));
        g_hash_table_insert(links->attempts, attempt->peer, attempt);
        attempt_begin(attempt, address);
}

NpLink *np_links_get_finish(NpLinks *links, GAsyncResult *result, GError **error)
{
        return g_task_propagate_pointer(G_TASK(result), error);
}

void np_links_join_async(NpLinks *links, GSocketConnectable *address, const char *fingerprint, const char *code,
                         GVariant *facts, GCancellable *cancellable, GAsyncReadyCallback callback, gpointer data)
{
        Attempt *attempt = attempt_new(links, NULL, fingerprint);

        attempt->code = g_strdup(code);
        attempt->facts = g_variant_ref_sink(facts);
        g_ptr_array_add(attempt->tasks, g_task_new(NULL, cancellable, callback, data));
        attempt_begin(attempt, address);
}

GVariant *np_links_join_finish(NpLinks *links, GAsyncResult *result, GVariant **hello_facts, GError **error)
{
        Joined *both = g_task_propagate_pointer(G_TASK(result), error);
        GVariant *facts = both ? g_steal_pointer(&both->joined) : NULL;

        if (hello_facts)
                *hello_facts = both ? g_steal_pointer(&both->hello) : NULL;
        if (both)
                joined_free(both);
        return facts;
}

/* OpenTarget in one: a link that was there may turn out to be closed just then, and is worth one more try. */
typedef struct {
        NpLinks *links;
        char *peer;
        GVariant *request;
        gboolean again;
} Opening;

static void opening_free(Opening *opening)
{
        np_links_unref(opening->links);
        g_free(opening->peer);
        g_variant_unref(opening->request);
        g_free(opening);
}

static void opening_begin(GTask *task);

static void opened(GObject *source, GAsyncResult *result, gpointer data)
{
        g_autoptr(GTask) task = data;
        Opening *opening = g_task_get_task_data(task);
        NpLink *link = NP_LINK(source);
        GError *error = NULL;
        int fd = np_link_open_target_finish(link, result, &error);

        if (fd >= 0) {
                g_task_return_int(task, fd);
        } else if (!np_link_is_open(link) && opening->again && !opening->links->freed &&
                   g_error_matches(error, NP_ERROR, NP_ERROR_PEER_UNREACHABLE)) {
                g_error_free(error);
                opening->again = FALSE;
                opening_begin(g_steal_pointer(&task));
        } else {
                g_task_return_error(task, error);
        }
}

static void got(GObject *source, GAsyncResult *result, gpointer data)
{
        g_autoptr(GTask) task = data;
        Opening *opening = g_task_get_task_data(task);
        GError *error = NULL;
        g_autoptr(NpLink) link = np_links_get_finish(opening->links, result, &error);

        if (!link) {
                g_task_return_error(task, error);
                return;
        }
        np_link_open_target_async(link, opening->request, g_task_get_cancellable(task), opened, g_object_ref(task));
}

static void opening_begin(GTask *task)
{
        Opening *opening = g_task_get_task_data(task);

        opening->again = opening->again && np_links_peek(opening->links, opening->peer);
        np_links_get_async(opening->links, opening->peer, g_task_get_cancellable(task), got, task);
}

void np_links_open_target_async(NpLinks *links, const char *peer, GVariant *request, GCancellable *cancellable,
                                GAsyncReadyCallback callback, gpointer data)
{
        GTask *task = g_task_new(NULL, cancellable, callback, data);
        Opening *opening = g_new0(Opening, 1);

        g_task_set_check_cancellable(task, FALSE);
        opening->links = np_links_ref(links);
        opening->peer = g_strdup(peer);
        opening->request = g_variant_ref_sink(request);
        opening->again = TRUE;
        g_task_set_task_data(task, opening, (GDestroyNotify) opening_free);
        opening_begin(task);
}

int np_links_open_target_finish(NpLinks *links, GAsyncResult *result, GError **error)
{
        return (int) g_task_propagate_int(G_TASK(result), error);
}
