/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What this side asks the other for. Each answer is checked as what comes from elsewhere. */
#include <errno.h>
#include <sys/socket.h>
#include <unistd.h>

#include "error.h"
#include "link-args.h"
#include "link-internal.h"

#define CALL_MSEC 10000
#define OPEN_MSEC 60000                 /* the target attaches meanwhile, and takes seconds to */

/* What a call failed with, in words of ours; takes error. */
static GError *failed(NpLink *link, GError *error)
{
        const char *who = link->peer ?: link->address;
        g_autofree char *said_by = g_strdup_printf("%s: ", who);
        GError *ours;

        if (g_error_matches(error, G_IO_ERROR, G_IO_ERROR_CANCELLED))
                return error;
        if (g_dbus_error_is_remote_error(error)) {
                g_autofree char *message = NULL;

                g_dbus_error_strip_remote_error(error);
                message = np_args_message(error->message);
                ours = g_error_new(NP_ERROR, error->domain == NP_ERROR ? error->code : NP_ERROR_PEER_REFUSED, "%s%s",
                                   g_str_has_prefix(message, said_by) ? "" : said_by, message);
        } else if (g_error_matches(error, G_IO_ERROR, G_IO_ERROR_TIMED_OUT)) {
                ours = g_error_new(NP_ERROR, NP_ERROR_PEER_UNREACHABLE, "%s (%s) does not answer", who, link->address);
        } else {
                ours = g_error_new(NP_ERROR, NP_ERROR_PEER_UNREACHABLE, "the link with %s (%s) broke: %s", who, link->address,
                                   link->reason ?: error->message);
        }
        g_error_free(error);
        return ours;
}

typedef struct {
        void (*answer)(NpLink *link, GVariant *reply, GTask *task);
        gint64 started;
        GVariant *our_facts;
} Asked;

static void asked_free(Asked *asked)
{
        g_clear_pointer(&asked->our_facts, g_variant_unref);
        g_free(asked);
}

static void answered(GObject *source, GAsyncResult *result, gpointer data)
{
        g_autoptr(GTask) task = data;
        NpLink *link = g_task_get_source_object(task);
        Asked *asked = g_task_get_task_data(task);
        GError *error = NULL;
        g_autoptr(GVariant) reply = g_dbus_connection_call_finish(G_DBUS_CONNECTION(source), result, &error);

        link->asked--;
        np_link_touch(link);
        if (reply)
                asked->answer(link, reply, task);
        else
                g_task_return_error(task, failed(link, error));
}

static GTask *ask(NpLink *link, const char *method, GVariant *arguments, const char *reply, int timeout_msec,
                  GCancellable *cancellable, void (*answer)(NpLink *link, GVariant *reply, GTask *task),
                  GAsyncReadyCallback callback, gpointer data)
{
        GTask *task = g_task_new(link, cancellable, callback, data);
        Asked *asked = g_new0(Asked, 1);

        g_task_set_check_cancellable(task, FALSE);
        asked->answer = answer;
        asked->started = g_get_monotonic_time();
        g_task_set_task_data(task, asked, (GDestroyNotify) asked_free);
        link->asked++;
        g_dbus_connection_call(link->bus, NULL, NP_LINK_PATH, NP_LINK_INTERFACE, method, arguments, G_VARIANT_TYPE(reply),
                               G_DBUS_CALL_FLAGS_NONE, timeout_msec, cancellable, answered, task);
        return task;
}

static void hello_answer(NpLink *link, GVariant *reply, GTask *task)
{
        Asked *asked = g_task_get_task_data(task);
        g_autoptr(GVariant) raw = NULL, theirs = NULL;
        guint64 *elapsed = g_new(guint64, 1);
        GError *error = NULL;
        guint32 version;

        *elapsed = (guint64) (g_get_monotonic_time() - asked->started);
        g_variant_get(reply, "(u@a{sv})", &version, &raw);
        theirs = np_args_facts(raw);
        if (np_args_negotiate(version, version, theirs, asked->our_facts, &error) == 0) {
                g_free(elapsed);
                np_link_close(link, "no version of the protocol in common");
                g_task_return_error(task, error);
                return;
        }
        if (!link->closed)
                np_link_set_facts(link, version, theirs);
        g_task_return_pointer(task, elapsed, g_free);
}

