/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "machine-facts.h"

#include <arpa/inet.h>
#include <glib.h>
#include <string.h>

#include "sysfs.h"

MachineFacts *machine_facts_new(void)
{
        MachineFacts *facts = g_new(MachineFacts, 1);

        facts->subsystems = g_new0(char *, 1);
        facts->addresses = g_new0(char *, 1);
        facts->host_nqns = g_new0(char *, 1);
        return facts;
}

MachineFacts *machine_facts_free(MachineFacts *facts)
{
        if (!facts)
                return NULL;
        g_strfreev(facts->subsystems);
        g_strfreev(facts->addresses);
        g_strfreev(facts->host_nqns);
        g_free(facts);
        return NULL;
}

void machine_facts_add(char ***list, const char *text)
{
        unsigned n = g_strv_length(*list), at = 0;

        while (at < n && strcmp((*list)[at], text) < 0)
                at++;
        if (at < n && g_str_equal((*list)[at], text))
                return;
        *list = g_renew(char *, *list, n + 2);
        memmove(*list + at + 1, *list + at, (n + 1 - at) * sizeof(char *));
        (*list)[at] = g_strdup(text);
}

/* Something a host can have connected to. */
static bool is_address(const char *text)
{
        struct in6_addr v6;
        struct in_addr v4;

        if (inet_pton(AF_INET, text, &v4) == 1)
                return v4.s_addr != INADDR_ANY;
        if (inet_pton(AF_INET6, text, &v6) == 1)
                return !IN6_IS_ADDR_UNSPECIFIED(&v6);
        return false;
}

static void read_port(const NamespaceRoots *roots, const char *port, MachineFacts *facts)
{
        _cleanup_free_ char *traddr = NULL;
        char **subsystems;

        if (list_directory(&subsystems, NULL, NULL, "%s/nvmet/ports/%s/subsystems", roots->configfs, port) < 0)
                return;
        for (char **nqn = subsystems; *nqn; nqn++)
                machine_facts_add(&facts->subsystems, *nqn);
        if (*subsystems && read_attribute(&traddr, "%s/nvmet/ports/%s/addr_traddr", roots->configfs, port) >= 0 &&
            is_address(traddr))
                machine_facts_add(&facts->addresses, traddr);
        g_strfreev(subsystems);
}

MachineFacts *machine_facts_read(const NamespaceRoots *roots)
{
        MachineFacts *facts = machine_facts_new();
        char **names;

        if (list_directory(&names, NULL, NULL, "%s/nvmet/ports", roots->configfs) >= 0) {
                for (char **port = names; *port; port++)
                        read_port(roots, *port, facts);
                g_strfreev(names);
        }

        /* A local drive's controller has no host NQN there. */
        if (list_directory(&names, NULL, NULL, "%s/class/nvme", roots->sys) >= 0) {
                for (char **controller = names; *controller; controller++) {
                        _cleanup_free_ char *nqn = NULL;

                        if (read_attribute(&nqn, "%s/class/nvme/%s/hostnqn", roots->sys, *controller) >= 0 && *nqn)
                                machine_facts_add(&facts->host_nqns, nqn);
                }
                g_strfreev(names);
        }
        return facts;
}
