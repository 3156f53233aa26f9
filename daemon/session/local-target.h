/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "namespace.h"

/* Marks the paths whose target is this machine's kernel (nvmet, by its configfs), and tells of the others why they are not.
 * The target may live in another network namespace, so its address need not be one of ours. */
void local_target_find(const NamespaceRoots *roots, NamespaceInfo *info);
/* A subsystem of nvmet that passes commands on to a controller; it has no namespaces of its own then. */
bool local_target_is_passthru(const NamespaceRoots *roots, const char *subsysnqn);
