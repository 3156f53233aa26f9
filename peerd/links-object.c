/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <gio/gunixfdlist.h>
#include <unistd.h>

#include "authority.h"
#include "error.h"
#include "finder.h"
#include "np-peers-dbus.h"
#include "object-call.h"
#include "objects.h"
#include "options.h"

#define PATH NP_PEERS_PATH "/internal"

struct _NpLinksObject {
        NpPeerd *peerd;
        NpDBusInternalLinks *skeleton;
};

/* ---- FindPeer ---- */

static void on_found(GObject *source, GAsyncResult *result, gpointer data)
{
        g_autofree NpObjectCall *call = data;
        NpLinksObject *self = call->object;
        g_autoptr(GError) error = NULL;
        g_autofree char *name = np_finder_find_finish(result, &error);

        if (name)
                np_dbus_internal_links_complete_find_peer(self->skeleton, call->invocation, name);
        else
                np_error_return(call->invocation, g_steal_pointer(&error));
}

static void find_allowed(GDBusMethodInvocation *invocation, gpointer data)
{
        NpLinksObject *self = data;
        g_autoptr(GVariant) where = g_variant_get_child_value(g_dbus_method_invocation_get_parameters(invocation), 0);
        g_autofree char *subsysnqn = NULL, *traddr = NULL, *peer = NULL;
        g_autoptr(GError) error = NULL;
        const NpOption known[] = { { "subsysnqn", 's', &subsysnqn }, { "traddr", 's', &traddr }, { "peer", 's', &peer } };

        if (!np_options_parse(where, known, G_N_ELEMENTS(known), &error)) {
                np_error_return(invocation, g_steal_pointer(&error));
        } else if (!peer) {
                np_finder_find_async(self->peerd->pins, subsysnqn, traddr, on_found, np_object_call_new(self, invocation));
        } else if (np_pins_by_name(self->peerd->pins, peer)) {
                np_dbus_internal_links_complete_find_peer(self->skeleton, invocation, peer);
        } else {
                g_autofree char *quoted = np_error_quote(peer);

                np_error_return(invocation, g_error_new(NP_ERROR, NP_ERROR_NO_PEER, "%s: no paired machine is called so; "
                                                        "ntprofctl peer list shows them", quoted));
        }
}

static gboolean on_find_peer(NpDBusInternalLinks *skeleton, GDBusMethodInvocation *invocation, GVariant *where,
                             NpLinksObject *self)
{
        np_authority_check(invocation, NP_ACTION_LINK, find_allowed, self);
        return TRUE;
}

/* ---- OpenTarget ---- */

static void on_opened(GObject *source, GAsyncResult *result, gpointer data)
{
        g_autofree NpObjectCall *call = data;
        NpLinksObject *self = call->object;
        g_autoptr(GError) error = NULL;
        g_autoptr(GUnixFDList) fds = NULL;
        int fd = np_links_open_target_finish(self->peerd->links, result, &error);

        if (fd < 0) {
                np_error_return(call->invocation, g_steal_pointer(&error));
                return;
        }
        fds = g_unix_fd_list_new_from_array(&fd, 1);    /* which takes it */
        np_dbus_internal_links_complete_open_target(self->skeleton, call->invocation, fds, g_variant_new_handle(0));
}

static void open_allowed(GDBusMethodInvocation *invocation, gpointer data)
{
        NpLinksObject *self = data;
        g_autoptr(GVariant) request = NULL;
        const char *peer;

        g_variant_get(g_dbus_method_invocation_get_parameters(invocation), "(&s@a{sv})", &peer, &request);
        np_links_open_target_async(self->peerd->links, peer, request, NULL, on_opened, np_object_call_new(self, invocation));
}

static gboolean on_open_target(NpDBusInternalLinks *skeleton, GDBusMethodInvocation *invocation, GUnixFDList *fds,
                               const char *peer, GVariant *request, NpLinksObject *self)
{
        np_authority_check(invocation, NP_ACTION_LINK, open_allowed, self);
        return TRUE;
}

/* ---- */

NpLinksObject *np_links_object_new(NpPeerd *peerd, GDBusConnection *bus, GError **error)
{
        NpLinksObject *self = g_new0(NpLinksObject, 1);

        self->peerd = peerd;
        self->skeleton = np_dbus_internal_links_skeleton_new();
        g_signal_connect(self->skeleton, "handle-find-peer", G_CALLBACK(on_find_peer), self);
        g_signal_connect(self->skeleton, "handle-open-target", G_CALLBACK(on_open_target), self);
        if (!g_dbus_interface_skeleton_export(G_DBUS_INTERFACE_SKELETON(self->skeleton), bus, PATH, error)) {
                np_links_object_free(self);
                return NULL;
        }
        return self;
}

void np_links_object_free(NpLinksObject *self)
{
        if (!self)
                return;
        np_object_withdraw(self->skeleton);
        g_free(self);
}
