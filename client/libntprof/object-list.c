/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "object-list.h"

#include "service-open.h"

struct _NpObjectList {
        const NpObjectKind *kind;
        GObject *owner;                 /* lives longer than the list */
        GHashTable *by_path;            /* object path -> object, of those that exist */
};

NpObjectList *np_object_list_new(const NpObjectKind *kind, gpointer owner)
{
        NpObjectList *list = g_new0(NpObjectList, 1);

        list->kind = kind;
        list->owner = owner;
        list->by_path = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_object_unref);
        return list;
}

void np_object_list_free(NpObjectList *list)
{
        g_hash_table_unref(list->by_path);
        g_free(list);
}

gpointer np_object_list_adopt(NpObjectList *list, GDBusProxy *proxy)
{
        const char *path = g_dbus_proxy_get_object_path(proxy);
        gpointer object = g_hash_table_lookup(list->by_path, path);

        if (!object) {
                g_dbus_proxy_set_default_timeout(proxy, NP_CALL_TIMEOUT_MSEC);
                object = list->kind->new(proxy);
                g_hash_table_insert(list->by_path, g_strdup(path), object);
        }
        return object;
}

gpointer np_object_list_lookup(NpObjectList *list, const char *path)
{
        return g_hash_table_lookup(list->by_path, path);
}

GPtrArray *np_object_list_all(NpObjectList *list)
{
        GPtrArray *all = g_ptr_array_new_with_free_func(g_object_unref);
        GHashTableIter iter;
        gpointer object;

        g_hash_table_iter_init(&iter, list->by_path);
        while (g_hash_table_iter_next(&iter, NULL, &object))
                g_ptr_array_add(all, g_object_ref(object));
        g_ptr_array_sort(all, list->kind->compare);
        return all;
}

/* ---- what comes and goes ---- */

/* NULL: of another kind. */
static GDBusProxy *dup_proxy(NpObjectList *list, GDBusObject *object)
{
        GDBusInterface *proxy = g_dbus_object_get_interface(object, list->kind->interface);

        return proxy ? G_DBUS_PROXY(proxy) : NULL;
}

static void on_object_added(GDBusObjectManager *manager, GDBusObject *object, NpObjectList *list)
{
        g_autoptr(GDBusProxy) proxy = dup_proxy(list, object);

        if (proxy)
                g_signal_emit_by_name(list->owner, list->kind->added, np_object_list_adopt(list, proxy));
}

static void drop(NpObjectList *list, const char *path)
{
        g_autoptr(GObject) object = NULL;
        g_autofree char *key = NULL;

        if (!g_hash_table_steal_extended(list->by_path, path, (gpointer *) &key, (gpointer *) &object))
                return;
        list->kind->set_gone(object);
        g_signal_emit_by_name(list->owner, list->kind->removed, object);
}

static void drop_all(NpObjectList *list)
{
        g_autoptr(GPtrArray) all = np_object_list_all(list);

        for (guint i = 0; i < all->len; i++)
                drop(list, list->kind->get_path(all->pdata[i]));
}

static void on_object_removed(GDBusObjectManager *manager, GDBusObject *object, NpObjectList *list)
{
        drop(list, g_dbus_object_get_object_path(object));
}

/* The object manager tells of the objects it knows of; one just made may not be among them yet. */
static void on_name_owner(GDBusObjectManager *manager, GParamSpec *pspec, NpObjectList *list)
{
        g_autofree char *owner = np_manager_dup_owner(manager);

        if (!owner)
                drop_all(list);
}

static void on_closed(GDBusConnection *connection, gboolean remote_vanished, GError *error, NpObjectList *list)
{
        drop_all(list);
}

/* As g_signal_connect_object() with the owner: a callback keeps it, and with it the list, until it returns. */
static void connect(NpObjectList *list, gpointer source, const char *signal, GCallback callback)
{
        GClosure *closure = g_cclosure_new(callback, list, NULL);

        g_object_watch_closure(list->owner, closure);
        g_signal_connect_closure(source, signal, closure, FALSE);
}

void np_object_list_follow(NpObjectList *list, GDBusObjectManager *manager, GDBusConnection *connection)
{
        g_autolist(GDBusObject) objects = g_dbus_object_manager_get_objects(manager);

        for (GList *l = objects; l; l = l->next) {
                g_autoptr(GDBusProxy) proxy = dup_proxy(list, l->data);

                if (proxy)
                        np_object_list_adopt(list, proxy);
        }
        connect(list, manager, "object-added", G_CALLBACK(on_object_added));
        connect(list, manager, "object-removed", G_CALLBACK(on_object_removed));
        connect(list, manager, "notify::name-owner", G_CALLBACK(on_name_owner));
        connect(list, connection, "closed", G_CALLBACK(on_closed));
}
