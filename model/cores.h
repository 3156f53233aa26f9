/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Which processors had to do with some commands, and how much. Bounded: the numbers may come from another machine.
 */
#pragma once

#include "report-view.h"

G_BEGIN_DECLS

typedef struct {
        GArray *cores;                  /* of a processor and its weight */
        double others;                  /* of those for which there was no room */
} NpCores;

void np_cores_init(NpCores *cores);
void np_cores_clear(NpCores *cores);
void np_cores_add(NpCores *cores, guint32 cpu, double weight);
void np_cores_merge(NpCores *cores, const NpCores *other);
void np_cores_report(const NpCores *cores, NpReportCores *ret);

G_END_DECLS
