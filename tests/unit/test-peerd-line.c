/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <string.h>

#include "peerd/error.h"
#include "peerd/line.h"

#define FINGERPRINT "sha256-00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff"

static char *line_of(const char *address, const char *code)
{
        NpLine line = { (char *) address, 4425, (char *) FINGERPRINT, (char *) code };

        return np_line_format(&line);
}

static void test_round_trip(void)
{
        static const char *const addresses[] = { "10.0.0.2", "fe80::1%eth0", "2001:db8::7", "stor-a.example" };

        for (gsize i = 0; i < G_N_ELEMENTS(addresses); i++) {
                g_autoptr(GError) error = NULL;
                g_autofree char *code = np_code_new(&error), *text = line_of(addresses[i], code), *upper = NULL, *blanks = NULL;
                g_autoptr(NpLine) line = np_line_parse(text, &error), loud = NULL;

                g_assert_no_error(error);
                g_assert_cmpstr(line->address, ==, addresses[i]);
                g_assert_cmpint(line->port, ==, 4425);
                g_assert_cmpstr(line->fingerprint, ==, FINGERPRINT);
                g_assert_cmpstr(line->code, ==, code);

                upper = g_ascii_strup(text, -1);
                blanks = g_strdup_printf("  %s\n", upper);
                loud = np_line_parse(blanks, &error);
                g_assert_no_error(error);
                g_assert_cmpstr(loud->code, ==, code);
                g_assert_cmpstr(loud->address, ==, addresses[i]);
        }
}

static void test_code(void)
{
        g_autofree char *a = np_code_canonical("7q2k9xmd"), *b = np_code_canonical("oIl0-vwxy"), *c = np_code_new(NULL),
                        *d = np_code_new(NULL);

        g_assert_cmpstr(a, ==, "7Q2K-9XMD");
        g_assert_cmpstr(b, ==, "0110-VWXY");
        g_assert_cmpint(strlen(c), ==, NP_CODE_SIZE);
        g_assert_cmpstr(c, !=, d);
        g_assert_null(np_code_canonical("7Q2K-9XM"));
        g_assert_null(np_code_canonical("7Q2K-9XMDA"));
        g_assert_null(np_code_canonical("7Q2K-9XMU"));
        g_assert_null(np_code_canonical("7Q2-K9XMD"));
        g_assert_null(np_code_canonical("7Q2K--9XMD"));
        g_assert_null(np_code_canonical("7Q2K-9XMD-"));
        g_assert_null(np_code_canonical(""));
}

static void assert_wrong(const char *text, const char *words)
{
        g_autoptr(GError) error = NULL;

        g_assert_null(np_line_parse(text, &error));
        g_assert_error(error, NP_ERROR, NP_ERROR_INVITATION_INVALID);
        if (!strstr(error->message, words))
                g_error("%s: \"%s\" is not in \"%s\"", text, words, error->message);
}

static void test_which_part(void)
{
        const struct {
                const char *text, *words;
        } cases[] = {
                { "", "begin with" },
                { "ntproff:10.0.0.2", "begin with" },
                { "ntprof:10.0.0.2", "address" },
                { "ntprof::4425:" FINGERPRINT ":AAAA-AAAA-AAAA", "address" },
                { "ntprof:[fe80::1:4425:" FINGERPRINT ":AAAA-AAAA-AAAA", "address" },
                { "ntprof:10.0.0.2:0:" FINGERPRINT ":AAAA-AAAA-AAAA", "port" },
                { "ntprof:10.0.0.2:65536:" FINGERPRINT ":AAAA-AAAA-AAAA", "port" },
                { "ntprof:10.0.0.2:44x5:" FINGERPRINT ":AAAA-AAAA-AAAA", "port" },
                { "ntprof:10.0.0.2:4425:sha256-00:AAAA-AAAA-AAAA", "another length" },
                { "ntprof:10.0.0.2:4425:" FINGERPRINT "0:AAAA-AAAA-AAAA", "another length" },
                { "ntprof:10.0.0.2:4425:" FINGERPRINT, "fingerprint" },
                { "ntprof:10.0.0.2:4425:" FINGERPRINT ":AAAA-AAAA", "three groups" },
                { "ntprof:10.0.0.2:4425:" FINGERPRINT ":AAAA-AAAU-AAAA", "three groups" },
                { "ntprof:10.0.0.2:4425:" FINGERPRINT ":AAAA-AAAA-AAAA", "check characters" },
                { "ntprof:10.0.0.\xc3\xa4:4425:" FINGERPRINT ":AAAA-AAAA-AAAA", "a character that is in none" },
        };

        for (gsize i = 0; i < G_N_ELEMENTS(cases); i++)
                assert_wrong(cases[i].text, cases[i].words);
}

/* Any one character replaced by another of its kind, and any two neighbours exchanged. Twenty bits let one in a million
 * through, so this line is one for which none of the thousands does. */
static void test_mistyped(void)
{
        g_autofree char *text = line_of("10.0.0.2", "7Q2K-9XMD");
        static const char kinds[] = "0123456789abcdefghijklmnopqrstuvwxyz";
        unsigned tried = 0;

        for (gsize i = strlen("ntprof:"); text[i]; i++) {
                char was = text[i];
                g_autofree char *swapped = g_strdup(text);

                for (const char *k = kinds; *k; k++) {
                        char meant = *k == 'o' ? '0' : *k == 'i' || *k == 'l' ? '1' : *k;

                        if (!g_ascii_isalnum(was) || meant == g_ascii_tolower(was) || *k == g_ascii_tolower(was))
                                continue;
                        text[i] = *k;
                        g_assert_null(np_line_parse(text, NULL));
                        tried++;
                }
                text[i] = was;
                if (text[i + 1] && text[i + 1] != was) {
                        swapped[i] = text[i + 1];
                        swapped[i + 1] = was;
                        g_assert_null(np_line_parse(swapped, NULL));
                }
        }
        g_assert_cmpint(tried, >, 2500);
}

int main(int argc, char **argv)
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/peerd/line/round-trip", test_round_trip);
        g_test_add_func("/peerd/line/code", test_code);
        g_test_add_func("/peerd/line/which-part", test_which_part);
        g_test_add_func("/peerd/line/mistyped", test_mistyped);
        return g_test_run();
}
