/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Renew() and Forget(): what every peer, or one, has to be told. */
#include "error.h"
#include "pairing.h"
#include "time-limit.h"

#define TELL_SEC 15             /* for each peer, all at once */
#define FORGET_SEC 5

/* ---- Renew ---- */

typedef struct {
        NpPeerd *peerd;
        NpIdentity *next;
        NpTimeLimit limit;
        guint under_way;
        GPtrArray *peers;       /* of Told */
} Renewal;

typedef struct {
        char *name, *outcome;
        GTask *task;            /* while it is being told */
} Told;

static void told_free(Told *t)
{
        g_free(t->name);
        g_free(t->outcome);
        g_free(t);
}

static void renewal_free(Renewal *r)
{
        r->peerd->renewing = FALSE;
        if (r->next)
                np_identity_drop(r->peerd->identity, r->next);
        np_time_limit_clear(&r->limit);
        g_ptr_array_unref(r->peers);
        g_free(r);
}

static void on_linked_again(GObject *source, GAsyncResult *result, gpointer data)
{
        g_autofree char *name = data;
        g_autoptr(GError) error = NULL;
        g_autoptr(NpLink) link = np_links_get_finish(NULL, result, &error);

        if (!link)
                g_info("%s: knows the new key, but: %s", name, error->message);
}

/* The links of the old key end now. A peer that this machine can connect to need not notice: it may know no address of this
 * one, and could not renew its own key before it is linked. */
static void link_again(NpPeerd *peerd, const char *name)
{
        const NpPeerConfig *peer = np_pins_by_name(peerd->pins, name);

        np_links_close(peerd->links, name, "this machine's certificate changes");
        if (peer && peer->address)
                np_links_get_async(peerd->links, name, NULL, on_linked_again, g_strdup(name));
}

static void renewal_end(GTask *task)
{
        Renewal *r = g_task_get_task_data(task);
        g_autoptr(GError) error = NULL;
        GVariantBuilder outcome;

        if (!np_identity_adopt(r->peerd->identity, r->next, &error)) {
                g_task_return_error(task, g_steal_pointer(&error));
                return;
        }
        r->next = NULL;
        np_invitations_end_all(r->peerd->invitations);  /* their lines have the old fingerprint */
        g_message("This machine's key is new: %s", np_identity_fingerprint(r->peerd->identity));
        np_peerd_tell_changed(r->peerd);

        g_variant_builder_init(&outcome, G_VARIANT_TYPE("a(ss)"));
        for (guint i = 0; i < r->peers->len; i++) {
                Told *t = r->peers->pdata[i];

                if (t->outcome[0])
                        g_warning("%s: does not know the new key: %s", t->name, t->outcome);
                else
                        link_again(r->peerd, t->name);
                g_variant_builder_add(&outcome, "(ss)", t->name, t->outcome);
        }
        g_task_return_pointer(task, g_variant_ref_sink(g_variant_builder_end(&outcome)), (GDestroyNotify) g_variant_unref);
}

static void told_done(Told *t, char *outcome)
{
        g_autoptr(GTask) task = g_steal_pointer(&t->task);
        Renewal *r = g_task_get_task_data(task);

        t->outcome = outcome;
        if (--r->under_way == 0)
                renewal_end(task);
}

static char *not_told(GError *error)
{
        if (g_error_matches(error, G_IO_ERROR, G_IO_ERROR_CANCELLED))
                return g_strdup("it did not answer in time: pair it again");
        np_error_strip(error);
        return g_strdup_printf("%s: pair it again", error->message);
}

static void on_told(GObject *source, GAsyncResult *result, gpointer data)
{
        Told *t = data;
        Renewal *r = g_task_get_task_data(t->task);
        g_autoptr(GError) error = NULL;
        gboolean pinned;

        if (!np_link_renew_finish(NP_LINK(source), result, &pinned, &error))
                told_done(t, not_told(error));
        else if (!pinned)
                told_done(t, g_strdup_printf("its administrator has fixed the old fingerprint in " NP_PEERS_ETC
                                             ": %s is to stand there",
                                             np_identity_fingerprint(r->next)));
        else {
                np_identity_told(r->next);
                told_done(t, g_strdup(""));
        }
}

static void on_reached(GObject *source, GAsyncResult *result, gpointer data)
{
        Told *t = data;
        Renewal *r = g_task_get_task_data(t->task);
        g_autoptr(GError) error = NULL;
        g_autoptr(NpLink) link = np_links_get_finish(r->peerd->links, result, &error);

        if (link)
                np_link_renew_async(link, np_identity_fingerprint(r->next), r->limit.cancellable, on_told, t);
        else
                told_done(t, not_told(error));
}

