/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the other side asks for. The gate has let it in, so methods, arguments' types and who may call are as they should be. */
#include <unistd.h>

#include "error.h"
#include "link-args.h"
#include "link-internal.h"
#include "peerd/np-peerd-dbus.h"

typedef struct {
        NpLink *link;
        GDBusMethodInvocation *invocation;
} Call;

static Call *call_new(NpLink *link, GDBusMethodInvocation *invocation)
{
        Call *call = g_new0(Call, 1);

        call->link = g_object_ref(link);
        call->invocation = invocation;
        return call;
}

static void call_free(Call *call)
{
        g_object_unref(call->link);
        g_free(call);
}

static void hello(NpLink *link, GVariant *arguments, GDBusMethodInvocation *invocation)
{
        g_autoptr(GVariant) raw = NULL, theirs = NULL, ours = NULL, shown = NULL;
        GError *error = NULL;
        guint32 minimum, maximum;
        guint version;

        g_variant_get(arguments, "(uu@a{sv})", &minimum, &maximum, &raw);
        theirs = np_args_facts(raw);
        ours = g_variant_take_ref(link->ops->facts(link->ops_data));
        version = np_args_negotiate(minimum, maximum, theirs, ours, &error);
        if (version == 0) {
                np_error_return(invocation, error);
                np_link_close(link, "no version of the protocol in common");
                return;
        }
        shown = link->peer ? np_args_facts(ours) : np_args_facts_public(ours);
        g_dbus_method_invocation_return_value(invocation, g_variant_new("(u@a{sv})", version, shown));
        np_link_set_facts(link, version, theirs);
}

static void joined(GObject *source, GAsyncResult *result, gpointer data)
{
        Call *call = data;
        GError *error = NULL;
        g_autoptr(GVariant) facts = g_task_propagate_pointer(G_TASK(result), &error);

        if (facts) {
                g_autoptr(GVariant) shown = np_args_joined(facts);

                g_dbus_method_invocation_return_value(call->invocation, g_variant_new("(@a{sv})", shown));
        } else {
                np_error_return(call->invocation, error);
                /* One code a connection. */
                np_link_close(call->link, "it could not join");
        }
        call_free(call);
}

static void join(NpLink *link, GVariant *arguments, GDBusMethodInvocation *invocation)
{
        g_autoptr(GVariant) raw = NULL, facts = NULL;
        g_autoptr(GTask) task = NULL;
        const char *code;

        if (link->outgoing) {
                g_dbus_method_invocation_return_error_literal(invocation, NP_ERROR, NP_ERROR_PEER_REFUSED,
                                                              "only who has connected can join");
                return;
        }
        g_variant_get(arguments, "(&s@a{sv})", &code, &raw);
        facts = np_args_join(raw);
        task = g_task_new(link, NULL, joined, call_new(link, invocation));
        link->ops->join(link, code, facts, task, link->ops_data);
}

static void target_opened(GObject *source, GAsyncResult *result, gpointer data)
{
        Call *call = data;
        NpLink *link = call->link;
        GError *error = NULL;
        gssize fd = g_task_propagate_int(G_TASK(result), &error);
        guint64 number;

        if (fd < 0) {
                np_error_return(call->invocation, error);
        } else if (!link->tunnel) {
                close((int) fd);
                g_dbus_method_invocation_return_error_literal(call->invocation, G_IO_ERROR, G_IO_ERROR_CLOSED,
                                                              "the link is closed");
        } else if (number = np_tunnel_number(link->tunnel), !np_tunnel_add(link->tunnel, number, (int) fd, &error)) {
                np_error_return(call->invocation, error);
        } else {
                g_dbus_method_invocation_return_value(call->invocation, g_variant_new("(t)", number));
        }
        call_free(call);
}

