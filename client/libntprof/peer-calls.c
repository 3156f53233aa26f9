/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What one can do with a peer: test, forget. */
#include "error-private.h"
#include "peer-private.h"

static void localize(NtprofPeer *self, GError **error)
{
        np_error_localize_call(&np_error_peerd, G_DBUS_PROXY(self->proxy), error, self->label);
}

static void on_tested(GObject *source, GAsyncResult *result, gpointer user_data)
{
        g_autoptr(GTask) task = user_data;
        g_autoptr(GVariant) facts = NULL;
        g_autoptr(GError) error = NULL;

        if (np_dbus_peer_call_test_finish(NP_DBUS_PEER(source), &facts, result, &error)) {
                g_task_return_pointer(task, np_peer_answer_new(facts), (GDestroyNotify) ntprof_peer_answer_free);
                return;
        }
        localize(g_task_get_source_object(task), &error);
        g_task_return_error(task, g_steal_pointer(&error));
}

/**
 * ntprof_peer_test:
 * @self: a peer
 * @cancellable: (nullable): a cancellable
 * @callback: (scope async): called with the answer
 * @user_data: for @callback
 *
 * Connects to the other machine, if there is no link yet, and asks it what it is. For root and the group ntprof.
 */
void ntprof_peer_test(NtprofPeer *self, GCancellable *cancellable, GAsyncReadyCallback callback, gpointer user_data)
{
        g_return_if_fail(NTPROF_IS_PEER(self));

        GTask *task = g_task_new(self, cancellable, callback, user_data);

        g_task_set_source_tag(task, ntprof_peer_test);
        np_dbus_peer_call_test(self->proxy, cancellable, on_tested, task);
}

/**
 * ntprof_peer_test_finish:
 * @self: a peer
 * @result: as given to the callback
 * @error: return location
 *
 * Returns: (transfer full): the answer; %NULL with @error set: %NTPROF_ERROR_PEER_UNREACHABLE, %NTPROF_ERROR_PEER_REFUSED,
 *   %NTPROF_ERROR_PEER_VERSION, %NTPROF_ERROR_ACCESS_DENIED, %NTPROF_ERROR_NO_PEER when it was forgotten meanwhile,
 *   %NTPROF_ERROR_SERVICE_GONE
 */
NtprofPeerAnswer *ntprof_peer_test_finish(NtprofPeer *self, GAsyncResult *result, GError **error)
{
        g_return_val_if_fail(g_task_is_valid(result, self), NULL);
        return g_task_propagate_pointer(G_TASK(result), error);
}

/**
 * ntprof_peer_test_sync:
 * @self: a peer
 * @cancellable: (nullable): a cancellable
 * @error: return location
 *
 * As [method@Peer.test], blocking.
 *
 * Returns: (transfer full): as [method@Peer.test_finish]
 */
NtprofPeerAnswer *ntprof_peer_test_sync(NtprofPeer *self, GCancellable *cancellable, GError **error)
{
        g_autoptr(GVariant) facts = NULL;
        g_autoptr(GError) local_error = NULL;

        g_return_val_if_fail(NTPROF_IS_PEER(self), NULL);
        if (np_dbus_peer_call_test_sync(self->proxy, &facts, cancellable, &local_error))
                return np_peer_answer_new(facts);
        localize(self, &local_error);
        g_propagate_error(error, g_steal_pointer(&local_error));
        return NULL;
}

static void on_forgotten(GObject *source, GAsyncResult *result, gpointer user_data)
{
        g_autoptr(GTask) task = user_data;
        gboolean *told = g_task_get_task_data(task);
        g_autoptr(GError) error = NULL;

        if (np_dbus_peer_call_forget_finish(NP_DBUS_PEER(source), told, result, &error)) {
                g_task_return_boolean(task, TRUE);
                return;
        }
        localize(g_task_get_source_object(task), &error);
        g_task_return_error(task, g_steal_pointer(&error));
}

/**
 * ntprof_peer_forget:
 * @self: a peer
 * @cancellable: (nullable): a cancellable
 * @callback: (scope async): called when it is forgotten
 * @user_data: for @callback
 *
 * Trusts the other machine no longer, and ends the link. For root.
 */
void ntprof_peer_forget(NtprofPeer *self, GCancellable *cancellable, GAsyncReadyCallback callback, gpointer user_data)
{
        g_return_if_fail(NTPROF_IS_PEER(self));

        GTask *task = g_task_new(self, cancellable, callback, user_data);

        g_task_set_source_tag(task, ntprof_peer_forget);
        g_task_set_task_data(task, g_new0(gboolean, 1), g_free);
        np_dbus_peer_call_forget(self->proxy, cancellable, on_forgotten, task);
}

/**
 * ntprof_peer_forget_finish:
 * @self: a peer
 * @result: as given to the callback
 * @told: (out) (optional): whether the other machine knows; else this machine is to be forgotten there, too
 * @error: return location
 *
 * Returns: %TRUE when it is forgotten; else @error is set: %NTPROF_ERROR_ACCESS_DENIED (also for a peer that a file of
 *   `/etc/ntprof/peers.d` fixes: the message names it), %NTPROF_ERROR_NO_PEER when it was forgotten meanwhile,
 *   %NTPROF_ERROR_SERVICE_GONE
 */
gboolean ntprof_peer_forget_finish(NtprofPeer *self, GAsyncResult *result, gboolean *told, GError **error)
{
        g_return_val_if_fail(g_task_is_valid(result, self), FALSE);

        if (told)
                *told = *(gboolean *) g_task_get_task_data(G_TASK(result));
        return g_task_propagate_boolean(G_TASK(result), error);
}

/**
 * ntprof_peer_forget_sync:
 * @self: a peer
 * @told: (out) (optional): as of [method@Peer.forget_finish]
 * @cancellable: (nullable): a cancellable
 * @error: return location
 *
 * As [method@Peer.forget], blocking.
 *
 * Returns: as [method@Peer.forget_finish]
 */
gboolean ntprof_peer_forget_sync(NtprofPeer *self, gboolean *told, GCancellable *cancellable, GError **error)
{
        g_autoptr(GError) local_error = NULL;

        g_return_val_if_fail(NTPROF_IS_PEER(self), FALSE);
        if (np_dbus_peer_call_forget_sync(self->proxy, told, cancellable, &local_error))
                return TRUE;
        localize(self, &local_error);
        g_propagate_error(error, g_steal_pointer(&local_error));
        return FALSE;
}
