/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "render-check.h"

#include <ntprof.h>
#include <string.h>

#define ROWS \
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
        "      \"essential\": true, \"chosen\": null, \"merged_into\": null, \"rejected\": [] } ]"

#define DOCUMENT(host) \
        "{ \"schema\": \"org.ntprof.inspection/1\", \"ntprof_version\": \"0.1.0\", \"kernel\": \"6.1.0\"," \
        "  \"usable\": { \"host\": " host ", \"target\": \"no hook for T1 on kernel 6.1.0: module nvmet is not loaded\" }," \
        "  \"transports\": { \"tcp\": { \"host\": true, \"target\": \"no hook for T1\" }," \
        "    \"rdma\": { \"host\": \"module nvme_rdma is not loaded (connect a namespace, or load it)\", \"target\": 7 } }," \
        ROWS ", \"inventory\": {} }"

static char *render(const char *document, gboolean verbose, gboolean *ret_usable)
{
        g_autoptr(GError) error = NULL;
        char *text = render_check(document, verbose, ret_usable, &error);

        g_assert_no_error(error);
        g_assert_nonnull(text);
        return text;
}

static void assert_fits(const char *text, guint max_lines)
{
        g_auto(GStrv) lines = g_strsplit(text, "\n", -1);

        g_assert_cmpuint(g_strv_length(lines), <=, max_lines);
        for (char **line = lines; *line; line++)
                g_assert_cmpuint(strlen(*line), <, 80);
}

#define VERDICT \
        "host side: can be recorded over tcp\n" \
        "    not over rdma: module nvme_rdma is not loaded (connect a namespace, or load\n" \
        "        it)\n" \
        "target side: can't be recorded: no hook for T1 on kernel 6.1.0: module nvmet is\n" \
        "    not loaded\n"

static void test_usable(void)
{
        gboolean usable = FALSE;
        g_autofree char *text = render(DOCUMENT("true"), FALSE, &usable);

        g_assert_true(usable);
        g_assert_cmpstr(text, ==, "kernel 6.1.0, ntprofd 0.1.0\n" VERDICT);
        assert_fits(text, 24);
}

static void test_verbose(void)
{
        gboolean usable = FALSE;
        g_autofree char *text = render(DOCUMENT("true"), TRUE, &usable);

        g_assert_true(usable);
        g_assert_cmpstr(text, ==,
                        "kernel 6.1.0, ntprofd 0.1.0\n" VERDICT
                        "\n"
                        "host side\n"
                        "H3  command handed to the transport (tcp; writes sent after an R2T)\n"
                        "    fexit nvme_tcp_try_send\n"
                        "    not fentry nvme_tcp_try_send_cmd_pdu: no function nvme_tcp_try_send_cmd_pdu\n"
                        "        in the BTF of nvme_tcp (inlined by the compiler, or not in this\n"
                        "        version)\n"
                        "H4  R2T being processed\n"
                        "    no hook: merged into the network\n"
                        "\n"
                        "target side\n"
                        "T1  command received\n"
                        "    no hook: without it there are no stages\n");
        assert_fits(text, 100);
}

#define MODULE(name, origin, types, more) \
        "{ \"name\": \"" name "\", \"loaded\": true, \"origin\": \"" origin "\", \"types\": \"" types "\"" more " }"

