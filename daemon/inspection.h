/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What this kernel offers and what ntprof makes of it: the document of Manager.Inspect(), schema org.ntprof.inspection/1
 * (docs/inspection.md).
 */
#pragma once

#include <json-glib/json-glib.h>
#include <stdbool.h>

#include "error.h"
#include "kernel/inventory.h"
#include "session/namespace.h"

typedef struct Inspection {
        const KernelInventory *inventory;
        const NamespaceInfo *namespace;         /* NULL: of all transports, and of both sides */
        char *const *iostats_off;               /* namespaces' disks whose requests the kernel does not time; may be NULL */
        uint64_t capabilities;                  /* that ntprofd may use */
        uint64_t effective;                     /* that it can use just now */
        bool as_service;                        /* these are those of its unit, not of this process */
} Inspection;

/* Pure: nothing is asked for. */
JsonNode *inspection_build(const Inspection *inspection);

/* Of this machine now. as_service: plans with all capabilities that the unit gives, for a process that has none. */
int inspection_make(const NamespaceInfo *namespace, bool as_service, JsonNode **ret);

/* Of the kernel that an inventory was recorded on, with all that may be needed. Errors: INVALID_OPTION (what is wrong with the
 * file). */
int inspection_of_inventory(const char *path, JsonNode **ret, Error *error);

/* For people: a row a boundary. The document may come from a recording, so what is not understood is left out. */
char *inspection_to_text(JsonNode *inspection);
