/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "usage.h"

static const char *const words[] = { "start", "stop", "list", "show", "cancel", "remove", NULL };

static void test_near(void)
{
        static const struct {
                const char *word, *meant;
        } cases[] = {
                { "strt", "start" }, { "statr", "start" }, { "sotp", "stop" },  { "lists", "list" },  { "shwo", "show" },
                { "cancell", "cancel" }, { "can", "cancel" }, { "rem", "remove" }, { "rmove", "remove" },
        };

        for (gsize i = 0; i < G_N_ELEMENTS(cases); i++)
                g_assert_cmpstr(usage_nearest(cases[i].word, words), ==, cases[i].meant);
}

static void test_far(void)
{
        static const char *const cases[] = { "", "x", "frobnicate", "explode",
                                             "a-word-longer-than-any-verb-can-ever-be-in-this-program" };

        for (gsize i = 0; i < G_N_ELEMENTS(cases); i++)
                g_assert_null(usage_nearest(cases[i], words));
        g_assert_null(usage_nearest("start", (const char *const[]){ NULL }));
}

int main(int argc, char *argv[])
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/usage/near", test_near);
        g_test_add_func("/usage/far", test_far);
        return g_test_run();
}
