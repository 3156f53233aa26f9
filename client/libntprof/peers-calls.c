/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What one can ask of ntprof-peerd: to invite another machine, to join one, to renew this machine's key. */
#include "peer-private.h"
#include "peers-private.h"

/* It tells one peer after the other, and waits for those that don't answer. */
#define RENEW_TIMEOUT_MSEC (10 * 60 * 1000)

static GVariant *or_no_options(GVariant *options)
{
        return options ? options : g_variant_new("a{sv}", NULL);
}

static void localize(NtprofPeers *self, GError **error)
{
        np_error_localize_for(&np_error_peerd, error, NULL);
}

/* ---- invite ---- */

typedef struct {
        char *line;
        guint64 expires_usec;
} Invitation;

static void invitation_free(Invitation *invitation)
{
        g_free(invitation->line);
        g_free(invitation);
}

static void on_invited(GObject *source, GAsyncResult *result, gpointer user_data)
{
        g_autoptr(GTask) task = user_data;
        g_autoptr(GError) error = NULL;
        Invitation *invitation = g_new0(Invitation, 1);

        if (np_dbus_peer_manager_call_invite_finish(NP_DBUS_PEER_MANAGER(source), &invitation->line, &invitation->expires_usec,
                                                    result, &error)) {
                g_task_return_pointer(task, invitation, (GDestroyNotify) invitation_free);
                return;
        }
        invitation_free(invitation);
        localize(g_task_get_source_object(task), &error);
        g_task_return_error(task, g_steal_pointer(&error));
}

/**
 * ntprof_peers_invite:
 * @self: the peers
 * @options: (nullable): a{sv}; consumed when floating. "expires-usec" (t): us from now, by default 10 minutes, at most a
 *   day; "name" (s): what the other machine will be called here; "address" (s): of this machine, to be written into the
 *   line in place of the one found
 * @cancellable: (nullable): a cancellable
 * @callback: (scope async): called with the invitation
 * @user_data: for @callback
 *
 * Lets one other machine pair with this one, once. For root.
 */
void ntprof_peers_invite(NtprofPeers *self, GVariant *options, GCancellable *cancellable, GAsyncReadyCallback callback,
                         gpointer user_data)
{
        g_return_if_fail(NTPROF_IS_PEERS(self));

        GTask *task = g_task_new(self, cancellable, callback, user_data);

        g_task_set_source_tag(task, ntprof_peers_invite);
        np_dbus_peer_manager_call_invite(self->service, or_no_options(options), cancellable, on_invited, task);
}

/**
 * ntprof_peers_invite_finish:
 * @self: the peers
 * @result: as given to the callback
 * @expires_usec: (out) (optional): CLOCK_REALTIME in us until which the line is good
 * @error: return location
 *
 * Returns: (transfer full): the line for [method@Peers.join] on the other machine, which is as secret as a password until
 *   it is used or has expired; %NULL with @error set: %NTPROF_ERROR_INVALID_OPTION, %NTPROF_ERROR_PEER_EXISTS (the name),
 *   %NTPROF_ERROR_ACCESS_DENIED, %NTPROF_ERROR_SERVICE_GONE
 */
char *ntprof_peers_invite_finish(NtprofPeers *self, GAsyncResult *result, guint64 *expires_usec, GError **error)
{
        g_return_val_if_fail(g_task_is_valid(result, self), NULL);

        Invitation *invitation = g_task_propagate_pointer(G_TASK(result), error);
        if (!invitation)
                return NULL;
        if (expires_usec)
                *expires_usec = invitation->expires_usec;
        char *line = g_steal_pointer(&invitation->line);
        invitation_free(invitation);
        return line;
}

/**
 * ntprof_peers_invite_sync:
 * @self: the peers
 * @options: (nullable): as for [method@Peers.invite]
 * @expires_usec: (out) (optional): as of [method@Peers.invite_finish]
 * @cancellable: (nullable): a cancellable
 * @error: return location
 *
 * As [method@Peers.invite], blocking.
 *
 * Returns: (transfer full): as [method@Peers.invite_finish]
 */
char *ntprof_peers_invite_sync(NtprofPeers *self, GVariant *options, guint64 *expires_usec, GCancellable *cancellable,
                               GError **error)
{
        g_autoptr(GError) local_error = NULL;
        char *line = NULL;

        g_return_val_if_fail(NTPROF_IS_PEERS(self), NULL);
        if (np_dbus_peer_manager_call_invite_sync(self->service, or_no_options(options), &line, expires_usec, cancellable,
                                                  &local_error))
                return line;
        localize(self, &local_error);
        g_propagate_error(error, g_steal_pointer(&local_error));
        return NULL;
}

/* ---- join ---- */

/* Besides the peer. */
typedef struct {
        gboolean confirmed;
        char *name_there;
} Joined;

static void joined_free(Joined *joined)
{
        g_free(joined->name_there);
        g_free(joined);
}

