/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fake-machine.h"

#include <glib/gstdio.h>
#include <sys/socket.h>
#include <unistd.h>

#include "peerd/error.h"

static GTlsCertificate *certificate(gpointer data)
{
        return np_identity_certificate(((Machine *) data)->identity);
}

static const NpPeerConfig *pinned(const char *fingerprint, gpointer data)
{
        return g_hash_table_lookup(((Machine *) data)->pins, fingerprint);
}

static const NpPeerConfig *peer(const char *name, gpointer data)
{
        GHashTableIter iter;
        gpointer config;

        g_hash_table_iter_init(&iter, ((Machine *) data)->pins);
        while (g_hash_table_iter_next(&iter, NULL, &config))
                if (g_str_equal(((NpPeerConfig *) config)->name, name))
                        return config;
        return NULL;
}

static gboolean invited(gpointer data)
{
        return ((Machine *) data)->invited;
}

static GVariant *facts(gpointer data)
{
        Machine *m = data;
        g_autofree char *nqn = g_strdup_printf("nqn.2014-08.org.example:%s", m->name);
        const char *const subsystems[] = { nqn, NULL };
        GVariantBuilder builder;

        if (m->facts)
                return g_variant_ref(m->facts);
        g_variant_builder_init(&builder, G_VARIANT_TYPE_VARDICT);
        g_variant_builder_add(&builder, "{sv}", "software", g_variant_new_string("ntprof 0.1.0"));
        g_variant_builder_add(&builder, "{sv}", "machine", g_variant_new_string(m->name));
        g_variant_builder_add(&builder, "{sv}", "subsystems", g_variant_new_strv(subsystems, -1));
        return g_variant_builder_end(&builder);
}

static void met(NpLink *link, gpointer data)
{
        ((Machine *) data)->met++;
}

static void changed(NpLink *link, gpointer data)
{
        ((Machine *) data)->changed++;
}

static void join(NpLink *link, const char *code, GVariant *its_facts, GTask *task, gpointer data)
{
        Machine *m = data;
        GVariantBuilder builder;

        m->joins++;
        g_free(m->joined_code);
        m->joined_code = g_strdup(code);
        g_clear_pointer(&m->joined_facts, g_variant_unref);
        m->joined_facts = g_variant_ref(its_facts);
        if (m->join_error) {
                g_task_return_new_error(task, NP_ERROR, NP_ERROR_INVITATION_INVALID, "%s", m->join_error);
                return;
        }
        g_variant_builder_init(&builder, G_VARIANT_TYPE_VARDICT);
        g_variant_builder_add(&builder, "{sv}", "name", g_variant_new_string("guest"));
        g_variant_builder_add(&builder, "{sv}", "confirmed", g_variant_new_boolean(TRUE));
        g_task_return_pointer(task, g_variant_ref_sink(g_variant_builder_end(&builder)), (GDestroyNotify) g_variant_unref);
}

static void open_target(NpLink *link, GVariant *request, GTask *task, gpointer data)
{
        Machine *m = data;
        int pair[2];

        g_clear_pointer(&m->requested, g_variant_unref);
        m->requested = g_variant_ref(request);
        if (m->target_error) {
                g_task_return_error(task, g_error_copy(m->target_error));
                return;
        }
        g_assert_cmpint(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, pair), ==, 0);
        g_assert_cmpuint(m->n_targets, <, G_N_ELEMENTS(m->targets));
        m->targets[m->n_targets++] = pair[1];
        g_task_return_int(task, pair[0]);
}

static gboolean renew(NpLink *link, const char *fingerprint, gpointer data)
{
        ((Machine *) data)->renewed++;
        return ((Machine *) data)->renewable;
}

static void forget(NpLink *link, gpointer data)
{
        ((Machine *) data)->forgotten++;
}

static const NpLinksOps ops = {
        .certificate = certificate,
        .pinned = pinned,
        .peer = peer,
        .invited = invited,
        .facts = facts,
        .met = met,
        .changed = changed,
        .join = join,
        .open_target = open_target,
        .renew = renew,
        .forget = forget,
};

Machine *machine_new(const char *name)
{
        Machine *m = g_new0(Machine, 1);
        g_autoptr(GInetAddress) loopback = g_inet_address_new_loopback(G_SOCKET_FAMILY_IPV4);
        g_autoptr(GSocketAddress) any = g_inet_socket_address_new(loopback, 0), bound = NULL;
        g_autoptr(GError) error = NULL;

        m->name = name;
        m->renewable = TRUE;
        m->folder = g_dir_make_tmp("ntprof-links-XXXXXX", NULL);
        m->identity = np_identity_load_or_make(m->folder, &error);
        g_assert_no_error(error);
        m->socket = g_socket_new(G_SOCKET_FAMILY_IPV4, G_SOCKET_TYPE_STREAM, G_SOCKET_PROTOCOL_TCP, &error);
        g_assert_no_error(error);
        g_socket_set_listen_backlog(m->socket, 1024);
        g_assert_true(g_socket_bind(m->socket, any, TRUE, &error) && g_socket_listen(m->socket, &error));
        bound = g_socket_get_local_address(m->socket, NULL);
        m->address = g_strdup_printf("127.0.0.1:%u", g_inet_socket_address_get_port(G_INET_SOCKET_ADDRESS(bound)));
        m->pins = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, (GDestroyNotify) np_peer_config_free);
        m->links = np_links_new(&ops, m);
        np_links_listen(m->links, m->socket);
        return m;
}

