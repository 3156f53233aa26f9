/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "error.h"

#define PREFIX "org.ntprof1.Error."
#define QUOTE_MAX 80

static const GDBusErrorEntry entries[] = {
#define NTPROF_ERROR(symbol, name, errno_, exit_) { NP_ERROR_##symbol, PREFIX name },
#include "../dbus/errors.def"
};

GQuark np_error_quark(void)
{
        static gsize quark;

        g_dbus_error_register_error_domain("ntprof-peerd-error-quark", &quark, entries, G_N_ELEMENTS(entries));
        return (GQuark) quark;
}

void np_error_strip(GError *error)
{
        if (error)
                g_dbus_error_strip_remote_error(error);
}

void np_error_return(GDBusMethodInvocation *invocation, GError *error)
{
        np_error_strip(error);
        if (error->domain != NP_ERROR && error->domain != G_DBUS_ERROR) {
                GError *other = g_error_new_literal(G_DBUS_ERROR, G_DBUS_ERROR_FAILED, error->message);

                g_error_free(error);
                error = other;
        }
        g_dbus_method_invocation_take_error(invocation, error);
}

char *np_error_quote(const char *text)
{
        g_autofree char *valid = g_utf8_make_valid(text ?: "", -1);
        g_autoptr(GString) out = g_string_new(NULL);

        for (const char *p = valid; *p; p = g_utf8_next_char(p)) {
                gunichar c = g_utf8_get_char(p);

                if (out->len >= QUOTE_MAX) {
                        g_string_append(out, "...");
                        break;
                }
                if (g_unichar_isprint(c))
                        g_string_append_unichar(out, c);
                else
                        g_string_append_printf(out, "\\u%04x", c);
        }
        return g_string_free(g_steal_pointer(&out), FALSE);
}
