/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "peerd.h"

#include <errno.h>

#include "pairing.h"

/* A link that is used is noted as often as this. */
#define USED_USEC (60 * G_USEC_PER_SEC)

/* Beyond, Hello() would be refused as too long. */
#define TOLD_SUBSYSTEMS_MAX 1024

void np_peerd_tell_changed(NpPeerd *self)
{
        if (self->changed)
                self->changed(self->changed_data);
}

static void tell_used(NpPeerd *self)
{
        if (self->used)
                self->used(self->used_data);
}

/* ---- what links ask ---- */

static GTlsCertificate *link_certificate(gpointer data)
{
        NpPeerd *self = data;

        return np_identity_certificate(self->identity);
}

static const NpPeerConfig *link_pinned(const char *fingerprint, gpointer data)
{
        NpPeerd *self = data;

        return np_pins_by_fingerprint(self->pins, fingerprint);
}

static const NpPeerConfig *link_peer(const char *name, gpointer data)
{
        NpPeerd *self = data;

        return np_pins_by_name(self->pins, name);
}

static gboolean link_invited(gpointer data)
{
        NpPeerd *self = data;

        return np_invitations_stand(self->invitations);
}

static GVariant *link_facts(gpointer data)
{
        NpPeerd *self = data;
        g_auto(GStrv) subsystems = np_facts_strv(np_target_known(self->target), "subsystems");
        guint n = g_strv_length(subsystems);
        GVariantBuilder facts;

        g_variant_builder_init(&facts, G_VARIANT_TYPE_VARDICT);
        g_variant_builder_add(&facts, "{sv}", "software", g_variant_new_string("ntprof " NTPROF_VERSION));
        g_variant_builder_add(&facts, "{sv}", "machine", g_variant_new_string(g_get_host_name()));
        g_variant_builder_add(&facts, "{sv}", "subsystems",
                              g_variant_new_strv((const char *const *) subsystems, MIN(n, TOLD_SUBSYSTEMS_MAX)));
        return g_variant_builder_end(&facts);
}

static void link_met(NpLink *link, gpointer data)
{
        NpPeerd *self = data;
        GVariant *facts = np_link_facts(link);

        tell_used(self);
        if (np_link_peer(link) && facts) {
                g_auto(GStrv) subsystems = np_facts_strv(facts, "subsystems");

                /* Else there is nothing to tell yet. */
                if (!np_seen_note(self->seen, np_link_peer(link), (const char *const *) subsystems))
                        return;
        }
        np_peerd_tell_changed(self);
}

/* Its end, and a recording that begins or ends over it. */
static void note_seen(NpPeerd *self, NpLink *link)
{
        const NpPeerConfig *peer = np_link_peer(link) ? np_pins_by_name(self->pins, np_link_peer(link)) : NULL;

        if (peer && (!np_link_is_open(link) || g_get_real_time() - peer->last_seen_usec >= USED_USEC))
                np_seen_note(self->seen, np_link_peer(link), NULL);
}

static void link_changed(NpLink *link, gpointer data)
{
        NpPeerd *self = data;

        tell_used(self);
        note_seen(self, link);
        np_peerd_tell_changed(self);
}

static void on_target_opened(GObject *source, GAsyncResult *result, gpointer data)
{
        g_autoptr(GTask) task = data;
        g_autoptr(GError) error = NULL;
        int fd = np_target_open_finish(NULL, result, &error);

        if (fd < 0)
                g_task_return_error(task, g_steal_pointer(&error));
        else
                g_task_return_int(task, fd);
}

static void link_open_target(NpLink *link, GVariant *request, GTask *task, gpointer data)
{
        NpPeerd *self = data;
        GVariantBuilder peer;

        tell_used(self);
        g_variant_builder_init(&peer, G_VARIANT_TYPE_VARDICT);
        g_variant_builder_add(&peer, "{sv}", "name", g_variant_new_string(np_link_peer(link)));
        g_variant_builder_add(&peer, "{sv}", "fingerprint", g_variant_new_string(np_link_fingerprint(link)));
        g_variant_builder_add(&peer, "{sv}", "address", g_variant_new_string(np_link_address(link)));
        np_target_open_async(self->target, g_variant_builder_end(&peer), request, on_target_opened, g_object_ref(task));
}

static void link_join(NpLink *link, const char *code, GVariant *facts, GTask *task, gpointer data)
{
        NpPeerd *self = data;
        g_autoptr(GError) error = NULL;
        GVariant *answer = np_pairing_accept(self, np_link_fingerprint(link), np_link_address(link), code, facts, &error);

        tell_used(self);
        if (answer)
                g_task_return_pointer(task, g_variant_ref_sink(answer), (GDestroyNotify) g_variant_unref);
        else
                g_task_return_error(task, g_steal_pointer(&error));
}

static gboolean link_renew(NpLink *link, const char *fingerprint, gpointer data)
{
        return np_pairing_replace(data, np_link_peer(link), fingerprint);
}

