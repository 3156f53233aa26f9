/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "error-private.h"

#include "error-table.h"

#define ERROR_PREFIX "org.ntprof1.Error."

/**
 * ntprof_error_quark:
 *
 * Returns: the quark of [error@Error]
 */
GQuark ntprof_error_quark(void)
{
        static gsize once;

        if (g_once_init_enter(&once)) {
                GQuark quark = g_quark_from_static_string("ntprof-error-quark");

                for (gsize i = 0; i < np_error_n_rows; i++)
                        if (np_error_rows[i].on_bus) {
                                g_autofree char *name = g_strconcat(ERROR_PREFIX, np_error_rows[i].name, NULL);
                                g_dbus_error_register_error(quark, np_error_rows[i].code, name);
                        }
                g_once_init_leave(&once, quark);
        }
        return (GQuark) once;
}

/**
 * ntprof_error_to_name:
 * @code: a code
 *
 * The stable name of an error, as in the D-Bus error `org.ntprof1.Error.NAME` and in [property@Session:result].
 *
 * Returns: (nullable): e.g. "NotFabrics", or %NULL for %NTPROF_ERROR_FAILED
 */
const char *ntprof_error_to_name(NtprofError code)
{
        const NpErrorRow *row = np_error_row_by_code(code);

        return row ? row->name : NULL;
}

/**
 * ntprof_error_from_name:
 * @name: (nullable): e.g. "NotFabrics"
 *
 * Returns: the code of that name, %NTPROF_ERROR_FAILED when there is none
 */
NtprofError ntprof_error_from_name(const char *name)
{
        const NpErrorRow *row = np_error_row_by_name(name);

        return row ? (NtprofError) row->code : NTPROF_ERROR_FAILED;
}

static void replace(GError **error, NtprofError code, const char *format, ...) G_GNUC_PRINTF(3, 4);
static void replace(GError **error, NtprofError code, const char *format, ...)
{
        va_list args;

        va_start(args, format);
        g_autofree char *message = g_strdup_vprintf(format, args);
        va_end(args);
        g_clear_error(error);
        *error = g_error_new_literal(NTPROF_ERROR, code, message);
}

static gboolean is_dbus_error(const GError *error, const GDBusError *codes, gsize n_codes)
{
        if (error->domain != G_DBUS_ERROR)
                return FALSE;
        for (gsize i = 0; i < n_codes; i++)
                if (error->code == (int) codes[i])
                        return TRUE;
        return FALSE;
}
static gboolean is_spawn_error(const GError *error)
{
        return error->domain == G_DBUS_ERROR && error->code >= G_DBUS_ERROR_SPAWN_EXEC_FAILED &&
               error->code <= G_DBUS_ERROR_SPAWN_NO_MEMORY;
}

#define IS_DBUS_ERROR(error, ...) \
        is_dbus_error(error, (const GDBusError[]){ __VA_ARGS__ }, sizeof((GDBusError[]){ __VA_ARGS__ }) / sizeof(GDBusError))

const NpErrorService np_error_ntprofd = {
        .daemon = "ntprofd",
        .who_may = "become root, or a member of the group ntprof (and log in again)",
        .start = "is it installed? Try 'systemctl status ntprofd'",
        .no_object = NTPROF_ERROR_NO_SUCH_SESSION,
        .no_object_text = "no such session (it was removed)",
};

const NpErrorService np_error_peerd = {
        .daemon = "ntprof-peerd",
        .who_may = "become root (members of the group ntprof may test peers, all else is root's)",
        .start = "is it installed? Try 'systemctl status ntprof-peerd'",
        .no_object = NTPROF_ERROR_NO_PEER,
        .no_object_text = "no such peer (it was forgotten)",
        .gdbus = TRUE,
};

