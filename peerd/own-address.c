/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "own-address.h"

#include "error.h"

/* Of the networks kept for documentation: nobody has them, so the default route leads there. Connecting a datagram socket sends
 * nothing, but the kernel chooses the source address. */
static const char *const elsewhere[] = { "192.0.2.1", "2001:db8::1" };

static char *address_towards(const char *text)
{
        g_autoptr(GSocketAddress) there = g_inet_socket_address_new_from_string(text, 9), here = NULL;
        GSocketFamily family = g_socket_address_get_family(there);
        g_autoptr(GSocket) socket = g_socket_new(family, G_SOCKET_TYPE_DATAGRAM, G_SOCKET_PROTOCOL_UDP, NULL);
        GInetAddress *address;

        if (!socket || !g_socket_connect(socket, there, NULL, NULL))
                return NULL;
        here = g_socket_get_local_address(socket, NULL);
        if (!here)
                return NULL;
        address = g_inet_socket_address_get_address(G_INET_SOCKET_ADDRESS(here));
        if (g_inet_address_get_is_any(address) || g_inet_address_get_is_loopback(address) ||
            g_inet_address_get_is_link_local(address))
                return NULL;
        return g_inet_address_to_string(address);
}

char *np_own_address(GError **error)
{
        for (gsize i = 0; i < G_N_ELEMENTS(elsewhere); i++) {
                char *address = address_towards(elsewhere[i]);

                if (address)
                        return address;
        }
        g_set_error(error, NP_ERROR, NP_ERROR_INVALID_OPTION,
                    "address: this machine has no default route that would tell which of its addresses others reach: give one "
                    "(--address)");
        return NULL;
}