void np_pairing_renew_async(NpPeerd *peerd, GAsyncReadyCallback callback, gpointer data)
{
        g_autoptr(GTask) task = g_task_new(NULL, NULL, callback, data);
        g_autoptr(GPtrArray) peers = NULL;
        g_autoptr(GError) error = NULL;
        Renewal *r;

        if (peerd->renewing) {
                g_task_return_new_error(task, G_IO_ERROR, G_IO_ERROR_BUSY, "the key is being renewed already");
                return;
        }
        r = g_new0(Renewal, 1);
        r->peerd = peerd;
        r->peers = g_ptr_array_new_with_free_func((GDestroyNotify) told_free);
        g_task_set_task_data(task, r, (GDestroyNotify) renewal_free);
        peerd->renewing = TRUE;

        r->next = np_identity_prepare(peerd->identity, &error);
        if (!r->next) {
                g_task_return_error(task, g_steal_pointer(&error));
                return;
        }
        peers = np_pins_list(peerd->pins);
        for (guint i = 0; i < peers->len; i++) {
                Told *t = g_new0(Told, 1);

                t->name = g_strdup(((const NpPeerConfig *) peers->pdata[i])->name);
                t->task = g_object_ref(task);
                g_ptr_array_add(r->peers, t);
        }
        r->under_way = r->peers->len;
        if (r->under_way == 0) {
                renewal_end(task);
                return;
        }
        np_time_limit_begin(&r->limit, TELL_SEC);
        for (guint i = 0; i < r->peers->len; i++) {
                Told *t = r->peers->pdata[i];
                const NpPeerConfig *peer = np_pins_by_name(peerd->pins, t->name);

                if (np_links_peek(peerd->links, t->name) || (peer && peer->address))
                        np_links_get_async(peerd->links, t->name, r->limit.cancellable, on_reached, t);
                else
                        told_done(t, g_strdup("it is not connected, and only it can connect: pair it again; before the next "
                                              "renewal, 'ntprofctl peer test' there makes it connect"));
        }
}

GVariant *np_pairing_renew_finish(NpPeerd *peerd, GAsyncResult *result, GError **error)
{
        return g_task_propagate_pointer(G_TASK(result), error);
}

/* ---- Forget ---- */

typedef struct {
        NpPeerd *peerd;
        char *name;
        gboolean told;
        NpTimeLimit limit;
} Forgetting;

static void forgetting_free(Forgetting *f)
{
        g_free(f->name);
        np_time_limit_clear(&f->limit);
        g_free(f);
}

static void forget_end(GTask *task)
{
        Forgetting *f = g_task_get_task_data(task);
        g_autoptr(GError) error = NULL;

        if (!np_pins_remove(f->peerd->pins, f->name, &error) && !g_error_matches(error, NP_ERROR, NP_ERROR_NO_PEER)) {
                g_task_return_error(task, g_steal_pointer(&error));
                return;
        }
        np_links_close(f->peerd->links, f->name, "the pairing has ended");
        g_message("%s: forgotten", f->name);
        g_task_return_boolean(task, TRUE);
}

static void on_forgotten(GObject *source, GAsyncResult *result, gpointer data)
{
        g_autoptr(GTask) task = data;
        Forgetting *f = g_task_get_task_data(task);
        g_autoptr(GError) error = NULL;

        f->told = np_link_forget_finish(NP_LINK(source), result, &error);
        if (!f->told)
                g_message("%s: could not be told that it is forgotten: %s", f->name, error->message);
        forget_end(task);
}

static void on_forget_reached(GObject *source, GAsyncResult *result, gpointer data)
{
        g_autoptr(GTask) task = data;
        Forgetting *f = g_task_get_task_data(task);
        g_autoptr(GError) error = NULL;
        g_autoptr(NpLink) link = np_links_get_finish(f->peerd->links, result, &error);

        if (link)
                np_link_forget_async(link, f->limit.cancellable, on_forgotten, g_steal_pointer(&task));
        else {
                g_message("%s: could not be told that it is forgotten: %s", f->name, error->message);
                forget_end(task);
        }
}

void np_pairing_forget_async(NpPeerd *peerd, const char *name, GAsyncReadyCallback callback, gpointer data)
{
        g_autoptr(GTask) task = g_task_new(NULL, NULL, callback, data);
        g_autoptr(GError) error = NULL;
        Forgetting *f;

        if (!np_pins_removable(peerd->pins, name, &error)) {
                g_task_return_error(task, g_steal_pointer(&error));
                return;
        }
        f = g_new0(Forgetting, 1);
        f->peerd = peerd;
        f->name = g_strdup(name);
        np_time_limit_begin(&f->limit, FORGET_SEC);
        g_task_set_task_data(task, f, (GDestroyNotify) forgetting_free);
        np_links_get_async(peerd->links, name, f->limit.cancellable, on_forget_reached, g_steal_pointer(&task));
}

gboolean np_pairing_forget_finish(NpPeerd *peerd, GAsyncResult *result, gboolean *told, GError **error)
{
        const Forgetting *f = g_task_get_task_data(G_TASK(result));

        *told = f && f->told;           /* NULL: it was not to be forgotten */
        return g_task_propagate_boolean(G_TASK(result), error);
}
