/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "local-target.h"

#include <arpa/inet.h>
#include <glib.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <string.h>

#include "sysfs.h"

typedef struct Address {
        int family;                     /* AF_UNSPEC: not a numeric address */
        union {
                struct in_addr v4;
                struct in6_addr v6;
        };
} Address;

static Address address_parse(const char *text)
{
        _cleanup_free_ char *bare = g_strndup(text, strcspn(text, "%"));       /* without a scope */
        Address a = { .family = AF_UNSPEC };

        if (inet_pton(AF_INET, bare, &a.v4) == 1)
                a.family = AF_INET;
        else if (inet_pton(AF_INET6, bare, &a.v6) == 1)
                a.family = AF_INET6;
        return a;
}

static bool address_equal(const Address *a, const Address *b)
{
        if (a->family != b->family || a->family == AF_UNSPEC)
                return false;
        return memcmp(&a->v4, &b->v4, a->family == AF_INET ? sizeof(a->v4) : sizeof(a->v6)) == 0;
}

static bool address_is_wildcard(const Address *a)
{
        return (a->family == AF_INET && a->v4.s_addr == INADDR_ANY) ||
                (a->family == AF_INET6 && IN6_IS_ADDR_UNSPECIFIED(&a->v6));
}

static bool address_is_ours(const Address *a)
{
        struct ifaddrs *list;
        bool found = false;

        if ((a->family == AF_INET && (ntohl(a->v4.s_addr) >> 24) == IN_LOOPBACKNET) ||
            (a->family == AF_INET6 && IN6_IS_ADDR_LOOPBACK(&a->v6)))
                return true;

        if (getifaddrs(&list) < 0)
                return false;

        for (struct ifaddrs *i = list; i && !found; i = i->ifa_next) {
                Address b = { .family = AF_UNSPEC };

                if (!i->ifa_addr)
                        continue;
                if (i->ifa_addr->sa_family == AF_INET) {
                        b.family = AF_INET;
                        b.v4 = ((struct sockaddr_in *) i->ifa_addr)->sin_addr;
                } else if (i->ifa_addr->sa_family == AF_INET6) {
                        b.family = AF_INET6;
                        b.v6 = ((struct sockaddr_in6 *) i->ifa_addr)->sin6_addr;
                }
                found = address_equal(a, &b);
        }

        freeifaddrs(list);
        return found;
}

static bool port_has_address(const NamespaceRoots *roots, const char *port, const NamespacePath *path)
{
        _cleanup_free_ char *trtype = NULL, *traddr = NULL, *trsvcid = NULL;
        Address ours, theirs;

        if (read_attribute(&trtype, "%s/nvmet/ports/%s/addr_trtype", roots->configfs, port) < 0 ||
            read_attribute(&traddr, "%s/nvmet/ports/%s/addr_traddr", roots->configfs, port) < 0 ||
            read_attribute(&trsvcid, "%s/nvmet/ports/%s/addr_trsvcid", roots->configfs, port) < 0)
                return false;
        if (!g_str_equal(trtype, path->transport) || g_strcmp0(trsvcid, path->trsvcid) != 0)
                return false;
        if (g_str_equal(traddr, path->traddr))
                return true;

        ours = address_parse(path->traddr);
        theirs = address_parse(traddr);
        return address_equal(&ours, &theirs) || (address_is_wildcard(&theirs) && address_is_ours(&ours));
}

static bool namespace_is_enabled(const NamespaceRoots *roots, const NamespaceInfo *info)
{
        _cleanup_free_ char *enable = NULL;

        return read_attribute(&enable, "%s/nvmet/subsystems/%s/namespaces/%u/enable", roots->configfs, info->subsystem_nqn,
                              info->nsid) >= 0 && g_str_equal(enable, "1");
}

bool local_target_is_passthru(const NamespaceRoots *roots, const char *subsysnqn)
{
        _cleanup_free_ char *enable = NULL;

        return read_attribute(&enable, "%s/nvmet/subsystems/%s/passthru/enable", roots->configfs, subsysnqn) >= 0 &&
                g_str_equal(enable, "1");
}

/* Whether configfs could be looked into. */
static int mark_exported(const NamespaceRoots *roots, NamespaceInfo *info)
{
        char **ports;
        int r;

        /* An NQN is a name below a directory here; one with a slash cannot be a subsystem of configfs. */
        if (strchr(info->subsystem_nqn, '/'))
                return 0;
        r = list_directory(&ports, NULL, NULL, "%s/nvmet/ports", roots->configfs);
        if (r == -ENOENT)
                return 0;
        if (r < 0)
                return r;

        for (char **port = ports; *port; port++) {
                if (!path_exists("%s/nvmet/ports/%s/subsystems/%s", roots->configfs, *port, info->subsystem_nqn))
                        continue;
                for (size_t i = 0; i < info->n_paths; i++)
                        info->paths[i].exported_here |= port_has_address(roots, *port, info->paths + i);
        }
        g_strfreev(ports);
        return 0;
}

void local_target_find(const NamespaceRoots *roots, NamespaceInfo *info)
{
        int r = mark_exported(roots, info);

        for (size_t i = 0; i < info->n_paths; i++) {
                NamespacePath *path = info->paths + i;

                path->local = path->exported_here && (namespace_is_enabled(roots, info) ||
                                                      local_target_is_passthru(roots, info->subsystem_nqn));
                if (path->local)
                        continue;
                if (path->exported_here)
                        path->no_target_reason = g_strdup_printf("this machine exports subsystem %s, but namespace %u of it is "
                                                                 "not enabled", info->subsystem_nqn, info->nsid);
                else if (r < 0)
                        path->no_target_reason = g_strdup_printf("whether the target is this machine is not known "
                                                                 "(%s/nvmet: %s)", roots->configfs, g_strerror(-r));
                else
                        path->no_target_reason = g_strdup_printf("the target is another machine (%s)", path->traddr);
        }
}