/* A proxy is made also for an object that is gone meanwhile; it then has no properties. */
static NtprofPeer *adopt_new(NtprofPeers *self, NpDBusPeer *proxy, GError **error)
{
        if (np_dbus_peer_get_name(proxy))
                return g_object_ref(np_object_list_adopt(self->peers, G_DBUS_PROXY(proxy)));
        g_set_error_literal(error, NTPROF_ERROR, NTPROF_ERROR_NO_PEER, "the new peer has been forgotten already");
        return NULL;
}

static void join_have_proxy(GObject *source, GAsyncResult *result, gpointer user_data)
{
        g_autoptr(GTask) task = user_data;
        NtprofPeers *self = g_task_get_source_object(task);
        g_autoptr(GError) error = NULL;
        g_autoptr(NpDBusPeer) proxy = np_dbus_peer_proxy_new_finish(result, &error);
        NtprofPeer *peer = NULL;

        if (proxy)
                peer = adopt_new(self, proxy, &error);
        else
                localize(self, &error);
        if (peer)
                g_task_return_pointer(task, peer, g_object_unref);
        else
                g_task_return_error(task, g_steal_pointer(&error));
}

static void join_have_path(GObject *source, GAsyncResult *result, gpointer user_data)
{
        g_autoptr(GTask) task = user_data;
        NtprofPeers *self = g_task_get_source_object(task);
        Joined *joined = g_task_get_task_data(task);
        g_autoptr(GError) error = NULL;
        g_autofree char *path = NULL;

        if (!np_dbus_peer_manager_call_join_finish(NP_DBUS_PEER_MANAGER(source), &path, &joined->confirmed, &joined->name_there,
                                                   result, &error)) {
                localize(self, &error);
                g_task_return_error(task, g_steal_pointer(&error));
                return;
        }

        NtprofPeer *peer = np_object_list_lookup(self->peers, path);
        if (peer) {
                g_task_return_pointer(task, g_object_ref(peer), g_object_unref);
                return;
        }
        np_dbus_peer_proxy_new(self->connection, G_DBUS_PROXY_FLAGS_DO_NOT_AUTO_START, NP_PEERS_BUS_NAME, path,
                               g_task_get_cancellable(task), join_have_proxy, g_object_ref(task));
}

/**
 * ntprof_peers_join:
 * @self: the peers
 * @line: that [method@Peers.invite] made on the other machine: "ntprof:ADDRESS:PORT:sha256-FINGERPRINT:CODE"
 * @options: (nullable): a{sv}; consumed when floating. "name" (s): what the other machine will be called here, by default
 *   what it calls itself
 * @cancellable: (nullable): cancels the waiting; the machines may be paired all the same
 * @callback: (scope async): called with the new peer
 * @user_data: for @callback
 *
 * Accepts an invitation: the two machines trust each other from then on. For root.
 */
void ntprof_peers_join(NtprofPeers *self, const char *line, GVariant *options, GCancellable *cancellable,
                       GAsyncReadyCallback callback, gpointer user_data)
{
        g_return_if_fail(NTPROF_IS_PEERS(self));
        g_return_if_fail(line);

        GTask *task = g_task_new(self, cancellable, callback, user_data);

        g_task_set_source_tag(task, ntprof_peers_join);
        g_task_set_task_data(task, g_new0(Joined, 1), (GDestroyNotify) joined_free);
        np_dbus_peer_manager_call_join(self->service, line, or_no_options(options), cancellable, join_have_path, task);
}

/**
 * ntprof_peers_join_finish:
 * @self: the peers
 * @result: as given to the callback
 * @confirmed: (out) (optional): whether the other side's administrator has fixed this machine's host NQN already; else it
 *   is to be confirmed there ("ntprofctl peer confirm NAME_THERE") before anything is recorded
 * @name_there: (out) (optional) (transfer full) (nullable): what this machine is called there, "" when it did not tell
 * @error: return location
 *
 * Returns: (transfer full): the other machine; %NULL with @error set: %NTPROF_ERROR_INVITATION_INVALID,
 *   %NTPROF_ERROR_PEER_UNREACHABLE, %NTPROF_ERROR_PEER_VERSION, %NTPROF_ERROR_PEER_EXISTS, %NTPROF_ERROR_INVALID_OPTION,
 *   %NTPROF_ERROR_ACCESS_DENIED, %NTPROF_ERROR_SERVICE_GONE
 */
NtprofPeer *ntprof_peers_join_finish(NtprofPeers *self, GAsyncResult *result, gboolean *confirmed, char **name_there,
                                     GError **error)
{
        g_return_val_if_fail(g_task_is_valid(result, self), NULL);

        const Joined *joined = g_task_get_task_data(G_TASK(result));
        NtprofPeer *peer = g_task_propagate_pointer(G_TASK(result), error);

        if (confirmed)
                *confirmed = joined->confirmed;
        if (name_there)
                *name_there = peer ? g_strdup(joined->name_there) : NULL;
        return peer;
}

