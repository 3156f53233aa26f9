/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/error.h"

#include <glib.h>

static void test_rows_are_distinct(void)
{
        static const int exits[] = {
                [NTPROF_ERROR_NONE] = 0,
#define NTPROF_ERROR(symbol, name, errno_, exit_) [NTPROF_ERROR_##symbol] = exit_,
#include "dbus/errors.def"
        };

        for (NtprofError a = NTPROF_ERROR_NONE + 1; a < NTPROF_ERROR_COUNT; a++) {
                g_assert_cmpint(ntprof_error_errno(a), >, 0);
                g_assert_true(g_str_has_prefix(ntprof_error_dbus_name(a), "org.ntprof1.Error."));
                g_assert_true(g_str_has_suffix(ntprof_error_dbus_name(a), ntprof_error_name(a)));
                /* 1 is any other failure, 126 and above are the shell's */
                g_assert_cmpint(exits[a], >, 1);
                g_assert_cmpint(exits[a], <, 126);
                g_assert_cmpint(ntprof_error_by_name(ntprof_error_name(a)), ==, a);
                g_assert_cmpint(ntprof_error_by_dbus_name(ntprof_error_dbus_name(a)), ==, a);
                g_assert_cmpint(ntprof_error_by_dbus_name(ntprof_error_name(a)), ==, NTPROF_ERROR_NONE);
                for (NtprofError b = NTPROF_ERROR_NONE + 1; b < a; b++) {
                        g_assert_cmpstr(ntprof_error_name(a), !=, ntprof_error_name(b));
                        g_assert_cmpint(ntprof_error_errno(a), !=, ntprof_error_errno(b));
                        g_assert_cmpint(exits[a], !=, exits[b]);
                }
        }
        g_assert_cmpstr(ntprof_error_name(NTPROF_ERROR_NONE), ==, "");
        g_assert_cmpint(ntprof_error_by_name(""), ==, NTPROF_ERROR_NONE);
        g_assert_cmpint(ntprof_error_by_dbus_name("org.freedesktop.DBus.Error.NoReply"), ==, NTPROF_ERROR_NONE);
}

static void test_set(void)
{
        Error error = ERROR_INIT;

        g_assert_cmpint(error_set(&error, NTPROF_ERROR_SESSION_BUSY, "%s of %d", "one", 2), ==, -EBUSY);
        g_assert_cmpstr(error.message, ==, "one of 2");
        g_assert_cmpint(error.code, ==, NTPROF_ERROR_SESSION_BUSY);
        error_clear(&error);
        g_assert_null(error.message);
        g_assert_cmpint(error_set(NULL, NTPROF_ERROR_NO_REPORT, "nobody listens"), ==, -ENODATA);
}

static void test_quote(void)
{
        g_autofree char *a = error_quote("a\"b\n\377"), *xs = g_strnfill(65, 'x'), *b = error_quote(xs);

        g_assert_cmpstr(a, ==, "\"a\\\"b\\n\\377\"");
        g_assert_true(g_str_has_suffix(b, "xxx...\""));
        g_assert_cmpuint(strlen(b), ==, 64 + 5);
}

int main(int argc, char **argv)
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/error/rows-are-distinct", test_rows_are_distinct);
        g_test_add_func("/error/set", test_set);
        g_test_add_func("/error/quote", test_quote);
        return g_test_run();
}
