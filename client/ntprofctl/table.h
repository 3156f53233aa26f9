/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tables on stdout by libsmartcols: in colours on a terminal, never narrower than what they hold elsewhere. */
#pragma once

#include <glib.h>
#include <libsmartcols.h>

#include "output.h"

typedef struct {
        const char *name;
        gboolean right;         /* aligned */
} TableColumn;

struct libscols_table *table_new(const TableColumn *columns, gsize n_columns);
struct libscols_line *table_add_line(struct libscols_table *table);

/* Takes over the value. */
void table_set(struct libscols_line *line, gsize column, char *value);
void table_color(struct libscols_line *line, gsize column, Style style);

char *table_free_to_text(struct libscols_table *table);
