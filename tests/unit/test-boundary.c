/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "boundary.h"

static void test_table(void)
{
        static const char *const apart[] = { "HA", "HR", "TA", "TS", NULL };
        gsize n;
        const NpBoundaryInfo *table = np_boundaries(&n);

        g_assert_cmpuint(n, ==, NP_H_COUNT + NP_T_COUNT - NP_T1 + 4);
        for (gsize i = 0; i < n; i++) {
                g_autofree char *id = g_strdup_printf("%c%u", table[i].side == NP_SIDE_HOST ? 'H' : 'T', table[i].index);

                g_assert_true(np_boundary_by_id(table[i].id) == &table[i]);
                g_assert_nonnull(table[i].what);
                if (table[i].index == NP_BOUNDARY_APART) {
                        g_assert_true(g_strv_contains(apart, table[i].id));
                        g_assert_false(table[i].required);
                        continue;
                }
                g_assert_cmpstr(table[i].id, ==, id);
                g_assert_true(np_boundary_info(table[i].side, table[i].index) == &table[i]);
        }
}

static void test_absent(void)
{
        g_assert_null(np_boundary_by_id("H9"));
        g_assert_null(np_boundary_by_id(""));
        g_assert_null(np_boundary_info(NP_SIDE_TARGET, 0));
        g_assert_null(np_boundary_info(NP_SIDE_HOST, NP_H_COUNT));
        g_assert_null(np_boundary_info(NP_SIDE_HOST, NP_BOUNDARY_APART));
}

int main(int argc, char **argv)
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/boundary/table", test_table);
        g_test_add_func("/boundary/absent", test_absent);
        return g_test_run();
}
