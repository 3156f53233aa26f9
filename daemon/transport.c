/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "transport.h"

#include <glib.h>
#include <string.h>

const TransportInfo transports[] = {
        { TRANSPORT_TCP, "tcp", "nvme_tcp", "nvmet_tcp" },
        { TRANSPORT_RDMA, "rdma", "nvme_rdma", "nvmet_rdma" },
};

const unsigned n_transports = G_N_ELEMENTS(transports);

const TransportInfo *transport_by_name(const char *name)
{
        for (unsigned i = 0; i < n_transports; i++)
                if (strcmp(transports[i].name, name) == 0)
                        return transports + i;
        return NULL;
}

const char *transport_names(void)
{
        static gsize names;

        if (g_once_init_enter(&names)) {
                GString *text = g_string_new(transports[0].name);

                for (unsigned i = 1; i < n_transports; i++)
                        g_string_append_printf(text, ", %s", transports[i].name);
                g_once_init_leave(&names, (gsize) g_string_free(text, false));
        }
        return (const char *) names;
}
