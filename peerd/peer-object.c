/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "authority.h"
#include "error.h"
#include "np-peers-dbus.h"
#include "objects.h"
#include "pairing.h"

#define PREFIX NP_PEERS_PATH "/peer/"

struct _NpPeerObjects {
        NpPeerd *peerd;
        GDBusObjectManagerServer *manager;
        GHashTable *by_path;            /* path -> NpDBusPeer */
};

typedef struct {
        NpPeerObjects *objects;
        NpDBusPeer *skeleton;
        GDBusMethodInvocation *invocation;
} Call;

char *np_peer_object_path(const char *name)
{
        g_autoptr(GString) path = g_string_new(PREFIX);

        for (const char *p = name; *p; p++)
                if (g_ascii_isalnum(*p))
                        g_string_append_c(path, *p);
                else
                        g_string_append_printf(path, "_%02x", (guint8) *p);
        return g_string_free(g_steal_pointer(&path), FALSE);
}

static void call_free(Call *call)
{
        g_object_unref(call->skeleton);
        g_free(call);
}
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Call, call_free)

/* NULL: it has been forgotten meanwhile, and the caller told so. */
static Call *call_new(NpPeerObjects *self, GDBusMethodInvocation *invocation)
{
        const char *path = g_dbus_method_invocation_get_object_path(invocation);
        NpDBusPeer *skeleton = g_hash_table_lookup(self->by_path, path);
        Call *call;

        if (!skeleton) {
                np_error_return(invocation, g_error_new(NP_ERROR, NP_ERROR_NO_PEER, "%s: this peer has been forgotten", path));
                return NULL;
        }
        call = g_new(Call, 1);
        *call = (Call) { self, g_object_ref(skeleton), invocation };
        return call;
}

/* ---- Test ---- */

static void on_greeted(GObject *source, GAsyncResult *result, gpointer data)
{
        g_autoptr(Call) call = data;
        NpLink *link = NP_LINK(source);
        g_autoptr(GError) error = NULL;
        guint64 usec = np_link_hello_finish(link, result, &error);
        GVariantDict outcome;

        if (usec == G_MAXUINT64) {
                np_error_return(call->invocation, g_steal_pointer(&error));
                return;
        }
        g_variant_dict_init(&outcome, np_link_facts(link));     /* "software", "machine", "subsystems" */
        g_variant_dict_insert(&outcome, "round-trip-usec", "t", usec);
        g_variant_dict_insert(&outcome, "protocol", "u", np_link_protocol(link));
        np_dbus_peer_complete_test(call->skeleton, call->invocation, g_variant_dict_end(&outcome));
}

static void on_reached(GObject *source, GAsyncResult *result, gpointer data)
{
        g_autoptr(Call) call = data;
        g_autoptr(GError) error = NULL;
        g_autoptr(NpLink) link = np_links_get_finish(call->objects->peerd->links, result, &error);

        if (link)
                np_link_hello_async(link, NULL, on_greeted, g_steal_pointer(&call));
        else
                np_error_return(call->invocation, g_steal_pointer(&error));
}

static void test_allowed(GDBusMethodInvocation *invocation, gpointer data)
{
        NpPeerObjects *self = data;
        Call *call = call_new(self, invocation);

        if (call)
                np_links_get_async(self->peerd->links, np_dbus_peer_get_name(call->skeleton), NULL, on_reached, call);
}

static gboolean on_test(NpDBusPeer *skeleton, GDBusMethodInvocation *invocation, NpPeerObjects *self)
{
        np_authority_check(invocation, NP_ACTION_TEST, test_allowed, self);
        return TRUE;
}

/* ---- Forget ---- */

static void on_forgotten(GObject *source, GAsyncResult *result, gpointer data)
{
        g_autoptr(Call) call = data;
        g_autoptr(GError) error = NULL;
        gboolean told;

        if (!np_pairing_forget_finish(call->objects->peerd, result, &told, &error)) {
                np_error_return(call->invocation, g_steal_pointer(&error));
                return;
        }
        np_peer_objects_sync(call->objects);
        np_dbus_peer_complete_forget(call->skeleton, call->invocation, told);
}

static void forget_allowed(GDBusMethodInvocation *invocation, gpointer data)
{
        NpPeerObjects *self = data;
        Call *call = call_new(self, invocation);

        if (call)
                np_pairing_forget_async(self->peerd, np_dbus_peer_get_name(call->skeleton), on_forgotten, call);
}

