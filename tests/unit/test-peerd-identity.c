/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <glib/gstdio.h>
#include <string.h>
#include <sys/stat.h>

#include "peerd/identity.h"
#include "shared/peer-config.h"

static char *folder_new(void)
{
        return g_dir_make_tmp("ntprof-XXXXXX", NULL);
}

static void folder_free(char *folder)
{
        g_autoptr(GDir) dir = g_dir_open(folder, 0, NULL);
        const char *name;

        while ((name = g_dir_read_name(dir))) {
                g_autofree char *path = g_build_filename(folder, name, NULL);

                g_assert_cmpint(g_unlink(path), ==, 0);
        }
        g_assert_cmpint(g_rmdir(folder), ==, 0);
        g_free(folder);
}

static void test_made_once(void)
{
        char *folder = folder_new();
        g_autofree char *path = g_build_filename(folder, NP_IDENTITY_FILE, NULL);
        g_autoptr(GError) error = NULL;
        g_autoptr(NpIdentity) first = np_identity_load_or_make(folder, &error);
        g_autoptr(NpIdentity) again = NULL;
        g_autoptr(GByteArray) der = NULL;
        g_autofree char *fingerprint = NULL, *subject = NULL;
        g_autoptr(GDateTime) until = NULL, soon = NULL;
        struct stat st;

        g_assert_no_error(error);
        g_assert_cmpint(stat(path, &st), ==, 0);
        g_assert_cmpint(st.st_mode & 07777, ==, 0600);
        g_object_get(np_identity_certificate(first), "certificate", &der, "subject-name", &subject, "not-valid-after", &until,
                     NULL);
        fingerprint = np_fingerprint_of_der(der->data, der->len);
        g_assert_cmpstr(fingerprint, ==, np_identity_fingerprint(first));
        g_assert_cmpstr(subject, ==, "CN=ntprof");
        g_assert_nonnull(strstr(np_identity_pem(first), "BEGIN CERTIFICATE"));
        g_assert_null(strstr(np_identity_pem(first), "PRIVATE"));
        soon = g_date_time_new_now_utc();
        g_assert_cmpint(g_date_time_difference(until, soon) / G_TIME_SPAN_DAY, >, 99 * 365);

        again = np_identity_load_or_make(folder, &error);
        g_assert_no_error(error);
        g_assert_cmpstr(np_identity_fingerprint(again), ==, np_identity_fingerprint(first));
        folder_free(folder);
}

static void assert_fails(const char *folder, const char *words)
{
        g_autoptr(GError) error = NULL;

        g_assert_null(np_identity_load_or_make(folder, &error));
        g_assert_nonnull(error);
        if (!strstr(error->message, words))
                g_error("\"%s\" is not in \"%s\"", words, error->message);
}

static void test_damaged(void)
{
        char *folder = folder_new(), *other = folder_new();
        g_autofree char *path = g_build_filename(folder, NP_IDENTITY_FILE, NULL), *pem = NULL, *mixed = NULL, *after = NULL;
        g_autoptr(NpIdentity) first = np_identity_load_or_make(folder, NULL);
        g_autoptr(NpIdentity) second = np_identity_load_or_make(other, NULL);

        g_chmod(path, 0640);
        assert_fails(folder, "chmod 600");
        g_chmod(path, 0600);

        g_file_get_contents(path, &pem, NULL, NULL);
        mixed = g_strdup_printf("%.*s%s", (int) (strstr(pem, "-----BEGIN CERTIFICATE") - pem), pem, np_identity_pem(second));
        g_assert_true(g_file_set_contents_full(path, mixed, -1, G_FILE_SET_CONTENTS_CONSISTENT, 0600, NULL));
        assert_fails(folder, "the certificate is not of this private key");
        g_assert_true(g_file_set_contents_full(path, np_identity_pem(first), -1, G_FILE_SET_CONTENTS_CONSISTENT, 0600, NULL));
        assert_fails(folder, "not a private key and its certificate");
        g_assert_true(g_file_set_contents_full(path, pem, strlen(pem) / 2, G_FILE_SET_CONTENTS_CONSISTENT, 0600, NULL));
        assert_fails(folder, "restore it from a backup, or remove it");
        g_assert_true(g_file_set_contents_full(path, "", 0, G_FILE_SET_CONTENTS_CONSISTENT, 0600, NULL));
        assert_fails(folder, path);

        /* nothing was made in its place */
        g_file_get_contents(path, &after, NULL, NULL);
        g_assert_cmpstr(after, ==, "");
        folder_free(folder);
        folder_free(other);
}

static void test_renewed(void)
{
        char *folder = folder_new();
        g_autoptr(NpIdentity) self = np_identity_load_or_make(folder, NULL);
        g_autofree char *first = g_strdup(np_identity_fingerprint(self)), *second = NULL, *third = NULL;
        g_autoptr(GError) error = NULL;
        g_autoptr(NpIdentity) again = NULL, interrupted = NULL, finished = NULL;
        NpIdentity *next;

        next = np_identity_prepare(self, &error);
        g_assert_no_error(error);
        np_identity_drop(self, next);
        g_assert_cmpstr(np_identity_fingerprint(self), ==, first);

        next = np_identity_prepare(self, &error);
        g_assert_no_error(error);
        second = g_strdup(np_identity_fingerprint(next));
        g_assert_cmpstr(second, !=, first);
        g_assert_true(np_identity_adopt(self, next, &error));
        g_assert_cmpstr(np_identity_fingerprint(self), ==, second);
        again = np_identity_load_or_make(folder, &error);
        g_assert_cmpstr(np_identity_fingerprint(again), ==, second);

        /* a crash between the two */
        next = np_identity_prepare(self, &error);
        g_assert_nonnull(next);
        np_identity_free(next);
        g_test_expect_message("ntprof-peerd", G_LOG_LEVEL_WARNING, "*interrupted*");
        interrupted = np_identity_load_or_make(folder, &error);
        g_test_assert_expected_messages();
        g_assert_cmpstr(np_identity_fingerprint(interrupted), ==, second);

        /* and one when a peer knows the new one only */
        next = np_identity_prepare(interrupted, &error);
        g_assert_nonnull(next);
        third = g_strdup(np_identity_fingerprint(next));
        np_identity_told(next);
        np_identity_told(next);
        np_identity_free(next);
        g_test_expect_message("ntprof-peerd", G_LOG_LEVEL_WARNING, "*the new key is in its place*");
        finished = np_identity_load_or_make(folder, &error);
        g_test_assert_expected_messages();
        g_assert_cmpstr(np_identity_fingerprint(finished), ==, third);

        next = np_identity_prepare(finished, &error);
        np_identity_told(next);
        g_assert_true(np_identity_adopt(finished, next, &error));
        g_assert_cmpstr(np_identity_fingerprint(finished), !=, third);
        folder_free(folder);
}

int main(int argc, char **argv)
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/peerd/identity/made-once", test_made_once);
        g_test_add_func("/peerd/identity/damaged", test_damaged);
        g_test_add_func("/peerd/identity/renewed", test_renewed);
        return g_test_run();
}