static const char full[] =
        "{ \"schema\": \"org.ntprof.inspection/1\", \"kernel\": \"5.10.0\", \"label\": \"planned, not run\","
        "  \"namespace\": { \"name\": \"nvme6n1\", \"paths\": ["
        "    { \"disk\": \"nvme6c6n1\", \"transport\": \"tcp\", \"traddr\": \"10.0.0.2\", \"state\": \"live\", \"local\": true },"
        "    { \"disk\": \"nvme6c7n1\", \"transport\": \"tcp\", \"traddr\": \"10.0.0.3\", \"state\": \"connecting\", \"local\": false } ] },"
        "  \"usable\": { \"host\": true, \"target\": true },"
        "  \"transports\": { \"tcp\": { \"host\": true, \"target\": true } },"
        "  \"programs\": { \"host\": { \"family\": \"probes\", \"why_not_typed\": \"nvme_core has no BTF\" },"
        "    \"target\": { \"family\": \"typed\", \"why_not_typed\": null } },"
        "  \"privileges\": { \"needed\": [\"CAP_BPF\", \"CAP_PERFMON\"], \"lacking\": [\"CAP_PERFMON\"], \"advice\": \"do this\" },"
        "  \"holds\": [\"nvme_core\", \"nvme_tcp\"],"
        "  \"lacks\": [ { \"what\": \"H4 (tcp)\", \"side\": \"host\", \"merged_into\": \"the network\", \"reason\": \"no function\" },"
        "    { \"what\": \"the target's side of path nvme6c7n1\", \"merged_into\": null, \"reason\": \"it is another machine\" } ],"
        "  \"notes\": [ \"mind this\", 7 ],"
        "  \"plan\": [],"
        "  \"inventory\": { \"modules\": [" MODULE("vmlinux", "in-tree", "kernel", "") ","
        MODULE("nvme_core", "in-tree", "layout", ", \"types_from\": \"linux-5.10\", \"version\": \"1.0\"") ","
        MODULE("nvme_tcp", "in-tree", "layout", ", \"types_from\": \"linux-5.10\"") ","
        MODULE("nvmet", "out-of-tree", "kernel", ", \"types_from\": \"/sys/kernel/btf/nvmet\"") ","
        MODULE("nvmet_tcp", "in-tree", "layout", ", \"types_from\": \"linux-5.10\"") ", { \"name\": \"ib_core\", \"loaded\": false } ],"
        "    \"settings\": { \"lockdown\": \"none\", \"perf_event_paranoid\": 3, \"bpf_jit_enable\": null,"
        "      \"kprobes_blacklisted\": [\"a\", \"b\"] } } }";

static void test_all_that_can_be_told(void)
{
        gboolean usable = FALSE;
        g_autofree char *text = render(full, FALSE, &usable);

        g_assert_cmpstr(text, ==,
                        "kernel 5.10.0: planned, not run\n"
                        "namespace: nvme6n1, 2 paths\n"
                        "    nvme6c6n1: tcp to 10.0.0.2, live, this machine\n"
                        "    nvme6c7n1: tcp to 10.0.0.3, connecting\n"
                        "host side: can be recorded over tcp\n"
                        "    by probes (raw_tp, kprobe, kretprobe): nvme_core has no BTF\n"
                        "target side: can be recorded over tcp\n"
                        "modules:\n"
                        "    nvme_core: in-tree, version 1.0; types: layout (linux-5.10)\n"
                        "    nvme_tcp, nvmet_tcp: in-tree; types: layout (linux-5.10)\n"
                        "    nvmet: out-of-tree; types: kernel\n"
                        "privileges: needs CAP_BPF, CAP_PERFMON, lacks CAP_PERFMON: do this\n"
                        "holds: nvme_core, nvme_tcp cannot be unloaded while a session lasts\n"
                        "a report will lack:\n"
                        "    H4 (tcp), merged into the network: no function\n"
                        "    the target's side of path nvme6c7n1: it is another machine\n"
                        "note: mind this\n");
        g_free(text);

        text = render(full, TRUE, &usable);
        g_assert_nonnull(strstr(text, "    nvme_tcp: in-tree; types: layout (linux-5.10)\n"
                                      "    nvmet_tcp: in-tree; types: layout (linux-5.10)\n"));
        g_assert_nonnull(strstr(text, "settings:\n    lockdown: none\n    perf_event_paranoid: 3\n    kprobes_blacklisted: a, b\n"));
}