void np_error_localize_for(const NpErrorService *service, GError **error, const char *object)
{
        if (!error || !*error)
                return;

        g_autofree char *remote = g_dbus_error_get_remote_error(*error);
        gboolean from_systemd = remote && g_str_has_prefix(remote, "org.freedesktop.systemd1.");

        g_dbus_error_strip_remote_error(*error);
        if ((*error)->domain == NTPROF_ERROR || g_error_matches(*error, G_IO_ERROR, G_IO_ERROR_CANCELLED))
                return;

        g_autofree char *why = g_strdup((*error)->message);
        const char *daemon = service->daemon;

        if (object && (IS_DBUS_ERROR(*error, G_DBUS_ERROR_UNKNOWN_OBJECT) ||
                       (service->gdbus && IS_DBUS_ERROR(*error, G_DBUS_ERROR_UNKNOWN_METHOD))))
                replace(error, service->no_object, "%s: %s", object, service->no_object_text);
        else if (IS_DBUS_ERROR(*error, G_DBUS_ERROR_UNKNOWN_METHOD, G_DBUS_ERROR_UNKNOWN_INTERFACE, G_DBUS_ERROR_UNKNOWN_OBJECT))
                replace(error, NTPROF_ERROR_FAILED, "%s doesn't offer this; is it another version? (%s)", daemon, why);
        else if (IS_DBUS_ERROR(*error, G_DBUS_ERROR_ACCESS_DENIED, G_DBUS_ERROR_AUTH_FAILED))
                replace(error, NTPROF_ERROR_ACCESS_DENIED, "this user may not ask %s for that: %s", daemon,
                        service->who_may);
        else if (IS_DBUS_ERROR(*error, G_DBUS_ERROR_TIMEOUT, G_DBUS_ERROR_TIMED_OUT) ||
                 g_error_matches(*error, G_IO_ERROR, G_IO_ERROR_TIMED_OUT))
                replace(error, NTPROF_ERROR_TIMED_OUT, "%s did not answer in time; 'journalctl -u %s' may tell why", daemon,
                        daemon);
        else if ((IS_DBUS_ERROR(*error, G_DBUS_ERROR_SERVICE_UNKNOWN, G_DBUS_ERROR_NAME_HAS_NO_OWNER) && object) ||
                 IS_DBUS_ERROR(*error, G_DBUS_ERROR_NO_REPLY, G_DBUS_ERROR_DISCONNECTED) ||
                 g_error_matches(*error, G_IO_ERROR, G_IO_ERROR_CLOSED) ||
                 g_error_matches(*error, G_IO_ERROR, G_IO_ERROR_BROKEN_PIPE))
                replace(error, NTPROF_ERROR_SERVICE_GONE, "%s%s%s left the bus; 'journalctl -u %s' may tell why",
                        object ? object : "", object ? ": " : "", daemon, daemon);
        else if (IS_DBUS_ERROR(*error, G_DBUS_ERROR_SERVICE_UNKNOWN, G_DBUS_ERROR_NAME_HAS_NO_OWNER))
                replace(error, NTPROF_ERROR_NO_SERVICE, "%s isn't on the bus: %s", daemon, service->start);
        else if (from_systemd || is_spawn_error(*error))
                replace(error, NTPROF_ERROR_NO_SERVICE, "%s could not be started: %s; 'journalctl -u %s' may tell more", daemon,
                        why, daemon);
        else
                replace(error, NTPROF_ERROR_FAILED, "%s%s%s", object ? object : "", object ? ": " : "", why);
}

void np_error_localize(GError **error, const char *object)
{
        np_error_localize_for(&np_error_ntprofd, error, object);
}

void np_error_localize_call(const NpErrorService *service, GDBusProxy *proxy, GError **error, const char *object)
{
        g_autofree char *owner = g_dbus_proxy_get_name_owner(proxy);

        if (!owner && !g_error_matches(*error, G_IO_ERROR, G_IO_ERROR_CANCELLED)) {
                g_clear_error(error);
                *error = g_error_new_literal(G_DBUS_ERROR, G_DBUS_ERROR_NAME_HAS_NO_OWNER, "");
        }
        np_error_localize_for(service, error, object);
}

void np_error_localize_connection(GError **error, const char *address)
{
        if (!error || !*error || g_error_matches(*error, G_IO_ERROR, G_IO_ERROR_CANCELLED))
                return;

        g_dbus_error_strip_remote_error(*error);
        g_autofree char *why = g_strdup((*error)->message);
        if (address)
                replace(error, NTPROF_ERROR_NO_SERVICE, "no message bus at %s: %s", address, why);
        else
                replace(error, NTPROF_ERROR_NO_SERVICE, "no system bus: %s; is dbus running?", why);
}