static gboolean on_forget(NpDBusPeer *skeleton, GDBusMethodInvocation *invocation, NpPeerObjects *self)
{
        np_authority_check(invocation, NP_ACTION_PAIR, forget_allowed, self);
        return TRUE;
}

/* ---- properties ---- */

static const char *origin_word(NpOrigin origin)
{
        return origin == NP_ORIGIN_BOTH ? "both" : origin == NP_ORIGIN_CONFIGURED ? "configured" : "paired";
}

static void set_properties(NpPeerObjects *self, NpDBusPeer *skeleton, const NpPeerConfig *peer)
{
        NpLink *link = np_links_peek(self->peerd->links, peer->name);
        g_autofree char *rate = np_peer_config_sample_rate(peer);

        np_dbus_peer_set_name(skeleton, peer->name);
        np_dbus_peer_set_fingerprint(skeleton, peer->fingerprint);
        np_dbus_peer_set_address(skeleton, peer->address ?: "");
        np_dbus_peer_set_claimed_host_nqns(skeleton, (const char *const *) peer->claimed_host_nqns);
        np_dbus_peer_set_host_nqns(skeleton, (const char *const *) peer->host_nqns);
        np_dbus_peer_set_allow(skeleton, peer->allow == NP_PEER_ALLOW_OBSERVE ? "observe" : "none");
        np_dbus_peer_set_max_sample_rate(skeleton, rate);
        np_dbus_peer_set_max_session_usec(skeleton, peer->max_session_sec * G_USEC_PER_SEC);
        np_dbus_peer_set_subsystems(skeleton, (const char *const *) peer->subsystems);
        np_dbus_peer_set_last_seen_usec(skeleton, peer->last_seen_usec);
        np_dbus_peer_set_connected(skeleton, link && np_link_is_open(link));
        np_dbus_peer_set_streams(skeleton, np_links_n_streams(self->peerd->links, peer->name));
        np_dbus_peer_set_origin(skeleton, origin_word(np_pins_origin(self->peerd->pins, peer->name)));
}

static NpDBusPeer *export(NpPeerObjects *self, const char *path, const NpPeerConfig *peer)
{
        g_autoptr(GDBusObjectSkeleton) object = g_dbus_object_skeleton_new(path);
        NpDBusPeer *skeleton = np_dbus_peer_skeleton_new();

        set_properties(self, skeleton, peer);
        g_signal_connect(skeleton, "handle-test", G_CALLBACK(on_test), self);
        g_signal_connect(skeleton, "handle-forget", G_CALLBACK(on_forget), self);
        g_dbus_object_skeleton_add_interface(object, G_DBUS_INTERFACE_SKELETON(skeleton));
        g_dbus_object_manager_server_export(self->manager, object);
        g_hash_table_insert(self->by_path, g_strdup(path), skeleton);
        return skeleton;
}

void np_peer_objects_sync(NpPeerObjects *self)
{
        g_autoptr(GPtrArray) peers = np_pins_list(self->peerd->pins);
        g_autoptr(GHashTable) paths = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
        GHashTableIter iter;
        gpointer path;

        for (guint i = 0; i < peers->len; i++) {
                const NpPeerConfig *peer = peers->pdata[i];
                char *its = np_peer_object_path(peer->name);
                NpDBusPeer *skeleton = g_hash_table_lookup(self->by_path, its);

                g_hash_table_add(paths, its);
                if (skeleton)
                        set_properties(self, skeleton, peer);
                else
                        export(self, its, peer);
        }
        g_hash_table_iter_init(&iter, self->by_path);
        while (g_hash_table_iter_next(&iter, &path, NULL))
                if (!g_hash_table_contains(paths, path)) {
                        g_dbus_object_manager_server_unexport(self->manager, path);
                        g_hash_table_iter_remove(&iter);
                }
}

NpPeerObjects *np_peer_objects_new(NpPeerd *peerd, GDBusConnection *bus)
{
        NpPeerObjects *self = g_new0(NpPeerObjects, 1);

        self->peerd = peerd;
        self->by_path = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_object_unref);
        self->manager = g_dbus_object_manager_server_new(NP_PEERS_PATH);
        np_peer_objects_sync(self);
        g_dbus_object_manager_server_set_connection(self->manager, bus);
        return self;
}

void np_peer_objects_free(NpPeerObjects *self)
{
        if (!self)
                return;
        g_dbus_object_manager_server_set_connection(self->manager, NULL);
        g_object_unref(self->manager);
        g_hash_table_unref(self->by_path);
        g_free(self);
}
