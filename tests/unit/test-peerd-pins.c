/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <glib/gstdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "peerd/error.h"
#include "peerd/pins.h"

#define A "sha256-aa112233445566778899aabbccddeeff00112233445566778899aabbccddeeff"
#define B "sha256-bb112233445566778899aabbccddeeff00112233445566778899aabbccddeeff"
#define NQN "nqn.2014-08.org.nvmexpress:uuid:0b6bd2a5-2d2c-4c0c-9f4f-4a8d6f2f7a01"

typedef struct {
        char *folder, *etc, *state;
        NpPins *pins;
        guint changes;
} Fixture;

static void on_changed(gpointer data)
{
        ((Fixture *) data)->changes++;
}

static void again(Fixture *f)
{
        g_clear_pointer(&f->pins, np_pins_free);
        f->pins = np_pins_new(f->etc, f->state);
        np_pins_set_changed(f->pins, on_changed, f);
}

static void set_up(Fixture *f, gconstpointer data)
{
        f->folder = g_dir_make_tmp("ntprof-XXXXXX", NULL);
        f->etc = g_build_filename(f->folder, "etc", NULL);
        f->state = g_build_filename(f->folder, "state", NULL);
        g_assert_cmpint(g_mkdir(f->etc, 0755), ==, 0);
        g_assert_cmpint(g_mkdir(f->state, 0700), ==, 0);
        again(f);
}

static void remove_all(const char *path)
{
        g_autoptr(GDir) dir = g_dir_open(path, 0, NULL);
        const char *name;

        while (dir && (name = g_dir_read_name(dir))) {
                g_autofree char *inner = g_build_filename(path, name, NULL);

                remove_all(inner);
        }
        g_assert_cmpint(g_remove(path), ==, 0);
}

static void tear_down(Fixture *f, gconstpointer data)
{
        np_pins_free(f->pins);
        remove_all(f->folder);
        g_free(f->folder);
        g_free(f->etc);
        g_free(f->state);
}

static void write_etc(Fixture *f, const char *name, const char *text)
{
        g_autofree char *path = g_strdup_printf("%s/%s.conf", f->etc, name), *whole = g_strdup_printf("[Peer]\n%s", text);
        g_autoptr(GError) error = NULL;

        g_file_set_contents_full(path, whole, -1, G_FILE_SET_CONTENTS_CONSISTENT, 0644, &error);
        g_assert_no_error(error);
}

static void remove_etc(Fixture *f, const char *name)
{
        g_autofree char *path = g_strdup_printf("%s/%s.conf", f->etc, name);

        g_assert_cmpint(g_unlink(path), ==, 0);
}

static void add(Fixture *f, const char *name, const char *fingerprint)
{
        static const char *const claimed[] = { NQN, NULL };
        g_autoptr(GError) error = NULL;

        np_pins_add(f->pins, name, fingerprint, "10.0.0.2:4425", claimed, &error);
        g_assert_no_error(error);
}

/* No file descriptor is left for a while, as files have changed: who is paired is paired afterwards, and nothing was written over it. */
static void test_short_of_descriptors(Fixture *f, gconstpointer data)
{
        static const char *const subsystems[] = { "nqn.2026-11.org.ntprof:test", NULL };
        struct rlimit before, none;
        GLogLevelFlags fatal;
        int next;

        add(f, "stor-a", A);
        write_etc(f, "stor-b", "Fingerprint=" B "\n");
        fatal = g_log_set_always_fatal(G_LOG_FATAL_MASK);
        g_assert_cmpint(getrlimit(RLIMIT_NOFILE, &before), ==, 0);
        next = dup(0);
        g_assert_cmpint(close(next), ==, 0);
        none = (struct rlimit) { next + 1, before.rlim_max };   /* a folder can be listed, and no file of it read */
        g_assert_cmpint(setrlimit(RLIMIT_NOFILE, &none), ==, 0);
        g_assert_null(np_pins_by_name(f->pins, "stor-b"));
        g_assert_null(np_pins_by_name(f->pins, "stor-a"));
        f->changes = 0;
        for (int i = 0; i < 20; i++)
                np_pins_note_seen(f->pins, "stor-a", subsystems);
        g_assert_cmpuint(f->changes, ==, 0);
        g_assert_cmpint(setrlimit(RLIMIT_NOFILE, &before), ==, 0);
        g_log_set_always_fatal(fatal);

        /* Nobody asks, and they come back. */
        for (int i = 0; i < 300 && f->changes == 0; i++) {
                g_main_context_iteration(NULL, FALSE);
                g_usleep(10000);
        }
        g_assert_cmpuint(f->changes, >, 0);
        g_assert_cmpstr(np_pins_by_name(f->pins, "stor-a")->fingerprint, ==, A);
        g_assert_cmpstr(np_pins_by_name(f->pins, "stor-b")->fingerprint, ==, B);
}

