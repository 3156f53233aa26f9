/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The boundaries of a command: the points in time that records hold. docs/model.md explains them; this is their only list.
 */
#pragma once

#include <glib.h>
#include <linux/types.h>

#include "../bpf/record.h"

G_BEGIN_DECLS

typedef enum {
        NP_SIDE_HOST,
        NP_SIDE_TARGET,
} NpSide;

/* In a field of the record of its own (ha, released, ta, ts) rather than among its h or t. */
#define NP_BOUNDARY_APART G_MAXUINT

typedef struct {
        const char *id;                 /* "H0" */
        NpSide side;
        guint index;                    /* enum np_host_boundary or enum np_target_boundary; NP_BOUNDARY_APART */
        gboolean required;              /* every command that was not refused must have it, or there are no stages */
        const char *what;               /* "bio submitted" */
} NpBoundaryInfo;

/* The whole table, host first, each side in the order of time. */
const NpBoundaryInfo *np_boundaries(gsize *ret_n);

/* NULL when there is none. */
const NpBoundaryInfo *np_boundary_by_id(const char *id);
/* NULL for NP_BOUNDARY_APART, too: there are several. */
const NpBoundaryInfo *np_boundary_info(NpSide side, guint index);

G_END_DECLS
