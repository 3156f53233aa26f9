/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "render-check.h"

#include <ntprof.h>
#include <string.h>

#define DOCUMENT(host) \
        "{ \"schema\": \"org.ntprof.inspection/1\", \"ntprof_version\": \"0.1.0\", \"kernel\": \"6.1.0\"," \
        "  \"usable\": { \"host\": " host ", \"target\": \"no hook for T1 on kernel 6.1.0: module nvmet is not loaded\" }," \
        "  \"transports\": { \"tcp\": { \"host\": true, \"target\": \"no hook for T1\" }," \
        "    \"rdma\": { \"host\": \"module nvme_rdma is not loaded (connect a namespace, or load it)\", \"target\": 7 } }," \
        "  \"plan\": [" \
        "    { \"boundary\": \"H3\", \"side\": \"host\", \"description\": \"command handed to the transport\"," \
        "      \"transport\": \"tcp\"," \
        "      \"covers\": \"writes sent after an R2T\", \"essential\": true," \
        "      \"chosen\": { \"mechanism\": \"fexit\", \"module\": \"nvme_tcp\", \"symbol\": \"nvme_tcp_try_send\" }," \
        "      \"merged_into\": null," \
        "      \"rejected\": [ { \"mechanism\": \"fentry\", \"module\": \"nvme_tcp\", \"symbol\": \"nvme_tcp_try_send_cmd_pdu\"," \
        "        \"reason\": \"no function nvme_tcp_try_send_cmd_pdu in the BTF of nvme_tcp (inlined by the compiler, or not in this version)\" } ] }," \
        "    { \"boundary\": \"H4\", \"side\": \"host\", \"description\": \"R2T being processed\", \"covers\": null," \
        "      \"essential\": false, \"chosen\": null, \"merged_into\": \"the network\", \"rejected\": [] }," \
        "    { \"boundary\": \"T1\", \"side\": \"target\", \"description\": \"command received\", \"covers\": null," \
        "      \"essential\": true, \"chosen\": null, \"merged_into\": null, \"rejected\": [] } ]," \
        "  \"inventory\": {} }"

static void test_usable(void)
{
        g_autoptr(GError) error = NULL;
        gboolean usable = FALSE;
        g_autofree char *text = render_check(DOCUMENT("true"), &usable, &error);

        g_assert_no_error(error);
        g_assert_true(usable);
        g_assert_cmpstr(text, ==,
                        "kernel 6.1.0, ntprofd 0.1.0\n"
                        "\n"
                        "host side: can be recorded\n"
                        "    not over rdma: module nvme_rdma is not loaded (connect a namespace, or load\n"
                        "        it)\n"
                        "H3  command handed to the transport (tcp; writes sent after an R2T)\n"
                        "    fexit nvme_tcp_try_send\n"
                        "    not fentry nvme_tcp_try_send_cmd_pdu: no function nvme_tcp_try_send_cmd_pdu\n"
                        "        in the BTF of nvme_tcp (inlined by the compiler, or not in this\n"
                        "        version)\n"
                        "H4  R2T being processed\n"
                        "    no hook: merged into the network\n"
                        "\n"
                        "target side: can't be recorded: no hook for T1 on kernel 6.1.0: module nvmet is\n"
                        "    not loaded\n"
                        "T1  command received\n"
                        "    no hook: without it there are no stages\n");
        g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
        for (char **line = lines; *line; line++)
                g_assert_cmpuint(strlen(*line), <, 80);
}

#define ROW(boundary, side, transport, detail, chosen) \
        "{ \"boundary\": \"" boundary "\", \"side\": \"" side "\", \"transport\": " transport ", \"description\": \"d\"," \
        "  \"covers\": null, \"essential\": true, \"detail\": " detail ", \"chosen\": " chosen ", \"merged_into\": null," \
        "  \"rejected\": [] }"
