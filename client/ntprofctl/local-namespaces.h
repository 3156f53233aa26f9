/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which namespaces of this machine are of which subsystems, by sysfs. */
#pragma once

#include <glib.h>

/* Names ("nvme6n1") of the namespaces of subsystems that have one of the NQNs, in order; sysfs is "/sys" except in tests. */
char **local_namespaces(const char *sysfs, const char *const *nqns);