static void link_forget(NpLink *link, gpointer data)
{
        np_pairing_forgotten(data, np_link_peer(link));
}

static const NpLinksOps ops = {
        .certificate = link_certificate,
        .pinned = link_pinned,
        .peer = link_peer,
        .invited = link_invited,
        .facts = link_facts,
        .met = link_met,
        .changed = link_changed,
        .join = link_join,
        .open_target = link_open_target,
        .renew = link_renew,
        .forget = link_forget,
};

/* ---- */

static gboolean on_check(gpointer data)
{
        NpPeerd *self = data;

        self->check = 0;
        np_links_check_pins(self->links);
        return G_SOURCE_REMOVE;
}

/* Not at once: it may be a link in the middle of something that has made them change. */
static void on_pins_changed(gpointer data)
{
        NpPeerd *self = data;

        if (self->check == 0)
                self->check = g_idle_add(on_check, self);
        np_peerd_tell_changed(self);
}

static void on_seen(gpointer data)
{
        np_peerd_tell_changed(data);
}

/* Peers that are linked hear of it at once, the others when they link. */
static void on_facts_changed(gpointer data)
{
        NpPeerd *self = data;
        g_autoptr(GPtrArray) peers = np_pins_list(self->pins);

        for (guint i = 0; i < peers->len; i++) {
                NpLink *link = np_links_peek(self->links, ((const NpPeerConfig *) peers->pdata[i])->name);

                if (link && np_link_is_open(link) && np_link_facts(link))
                        np_link_hello_async(link, NULL, NULL, NULL);
        }
}

NpPeerd *np_peerd_new(const char *etc_dir, const char *state_dir, GDBusConnection *bus, GError **error)
{
        g_autoptr(NpPeerd) self = g_new0(NpPeerd, 1);

        self->sockets = g_ptr_array_new_with_free_func(g_object_unref);
        if (g_mkdir_with_parents(state_dir, 0700) < 0) {
                g_set_error(error, G_IO_ERROR, g_io_error_from_errno(errno), "%s: cannot be made: %s", state_dir,
                            g_strerror(errno));
                return NULL;
        }
        self->identity = np_identity_load_or_make(state_dir, error);
        if (!self->identity)
                return NULL;
        self->pins = np_pins_new(etc_dir, state_dir);
        self->seen = np_seen_new(self->pins, on_seen, self);
        self->invitations = np_invitations_new(state_dir);
        self->target = np_target_new(bus);
        self->links = np_links_new(&ops, self);
        np_pins_set_changed(self->pins, on_pins_changed, self);
        np_target_set_changed(self->target, on_facts_changed, self);
        return g_steal_pointer(&self);
}

/* Links end with the daemon, which tells of none of them. */
static void note_linked(NpPeerd *self)
{
        g_autoptr(GPtrArray) peers = np_pins_list(self->pins);

        for (guint i = 0; i < peers->len; i++) {
                const char *name = ((const NpPeerConfig *) peers->pdata[i])->name;

                if (np_links_peek(self->links, name))
                        np_seen_note(self->seen, name, NULL);
        }
}

void np_peerd_free(NpPeerd *self)
{
        if (!self)
                return;
        self->changed = NULL;
        self->used = NULL;
        if (self->links)
                note_linked(self);
        g_clear_pointer(&self->links, np_links_free);
        g_clear_pointer(&self->target, np_target_free);
        g_clear_pointer(&self->invitations, np_invitations_free);
        g_clear_pointer(&self->seen, np_seen_free);
        g_clear_pointer(&self->pins, np_pins_free);
        g_clear_pointer(&self->identity, np_identity_free);
        g_clear_handle_id(&self->check, g_source_remove);
        g_ptr_array_unref(self->sockets);
        g_free(self);
}

void np_peerd_add_socket(NpPeerd *self, GSocket *socket)
{
        g_ptr_array_add(self->sockets, g_object_ref(socket));
}

void np_peerd_listen(NpPeerd *self)
{
        for (guint i = 0; i < self->sockets->len; i++)
                np_links_listen(self->links, self->sockets->pdata[i]);
}

char **np_peerd_listening(NpPeerd *self)
{
        g_autoptr(GStrvBuilder) listening = g_strv_builder_new();

        for (guint i = 0; i < self->sockets->len; i++) {
                g_autoptr(GSocketAddress) address = g_socket_get_local_address(self->sockets->pdata[i], NULL);

                if (G_IS_INET_SOCKET_ADDRESS(address)) {
                        g_autofree char *text = g_socket_connectable_to_string(G_SOCKET_CONNECTABLE(address));

                        g_strv_builder_add(listening, text);
                }
        }
        return g_strv_builder_end(listening);
}

guint np_peerd_n_streams(NpPeerd *self)
{
        g_autoptr(GPtrArray) peers = np_pins_list(self->pins);
        guint n = 0;

        for (guint i = 0; i < peers->len; i++)
                n += np_links_n_streams(self->links, ((const NpPeerConfig *) peers->pdata[i])->name);
        return n;
}