void np_link_hello_async(NpLink *link, GCancellable *cancellable, GAsyncReadyCallback callback, gpointer data)
{
        g_autoptr(GVariant) facts = link->ops ? g_variant_take_ref(link->ops->facts(link->ops_data)) : NULL;
        g_autoptr(GVariant) none = g_variant_ref_sink(g_variant_new("a{sv}", NULL));
        /* Whom this machine does not know yet it tells less. */
        g_autoptr(GVariant) shown = link->peer ? np_args_facts(facts ?: none) : np_args_facts_public(facts ?: none);
        GTask *task = ask(link, "Hello", g_variant_new("(uu@a{sv})", NP_LINK_PROTOCOL_MIN, NP_LINK_PROTOCOL_MAX, shown),
                          "(ua{sv})", CALL_MSEC, cancellable, hello_answer, callback, data);

        ((Asked *) g_task_get_task_data(task))->our_facts = g_variant_ref(shown);
}

guint64 np_link_hello_finish(NpLink *link, GAsyncResult *result, GError **error)
{
        g_autofree guint64 *elapsed = g_task_propagate_pointer(G_TASK(result), error);

        return elapsed ? *elapsed : G_MAXUINT64;
}

static void open_answer(NpLink *link, GVariant *reply, GTask *task)
{
        GError *error = NULL;
        int pair[2];
        guint64 number;

        g_variant_get(reply, "(t)", &number);
        if (!link->tunnel) {
                g_task_return_new_error(task, NP_ERROR, NP_ERROR_PEER_UNREACHABLE, "the link with %s broke", link->peer);
                return;
        }
        if (!np_tunnel_take_number(link->tunnel, number)) {
                np_link_abort(link, "it gave a stream a wrong number");
                g_task_return_new_error(task, NP_ERROR, NP_ERROR_PEER_UNREACHABLE, "%s gave a stream a wrong number",
                                        link->peer);
                return;
        }
        if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, pair) < 0) {
                np_tunnel_refuse(link->tunnel, number, "no socket");
                g_task_return_new_error(task, NP_ERROR, NP_ERROR_CAPTURE_FAILED, "a socket for the stream of %s: %s",
                                        link->peer, g_strerror(errno));
                return;
        }
        if (!np_tunnel_add(link->tunnel, number, pair[0], &error)) {
                close(pair[1]);
                np_tunnel_refuse(link->tunnel, number, error->message);
                g_task_return_error(task, error);
                return;
        }
        g_task_return_int(task, pair[1]);
}

void np_link_open_target_async(NpLink *link, GVariant *request, GCancellable *cancellable, GAsyncReadyCallback callback,
                               gpointer data)
{
        ask(link, "OpenTarget", g_variant_new("(@a{sv})", request), "(t)", OPEN_MSEC, cancellable, open_answer, callback, data);
}

int np_link_open_target_finish(NpLink *link, GAsyncResult *result, GError **error)
{
        return (int) g_task_propagate_int(G_TASK(result), error);
}

static void renew_answer(NpLink *link, GVariant *reply, GTask *task)
{
        gboolean pinned;

        g_variant_get(reply, "(b)", &pinned);
        g_task_return_int(task, pinned);
}

void np_link_renew_async(NpLink *link, const char *fingerprint, GCancellable *cancellable, GAsyncReadyCallback callback,
                         gpointer data)
{
        ask(link, "Renew", g_variant_new("(s)", fingerprint), "(b)", CALL_MSEC, cancellable, renew_answer, callback, data);
}

gboolean np_link_renew_finish(NpLink *link, GAsyncResult *result, gboolean *pinned, GError **error)
{
        gssize answer = g_task_propagate_int(G_TASK(result), error);

        *pinned = answer > 0;
        return answer >= 0;
}

static void forget_answer(NpLink *link, GVariant *reply, GTask *task)
{
        g_task_return_boolean(task, TRUE);
}

void np_link_forget_async(NpLink *link, GCancellable *cancellable, GAsyncReadyCallback callback, gpointer data)
{
        ask(link, "Forget", NULL, "()", CALL_MSEC, cancellable, forget_answer, callback, data);
}

gboolean np_link_forget_finish(NpLink *link, GAsyncResult *result, GError **error)
{
        return g_task_propagate_boolean(G_TASK(result), error);
}

static void join_answer(NpLink *link, GVariant *reply, GTask *task)
{
        g_autoptr(GVariant) raw = NULL;

        g_variant_get(reply, "(@a{sv})", &raw);
        g_task_return_pointer(task, np_args_joined(raw), (GDestroyNotify) g_variant_unref);
}

void np_link_join_async(NpLink *link, const char *code, GVariant *facts, GCancellable *cancellable,
                        GAsyncReadyCallback callback, gpointer data)
{
        ask(link, "Join", g_variant_new("(s@a{sv})", code, facts), "(a{sv})", CALL_MSEC, cancellable, join_answer, callback,
            data);
}

GVariant *np_link_join_finish(NpLink *link, GAsyncResult *result, GError **error)
{
        return g_task_propagate_pointer(G_TASK(result), error);
}
