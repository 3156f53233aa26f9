/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "link-gate.h"

#include "peerd/np-peerd-dbus.h"

/* Shared by the main thread and GDBus'. */
typedef struct {
        gatomicrefcount references;
        gboolean pinned;
        int calls;              /* atomic */
        int shut;               /* atomic */
        GMainContext *context;
        NpGateViolation violation;      /* the main thread's, NULL after np_gate_free() */
        gpointer data;
        char *what;             /* handed over with the idle source */
} Shared;

struct _NpGate {
        Shared *shared;
        GDBusConnection *bus;
        guint filter;
};

static Shared *shared_ref(Shared *shared)
{
        g_atomic_ref_count_inc(&shared->references);
        return shared;
}

static void shared_unref(gpointer data)
{
        Shared *shared = data;

        if (!g_atomic_ref_count_dec(&shared->references))
                return;
        g_main_context_unref(shared->context);
        g_free(shared->what);
        g_free(shared);
}

static gboolean wrong(GError **error, const char *what)
{
        g_set_error_literal(error, G_IO_ERROR, G_IO_ERROR_INVALID_DATA, what);
        return FALSE;
}

static gboolean signature_matches(const GDBusMethodInfo *method, GVariant *body)
{
        gsize n = body ? g_variant_n_children(body) : 0, expected = 0;

        while (method->in_args && method->in_args[expected])
                expected++;
        if (n != expected)
                return FALSE;
        for (gsize i = 0; i < n; i++) {
                g_autoptr(GVariant) child = g_variant_get_child_value(body, i);

                if (!g_str_equal(g_variant_get_type_string(child), method->in_args[i]->signature))
                        return FALSE;
        }
        return TRUE;
}

gboolean np_gate_check(GDBusMessage *message, gboolean pinned, GError **error)
{
        const char *member = g_dbus_message_get_member(message);
        GDBusMethodInfo *method;

        if (g_dbus_message_get_num_unix_fds(message) > 0)
                return wrong(error, "a message with file descriptors");
        if (g_dbus_message_get_message_type(message) == G_DBUS_MESSAGE_TYPE_METHOD_RETURN ||
            g_dbus_message_get_message_type(message) == G_DBUS_MESSAGE_TYPE_ERROR)
                return TRUE;
        if (g_dbus_message_get_message_type(message) != G_DBUS_MESSAGE_TYPE_METHOD_CALL)
                return wrong(error, "a message that is neither a call nor a reply");
        if (g_strcmp0(g_dbus_message_get_path(message), NP_LINK_PATH) != 0)
                return wrong(error, "a call to an object that is not a link's");
        if (g_strcmp0(g_dbus_message_get_interface(message), NP_LINK_INTERFACE) != 0)
                return wrong(error, "a call of an interface that is not a link's");
        method = member ? g_dbus_interface_info_lookup_method(np_dbus_internal_peer_interface_info(), member) : NULL;
        if (!method)
                return wrong(error, "a call that is not known");
        if (!pinned && !g_str_equal(member, "Hello") && !g_str_equal(member, "Join"))
                return wrong(error, "a call that only a paired machine may make");
        if (!signature_matches(method, g_dbus_message_get_body(message)))
                return wrong(error, "a call with wrong arguments");
        return TRUE;
}

static gboolean report(gpointer data)
{
        Shared *shared = data;

        if (shared->violation)
                shared->violation(shared->what, shared->data);
        return G_SOURCE_REMOVE;
}

static void shut(Shared *shared, const char *what)
{
        g_autoptr(GSource) source = NULL;

        if (!g_atomic_int_compare_and_exchange(&shared->shut, FALSE, TRUE))
                return;
        shared->what = g_strdup(what);
        source = g_idle_source_new();
        g_source_set_priority(source, G_PRIORITY_HIGH);
        g_source_set_callback(source, report, shared_ref(shared), shared_unref);
        g_source_attach(source, shared->context);
}

static GDBusMessage *filter(GDBusConnection *bus, GDBusMessage *message, gboolean incoming, gpointer data)
{
        Shared *shared = data;
        g_autoptr(GError) error = NULL;

        if (!incoming)
                return message;
        if (g_atomic_int_get(&shared->shut)) {
                g_object_unref(message);
                return NULL;
        }
        if (!np_gate_check(message, shared->pinned, &error)) {
                shut(shared, error->message);
                g_object_unref(message);
                return NULL;
        }
        if (g_dbus_message_get_message_type(message) == G_DBUS_MESSAGE_TYPE_METHOD_CALL &&
            g_atomic_int_add(&shared->calls, 1) >= NP_GATE_CALLS_MAX) {
                shut(shared, "more calls at once than are allowed");
                g_object_unref(message);
                return NULL;
        }
        return message;
}

NpGate *np_gate_new(GDBusConnection *bus, gboolean pinned, NpGateViolation violation, gpointer data)
{
        NpGate *gate = g_new0(NpGate, 1);
        Shared *shared = g_new0(Shared, 1);

        g_atomic_ref_count_init(&shared->references);
        shared->pinned = pinned;
        shared->context = g_main_context_ref_thread_default();
        shared->violation = violation;
        shared->data = data;
        gate->shared = shared;
        gate->bus = g_object_ref(bus);
        gate->filter = g_dbus_connection_add_filter(bus, filter, shared_ref(shared), shared_unref);
        return gate;
}

void np_gate_free(NpGate *gate)
{
        g_atomic_int_set(&gate->shared->shut, TRUE);
        gate->shared->violation = NULL;
        g_dbus_connection_remove_filter(gate->bus, gate->filter);
        g_object_unref(gate->bus);
        shared_unref(gate->shared);
        g_free(gate);
}

static void answered(gpointer data, GObject *invocation)
{
        Shared *shared = data;

        g_atomic_int_add(&shared->calls, -1);
        shared_unref(shared);
}

void np_gate_count(NpGate *gate, GDBusMethodInvocation *invocation)
{
        g_object_weak_ref(G_OBJECT(invocation), answered, shared_ref(gate->shared));
}

guint np_gate_calls(NpGate *gate)
{
        return (guint) g_atomic_int_get(&gate->shared->calls);
}
