/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <glib/gstdio.h>
#include <string.h>

#include "peerd/error.h"
#include "peerd/invitations.h"

#define FINGERPRINT "sha256-00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff"
#define OTHER "sha256-ff112233445566778899aabbccddeeff00112233445566778899aabbccddeeff"
#define CODE "7Q2K-9XMD"
#define WRONG "AAAA-AAAA"
#define HOUR (3600 * (gint64) G_USEC_PER_SEC)

typedef struct {
        char *state;
        NpInvitations *invitations;
} Fixture;

static void set_up(Fixture *f, gconstpointer data)
{
        f->state = g_dir_make_tmp("ntprof-XXXXXX", NULL);
        f->invitations = np_invitations_new(f->state);
}

static guint n_files(Fixture *f, gboolean remove)
{
        g_autofree char *folder = g_build_filename(f->state, "invitations", NULL);
        g_autoptr(GDir) dir = g_dir_open(folder, 0, NULL);
        const char *name;
        guint n = 0;

        for (; dir && (name = g_dir_read_name(dir)); n++) {
                g_autofree char *path = g_build_filename(folder, name, NULL);

                if (remove)
                        g_assert_cmpint(g_unlink(path), ==, 0);
        }
        if (remove)
                (void) g_rmdir(folder);
        return n;
}

static void tear_down(Fixture *f, gconstpointer data)
{
        np_invitations_free(f->invitations);
        n_files(f, TRUE);
        g_assert_cmpint(g_rmdir(f->state), ==, 0);
        g_free(f->state);
}

static void add(Fixture *f, const char *code, const char *name, gint64 in_usec)
{
        g_autoptr(GError) error = NULL;

        np_invitations_add(f->invitations, FINGERPRINT, code, name, g_get_real_time() + in_usec, &error);
        g_assert_no_error(error);
}

static gboolean redeem(Fixture *f, const char *fingerprint, const char *code, char **name)
{
        g_autoptr(GError) error = NULL;
        gboolean good = np_invitations_redeem(f->invitations, fingerprint, code, name, &error);

        if (!good)
                g_assert_error(error, NP_ERROR, NP_ERROR_INVITATION_INVALID);
        return good;
}

static void test_used_once(Fixture *f, gconstpointer data)
{
        g_autofree char *name = NULL;

        g_assert_false(np_invitations_stand(f->invitations));
        add(f, CODE, "host-a", HOUR);
        g_assert_true(np_invitations_stand(f->invitations));
        g_assert_true(np_invitations_have_name(f->invitations, "host-a"));
        g_assert_false(np_invitations_have_name(f->invitations, "host-b"));

        /* as after an exit on idle */
        np_invitations_free(f->invitations);
        f->invitations = np_invitations_new(f->state);
        g_assert_false(redeem(f, OTHER, CODE, &name));
        g_assert_true(redeem(f, FINGERPRINT, "7q2k-9xmd", &name));
        g_assert_cmpstr(name, ==, "host-a");
        g_assert_false(redeem(f, FINGERPRINT, CODE, &name));
        g_assert_false(np_invitations_stand(f->invitations));
        g_assert_cmpint(n_files(f, FALSE), ==, 0);
}

static void test_no_code_on_disk(Fixture *f, gconstpointer data)
{
        g_autofree char *folder = g_build_filename(f->state, "invitations", NULL), *path = NULL, *text = NULL;
        g_autoptr(GDir) dir = NULL;

        add(f, CODE, NULL, HOUR);
        dir = g_dir_open(folder, 0, NULL);
        path = g_build_filename(folder, g_dir_read_name(dir), NULL);
        g_assert_true(g_file_get_contents(path, &text, NULL, NULL));
        g_assert_null(strstr(text, "7Q2K"));
}

static void test_expires(Fixture *f, gconstpointer data)
{
        g_autofree char *name = NULL;

        add(f, CODE, NULL, G_USEC_PER_SEC);
        g_assert_true(np_invitations_stand(f->invitations));
        g_usleep(G_USEC_PER_SEC + 10000);
        g_assert_false(redeem(f, FINGERPRINT, CODE, &name));
        g_assert_false(np_invitations_stand(f->invitations));
        g_assert_cmpint(n_files(f, FALSE), ==, 0);
}

static void test_wrong_codes(Fixture *f, gconstpointer data)
{
        g_autofree char *name = NULL;

        add(f, CODE, "host-a", HOUR);
        for (int i = 0; i < NP_INVITATION_ATTEMPTS - 1; i++)
                g_assert_false(redeem(f, FINGERPRINT, i % 2 ? WRONG : "not a code", &name));
        g_assert_true(redeem(f, FINGERPRINT, CODE, &name));

        add(f, CODE, "host-a", HOUR);
        for (int i = 0; i < NP_INVITATION_ATTEMPTS; i++) {
                if (i == NP_INVITATION_ATTEMPTS - 1)
                        g_test_expect_message("ntprof-peerd", G_LOG_LEVEL_WARNING, "*wrong codes*");
                np_invitations_free(f->invitations);    /* the count outlives the process */
                f->invitations = np_invitations_new(f->state);
                g_assert_false(redeem(f, FINGERPRINT, WRONG, &name));
        }
        g_test_assert_expected_messages();
        g_assert_false(redeem(f, FINGERPRINT, CODE, &name));
        g_assert_false(np_invitations_stand(f->invitations));
}

static void test_at_most(Fixture *f, gconstpointer data)
{
        g_autoptr(GError) error = NULL;

        for (int i = 0; i < NP_INVITATIONS_MAX; i++)
                add(f, CODE, NULL, HOUR);
        g_assert_false(np_invitations_add(f->invitations, FINGERPRINT, CODE, NULL, g_get_real_time() + HOUR, &error));
        g_assert_error(error, NP_ERROR, NP_ERROR_ACCESS_DENIED);
        g_assert_nonnull(strstr(error->message, "16"));
}

int main(int argc, char **argv)
{
        static const struct {
                const char *path;
                void (*run)(Fixture *f, gconstpointer data);
        } tests[] = {
                { "/peerd/invitations/used-once", test_used_once },
                { "/peerd/invitations/no-code-on-disk", test_no_code_on_disk },
                { "/peerd/invitations/expires", test_expires },
                { "/peerd/invitations/wrong-codes", test_wrong_codes },
                { "/peerd/invitations/at-most", test_at_most },
        };

        g_test_init(&argc, &argv, NULL);
        for (gsize i = 0; i < G_N_ELEMENTS(tests); i++)
                g_test_add(tests[i].path, Fixture, NULL, set_up, tests[i].run, tear_down);
        return g_test_run();
}
