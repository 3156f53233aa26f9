/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <glib/gstdio.h>
#include <string.h>

#include "peerd/error.h"
#include "peerd/finder.h"

#define NQN "nqn.2026-11.org.ntprof:"

typedef struct {
        char *folder, *etc;
        NpPins *pins;
} Fixture;

static void set_up(Fixture *f, gconstpointer data)
{
        static const char *const a[] = { NQN "one", NQN "both", NULL }, *const b[] = { NQN "both", NULL };
        static const struct {
                const char *name, *address;
                const char *const *subsystems;
        } peers[] = {
                { "stor-a", "10.0.0.2:4425", a },
                { "stor-b", "[2001:db8::7]:4425", b },
                { "stor-c", "localhost", NULL },
                { "host-a", NULL, NULL },
        };

        f->folder = g_dir_make_tmp("ntprof-XXXXXX", NULL);
        f->etc = g_build_filename(f->folder, "etc", NULL);
        f->pins = np_pins_new(f->etc, f->folder);
        for (guint i = 0; i < G_N_ELEMENTS(peers); i++) {
                g_autofree char *fingerprint = g_strdup_printf("sha256-%064x", i + 1);
                g_autoptr(GError) error = NULL;

                np_pins_add(f->pins, peers[i].name, fingerprint, peers[i].address, NULL, &error);
                g_assert_no_error(error);
                np_pins_note_seen(f->pins, peers[i].name, peers[i].subsystems);
        }
}

static void tear_down(Fixture *f, gconstpointer data)
{
        g_autofree char *command = g_strdup_printf("rm -r %s", f->folder);

        np_pins_free(f->pins);
        g_assert_true(g_spawn_command_line_sync(command, NULL, NULL, NULL, NULL));
        g_free(f->folder);
        g_free(f->etc);
}

static void on_found(GObject *source, GAsyncResult *result, gpointer data)
{
        *(GAsyncResult **) data = g_object_ref(result);
}

static char *find(Fixture *f, const char *nqn, const char *traddr, GError **error)
{
        g_autoptr(GAsyncResult) result = NULL;

        np_finder_find_async(f->pins, nqn, traddr, on_found, &result);
        while (!result)
                g_main_context_iteration(NULL, TRUE);
        return np_finder_find_finish(result, error);
}

static void test_found(Fixture *f, gconstpointer data)
{
        static const struct {
                const char *nqn, *traddr, *name;
        } cases[] = {
                { NQN "one", NULL, "stor-a" },
                { NQN "one", "2001:db8::7", "stor-a" },         /* its storage network is another one than its Address */
                { NQN "both", "10.0.0.2", "stor-a" },
                { NQN "both", "2001:DB8:0::7", "stor-b" },
                { NQN "none", "10.0.0.2", "stor-a" },
                { NQN "none", "127.0.0.1", "stor-c" },
                { NULL, "2001:db8::7", "stor-b" },
        };

        for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
                g_autoptr(GError) error = NULL;
                g_autofree char *name = find(f, cases[i].nqn, cases[i].traddr, &error);

                g_assert_no_error(error);
                g_assert_cmpstr(name, ==, cases[i].name);
        }
}

static void test_not_found(Fixture *f, gconstpointer data)
{
        static const struct {
                const char *nqn, *traddr, *words;
        } cases[] = {
                { NQN "none", "10.0.0.3",
                  "no paired machine exports " NQN "none or is at 10.0.0.3: pair with it: ntprofctl peer join" },
                { NQN "both", "10.0.0.3", "stor-a and stor-b export " NQN "both" },
                { NQN "both", NULL, "--peer" },
                { NULL, "no address", "no address" },
        };

        for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
                g_autoptr(GError) error = NULL;

                g_assert_null(find(f, cases[i].nqn, cases[i].traddr, &error));
                g_assert_error(error, NP_ERROR, NP_ERROR_NO_PEER);
                if (!strstr(error->message, cases[i].words))
                        g_error("\"%s\" is not in \"%s\"", cases[i].words, error->message);
        }
}

int main(int argc, char **argv)
{
        g_test_init(&argc, &argv, NULL);
        g_test_add("/peerd/finder/found", Fixture, NULL, set_up, test_found, tear_down);
        g_test_add("/peerd/finder/not-found", Fixture, NULL, set_up, test_not_found, tear_down);
        return g_test_run();
}
