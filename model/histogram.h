/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Log-linear histogram of non-negative 64-bit values with weights; a quantile's relative error is at most 1 %.
 */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

typedef struct _NpHistogram NpHistogram;

NpHistogram *np_histogram_new(void);
void np_histogram_free(NpHistogram *h);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(NpHistogram, np_histogram_free)

/* weight must be above 0 and finite. */
void np_histogram_add(NpHistogram *h, guint64 value, double weight);
/* Adds all that other holds. */
void np_histogram_merge(NpHistogram *h, const NpHistogram *other);
double np_histogram_weight(const NpHistogram *h);
/* Lower-rank quantile: the lowest value of which no less than q (in [0, 1]) of the weight is at or below. The exact
 * minimum and maximum at 0 and 1; 0 when empty. */
guint64 np_histogram_quantile(const NpHistogram *h, double q);

G_END_DECLS
