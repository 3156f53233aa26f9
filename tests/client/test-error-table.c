/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The table of errors: names, codes of the library, exit statuses of ntprofctl. */
#include <ntprof.h>
#include <string.h>

#include "error-table.h"
#include "exit-status.h"

/* Each row has a code, and each code of the public enum a row. */
static void test_complete(void)
{
        g_autoptr(GHashTable) codes = g_hash_table_new(NULL, NULL), names = g_hash_table_new(g_str_hash, g_str_equal);

        for (gsize i = 0; i < np_error_n_rows; i++) {
                const NpErrorRow *row = &np_error_rows[i];

                g_assert_true(g_hash_table_add(codes, GINT_TO_POINTER(row->code)));
                g_assert_true(g_hash_table_add(names, (gpointer) row->name));
                g_assert_cmpint(row->code, !=, NTPROF_ERROR_FAILED);
                g_assert_true(row->on_bus == (row->code < 100));
        }
        for (int code = NTPROF_ERROR_INVALID_OPTION; code <= NTPROF_ERROR_PEER_EXISTS; code++)
                g_assert_true(g_hash_table_contains(codes, GINT_TO_POINTER(code)));
        for (int code = NTPROF_ERROR_NO_SERVICE; code <= NTPROF_ERROR_SESSION_CANCELLED; code++)
                g_assert_true(g_hash_table_contains(codes, GINT_TO_POINTER(code)));
}

static void test_names(void)
{
        for (gsize i = 0; i < np_error_n_rows; i++) {
                g_assert_cmpstr(ntprof_error_to_name(np_error_rows[i].code), ==, np_error_rows[i].name);
                g_assert_cmpint(ntprof_error_from_name(np_error_rows[i].name), ==, np_error_rows[i].code);
        }
        g_assert_null(ntprof_error_to_name(NTPROF_ERROR_FAILED));
        g_assert_cmpint(ntprof_error_from_name("NoSuchThing"), ==, NTPROF_ERROR_FAILED);
        g_assert_cmpint(ntprof_error_from_name(NULL), ==, NTPROF_ERROR_FAILED);
}

/* GDBus turns the service's errors into the domain's, both ways. */
static void test_dbus(void)
{
        const GQuark domain = NTPROF_ERROR;

        for (gsize i = 0; i < np_error_n_rows; i++) {
                g_autofree char *name = g_strconcat("org.ntprof1.Error.", np_error_rows[i].name, NULL);
                g_autoptr(GError) error = g_dbus_error_new_for_dbus_error(name, "why");

                if (np_error_rows[i].on_bus)
                        g_assert_error(error, domain, np_error_rows[i].code);
                else
                        g_assert_error(error, G_IO_ERROR, G_IO_ERROR_DBUS_ERROR);
        }
}

/* Scripts rely on these. */
static void test_exit_statuses(void)
{
        static const struct {
                NtprofError code;
                int status;
        } cases[] = {
                { NTPROF_ERROR_FAILED, 1 },           { NTPROF_ERROR_INVALID_OPTION, 2 },       { NTPROF_ERROR_NO_SUCH_NAMESPACE, 3 },
                { NTPROF_ERROR_NOT_FABRICS, 4 },      { NTPROF_ERROR_TRANSPORT_UNSUPPORTED, 5 }, { NTPROF_ERROR_KERNEL_UNSUPPORTED, 6 },
                { NTPROF_ERROR_TOO_MANY_SESSIONS, 7 }, { NTPROF_ERROR_SESSION_BUSY, 8 },         { NTPROF_ERROR_NO_REPORT, 9 },
                { NTPROF_ERROR_CAPTURE_FAILED, 10 },  { NTPROF_ERROR_ACCESS_DENIED, 11 },       { NTPROF_ERROR_NO_SUCH_SESSION, 12 },
                { NTPROF_ERROR_SHUTTING_DOWN, 13 },   { NTPROF_ERROR_NO_PEER, 14 },             { NTPROF_ERROR_PEER_UNREACHABLE, 15 },
                { NTPROF_ERROR_PEER_REFUSED, 16 },    { NTPROF_ERROR_PEER_VERSION, 17 },        { NTPROF_ERROR_INVITATION_INVALID, 18 },
                { NTPROF_ERROR_PEER_EXISTS, 19 },     { NTPROF_ERROR_NO_SERVICE, 20 },          { NTPROF_ERROR_SERVICE_GONE, 21 },
                { NTPROF_ERROR_TIMED_OUT, 22 },       { NTPROF_ERROR_INVALID_DOCUMENT, 23 },    { NTPROF_ERROR_SESSION_CANCELLED, 24 },
        };

        g_assert_cmpuint(G_N_ELEMENTS(cases), ==, np_error_n_rows + 1);
        for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
                g_autoptr(GError) error = g_error_new_literal(NTPROF_ERROR, cases[i].code, "why");
                g_assert_cmpint(exit_status_of(error), ==, cases[i].status);
        }
        g_autoptr(GError) other = g_error_new_literal(G_IO_ERROR, G_IO_ERROR_FAILED, "why");
        g_assert_cmpint(exit_status_of(other), ==, 1);
}

static void test_help(void)
{
        g_autofree char *help = exit_status_help();

        g_assert_nonnull(strstr(help, "    3  no such namespace\n"));
        g_assert_nonnull(strstr(help, "   24  session cancelled\n"));
}

int main(int argc, char *argv[])
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/errors/complete", test_complete);
        g_test_add_func("/errors/names", test_names);
        g_test_add_func("/errors/dbus", test_dbus);
        g_test_add_func("/errors/exit-statuses", test_exit_statuses);
        g_test_add_func("/errors/help", test_help);
        return g_test_run();
}