/* A file that is of a later version, or damaged: what it holds is not replaced by less. */
static void test_unreadable_is_not_replaced(Fixture *f, gconstpointer data)
{
        g_autofree char *path = g_build_filename(f->state, "peers.d/stor-a.conf", NULL), *text = NULL;
        g_autoptr(GError) error = NULL;

        add(f, "stor-a", A);
        write_etc(f, "stor-a", "HostNQN=" NQN "\n");
        g_assert_nonnull(np_pins_by_name(f->pins, "stor-a"));
        g_assert_true(g_file_set_contents(path, "[Peer]\nFingerprint=" A "\nLater=1\n", -1, NULL));
        write_etc(f, "stor-a", "Fingerprint=" A "\n");
        g_test_expect_message("ntprof-peerd", G_LOG_LEVEL_WARNING, "*Later*");
        g_test_expect_message("ntprof-peerd", G_LOG_LEVEL_WARNING, "*could not be kept*Later*");
        np_pins_note_seen(f->pins, "stor-a", NULL);
        g_test_assert_expected_messages();
        g_assert_true(g_file_get_contents(path, &text, NULL, &error));
        g_assert_true(strstr(text, "Later=1") && strstr(text, A));
}

static void test_paired(Fixture *f, gconstpointer data)
{
        static const char *const subsystems[] = { "nqn.2026-11.org.ntprof:test", NULL };
        g_autoptr(GError) error = NULL;
        const NpPeerConfig *peer;

        g_assert_null(np_pins_by_fingerprint(f->pins, A));
        add(f, "stor-a", A);
        g_assert_cmpint(f->changes, ==, 1);
        np_pins_note_seen(f->pins, "stor-a", subsystems);
        again(f);
        peer = np_pins_by_fingerprint(f->pins, A);
        g_assert_cmpstr(peer->name, ==, "stor-a");
        g_assert_cmpstr(peer->address, ==, "10.0.0.2:4425");
        g_assert_cmpstr(peer->claimed_host_nqns[0], ==, NQN);
        g_assert_cmpstr(peer->subsystems[0], ==, subsystems[0]);
        g_assert_cmpint(peer->last_seen_usec, >, 0);
        g_assert_cmpint(peer->allow, ==, NP_PEER_ALLOW_NONE);
        g_assert_cmpint(np_pins_origin(f->pins, "stor-a"), ==, NP_ORIGIN_PAIRED);

        g_assert_false(np_pins_add(f->pins, "stor-a", B, NULL, NULL, &error));
        g_assert_error(error, NP_ERROR, NP_ERROR_PEER_EXISTS);
        g_clear_error(&error);
        g_assert_false(np_pins_add(f->pins, "stor-b", A, NULL, NULL, &error));
        g_assert_error(error, NP_ERROR, NP_ERROR_PEER_EXISTS);
        g_assert_nonnull(strstr(error->message, "stor-a"));
        g_clear_error(&error);

        g_assert_true(np_pins_replace_fingerprint(f->pins, "stor-a", B, &error));
        g_assert_null(np_pins_by_fingerprint(f->pins, A));
        g_assert_cmpstr(np_pins_by_fingerprint(f->pins, B)->claimed_host_nqns[0], ==, NQN);

        g_assert_true(np_pins_remove(f->pins, "stor-a", &error));
        g_assert_null(np_pins_by_name(f->pins, "stor-a"));
        again(f);
        g_assert_null(np_pins_by_name(f->pins, "stor-a"));
        g_assert_false(np_pins_remove(f->pins, "stor-a", &error));
        g_assert_error(error, NP_ERROR, NP_ERROR_NO_PEER);
}

