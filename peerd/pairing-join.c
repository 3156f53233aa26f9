/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Invite() on one machine, Join() on the other. */
#include <string.h>

#include "error.h"
#include "line.h"
#include "own-address.h"
#include "pairing.h"

static gboolean name_check(const char *name, GError **error)
{
        g_autofree char *quoted = NULL;

        if (np_peer_name_valid(name))
                return TRUE;
        quoted = np_error_quote(name);
        g_set_error(error, NP_ERROR, NP_ERROR_INVALID_OPTION,
                    "name: \"%s\" is none: letters, digits, '-', '_' and '.', not first '.' or '-', at most %d", quoted,
                    NP_PEER_NAME_MAX);
        return FALSE;
}

/* ---- Invite ---- */

typedef struct {
        guint64 expires_usec;
        char *name, *address;
        gint64 until_usec;
} Invite;

static void invite_free(Invite *i)
{
        g_free(i->name);
        g_free(i->address);
        g_free(i);
}

static gboolean invite_check(NpPeerd *peerd, const Invite *i, GError **error)
{
        if (i->expires_usec == 0 || i->expires_usec > NP_INVITATION_MAX_USEC) {
                g_set_error(error, NP_ERROR, NP_ERROR_INVALID_OPTION, "expires-usec: more than nothing and at most a day");
                return FALSE;
        }
        if (i->name && !name_check(i->name, error))
                return FALSE;
        if (i->name && (np_pins_by_name(peerd->pins, i->name) || np_invitations_have_name(peerd->invitations, i->name))) {
                g_set_error(error, NP_ERROR, NP_ERROR_PEER_EXISTS,
                            "%s: a peer is called so already, or is invited; choose another name", i->name);
                return FALSE;
        }
        if (peerd->sockets->len == 0) {
                g_set_error(error, G_IO_ERROR, G_IO_ERROR_FAILED,
                            "nothing listens for other machines here: systemctl stop ntprof-peerd.service; "
                            "systemctl enable --now ntprof-peerd.socket");
                return FALSE;
        }
        return TRUE;
}

static GInetSocketAddress *socket_address(NpPeerd *peerd)
{
        return G_INET_SOCKET_ADDRESS(g_socket_get_local_address(peerd->sockets->pdata[0], NULL));
}

static gboolean has_port(const char *address)
{
        const char *colon = strchr(address, ':');

        return address[0] == '[' ? strstr(address, "]:") != NULL : colon && !strchr(colon + 1, ':');
}

/* The option, else the one that is listened on, else the one where nvmet is, else where the default route is. */
static gboolean choose_address(NpPeerd *peerd, const Invite *i, GVariant *facts, NpLine *line, GError **error)
{
        g_autoptr(GInetSocketAddress) socket = socket_address(peerd);
        GInetAddress *address = socket ? g_inet_socket_address_get_address(socket) : NULL;
        g_auto(GStrv) nvmet = np_facts_strv(facts, "addresses");

        line->port = socket ? g_inet_socket_address_get_port(socket) : NP_PEER_PORT;
        if (i->address) {
                g_autoptr(GSocketConnectable) given = np_address_parse(i->address, error);

                if (!given) {
                        GError *why = g_error_new(NP_ERROR, NP_ERROR_INVALID_OPTION, "address: %s",
                                                  error ? (*error)->message : "");

                        g_clear_error(error);
                        g_propagate_error(error, why);
                        return FALSE;
                }
                line->address = g_ascii_strdown(g_network_address_get_hostname(G_NETWORK_ADDRESS(given)), -1);
                if (has_port(i->address))
                        line->port = g_network_address_get_port(G_NETWORK_ADDRESS(given));
        } else if (address && !g_inet_address_get_is_any(address))
                line->address = g_inet_address_to_string(address);
        else if (nvmet[0] && !nvmet[1])
                line->address = g_strdup(nvmet[0]);
        else
                line->address = np_own_address(error);
        return line->address != NULL;
}