static void open_target(NpLink *link, GVariant *arguments, GDBusMethodInvocation *invocation)
{
        g_autoptr(GVariant) raw = NULL, request = NULL;
        g_autoptr(GTask) task = NULL;
        GError *error = NULL;

        g_variant_get(arguments, "(@a{sv})", &raw);
        request = np_args_request(raw, &error);
        if (!request) {
                np_error_return(invocation, error);
                return;
        }
        task = g_task_new(link, NULL, target_opened, call_new(link, invocation));
        link->ops->open_target(link, request, task, link->ops_data);
}

static void data(NpLink *link, GVariant *arguments, GDBusMethodInvocation *invocation)
{
        g_autoptr(GVariant) bytes = NULL;
        guint64 number;

        g_variant_get(arguments, "(t@ay)", &number, &bytes);
        np_tunnel_data(link->tunnel, number, bytes, invocation);
}

static void close_stream(NpLink *link, GVariant *arguments, GDBusMethodInvocation *invocation)
{
        const char *reason;
        guint64 number;

        g_variant_get(arguments, "(t&s)", &number, &reason);
        g_dbus_method_invocation_return_value(invocation, NULL);
        np_tunnel_close(link->tunnel, number, reason);
}

static void renew(NpLink *link, GVariant *arguments, GDBusMethodInvocation *invocation)
{
        const char *fingerprint;
        gboolean pinned;

        g_variant_get(arguments, "(&s)", &fingerprint);
        if (!np_fingerprint_valid(fingerprint)) {
                g_dbus_method_invocation_return_error_literal(invocation, NP_ERROR, NP_ERROR_INVALID_OPTION,
                                                              "not a fingerprint");
                return;
        }
        pinned = link->ops->renew(link, fingerprint, link->ops_data);
        g_dbus_method_invocation_return_value(invocation, g_variant_new("(b)", pinned));
        if (pinned)
                np_link_close(link, "its certificate changes");
}

static void forget(NpLink *link, GVariant *arguments, GDBusMethodInvocation *invocation)
{
        link->ops->forget(link, link->ops_data);
        g_dbus_method_invocation_return_value(invocation, NULL);
        np_link_close(link, "it has forgotten this machine");
}

static const struct {
        const char *name;
        void (*call)(NpLink *link, GVariant *arguments, GDBusMethodInvocation *invocation);
} methods[] = {
        { "Data", data },
        { "Close", close_stream },
        { "Hello", hello },
        { "Join", join },
        { "OpenTarget", open_target },
        { "Renew", renew },
        { "Forget", forget },
};

static void method_call(GDBusConnection *bus, const char *sender, const char *path, const char *interface, const char *method,
                        GVariant *arguments, GDBusMethodInvocation *invocation, gpointer user_data)
{
        g_autoptr(NpLink) link = g_object_ref(NP_LINK(user_data));

        if (link->closed || !link->ops) {
                g_dbus_method_invocation_return_error_literal(invocation, G_IO_ERROR, G_IO_ERROR_CLOSED, "the link is closed");
                return;
        }
        np_gate_count(link->gate, invocation);
        np_link_touch(link);
        if (link->protocol == 0 && !g_str_equal(method, "Hello")) {
                g_dbus_method_invocation_return_error_literal(invocation, NP_ERROR, NP_ERROR_PEER_VERSION, "Hello comes first");
                np_link_close(link, "it did not call Hello first");
                return;
        }
        for (gsize i = 0; i < G_N_ELEMENTS(methods); i++) {
                if (g_str_equal(methods[i].name, method)) {
                        methods[i].call(link, arguments, invocation);
                        return;
                }
        }
        g_return_if_reached();
}

static const GDBusInterfaceVTable vtable = { .method_call = method_call };

gboolean np_link_serve(NpLink *link, GError **error)
{
        link->object = g_dbus_connection_register_object(link->bus, NP_LINK_PATH, np_dbus_internal_peer_interface_info(),
                                                         &vtable, link, NULL, error);
        return link->object > 0;
}
