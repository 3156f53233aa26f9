/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Objects that a service tells of through its object manager, each shown by one object of the library for as long as it exists:
 * sessions, peers. Who owns the list signals what comes and goes. */
#pragma once

#include <gio/gio.h>

typedef struct {
        const char *interface;                          /* that its D-Bus objects have, "org.ntprof1.Session" */
        const char *added, *removed;                    /* signals of the owner; the argument is the object */
        gpointer (*new)(GDBusProxy *proxy);             /* shown by a loaded proxy */
        const char *(*get_path)(gpointer object);
        void (*set_gone)(gpointer object);              /* it no longer exists */
        GCompareFunc compare;                           /* as of g_ptr_array_sort() */
} NpObjectKind;

typedef struct _NpObjectList NpObjectList;

/* owner: a GObject that frees the list in its finalize. */
NpObjectList *np_object_list_new(const NpObjectKind *kind, gpointer owner);
void np_object_list_free(NpObjectList *list);

/* Takes over the objects that the manager knows, without a signal, and from now on what comes and goes. When the service or the
 * connection goes away, so do all. */
void np_object_list_follow(NpObjectList *list, GDBusObjectManager *manager, GDBusConnection *connection);

/* The object of a proxy, made when there is none for its path yet. Owned by the list. */
gpointer np_object_list_adopt(NpObjectList *list, GDBusProxy *proxy);
/* NULL: none. Owned by the list. */
gpointer np_object_list_lookup(NpObjectList *list, const char *path);

/* All, in order, with a reference each. */
GPtrArray *np_object_list_all(NpObjectList *list);
