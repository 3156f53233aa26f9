/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What a text must be to be the name of a peer, a fingerprint, an NQN, an address: all of them come from other people. */
#include "peer-config.h"

#include <string.h>

#define NQN_MAX 223                     /* NVMe Base Specification 2.0, section 4.5 */
#define HOST_NAME_MAX_BYTES 253

gboolean np_peer_name_valid(const char *name)
{
        gsize length = strlen(name);

        if (length == 0 || length > NP_PEER_NAME_MAX || name[0] == '.' || name[0] == '-')
                return FALSE;
        for (const char *p = name; *p; p++)
                if (!g_ascii_isalnum(*p) && !strchr("-_.", *p))
                        return FALSE;
        return TRUE;
}

gboolean np_fingerprint_valid(const char *text)
{
        static const char prefix[] = "sha256-";
        const char *digits = text + strlen(prefix);

        if (!g_str_has_prefix(text, prefix) || strlen(digits) != 64)
                return FALSE;
        return strspn(digits, "0123456789abcdef") == 64;
}

char *np_fingerprint_of_der(gconstpointer der, gsize size)
{
        g_autofree char *digits = g_compute_checksum_for_data(G_CHECKSUM_SHA256, der, size);

        return g_strconcat("sha256-", digits, NULL);
}

gboolean np_nqn_valid(const char *nqn)
{
        return g_str_has_prefix(nqn, "nqn.") && nqn[strlen("nqn.")] != '\0' && np_subsystem_nqn_valid(nqn);
}

gboolean np_subsystem_nqn_valid(const char *nqn)
{
        gsize length = strlen(nqn);

        if (length == 0 || length > NQN_MAX || !g_utf8_validate(nqn, length, NULL))
                return FALSE;
        for (const char *p = nqn; *p; p = g_utf8_next_char(p)) {
                gunichar c = g_utf8_get_char(p);

                if (g_unichar_iscntrl(c) || g_unichar_isspace(c))
                        return FALSE;
        }
        return TRUE;
}

static gboolean is_ipv6(const char *host)
{
        const char *scope = strchr(host, '%');
        g_autofree char *number = scope ? g_strndup(host, scope - host) : g_strdup(host);
        g_autoptr(GInetAddress) address = g_inet_address_new_from_string(number);

        if (scope && (scope[1] == '\0' || !np_peer_name_valid(scope + 1)))
                return FALSE;
        return address && g_inet_address_get_family(address) == G_SOCKET_FAMILY_IPV6;
}

/* A name for the resolver, or an IPv4 address. */
static gboolean is_host(const char *host)
{
        g_autoptr(GInetAddress) address = NULL;

        if (host[0] == '\0' || host[0] == '-' || host[0] == '.' || strlen(host) > HOST_NAME_MAX_BYTES)
                return FALSE;
        if (host[strspn(host, "0123456789.")] == '\0') {
                address = g_inet_address_new_from_string(host);
                return address != NULL;
        }
        for (const char *p = host; *p; p++)
                if (!g_ascii_isalnum(*p) && !strchr("-_.", *p))
                        return FALSE;
        return TRUE;
}

static gboolean parse_port(const char *text, guint16 *ret)
{
        guint64 port;

        if (!g_ascii_string_to_unsigned(text, 10, 1, G_MAXUINT16, &port, NULL))
                return FALSE;
        *ret = port;
        return TRUE;
}

GSocketConnectable *np_address_parse(const char *text, GError **error)
{
        const char *colon = strchr(text, ':'), *after = NULL;
        g_autofree char *host = NULL;
        guint16 port = NP_PEER_PORT;
        gboolean good;

        if (text[0] == '[') {
                const char *end = strchr(text, ']');

                host = g_strndup(text + 1, end ? (gsize) (end - text - 1) : 0);
                after = end ? end + 1 : "";
                good = end && is_ipv6(host) && (*after == '\0' || *after == ':');
        } else if (colon && strchr(colon + 1, ':')) {
                /* without brackets no port can follow */
                host = g_strdup(text);
                good = is_ipv6(host);
        } else {
                host = g_strndup(text, colon ? (gsize) (colon - text) : strlen(text));
                after = colon ?: "";
                good = is_host(host);
        }
        if (good && after && *after == ':')
                good = parse_port(after + 1, &port);

        if (!good) {
                g_autofree char *shown = g_strescape(text, NULL);

                g_set_error(
                        error, G_IO_ERROR, G_IO_ERROR_INVALID_ARGUMENT,
                        "\"%.300s\" is no address: \"10.0.0.2:%d\", \"[fe80::1%%eth0]:%d\" or \"name.example:%d\" is expected, "
                        "with a port from 1 to 65535 or none",
                        shown, NP_PEER_PORT, NP_PEER_PORT, NP_PEER_PORT);
                return NULL;
        }
        return g_network_address_new(host, port);
}