/**
 * ntprof_peers_join_sync:
 * @self: the peers
 * @line: as for [method@Peers.join]
 * @options: (nullable): as for [method@Peers.join]
 * @confirmed: (out) (optional): as of [method@Peers.join_finish]
 * @name_there: (out) (optional) (transfer full) (nullable): as of [method@Peers.join_finish]
 * @cancellable: (nullable): cancels the waiting; the machines may be paired all the same
 * @error: return location
 *
 * As [method@Peers.join], blocking.
 *
 * Returns: (transfer full): as [method@Peers.join_finish]
 */
NtprofPeer *ntprof_peers_join_sync(NtprofPeers *self, const char *line, GVariant *options, gboolean *confirmed,
                                   char **name_there, GCancellable *cancellable, GError **error)
{
        g_autoptr(GError) local_error = NULL;
        g_autoptr(NpDBusPeer) proxy = NULL;
        g_autofree char *path = NULL, *name = NULL;
        NtprofPeer *peer;

        g_return_val_if_fail(NTPROF_IS_PEERS(self), NULL);
        g_return_val_if_fail(line, NULL);

        if (name_there)
                *name_there = NULL;
        if (!np_dbus_peer_manager_call_join_sync(self->service, line, or_no_options(options), &path, confirmed, &name,
                                                 cancellable, &local_error))
                goto fail;
        proxy = np_dbus_peer_proxy_new_sync(self->connection, G_DBUS_PROXY_FLAGS_DO_NOT_AUTO_START, NP_PEERS_BUS_NAME, path,
                                            cancellable, &local_error);
        if (proxy) {
                peer = adopt_new(self, proxy, error);
                if (peer && name_there)
                        *name_there = g_steal_pointer(&name);
                return peer;
        }
fail:
        localize(self, &local_error);
        g_propagate_error(error, g_steal_pointer(&local_error));
        return NULL;
}

/* ---- renew ---- */

static void on_renewed(GObject *source, GAsyncResult *result, gpointer user_data)
{
        g_autoptr(GTask) task = user_data;
        g_autoptr(GError) error = NULL;
        g_autoptr(GVariant) reply = g_dbus_proxy_call_finish(G_DBUS_PROXY(source), result, &error);

        if (reply) {
                g_task_return_pointer(task, g_variant_get_child_value(reply, 0), (GDestroyNotify) g_variant_unref);
                return;
        }
        localize(g_task_get_source_object(task), &error);
        g_task_return_error(task, g_steal_pointer(&error));
}

/**
 * ntprof_peers_renew:
 * @self: the peers
 * @cancellable: (nullable): cancels the waiting, not the renewal
 * @callback: (scope async): called when every peer has been told, or could not be
 * @user_data: for @callback
 *
 * Makes a new key and certificate for this machine, and tells it to every peer over the link that the old one vouches for.
 * For root.
 */
void ntprof_peers_renew(NtprofPeers *self, GCancellable *cancellable, GAsyncReadyCallback callback, gpointer user_data)
{
        g_return_if_fail(NTPROF_IS_PEERS(self));

        GTask *task = g_task_new(self, cancellable, callback, user_data);

        g_task_set_source_tag(task, ntprof_peers_renew);
        g_dbus_proxy_call(G_DBUS_PROXY(self->service), "Renew", NULL, G_DBUS_CALL_FLAGS_NONE, RENEW_TIMEOUT_MSEC, cancellable,
                          on_renewed, task);
}

/**
 * ntprof_peers_renew_finish:
 * @self: the peers
 * @result: as given to the callback
 * @error: return location
 *
 * Returns: (transfer full): a(ss), for each peer its name, and "" or why it must be paired again (or what its
 *   administrator must change); %NULL with @error set: %NTPROF_ERROR_ACCESS_DENIED, %NTPROF_ERROR_SERVICE_GONE
 */
GVariant *ntprof_peers_renew_finish(NtprofPeers *self, GAsyncResult *result, GError **error)
{
        g_return_val_if_fail(g_task_is_valid(result, self), NULL);
        return g_task_propagate_pointer(G_TASK(result), error);
}

/**
 * ntprof_peers_renew_sync:
 * @self: the peers
 * @cancellable: (nullable): cancels the waiting, not the renewal
 * @error: return location
 *
 * As [method@Peers.renew], blocking.
 *
 * Returns: (transfer full): as [method@Peers.renew_finish]
 */
GVariant *ntprof_peers_renew_sync(NtprofPeers *self, GCancellable *cancellable, GError **error)
{
        g_autoptr(GError) local_error = NULL;

        g_return_val_if_fail(NTPROF_IS_PEERS(self), NULL);

        g_autoptr(GVariant) reply = g_dbus_proxy_call_sync(G_DBUS_PROXY(self->service), "Renew", NULL, G_DBUS_CALL_FLAGS_NONE,
                                                           RENEW_TIMEOUT_MSEC, cancellable, &local_error);
        if (reply)
                return g_variant_get_child_value(reply, 0);
        localize(self, &local_error);
        g_propagate_error(error, g_steal_pointer(&local_error));
        return NULL;
}
