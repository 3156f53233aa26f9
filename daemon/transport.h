/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The transports that can be measured: the only list of them. What is attached for one is in the rows of hooks.c that name it.
 */
#pragma once

#include <stdbool.h>

typedef enum Transports {
        TRANSPORT_TCP = 1 << 0,
        TRANSPORT_RDMA = 1 << 1,
} Transports;

typedef struct TransportInfo {
        Transports transport;
        const char *name;                       /* as in /sys/class/nvme/nvme0/transport and nvmet's addr_trtype */
        const char *host_module, *target_module;/* as in /proc/modules */
} TransportInfo;

extern const TransportInfo transports[];
extern const unsigned n_transports;

#define TRANSPORTS_ALL (~0U)

/* NULL: cannot be measured. */
const TransportInfo *transport_by_name(const char *name);
/* "tcp" or "tcp, rdma": what can be measured, for messages. */
const char *transport_names(void);
