/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <string.h>

#include "exit-status.h"
#include "usage.h"
#include "verbs.h"

static const Verb *find(const char *line, char ***ret_rest, GError **error)
{
        static char *words[8];
        g_auto(GStrv) split = g_strsplit(line, " ", -1);
        char **args = words;

        g_assert_cmpuint(g_strv_length(split), <, G_N_ELEMENTS(words));
        memset(words, 0, sizeof(words));
        for (guint i = 0; split[i] && *split[i]; i++)
                words[i] = (char *) g_intern_string(split[i]);
        const Verb *verb = verbs_find(&args, error);
        *ret_rest = args;
        return verb;
}

static void test_find(void)
{
        g_autoptr(GError) error = NULL;
        char **rest;

        const Verb *verb = find("session stop 3 4", &rest, &error);
        g_assert_no_error(error);
        g_assert_true(verb->run == verb_session_stop);
        g_assert_cmpstr(rest[0], ==, "3");
        g_assert_cmpstr(rest[1], ==, "4");
        g_assert_null(rest[2]);

        verb = find("report --json", &rest, &error);
        g_assert_no_error(error);
        g_assert_true(verb->run == verb_report);
        g_assert_cmpstr(rest[0], ==, "--json");
}

/* Each verb of the table can be reached by its name, and says what it does in one line of 80 columns. */
static void test_table(void)
{
        g_autofree char *help = verbs_help(NULL);

        for (gsize i = 0; i < n_verbs; i++) {
                g_autofree char *name = verb_full_name(&verbs[i]);
                g_autoptr(GError) error = NULL;
                char **rest;

                g_assert_true(find(name, &rest, &error) == &verbs[i]);
                g_assert_no_error(error);
                g_assert_null(rest[0]);
                g_assert_nonnull(verbs[i].run);
                g_assert_nonnull(strstr(help, name));
                g_assert_nonnull(strstr(help, verbs[i].summary));
        }
        g_auto(GStrv) lines = g_strsplit(help, "\n", -1);
        for (char **line = lines; *line; line++)
                g_assert_cmpuint(strlen(*line), <=, 80);
}

static void test_group(void)
{
        g_autofree char *help = verbs_help("peer");

        for (gsize i = 0; i < n_verbs; i++) {
                g_autofree char *name = verb_full_name(&verbs[i]), *row = g_strdup_printf("\n  %s ", name);
                g_assert_true((strstr(help, row) != NULL) == (g_strcmp0(verbs[i].group, "peer") == 0));
        }
}

static void test_unknown(void)
{
        static const struct {
                const char *line, *message;
        } cases[] = {
                { "", "a verb is missing: session, peer, report, check, help" },
                { "session", "session: a verb is missing: start, list, show, stop, cancel, remove" },
                { "session --json", "session: a verb is missing: start, list, show, stop, cancel, remove" },
                { "reprot", "unknown verb 'reprot'; did you mean 'report'?" },
                { "peer", "peer: a verb is missing: invite, join, confirm, list, show, test, forget, renew, show-identity" },
                { "peer shwo", "unknown verb 'peer shwo'; did you mean 'peer show'?" },
                { "invite", "unknown verb 'invite'; did you mean 'peer invite'?" },
                { "sesion start", "unknown verb 'sesion'; did you mean 'session'?" },
                { "session stat", "unknown verb 'session stat'; did you mean 'session start'?" },
                { "list", "unknown verb 'list'; did you mean 'session list'?" },
                { "frobnicate", "unknown verb 'frobnicate' (there are session, peer, report, check, help)" },
        };

        for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
                g_autoptr(GError) error = NULL;
                char **rest;

                g_assert_null(find(cases[i].line, &rest, &error));
                g_assert_error(error, USAGE_ERROR, USAGE_ERROR_FAILED);
                g_assert_cmpstr(error->message, ==, cases[i].message);
                g_assert_cmpint(exit_status_of(error), ==, EXIT_STATUS_USAGE);
        }
}

int main(int argc, char *argv[])
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/verbs/find", test_find);
        g_test_add_func("/verbs/table", test_table);
        g_test_add_func("/verbs/group", test_group);
        g_test_add_func("/verbs/unknown", test_unknown);
        return g_test_run();
}