static void on_described(GObject *source, GAsyncResult *result, gpointer data)
{
        g_autoptr(GTask) task = data;
        g_autoptr(GVariant) facts = NULL;
        g_autoptr(GError) error = NULL;
        g_autoptr(NpLine) line = g_new0(NpLine, 1);
        g_autofree char *text = NULL;
        g_autoptr(NpLine) again = NULL;
        Invite *i = g_task_get_task_data(task);
        NpPeerd *peerd = g_object_get_data(G_OBJECT(task), "peerd");

        facts = np_target_describe_finish(NULL, result, &error);
        if (g_error_matches(error, G_IO_ERROR, G_IO_ERROR_CANCELLED)) {
                g_task_return_error(task, g_steal_pointer(&error));
                return;
        }
        g_clear_error(&error);          /* no nvmet to know of: the next way */

        line->fingerprint = g_strdup(np_identity_fingerprint(peerd->identity));
        line->code = np_code_new(&error);
        if (line->code && choose_address(peerd, i, facts, line, &error)) {
                text = np_line_format(line);
                again = np_line_parse(text, &error);    /* what the other side would refuse is not handed out */
        }
        i->until_usec = g_get_real_time() + (gint64) i->expires_usec;
        if (!again || !np_invitations_add(peerd->invitations, line->fingerprint, again->code, i->name, i->until_usec, &error)) {
                g_task_return_error(task, g_steal_pointer(&error));
                return;
        }
        g_message("Invited %s, until it is used or %" G_GUINT64_FORMAT " s have passed", i->name ?: "a machine",
                  i->expires_usec / G_USEC_PER_SEC);
        g_task_return_pointer(task, g_steal_pointer(&text), g_free);
}

void np_pairing_invite_async(NpPeerd *peerd, guint64 expires_usec, const char *name, const char *address,
                             GAsyncReadyCallback callback, gpointer data)
{
        g_autoptr(GTask) task = g_task_new(NULL, NULL, callback, data);
        Invite *i = g_new0(Invite, 1);
        g_autoptr(GError) error = NULL;

        i->expires_usec = expires_usec;
        i->name = g_strdup(name);
        i->address = g_strdup(address);
        g_task_set_task_data(task, i, (GDestroyNotify) invite_free);
        g_object_set_data(G_OBJECT(task), "peerd", peerd);
        if (!invite_check(peerd, i, &error))
                g_task_return_error(task, g_steal_pointer(&error));
        else
                np_target_describe_async(peerd->target, on_described, g_steal_pointer(&task));
}

char *np_pairing_invite_finish(NpPeerd *peerd, GAsyncResult *result, gint64 *expires_usec, GError **error)
{
        Invite *i = g_task_get_task_data(G_TASK(result));

        *expires_usec = i->until_usec;
        return g_task_propagate_pointer(G_TASK(result), error);
}

/* ---- Join ---- */

typedef struct {
        NpPeerd *peerd;
        NpLine *line;
        char *name;
        gboolean confirmed;
        char *name_there;       /* NULL: not told */
} Join;

static void join_free(Join *j)
{
        np_line_free(j->line);
        g_free(j->name);
        g_free(j->name_there);
        g_free(j);
}

static gboolean join_check(Join *j, GError **error)
{
        const NpPeerConfig *same;

        if (g_str_equal(j->line->fingerprint, np_identity_fingerprint(j->peerd->identity))) {
                g_set_error(error, NP_ERROR, NP_ERROR_INVITATION_INVALID,
                            "this machine made the invitation itself: it is to be given to another one");
                return FALSE;
        }
        same = np_pins_by_fingerprint(j->peerd->pins, j->line->fingerprint);
        if (same) {
                g_set_error(error, NP_ERROR, NP_ERROR_PEER_EXISTS,
                            "%s: is this machine already; to pair again, forget it first: "
                            "ntprofctl peer forget %s",
                            same->name, same->name);
                return FALSE;
        }
        if (!j->name)
                return TRUE;
        if (!name_check(j->name, error))
                return FALSE;
        if (np_pins_by_name(j->peerd->pins, j->name)) {
                g_set_error(error, NP_ERROR, NP_ERROR_PEER_EXISTS, "%s: a peer is called so already; choose another name",
                            j->name);
                return FALSE;
        }
        return TRUE;
}

