/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What this machine is to others: by it they know which machine a path leads to, and an administrator what to confirm. */
#pragma once

#include "namespace.h"

typedef struct MachineFacts {
        char **subsystems;              /* NQNs that nvmet exports at some port */
        char **addresses;               /* that it exports them at, without ports; a wildcard is none */
        char **host_nqns;               /* of the controllers connected from here */
} MachineFacts;

/* From configfs and sysfs; what cannot be read is not in it. Each list is sorted, and has nothing twice. */
MachineFacts *machine_facts_read(const NamespaceRoots *roots);

/* Empty, to be filled by machine_facts_add(). */
MachineFacts *machine_facts_new(void);
void machine_facts_add(char ***list, const char *text);
MachineFacts *machine_facts_free(MachineFacts *facts);
DEFINE_CLEANUP_FUNC(MachineFacts *, machine_facts_free);
