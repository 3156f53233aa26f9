/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "namespace.h"

/* Marks the paths whose target is this machine's kernel (nvmet, by its configfs), and sets no_target_reason when none is.
 * The target may live in another network namespace, so its address need not be one of ours. */
void local_target_find(const NamespaceRoots *roots, NamespaceInfo *info);
