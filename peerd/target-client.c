/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "target-client.h"

#include <gio/gunixfdlist.h>

#include "error.h"

#define NAME "org.ntprof1"
#define PATH "/org/ntprof1/internal"
#define INTERFACE "org.ntprof1.internal.Target"
#define FRESH_USEC (10 * G_USEC_PER_SEC)
#define DESCRIBE_MSEC 10000
#define OPEN_MSEC 60000         /* the kernel takes seconds to attach */

struct _NpTarget {
        GDBusConnection *bus;
        GCancellable *cancellable;
        GVariant *facts;
        gint64 asked_usec;
        NpTargetChanged changed;
        gpointer changed_data;
        GQueue waiting;         /* of GTask: for the answer under way */
};

NpTarget *np_target_new(GDBusConnection *bus)
{
        NpTarget *self = g_new0(NpTarget, 1);

        self->bus = g_object_ref(bus);
        self->cancellable = g_cancellable_new();
        g_queue_init(&self->waiting);
        return self;
}

void np_target_free(NpTarget *self)
{
        if (!self)
                return;
        g_cancellable_cancel(self->cancellable);
        for (GTask *task; (task = g_queue_pop_head(&self->waiting));) {
                g_task_return_new_error(task, G_IO_ERROR, G_IO_ERROR_CANCELLED, "ntprof-peerd ends");
                g_object_unref(task);
        }
        g_object_unref(self->cancellable);
        g_clear_pointer(&self->facts, g_variant_unref);
        g_object_unref(self->bus);
        g_free(self);
}

/* An error of ntprofd as it is; one of the bus in words of ours. */
static GError *explain(GError *error)
{
        np_error_strip(error);
        if (error->domain == NP_ERROR || g_error_matches(error, G_IO_ERROR, G_IO_ERROR_CANCELLED))
                return error;
        g_prefix_error(&error, "ntprofd of %s cannot be asked: ", g_get_host_name());
        return error;
}

/* ---- Describe ---- */

static gboolean is_fresh(NpTarget *self)
{
        return self->facts && g_get_monotonic_time() - self->asked_usec < FRESH_USEC;
}

static void on_described(GObject *source, GAsyncResult *result, gpointer data)
{
        g_autoptr(GError) error = NULL;
        g_autoptr(GVariant) reply = g_dbus_connection_call_finish(G_DBUS_CONNECTION(source), result, &error);
        NpTarget *self = data;
        gboolean other = FALSE;
        GQueue waiting;

        if (g_error_matches(error, G_IO_ERROR, G_IO_ERROR_CANCELLED))
                return;         /* self is gone */
        if (reply) {
                g_autoptr(GVariant) before = self->facts;

                self->facts = g_variant_get_child_value(reply, 0);
                self->asked_usec = g_get_monotonic_time();
                other = before && !g_variant_equal(before, self->facts);
        } else {
                error = explain(g_steal_pointer(&error));
                g_info("%s", error->message);
        }

        waiting = self->waiting;
        g_queue_init(&self->waiting);
        for (GTask *task; (task = g_queue_pop_head(&waiting));) {
                if (error)
                        g_task_return_error(task, g_error_copy(error));
                else
                        g_task_return_pointer(task, g_variant_ref(self->facts), (GDestroyNotify) g_variant_unref);
                g_object_unref(task);
        }
        if (other && self->changed)
                self->changed(self->changed_data);
}

void np_target_set_changed(NpTarget *self, NpTargetChanged changed, gpointer data)
{
        self->changed = changed;
        self->changed_data = data;
}

static void ask(NpTarget *self, GTask *task)
{
        g_queue_push_tail(&self->waiting, task);
        if (self->waiting.length > 1)
                return;
        g_dbus_connection_call(self->bus, NAME, PATH, INTERFACE, "Describe", NULL, G_VARIANT_TYPE("(a{sv})"),
                               G_DBUS_CALL_FLAGS_NONE, DESCRIBE_MSEC, self->cancellable, on_described, self);
}

void np_target_describe_async(NpTarget *self, GAsyncReadyCallback callback, gpointer data)
{
        GTask *task = g_task_new(NULL, self->cancellable, callback, data);

        if (is_fresh(self)) {
                g_task_return_pointer(task, g_variant_ref(self->facts), (GDestroyNotify) g_variant_unref);
                g_object_unref(task);
        } else
                ask(self, task);
}

GVariant *np_target_describe_finish(NpTarget *self, GAsyncResult *result, GError **error)
{
        return g_task_propagate_pointer(G_TASK(result), error);
}

GVariant *np_target_known(NpTarget *self)
{
        if (!is_fresh(self) && self->waiting.length == 0)
                ask(self, g_task_new(NULL, self->cancellable, NULL, NULL));
        return self->facts;
}

/* ---- OpenTarget ---- */

static void on_opened(GObject *source, GAsyncResult *result, gpointer data)
{
        g_autoptr(GTask) task = data;
        g_autoptr(GError) error = NULL;
        g_autoptr(GUnixFDList) fds = NULL;
        g_autoptr(GVariant) reply = NULL;
        gint32 index;
        int fd;

        reply = g_dbus_connection_call_with_unix_fd_list_finish(G_DBUS_CONNECTION(source), &fds, result, &error);
        if (!reply) {
                g_task_return_error(task, explain(g_steal_pointer(&error)));
                return;
        }
        g_variant_get(reply, "(h)", &index);
        fd = fds ? g_unix_fd_list_get(fds, index, &error) : -1;
        if (fd < 0)
                g_task_return_new_error(task, NP_ERROR, NP_ERROR_CAPTURE_FAILED, "ntprofd of %s answered without a stream",
                                        g_get_host_name());
        else
                g_task_return_int(task, fd);
}

void np_target_open_async(NpTarget *self, GVariant *peer, GVariant *request, GAsyncReadyCallback callback, gpointer data)
{
        GTask *task = g_task_new(NULL, NULL, callback, data);

        g_dbus_connection_call_with_unix_fd_list(self->bus, NAME, PATH, INTERFACE, "OpenTarget",
                                                 g_variant_new("(@a{sv}@a{sv})", peer, request), G_VARIANT_TYPE("(h)"),
                                                 G_DBUS_CALL_FLAGS_NONE, OPEN_MSEC, NULL, self->cancellable, on_opened, task);
}

int np_target_open_finish(NpTarget *self, GAsyncResult *result, GError **error)
{
        return g_task_propagate_int(G_TASK(result), error);
}

char **np_facts_strv(GVariant *facts, const char *key)
{
        char **strv = NULL;

        if (facts)
                (void) g_variant_lookup(facts, key, "^as", &strv);
        return strv ?: g_new0(char *, 1);
}