static void test_nothing_is_lacking(void)
{
        static const char document[] =
                "{ \"schema\": \"org.ntprof.inspection/1\", \"kernel\": \"6.12.0\", \"usable\": { \"host\": true, \"target\": true },"
                "  \"privileges\": { \"needed\": [\"CAP_BPF\"], \"lacking\": [], \"advice\": null },"
                "  \"lacks\": [], \"notes\": [], \"plan\": [] }";
        gboolean usable;
        g_autofree char *text = render(document, FALSE, &usable);

        g_assert_cmpstr(text, ==,
                        "kernel 6.12.0\n"
                        "host side: can be recorded\n"
                        "target side: can be recorded\n"
                        "privileges: needs CAP_BPF, and has them\n"
                        "a report will lack nothing\n");
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
        gboolean usable;
        g_autofree char *text = render(document, TRUE, &usable);

        g_assert_cmpstr(text, ==,
                        "kernel 6.1.0\n"
                        "host side: can be recorded\n"
                        "target side: can be recorded\n"
                        "\n"
                        "host side\n"
                        "H2  d\n"
                        "    fentry f\n"
                        "H3  d (tcp)\n"
                        "    fentry f\n"
                        "H3  d (rdma)\n"
                        "    no hook: without it there are no stages\n"
                        "HA  d (tcp; detail)\n"
                        "    fentry f\n"
                        "\n"
                        "target side\n"
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
        g_assert_null(render_check(deep->str, FALSE, &usable, &error));
        g_assert_error(error, NTPROF_ERROR, NTPROF_ERROR_INVALID_DOCUMENT);
}

static void test_unusable(void)
{
        gboolean usable = TRUE;
        g_autofree char *text = render(DOCUMENT("\"no hook for H2\""), FALSE, &usable);

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
        static const char *const odd[] = {
                "{ \"schema\": \"org.ntprof.inspection/1\", \"usable\": { \"host\": 7 },"
                "  \"plan\": [ 1, { \"side\": \"host\", \"rejected\": [ 2, {} ], \"chosen\": {} } ] }",
                "{ \"schema\": \"org.ntprof.inspection/1\", \"usable\": { \"host\": true }, \"plan\": [], \"namespace\": { \"paths\": [ 1, {} ] },"
                "  \"transports\": { \"tcp\": 1 }, \"programs\": [], \"privileges\": {}, \"lacks\": [ 1, {} ], \"notes\": [ {}, null ],"
                "  \"holds\": [ 1 ],"
                "  \"inventory\": { \"modules\": [ 1, { \"name\": 1, \"loaded\": true }, { \"name\": \"nvmet\", \"loaded\": true } ],"
                "    \"settings\": { \"lockdown\": [], \"kprobes_blacklisted\": [ 1, [] ] } } }",
        };
        gboolean usable;

        for (gsize i = 0; i < G_N_ELEMENTS(documents); i++) {
                g_autoptr(GError) error = NULL;
                g_assert_null(render_check(documents[i], TRUE, &usable, &error));
                g_assert_error(error, NTPROF_ERROR, NTPROF_ERROR_INVALID_DOCUMENT);
        }
        for (gsize i = 0; i < G_N_ELEMENTS(odd); i++) {
                g_autofree char *text = render(odd[i], TRUE, &usable);
                g_assert_cmpint(usable, ==, i == 1);
        }
}

int main(int argc, char *argv[])
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/render-check/usable", test_usable);
        g_test_add_func("/render-check/verbose", test_verbose);
        g_test_add_func("/render-check/all-that-can-be-told", test_all_that_can_be_told);
        g_test_add_func("/render-check/nothing-is-lacking", test_nothing_is_lacking);
        g_test_add_func("/render-check/titles", test_titles);
        g_test_add_func("/render-check/nested-deeply", test_nested_deeply);
        g_test_add_func("/render-check/unusable", test_unusable);
        g_test_add_func("/render-check/other-documents", test_other_documents);
        return g_test_run();
}
