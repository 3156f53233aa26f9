/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What another machine may ask for when it opens a target: what it may not is named. */
#include "peerd/link-args.h"

#include "peerd/error.h"

#define FILTERS "'filters': <[('nqn.a', 'nqn.b', uint32 1)]>"

/* Floating; text is the inside of a{sv}. */
static GVariant *request_of(const char *text)
{
        g_autofree char *braced = g_strdup_printf("@a{sv} {%s}", text);
        g_autoptr(GError) error = NULL;
        GVariant *request = g_variant_parse(NULL, braced, NULL, NULL, &error);

        g_assert_no_error(error);
        return request;
}

static void refused(const char *text, const char *expected)
{
        g_autoptr(GVariant) request = request_of(text);
        g_autoptr(GError) error = NULL;

        g_assert_null(np_args_request(request, &error));
        g_assert_error(error, NP_ERROR, NP_ERROR_INVALID_OPTION);
        g_assert_cmpstr(error->message, ==, expected);
}

static void test_what_there_is(void)
{
        static const char *const good[] = {
                FILTERS,
                FILTERS ", 'transports': <['tcp', 'rdma']>, 'duration-usec': <uint64 5>, 'detail': <true>, 'user': <'alice'>",
                "'detail': <false>, " FILTERS,
                FILTERS ", 'transports': <['1', '2', '3', '4', '5', '6', '7', '8888888888888888']>",
        };

        for (gsize i = 0; i < G_N_ELEMENTS(good); i++) {
                g_autoptr(GVariant) request = request_of(good[i]), clean = NULL;
                g_autoptr(GError) error = NULL;

                clean = np_args_request(request, &error);
                g_assert_no_error(error);
                g_assert_true(g_variant_equal(clean, request));
        }
}

static void test_wrong_values(void)
{
        static const struct {
                const char *key, *value;
        } wrong[] = {
                { "filters", "@a(ssu) []" }, { "filters", "'nqn'" }, { "filters", "[('', 'nqn.b', uint32 1)]" },
                { "filters", "[('a\\n', 'nqn.b', uint32 1)]" },
                { "transports", "@as []" }, { "transports", "'tcp'" }, { "transports", "['']" }, { "transports", "['tcp\\n']" },
                { "transports", "['12345678901234567']" }, { "transports", "['1', '2', '3', '4', '5', '6', '7', '8', '9']" },
                { "duration-usec", "5" }, { "detail", "1" }, { "detail", "'yes'" }, { "user", "'a\\u001b[2J'" }, { "user", "7" },
        };

        for (gsize i = 0; i < G_N_ELEMENTS(wrong); i++) {
                gboolean filters = g_str_equal(wrong[i].key, "filters");
                g_autofree char *text = g_strdup_printf("%s'%s': <%s>", filters ? "" : FILTERS ", ", wrong[i].key, wrong[i].value),
                                *message = g_strdup_printf("%s: has a wrong type or value, or is there twice", wrong[i].key);

                refused(text, message);
        }
}

static void test_other_keys(void)
{
        GVariantBuilder builder;
        g_autoptr(GVariant) twice = NULL;
        g_autoptr(GError) error = NULL;

        refused("'detail': <true>", "filters: must be there");
        refused(FILTERS ", 'level\\n': <7>",
                "level\\u000a: there is no such option: one of the two machines has another version");
        refused(FILTERS ", 'a': <1>, 'b': <1>, 'c': <1>, 'd': <1>, 'e': <1>", "the request has more than its 5 options");

        g_variant_builder_init(&builder, G_VARIANT_TYPE_VARDICT);
        g_variant_builder_add(&builder, "{sv}", "detail", g_variant_new_boolean(FALSE));
        g_variant_builder_add(&builder, "{sv}", "detail", g_variant_new_boolean(TRUE));
        twice = g_variant_ref_sink(g_variant_builder_end(&builder));
        g_assert_null(np_args_request(twice, &error));
        g_assert_cmpstr(error->message, ==, "detail: has a wrong type or value, or is there twice");
}

int main(int argc, char **argv)
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/peerd-link-args/what-there-is", test_what_there_is);
        g_test_add_func("/peerd-link-args/wrong-values", test_wrong_values);
        g_test_add_func("/peerd-link-args/other-keys", test_other_keys);
        return g_test_run();
}
