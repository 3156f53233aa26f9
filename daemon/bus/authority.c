/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "authority.h"

#include <glib.h>
#include <grp.h>
#include <pwd.h>

#include "user-name.h"

#define GROUP "ntprof"
/* What ntprof-peerd runs as. */
#define PEER_USER "ntprof-peer"
/* No action of polkit: nobody can be given it. */
#define INTERNAL "internal"

static const struct {
        const char *member;
        const char *action;             /* on one's own session, or without one */
        const char *action_other;       /* on another user's session */
} methods[METHOD_COUNT] = {
        [METHOD_START_SESSION]      = { "StartSession", "org.ntprof1.profile",      NULL },
        [METHOD_START_SESSION_KEEP] = { "StartSession", "org.ntprof1.keep-session", NULL },
        [METHOD_INSPECT]            = { "Inspect",      "org.ntprof1.profile",      NULL },
        [METHOD_STOP]               = { "Stop",         NULL, "org.ntprof1.manage-all" },
        [METHOD_CANCEL]             = { "Cancel",       NULL, "org.ntprof1.manage-all" },
        [METHOD_REMOVE]             = { "Remove",       NULL, "org.ntprof1.manage-all" },
        [METHOD_GET_REPORT]         = { "GetReport",    NULL, "org.ntprof1.read-all" },
        [METHOD_OPEN_TARGET]        = { "OpenTarget",   INTERNAL,                   NULL },
        [METHOD_DESCRIBE]           = { "Describe",     INTERNAL,                   NULL },
};

const char *authority_action(Method method, bool own)
{
        return own ? methods[method].action : methods[method].action_other;
}

/* By the user database, not by the caller's process: the bus tells the uid for certain, and a pid can be another's by the
 * time it is looked at. */
static bool is_member(uid_t uid)
{
        struct passwd pw, *found = NULL;
        struct group gr, *group = NULL;
        _cleanup_free_ gid_t *gids = NULL;
        char buffer[16384];
        int n = 64;

        if (getgrnam_r(GROUP, &gr, buffer, sizeof(buffer), &group) != 0 || !group)
                return false;
        gid_t gid = group->gr_gid;

        if (getpwuid_r(uid, &pw, buffer, sizeof(buffer), &found) != 0 || !found)
                return false;

        gids = g_new(gid_t, n);
        if (getgrouplist(pw.pw_name, pw.pw_gid, gids, &n) < 0) {
                gids = g_renew(gid_t, TAKE_PTR(gids), n);
                if (getgrouplist(pw.pw_name, pw.pw_gid, gids, &n) < 0)
                        return false;
        }
        for (int i = 0; i < n; i++)
                if (gids[i] == gid)
                        return true;
        return false;
}

static bool is_peerd(uid_t uid)
{
        struct passwd pw, *found = NULL;
        char buffer[16384];

        return getpwnam_r(PEER_USER, &pw, buffer, sizeof(buffer), &found) == 0 && found && found->pw_uid == uid;
}

/* For people. */
static char *describe_user(uid_t uid)
{
        _cleanup_free_ char *name = user_name(uid);

        return name ? g_strdup_printf("%s (uid %u)", name, uid) : g_strdup_printf("uid %u", uid);
}

/* Until polkit decides: root, whoever the daemon itself runs as (a private bus of a developer), the group's members. */
static bool is_allowed(const char *action, uid_t uid)
{
        if (uid == 0 || uid == geteuid())
                return true;
        if (g_str_equal(action, INTERNAL))
                return is_peerd(uid);
        if (g_str_equal(action, "org.ntprof1.profile") || g_str_equal(action, "org.ntprof1.keep-session"))
                return is_member(uid);
        return false;
}

int authority_check(Method method, sd_bus_message *message, uid_t owner, uid_t *ret_uid, Error *error)
{
        _cleanup_(sd_bus_creds_unrefp) sd_bus_creds *creds = NULL;
        const char *action;
        uid_t uid;
        int r;

        r = sd_bus_query_sender_creds(message, SD_BUS_CREDS_EUID, &creds);
        if (r >= 0)
                r = sd_bus_creds_get_euid(creds, &uid);
        if (r < 0)
                return error_set(error, NTPROF_ERROR_ACCESS_DENIED, "%s: the bus does not say who calls: %s",
                                 methods[method].member, g_strerror(-r));

        action = authority_action(method, owner == OWNER_NONE || owner == uid);
        if (action && !is_allowed(action, uid)) {
                if (g_str_equal(action, INTERNAL))
                        return error_set(error, NTPROF_ERROR_ACCESS_DENIED, "%s: only root and ntprof-peerd may",
                                         methods[method].member);
                if (owner != OWNER_NONE) {
                        _cleanup_free_ char *who = describe_user(owner);

                        return error_set(error, NTPROF_ERROR_ACCESS_DENIED,
                                         "%s: the session belongs to %s; only its owner and root may",
                                         methods[method].member, who);
                }
                return error_set(error, NTPROF_ERROR_ACCESS_DENIED,
                                 "%s: only root and members of the group " GROUP " may", methods[method].member);
        }

        if (ret_uid)
                *ret_uid = uid;
        return 0;
}
