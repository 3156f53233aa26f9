/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "finder.h"

#include <string.h>

#include "error.h"
#include "time-limit.h"

#define RESOLVE_SEC 5

typedef struct {
        char *subsysnqn, *traddr;
        GInetAddress *address;          /* of traddr */
        guint under_way;
        NpTimeLimit resolving;
        char *several;                  /* names, of those that the address must tell apart */
        char *found;
} Search;

typedef struct {
        GTask *task;
        char *peer;
} Candidate;

static void search_free(Search *s)
{
        g_free(s->subsysnqn);
        g_free(s->traddr);
        g_clear_object(&s->address);
        np_time_limit_clear(&s->resolving);
        g_free(s->several);
        g_free(s->found);
        g_free(s);
}

static void candidate_free(Candidate *c)
{
        g_object_unref(c->task);
        g_free(c->peer);
        g_free(c);
}
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Candidate, candidate_free)

/* Scopes say which interface, which differs from machine to machine. */
static GInetAddress *parse_number(const char *text)
{
        g_autofree char *copy = g_strdup(text);

        copy[strcspn(copy, "%")] = '\0';
        return g_inet_address_new_from_string(copy);
}

static const char *host_of(const NpPeerConfig *peer, GSocketConnectable **keep)
{
        *keep = peer->address ? np_address_parse(peer->address, NULL) : NULL;
        return *keep ? g_network_address_get_hostname(G_NETWORK_ADDRESS(*keep)) : NULL;
}

static void return_found(GTask *task)
{
        Search *s = g_task_get_task_data(task);
        g_autofree char *nqn = np_error_quote(s->subsysnqn), *traddr = np_error_quote(s->traddr);

        if (s->found)
                g_task_return_pointer(task, g_steal_pointer(&s->found), g_free);
        else if (s->several)
                g_task_return_new_error(task, NP_ERROR, NP_ERROR_NO_PEER,
                                        "%s export %s, and the Address of none is %s: write it into its file in " NP_PEERS_ETC
                                        ", or say which (--peer)", s->several, nqn, traddr);
        else
                g_task_return_new_error(task, NP_ERROR, NP_ERROR_NO_PEER,
                                        "no paired machine exports %s or is at %s: pair with it: ntprofctl peer join", nqn,
                                        traddr);
}

static void on_resolved(GObject *source, GAsyncResult *result, gpointer data)
{
        g_autoptr(Candidate) c = data;
        Search *s = g_task_get_task_data(c->task);
        GList *addresses = g_resolver_lookup_by_name_finish(G_RESOLVER(source), result, NULL);

        for (GList *i = addresses; i && !s->found; i = i->next)
                if (g_inet_address_equal(i->data, s->address))
                        s->found = g_strdup(c->peer);
        g_resolver_free_addresses(addresses);
        if (s->found)
                g_cancellable_cancel(s->resolving.cancellable);
        if (--s->under_way == 0)
                return_found(c->task);
}

/* Paths of one namespace may lead to several machines that all export its subsystem. */
static GPtrArray *that_export(GPtrArray *peers, const char *nqn)
{
        g_autoptr(GPtrArray) some = g_ptr_array_new();

        for (guint i = 0; nqn && i < peers->len; i++)
                if (g_strv_contains((const char *const *) ((const NpPeerConfig *) peers->pdata[i])->subsystems, nqn))
                        g_ptr_array_add(some, peers->pdata[i]);
        return g_steal_pointer(&some);
}

static char *names_of(GPtrArray *peers)
{
        g_autoptr(GString) names = g_string_new(NULL);

        for (guint i = 0; i < peers->len; i++)
                g_string_append_printf(names, "%s%s", i == 0 ? "" : i + 1 == peers->len ? " and " : ", ",
                                       ((const NpPeerConfig *) peers->pdata[i])->name);
        return g_string_free(g_steal_pointer(&names), FALSE);
}

static const char *by_number(GPtrArray *peers, GInetAddress *address)
{
        for (guint i = 0; i < peers->len; i++) {
                const NpPeerConfig *peer = peers->pdata[i];
                g_autoptr(GSocketConnectable) keep = NULL;
                const char *host = host_of(peer, &keep);
                g_autoptr(GInetAddress) its = host ? parse_number(host) : NULL;

                if (its && g_inet_address_equal(its, address))
                        return peer->name;
        }
        return NULL;
}

static void resolve_names(GTask *task, GPtrArray *peers)
{
        Search *s = g_task_get_task_data(task);
        g_autoptr(GResolver) resolver = g_resolver_get_default();

        np_time_limit_begin(&s->resolving, RESOLVE_SEC);
        for (guint i = 0; i < peers->len; i++) {
                const NpPeerConfig *peer = peers->pdata[i];
                g_autoptr(GSocketConnectable) keep = NULL;
                const char *host = host_of(peer, &keep);
                g_autoptr(GInetAddress) number = host ? parse_number(host) : NULL;
                Candidate *c;

                if (!host || number)
                        continue;
                c = g_new(Candidate, 1);
                c->task = g_object_ref(task);
                c->peer = g_strdup(peer->name);
                s->under_way++;
                g_resolver_lookup_by_name_async(resolver, host, s->resolving.cancellable, on_resolved, c);
        }
}

void np_finder_find_async(NpPins *pins, const char *subsysnqn, const char *traddr, GAsyncReadyCallback callback, gpointer data)
{
        g_autoptr(GTask) task = g_task_new(NULL, NULL, callback, data);
        g_autoptr(GPtrArray) all = np_pins_list(pins), some = that_export(all, subsysnqn);
        GPtrArray *peers = some->len > 0 ? some : all;
        Search *s = g_new0(Search, 1);

        s->subsysnqn = g_strdup(subsysnqn);
        s->traddr = g_strdup(traddr);
        s->address = traddr ? parse_number(traddr) : NULL;
        g_task_set_task_data(task, s, (GDestroyNotify) search_free);

        if (some->len == 1)
                s->found = g_strdup(((const NpPeerConfig *) some->pdata[0])->name);
        if (some->len > 1)
                s->several = names_of(some);
        if (!s->found && s->address)
                s->found = g_strdup(by_number(peers, s->address));
        if (!s->found && s->address)
                resolve_names(task, peers);
        if (s->under_way == 0)
                return_found(task);
}

char *np_finder_find_finish(GAsyncResult *result, GError **error)
{
        return g_task_propagate_pointer(G_TASK(result), error);
}
