/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "authority.h"
#include "error.h"
#include "np-peers-dbus.h"
#include "object-call.h"
#include "objects.h"
#include "options.h"
#include "pairing.h"

struct _NpManagerObject {
        NpPeerd *peerd;
        NpPeerObjects *peers;
        NpDBusPeerManager *skeleton;
};

/* ---- Invite ---- */

static void on_invited(GObject *source, GAsyncResult *result, gpointer data)
{
        g_autofree NpObjectCall *call = data;
        NpManagerObject *self = call->object;
        g_autoptr(GError) error = NULL;
        gint64 expires_usec;
        g_autofree char *line = np_pairing_invite_finish(self->peerd, result, &expires_usec, &error);

        if (line)
                np_dbus_peer_manager_complete_invite(self->skeleton, call->invocation, line, expires_usec);
        else
                np_error_return(call->invocation, g_steal_pointer(&error));
}

static void invite_allowed(GDBusMethodInvocation *invocation, gpointer data)
{
        NpManagerObject *self = data;
        g_autoptr(GVariant) options = g_variant_get_child_value(g_dbus_method_invocation_get_parameters(invocation), 0);
        guint64 expires_usec = NP_INVITATION_DEFAULT_USEC;
        g_autofree char *name = NULL, *address = NULL;
        g_autoptr(GError) error = NULL;
        const NpOption known[] = { { "expires-usec", 't', &expires_usec },
                                   { "name", 's', &name },
                                   { "address", 's', &address } };

        if (!np_options_parse(options, known, G_N_ELEMENTS(known), &error))
                np_error_return(invocation, g_steal_pointer(&error));
        else
                np_pairing_invite_async(self->peerd, expires_usec, name, address, on_invited,
                                        np_object_call_new(self, invocation));
}

static gboolean on_invite(NpDBusPeerManager *skeleton, GDBusMethodInvocation *invocation, GVariant *options,
                          NpManagerObject *self)
{
        np_authority_check(invocation, NP_ACTION_PAIR, invite_allowed, self);
        return TRUE;
}

/* ---- Join ---- */

static void on_joined(GObject *source, GAsyncResult *result, gpointer data)
{
        g_autofree NpObjectCall *call = data;
        NpManagerObject *self = call->object;
        g_autoptr(GError) error = NULL;
        gboolean confirmed;
        g_autofree char *name_there = NULL, *path = NULL;
        g_autofree char *name = np_pairing_join_finish(self->peerd, result, &confirmed, &name_there, &error);

        if (!name) {
                np_error_return(call->invocation, g_steal_pointer(&error));
                return;
        }
        path = np_peer_object_path(name);
        np_peer_objects_sync(self->peers);      /* the caller looks there next */
        np_dbus_peer_manager_complete_join(self->skeleton, call->invocation, path, confirmed, name_there);
}

static void join_allowed(GDBusMethodInvocation *invocation, gpointer data)
{
        NpManagerObject *self = data;
        g_autoptr(GVariant) options = NULL;
        const char *line;
        g_autofree char *name = NULL;
        g_autoptr(GError) error = NULL;
        const NpOption known[] = { { "name", 's', &name } };

        g_variant_get(g_dbus_method_invocation_get_parameters(invocation), "(&s@a{sv})", &line, &options);
        if (!np_options_parse(options, known, G_N_ELEMENTS(known), &error))
                np_error_return(invocation, g_steal_pointer(&error));
        else
                np_pairing_join_async(self->peerd, line, name, on_joined, np_object_call_new(self, invocation));
}

static gboolean on_join(NpDBusPeerManager *skeleton, GDBusMethodInvocation *invocation, const char *line, GVariant *options,
                        NpManagerObject *self)
{
        np_authority_check(invocation, NP_ACTION_PAIR, join_allowed, self);
        return TRUE;
}

/* ---- Renew ---- */

static void on_renewed(GObject *source, GAsyncResult *result, gpointer data)
{
        g_autofree NpObjectCall *call = data;
        NpManagerObject *self = call->object;
        g_autoptr(GError) error = NULL;
        g_autoptr(GVariant) outcome = np_pairing_renew_finish(self->peerd, result, &error);

        if (!outcome) {
                np_error_return(call->invocation, g_steal_pointer(&error));
                return;
        }
        np_manager_object_sync(self);
        np_dbus_peer_manager_complete_renew(self->skeleton, call->invocation, outcome);
}

static void renew_allowed(GDBusMethodInvocation *invocation, gpointer data)
{
        NpManagerObject *self = data;

        np_pairing_renew_async(self->peerd, on_renewed, np_object_call_new(self, invocation));
}

static gboolean on_renew(NpDBusPeerManager *skeleton, GDBusMethodInvocation *invocation, NpManagerObject *self)
{
        np_authority_check(invocation, NP_ACTION_PAIR, renew_allowed, self);
        return TRUE;
}

/* ---- */

void np_manager_object_sync(NpManagerObject *self)
{
        g_auto(GStrv) listening = np_peerd_listening(self->peerd);

        np_dbus_peer_manager_set_fingerprint(self->skeleton, np_identity_fingerprint(self->peerd->identity));
        np_dbus_peer_manager_set_certificate(self->skeleton, np_identity_pem(self->peerd->identity));
        np_dbus_peer_manager_set_listening(self->skeleton, (const char *const *) listening);
}

NpManagerObject *np_manager_object_new(NpPeerd *peerd, NpPeerObjects *peers, GDBusConnection *bus, GError **error)
{
        NpManagerObject *self = g_new0(NpManagerObject, 1);

        self->peerd = peerd;
        self->peers = peers;
        self->skeleton = np_dbus_peer_manager_skeleton_new();
        np_dbus_peer_manager_set_version(self->skeleton, NTPROF_VERSION);
        np_manager_object_sync(self);
        g_signal_connect(self->skeleton, "handle-invite", G_CALLBACK(on_invite), self);
        g_signal_connect(self->skeleton, "handle-join", G_CALLBACK(on_join), self);
        g_signal_connect(self->skeleton, "handle-renew", G_CALLBACK(on_renew), self);
        if (!g_dbus_interface_skeleton_export(G_DBUS_INTERFACE_SKELETON(self->skeleton), bus, NP_PEERS_PATH, error)) {
                np_manager_object_free(self);
                return NULL;
        }
        return self;
}

void np_manager_object_free(NpManagerObject *self)
{
        if (!self)
                return;
        np_object_withdraw(self->skeleton);
        g_free(self);
}
