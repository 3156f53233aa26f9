/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Parts of the document. */
#pragma once

#include "inspection.h"
#include "kernel/plan.h"

void inspection_add_string(JsonBuilder *b, const char *name, const char *value);

/* "namespace": what of it matters. */
void inspection_add_namespace(JsonBuilder *b, const NamespaceInfo *namespace);
/* "lacks": what a report will not have, and why. */
void inspection_add_lacks(JsonBuilder *b, const Inspection *inspection, const HookPlan *plan);
/* "notes": what else somebody should know, or do. */
void inspection_add_notes(JsonBuilder *b, const Inspection *inspection, const HookPlan *plan);

/* Path devices of a namespace, or of all NVMe-oF namespaces of this machine, with queue/iostats off. For g_strfreev(). */
char **inspection_iostats_off(const NamespaceRoots *roots, const NamespaceInfo *namespace);
