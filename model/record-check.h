/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Whether a record can be believed: it may come from another machine.
 */
#pragma once

#include <glib.h>
#include <linux/types.h>

#include "../bpf/record.h"

G_BEGIN_DECLS

/* What every time is below, 146 years: differences of two, and sums of a few differences, fit a gint64. */
#define NP_TIME_MAX (G_GUINT64_CONSTANT(1) << 62)

/* Kind, version and size are those of this version, the threshold is not 0, and no time is NP_TIME_MAX or more: everything
 * else of this library asks for records of which this is true. */
gboolean np_host_record_valid(const struct np_host_record *host);
gboolean np_target_record_valid(const struct np_target_record *target);

/* Why a record can't be used; NP_DEFECT_NONE when it can. */
typedef enum {
        NP_DEFECT_NONE,
        NP_DEFECT_CANCELLED,            /* NP_F_CANCELLED */
        NP_DEFECT_RETRIED,              /* NP_F_RETRIED */
        NP_DEFECT_BOUNDARY_MISSING,     /* a boundary this kind of command must have is 0 (a program missed it) */
        NP_DEFECT_OUT_OF_ORDER,         /* boundaries of one machine are not in order, or a sum is longer than its whole */
        NP_DEFECT_COUNT,
} NpDefect;

NpDefect np_host_record_defect(const struct np_host_record *host);
NpDefect np_target_record_defect(const struct np_target_record *target);

/* A request taken from the plug's cache was allocated before its bio came, and waited for nothing: the later of H0 and H1. */
guint64 np_host_record_allocated(const struct np_host_record *host);

G_END_DECLS