/* The pairing stands, whether or not the peer answers once more. */
static void on_linked(GObject *source, GAsyncResult *result, gpointer data)
{
        g_autoptr(GTask) task = data;
        Join *j = g_task_get_task_data(task);
        g_autoptr(GError) error = NULL;
        g_autoptr(NpLink) link = np_links_get_finish(j->peerd->links, result, &error);

        if (!link)
                g_warning("%s: paired, but: %s", j->name, error->message);
        g_task_return_pointer(task, g_strdup(j->name), g_free);
}

static void on_joined(GObject *source, GAsyncResult *result, gpointer data)
{
        g_autoptr(GTask) task = data;
        Join *j = g_task_get_task_data(task);
        g_autoptr(GVariant) hello = NULL;
        g_autoptr(GError) error = NULL;
        g_autoptr(GVariant) its_facts = np_links_join_finish(j->peerd->links, result, &hello, &error);
        g_autofree char *address = np_line_address(j->line);

        if (!its_facts) {
                g_task_return_error(task, g_steal_pointer(&error));
                return;
        }
        (void) g_variant_lookup(its_facts, "confirmed", "b", &j->confirmed);
        /* Of another machine, and to be pasted into a root's shell. */
        if (g_variant_lookup(its_facts, "name", "s", &j->name_there) && !np_peer_name_valid(j->name_there))
                g_clear_pointer(&j->name_there, g_free);
        if (!j->name) {
                const char *machine = NULL;

                if (hello)
                        (void) g_variant_lookup(hello, "machine", "&s", &machine);
                j->name = np_pins_free_name(j->peerd->pins, machine);
        }
        if (!np_pins_add(j->peerd->pins, j->name, j->line->fingerprint, address, NULL, &error)) {
                g_prefix_error(&error, "the other machine has accepted, but here: ");
                g_task_return_error(task, g_steal_pointer(&error));
                return;
        }
        g_message("%s: paired: at %s, %s", j->name, address, j->line->fingerprint);
        np_links_get_async(j->peerd->links, j->name, NULL, on_linked, g_steal_pointer(&task));
}

static void on_own_facts(GObject *source, GAsyncResult *result, gpointer data)
{
        g_autoptr(GTask) task = data;
        Join *j = g_task_get_task_data(task);
        g_autoptr(GError) error = NULL;
        g_autoptr(GVariant) facts = np_target_describe_finish(NULL, result, &error);
        g_auto(GStrv) nqns = NULL;
        g_autofree char *address = np_line_address(j->line);
        g_autoptr(GSocketConnectable) there = np_address_parse(address, NULL);
        GVariantBuilder claims;

        if (g_error_matches(error, G_IO_ERROR, G_IO_ERROR_CANCELLED)) {
                g_task_return_error(task, g_steal_pointer(&error));
                return;
        }
        nqns = np_facts_strv(facts, "host-nqns");
        g_variant_builder_init(&claims, G_VARIANT_TYPE_VARDICT);
        g_variant_builder_add(&claims, "{sv}", "machine", g_variant_new_string(g_get_host_name()));
        g_variant_builder_add(&claims, "{sv}", "host-nqns", g_variant_new_strv((const char *const *) nqns, -1));
        np_links_join_async(j->peerd->links, there, j->line->fingerprint, j->line->code, g_variant_builder_end(&claims), NULL,
                            on_joined, g_steal_pointer(&task));
}

void np_pairing_join_async(NpPeerd *peerd, const char *line, const char *name, GAsyncReadyCallback callback, gpointer data)
{
        g_autoptr(GTask) task = g_task_new(NULL, NULL, callback, data);
        Join *j = g_new0(Join, 1);
        g_autoptr(GError) error = NULL;

        j->peerd = peerd;
        j->name = g_strdup(name);
        g_task_set_task_data(task, j, (GDestroyNotify) join_free);
        j->line = np_line_parse(line, &error);
        if (!j->line || !join_check(j, &error))
                g_task_return_error(task, g_steal_pointer(&error));
        else
                np_target_describe_async(peerd->target, on_own_facts, g_steal_pointer(&task));
}

char *np_pairing_join_finish(NpPeerd *peerd, GAsyncResult *result, gboolean *confirmed, char **name_there, GError **error)
{
        Join *j = g_task_get_task_data(G_TASK(result));

        *confirmed = j->confirmed;
        *name_there = g_strdup(j->name_there ?: "");
        return g_task_propagate_pointer(G_TASK(result), error);
}