#define CHOSEN "{ \"mechanism\": \"fentry\", \"module\": \"m\", \"symbol\": \"f\" }"

static void test_titles(void)
{
        static const char document[] =
                "{ \"schema\": \"org.ntprof.inspection/1\", \"kernel\": \"6.1.0\", \"usable\": { \"host\": true, \"target\": true },"
                "  \"plan\": [" ROW("H2", "host", "null", "false", CHOSEN) "," ROW("H3", "host", "\"tcp\"", "false", CHOSEN) ","
                ROW("H3", "host", "\"rdma\"", "false", "null") "," ROW("HA", "host", "\"tcp\"", "true", CHOSEN) ","
                ROW("T5", "target", "null", "true", CHOSEN) "] }";
        g_autoptr(GError) error = NULL;
        gboolean usable;
        g_autofree char *text = render_check(document, &usable, &error);

        g_assert_no_error(error);
        g_assert_cmpstr(text, ==,
                        "kernel 6.1.0\n"
                        "\n"
                        "host side: can be recorded\n"
                        "H2  d\n"
                        "    fentry f\n"
                        "H3  d (tcp)\n"
                        "    fentry f\n"
                        "H3  d (rdma)\n"
                        "    no hook: without it there are no stages\n"
                        "HA  d (tcp; detail)\n"
                        "    fentry f\n"
                        "\n"
                        "target side: can be recorded\n"
                        "T5  d (detail)\n"
                        "    fentry f\n");
}

static void test_nested_deeply(void)
{
        g_autoptr(GString) deep = g_string_new(NULL);
        g_autoptr(GError) error = NULL;
        gboolean usable;

        for (guint i = 0; i < 1000000; i++)
                g_string_append_c(deep, '[');
        g_assert_null(render_check(deep->str, &usable, &error));
        g_assert_error(error, NTPROF_ERROR, NTPROF_ERROR_INVALID_DOCUMENT);
}

static void test_unusable(void)
{
        g_autoptr(GError) error = NULL;
        gboolean usable = TRUE;
        g_autofree char *text = render_check(DOCUMENT("\"no hook for H2\""), &usable, &error);

        g_assert_no_error(error);
        g_assert_false(usable);
        g_assert_nonnull(strstr(text, "host side: can't be recorded: no hook for H2\n"));
}

/* What other versions or defects may send is an error, not a crash. */
static void test_other_documents(void)
{
        static const char *const documents[] = {
                "", "not JSON", "[]", "{}", "null", "{ \"schema\": \"org.ntprof.inspection/2\", \"usable\": {}, \"plan\": [] }",
                "{ \"schema\": \"org.ntprof.inspection/1\", \"usable\": [], \"plan\": [] }",
                "{ \"schema\": 1, \"usable\": {}, \"plan\": [] }",
        };
        gboolean usable;

        for (gsize i = 0; i < G_N_ELEMENTS(documents); i++) {
                g_autoptr(GError) error = NULL;
                g_assert_null(render_check(documents[i], &usable, &error));
                g_assert_error(error, NTPROF_ERROR, NTPROF_ERROR_INVALID_DOCUMENT);
        }

        g_autoptr(GError) error = NULL;
        g_autofree char *text = render_check("{ \"schema\": \"org.ntprof.inspection/1\", \"usable\": { \"host\": 7 },"
                                             "  \"plan\": [ 1, { \"side\": \"host\", \"rejected\": [ 2, {} ], \"chosen\": {} } ] }",
                                             &usable, &error);
        g_assert_no_error(error);
        g_assert_false(usable);
        g_assert_nonnull(text);
}

int main(int argc, char *argv[])
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/render-check/usable", test_usable);
        g_test_add_func("/render-check/titles", test_titles);
        g_test_add_func("/render-check/nested-deeply", test_nested_deeply);
        g_test_add_func("/render-check/unusable", test_unusable);
        g_test_add_func("/render-check/other-documents", test_other_documents);
        return g_test_run();
}
