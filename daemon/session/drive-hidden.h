/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Whether the requests of a namespace's drive (T5, T6) can be told to be those of its commands: not when nvmet has a file, or a
 * device that sends requests of its own below, or passes the commands on. By configfs and sysfs alone.
 */
#pragma once

#include "namespace.h"

/* Why they can't, a sentence without names of this machine: it is told to others. NULL: they can, or it is not known. */
char *drive_hidden_read(const NamespaceRoots *roots, const char *subsysnqn, uint32_t nsid);
