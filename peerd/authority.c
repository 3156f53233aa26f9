/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "authority.h"

#include <grp.h>
#include <pwd.h>
#include <string.h>
#include <unistd.h>

#include "error.h"

#define GROUP "ntprof"
#define BUFFER_SIZE 16384

/* Besides root, and whoever the daemon itself runs as: a private bus of a developer. */
static const struct {
        const char *group, *user, *who;
} actions[NP_ACTION_COUNT] = {
        [NP_ACTION_PAIR] = { NULL,  NULL,      "only root may" },
        [NP_ACTION_TEST] = { GROUP, NULL,      "only root and members of the group " GROUP " may" },
        [NP_ACTION_LINK] = { NULL,  "ntprofd", "it is for ntprofd alone" },
};

typedef struct {
        GDBusMethodInvocation *invocation;
        NpAction action;
        NpAllowed allowed;
        gpointer data;
} Check;

/* By the user database, not by the caller's process: the bus tells the uid for certain, and a pid can be another's by the time
 * it is looked at. */
static gboolean is_member(uid_t uid, const char *name)
{
        struct passwd pw, *user = NULL;
        struct group gr, *group = NULL;
        g_autofree char *buffer = g_malloc(BUFFER_SIZE);
        g_autofree gid_t *gids = NULL;
        int n = 64;
        gid_t gid;

        if (getgrnam_r(name, &gr, buffer, BUFFER_SIZE, &group) != 0 || !group)
                return FALSE;
        gid = group->gr_gid;
        if (getpwuid_r(uid, &pw, buffer, BUFFER_SIZE, &user) != 0 || !user)
                return FALSE;
        gids = g_new(gid_t, n);
        if (getgrouplist(user->pw_name, user->pw_gid, gids, &n) < 0) {
                gids = g_renew(gid_t, gids, n);
                if (getgrouplist(user->pw_name, user->pw_gid, gids, &n) < 0)
                        return FALSE;
        }
        for (int i = 0; i < n; i++)
                if (gids[i] == gid)
                        return TRUE;
        return FALSE;
}

static gboolean is_user(uid_t uid, const char *name)
{
        struct passwd pw, *user = NULL;
        g_autofree char *buffer = g_malloc(BUFFER_SIZE);

        return getpwnam_r(name, &pw, buffer, BUFFER_SIZE, &user) == 0 && user && user->pw_uid == uid;
}

static gboolean is_allowed(NpAction action, uid_t uid)
{
        if (uid == 0 || uid == geteuid())
                return TRUE;
        return (actions[action].group && is_member(uid, actions[action].group)) ||
               (actions[action].user && is_user(uid, actions[action].user));
}

static void on_uid(GObject *source, GAsyncResult *result, gpointer data)
{
        g_autofree Check *check = data;
        const char *member = g_dbus_method_invocation_get_method_name(check->invocation);
        g_autoptr(GError) error = NULL;
        g_autoptr(GVariant) reply = g_dbus_connection_call_finish(G_DBUS_CONNECTION(source), result, &error);
        g_autoptr(GVariant) credentials = NULL;
        guint32 uid;

        if (reply)
                credentials = g_variant_get_child_value(reply, 0);
        if (!credentials || !g_variant_lookup(credentials, "UnixUserID", "u", &uid)) {
                np_error_return(check->invocation,
                                g_error_new(NP_ERROR, NP_ERROR_ACCESS_DENIED, "%s: the bus does not say who calls%s%s", member,
                                            error ? ": " : "", error ? error->message : ""));
                return;
        }
        if (!is_allowed(check->action, uid)) {
                np_error_return(check->invocation,
                                g_error_new(NP_ERROR, NP_ERROR_ACCESS_DENIED, "%s: %s", member, actions[check->action].who));
                return;
        }
        check->allowed(check->invocation, check->data);
}

void np_authority_check(GDBusMethodInvocation *invocation, NpAction action, NpAllowed allowed, gpointer data)
{
        Check *check = g_new(Check, 1);

        *check = (Check) { invocation, action, allowed, data };
        g_dbus_connection_call(g_dbus_method_invocation_get_connection(invocation), "org.freedesktop.DBus",
                               "/org/freedesktop/DBus", "org.freedesktop.DBus", "GetConnectionCredentials",
                               g_variant_new("(s)", g_dbus_method_invocation_get_sender(invocation)), G_VARIANT_TYPE("(a{sv})"),
                               G_DBUS_CALL_FLAGS_NONE, -1, NULL, on_uid, check);
}