void machine_free(Machine *m)
{
        g_autofree char *file = g_build_filename(m->folder, NP_IDENTITY_FILE, NULL);

        np_links_free(m->links);
        g_object_unref(m->socket);
        for (guint i = 0; i < m->n_targets; i++)
                if (m->targets[i] >= 0)
                        close(m->targets[i]);
        np_identity_free(m->identity);
        g_unlink(file);
        g_rmdir(m->folder);
        g_hash_table_unref(m->pins);
        g_clear_pointer(&m->joined_facts, g_variant_unref);
        g_clear_pointer(&m->requested, g_variant_unref);
        g_clear_pointer(&m->facts, g_variant_unref);
        g_clear_error(&m->target_error);
        g_free(m->folder);
        g_free(m->address);
        g_free(m->joined_code);
        g_free(m->join_error);
        g_free(m);
}

void machine_pin(Machine *a, Machine *b, gboolean address)
{
        NpPeerConfig *config = np_peer_config_new(b->name);

        config->fingerprint = g_strdup(np_identity_fingerprint(b->identity));
        config->address = address ? g_strdup(b->address) : NULL;
        g_hash_table_insert(a->pins, g_strdup(config->fingerprint), config);
}

void machine_unpin(Machine *a, Machine *b)
{
        g_hash_table_remove(a->pins, np_identity_fingerprint(b->identity));
}

void run_until(Condition condition, gpointer data, double seconds)
{
        gint64 end = g_get_monotonic_time() + (gint64) (seconds * G_USEC_PER_SEC);

        while (!condition(data)) {
                g_assert_cmpint(g_get_monotonic_time(), <, end);
                if (!g_main_context_iteration(NULL, FALSE))
                        g_usleep(500);
        }
}

void run_for(double seconds)
{
        gint64 end = g_get_monotonic_time() + (gint64) (seconds * G_USEC_PER_SEC);

        while (g_get_monotonic_time() < end)
                if (!g_main_context_iteration(NULL, FALSE))
                        g_usleep(500);
}

static void store(GObject *source, GAsyncResult *result, gpointer data)
{
        *(GAsyncResult **) data = g_object_ref(result);
}

static gboolean stored(gpointer data)
{
        return *(GAsyncResult **) data != NULL;
}

NpLink *machine_get(Machine *m, const char *peer_name, double seconds, GError **error)
{
        g_autoptr(GAsyncResult) result = NULL;

        np_links_get_async(m->links, peer_name, NULL, store, &result);
        run_until(stored, &result, seconds);
        return np_links_get_finish(m->links, result, error);
}

int machine_open(Machine *m, const char *peer_name, GError **error)
{
        g_autoptr(GAsyncResult) result = NULL;

        np_links_open_target_async(m->links, peer_name, request_new(), NULL, store, &result);
        run_until(stored, &result, 20);
        return np_links_open_target_finish(m->links, result, error);
}

GVariant *machine_join(Machine *m, Machine *target, const char *fingerprint, const char *code, GError **error)
{
        g_autoptr(GSocketConnectable) address = np_address_parse(target->address, NULL);
        const char *const nqns[] = { "nqn.2014-08.org.nvmexpress:uuid:1234", NULL };
        g_autoptr(GAsyncResult) result = NULL;
        g_autoptr(GVariant) hello = NULL;
        GVariantBuilder builder;
        GVariant *joined;

        g_variant_builder_init(&builder, G_VARIANT_TYPE_VARDICT);
        g_variant_builder_add(&builder, "{sv}", "machine", g_variant_new_string(m->name));
        g_variant_builder_add(&builder, "{sv}", "host-nqns", g_variant_new_strv(nqns, -1));
        np_links_join_async(m->links, address, fingerprint, code, g_variant_builder_end(&builder), NULL, store, &result);
        run_until(stored, &result, 20);
        joined = np_links_join_finish(m->links, result, &hello, error);
        g_assert_true((joined != NULL) == (hello != NULL));
        if (hello) {
                g_autofree const char **subsystems = NULL;
                const char *machine;

                /* what everybody may know who is invited, and no more */
                g_assert_true(g_variant_lookup(hello, "machine", "&s", &machine) &&
                              g_variant_lookup(hello, "subsystems", "^a&s", &subsystems));
                g_assert_cmpstr(machine, ==, target->name);
                g_assert_null(subsystems[0]);
        }
        return joined;
}

GVariant *request_new(void)
{
        return g_variant_new_parsed(
                "{'filters': <[('nqn.2014-08.org.example:a', 'nqn.2014-08.org.nvmexpress:uuid:1234', uint32 1)]>,"
                " 'transports': <['tcp']>, 'duration-usec': <uint64 1000000>, 'detail': <true>, 'user': <'root'>}");
}
