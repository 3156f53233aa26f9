/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "error-table.h"

#include "ntprof-error.h"

/* The name of the rows' macro is that of the GError domain. */
#undef NTPROF_ERROR

const NpErrorRow np_error_rows[] = {
#define NTPROF_ERROR(symbol, name, err, exit) { NTPROF_ERROR_##symbol, name, exit, TRUE },
#include "errors.def"
#define NTPROF_ERROR(symbol, name, err, exit) { NTPROF_ERROR_##symbol, name, exit, FALSE },
#include "client-errors.def"
};

const gsize np_error_n_rows = G_N_ELEMENTS(np_error_rows);

const NpErrorRow *np_error_row_by_code(int code)
{
        for (gsize i = 0; i < np_error_n_rows; i++)
                if (np_error_rows[i].code == code)
                        return &np_error_rows[i];
        return NULL;
}

const NpErrorRow *np_error_row_by_name(const char *name)
{
        for (gsize i = 0; i < np_error_n_rows; i++)
                if (g_strcmp0(np_error_rows[i].name, name) == 0)
                        return &np_error_rows[i];
        return NULL;
}