static void test_etc_wins(Fixture *f, gconstpointer data)
{
        g_autoptr(GError) error = NULL;
        const NpPeerConfig *peer;

        add(f, "host-a", A);
        write_etc(f, "host-a", "HostNQN=" NQN "\n");
        peer = np_pins_by_name(f->pins, "host-a");
        g_assert_cmpstr(peer->fingerprint, ==, A);
        g_assert_cmpstr(peer->host_nqns[0], ==, NQN);
        g_assert_cmpint(peer->allow, ==, NP_PEER_ALLOW_OBSERVE);
        g_assert_cmpint(np_pins_origin(f->pins, "host-a"), ==, NP_ORIGIN_BOTH);

        write_etc(f, "host-a", "Fingerprint=" B "\nAddress=10.0.0.9\n");
        peer = np_pins_by_name(f->pins, "host-a");
        g_assert_cmpstr(peer->fingerprint, ==, B);
        g_assert_cmpstr(peer->address, ==, "10.0.0.9");
        g_assert_null(np_pins_by_fingerprint(f->pins, A));
        g_assert_false(np_pins_replace_fingerprint(f->pins, "host-a", A, &error));
        g_assert_error(error, NP_ERROR, NP_ERROR_ACCESS_DENIED);
        g_clear_error(&error);
        g_assert_false(np_pins_remove(f->pins, "host-a", &error));
        g_assert_error(error, NP_ERROR, NP_ERROR_ACCESS_DENIED);
        g_assert_nonnull(strstr(error->message, f->etc));

        remove_etc(f, "host-a");
        g_assert_cmpstr(np_pins_by_name(f->pins, "host-a")->fingerprint, ==, A);
}

static void test_doubles(Fixture *f, gconstpointer data)
{
        g_autoptr(GPtrArray) list = NULL;

        add(f, "a-paired", A);
        g_test_expect_message("ntprof-peerd", G_LOG_LEVEL_WARNING, "*a-paired.conf: not used*z-configured.conf*");
        write_etc(f, "z-configured", "Fingerprint=" A "\n");
        list = np_pins_list(f->pins);
        g_test_assert_expected_messages();
        g_assert_cmpint(list->len, ==, 1);
        g_assert_cmpstr(np_pins_by_fingerprint(f->pins, A)->name, ==, "z-configured");
        g_assert_cmpint(np_pins_origin(f->pins, "z-configured"), ==, NP_ORIGIN_CONFIGURED);
}

/* What an administrator grants to a name is not for whoever calls itself so. */
static void test_free_name(Fixture *f, gconstpointer data)
{
        static const struct {
                const char *wanted, *name;
        } cases[] = {
                { "host-a", "host-a-2" },       /* waits for its fingerprint in /etc */
                { "stor-a", "stor-a-2" },
                { "stor-b", "stor-b" },
                { "../etc", "etc" },
                { "a b/c", "a-b-c" },
                { "", "peer" },
                { "---", "peer" },
        };

        write_etc(f, "host-a", "HostNQN=" NQN "\n");
        add(f, "stor-a", A);
        g_assert_null(np_pins_by_name(f->pins, "host-a"));
        for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
                g_autofree char *name = np_pins_free_name(f->pins, cases[i].wanted);

                g_assert_cmpstr(name, ==, cases[i].name);
                g_assert_true(np_peer_name_valid(name));
        }
        /* but for whom the administrator invites under it */
        add(f, "host-a", B);
        g_assert_cmpstr(np_pins_by_fingerprint(f->pins, B)->host_nqns[0], ==, NQN);
}

static gboolean give_up(gpointer data)
{
        g_error("a file changed and nothing was told");
        return G_SOURCE_REMOVE;
}

static void test_told(Fixture *f, gconstpointer data)
{
        guint timer = g_timeout_add_seconds(20, give_up, NULL);

        write_etc(f, "stor-a", "Fingerprint=" A "\n");
        while (f->changes == 0)
                g_main_context_iteration(NULL, TRUE);
        g_source_remove(timer);
        g_assert_nonnull(np_pins_by_name(f->pins, "stor-a"));
}

int main(int argc, char **argv)
{
        static const struct {
                const char *path;
                void (*run)(Fixture *f, gconstpointer data);
        } tests[] = {
                { "/peerd/pins/paired", test_paired },
                { "/peerd/pins/etc-wins", test_etc_wins },
                { "/peerd/pins/doubles", test_doubles },
                { "/peerd/pins/free-name", test_free_name },
                { "/peerd/pins/told", test_told },
                { "/peerd/pins/short-of-descriptors", test_short_of_descriptors },
                { "/peerd/pins/unreadable-is-not-replaced", test_unreadable_is_not_replaced },
        };

        g_test_init(&argc, &argv, NULL);
        for (gsize i = 0; i < G_N_ELEMENTS(tests); i++)
                g_test_add(tests[i].path, Fixture, NULL, set_up, tests[i].run, tear_down);
        return g_test_run();
}
