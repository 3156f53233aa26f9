/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a peer may have, from the command line into its file and back as the services read it. */
#include "peer-grant.h"

#include <glib/gstdio.h>
#include <ntprof.h>

#include "shared/peer-config.h"
#include "usage.h"

#define NQN_A "nqn.2014-08.org.nvmexpress:uuid:0f01fb42-9f7f-4856-b0b3-51e60b8de349"
#define NQN_B "nqn.2014-08.org.nvmexpress:uuid:1f01fb42-9f7f-4856-b0b3-51e60b8de349"

static char *folder;

static NpPeerConfig *write_and_load(const char *name, const PeerGrant *grant)
{
        g_autoptr(GError) error = NULL;

        g_assert_true(peer_grant_check(name, grant, &error));
        g_assert_no_error(error);
        g_autofree char *path = peer_grant_write(name, grant, &error);
        g_assert_no_error(error);
        NpPeerConfig *config = np_peer_config_load(path, &error);
        g_assert_no_error(error);
        return config;
}

static void test_write(void)
{
        PeerGrant grant = PEER_GRANT_NONE;

        grant.host_nqns = (char *[]){ NQN_A, NQN_B, NULL };
        grant.max_sample_rate = "1/3";
        grant.max_session_sec = 60;
        g_autoptr(NpPeerConfig) config = write_and_load("host-a", &grant);
        g_assert_true(g_strv_equal((const char *const *) config->host_nqns, (const char *const *) grant.host_nqns));
        g_assert_cmpint(config->allow, ==, NP_PEER_ALLOW_OBSERVE);
        g_assert_cmpuint(config->max_threshold, ==, G_MAXUINT32 / 3);
        g_assert_cmpuint(config->max_session_sec, ==, 60);

        /* What isn't said stays; what is said isn't added to what was. */
        PeerGrant less = PEER_GRANT_NONE;
        less.host_nqns = (char *[]){ NQN_B, NULL };
        less.allow = "none";
        g_autoptr(NpPeerConfig) again = write_and_load("host-a", &less);
        g_assert_cmpuint(g_strv_length(again->host_nqns), ==, 1);
        g_assert_cmpstr(again->host_nqns[0], ==, NQN_B);
        g_assert_cmpint(again->allow, ==, NP_PEER_ALLOW_NONE);
        g_assert_cmpuint(again->max_threshold, ==, config->max_threshold);
        g_assert_cmpuint(again->max_session_sec, ==, 60);

        /* Whoever confirms without a word more allows. */
        PeerGrant plain = PEER_GRANT_NONE;
        plain.host_nqns = (char *[]){ NQN_A, NULL };
        plain.max_sample_rate = "all";
        plain.max_session_sec = 0;
        g_autoptr(NpPeerConfig) back = write_and_load("host-a", &plain);
        g_assert_cmpint(back->allow, ==, NP_PEER_ALLOW_OBSERVE);
        g_assert_cmpuint(back->max_threshold, ==, G_MAXUINT32);
        g_assert_cmpuint(back->max_session_sec, ==, 0);
}

static void test_one_peer(void)
{
        g_autoptr(GError) error = NULL;
        PeerGrant grant = PEER_GRANT_NONE;

        grant.host_nqns = (char *[]){ NQN_A, NULL };
        np_peer_config_free(write_and_load("host-a", &grant));
        g_assert_true(peer_grant_possible("host-a", &grant, &error));
        g_assert_no_error(error);
        g_assert_false(peer_grant_possible("host-b", &grant, &error));
        g_assert_error(error, NTPROF_ERROR, NTPROF_ERROR_PEER_EXISTS);
        g_clear_error(&error);
        g_assert_null(peer_grant_write("host-b", &grant, &error));
        g_assert_error(error, NTPROF_ERROR, NTPROF_ERROR_PEER_EXISTS);

        g_autofree char *path = g_build_filename(folder, "host-b.conf", NULL);
        g_assert_false(g_file_test(path, G_FILE_TEST_EXISTS));
}

static void test_check(void)
{
        static const struct {
                const char *name, *nqn, *allow, *rate;
                gint64 seconds;
        } wrong[] = {
                { "../passwd", NQN_A, NULL, NULL, -1 },
                { "", NQN_A, NULL, NULL, -1 },
                { "host-a", "uuid:1", NULL, NULL, -1 },
                { "host-a", "nqn.a b", NULL, NULL, -1 },
                { "host-a", "", NULL, NULL, -1 },
                { "host-a", NQN_A, "everything", NULL, -1 },
                { "host-a", NQN_A, NULL, "1/0", -1 },
                { "host-a", NQN_A, NULL, "2/3", -1 },
                { "host-a", NQN_A, NULL, NULL, -2 },
                { "host-a", NQN_A, NULL, NULL, G_MAXINT64 },
        };

        for (gsize i = 0; i < G_N_ELEMENTS(wrong); i++) {
                g_autoptr(GError) error = NULL;
                const PeerGrant grant = {
                        .host_nqns = (char *[]){ (char *) wrong[i].nqn, NULL },
                        .allow = (char *) wrong[i].allow,
                        .max_sample_rate = (char *) wrong[i].rate,
                        .max_session_sec = wrong[i].seconds,
                };

                g_assert_false(peer_grant_check(wrong[i].name, &grant, &error));
                g_assert_error(error, USAGE_ERROR, USAGE_ERROR_FAILED);
        }
}

int main(int argc, char *argv[])
{
        g_test_init(&argc, &argv, NULL);
        folder = g_dir_make_tmp("ntprof-peers.XXXXXX", NULL);
        g_setenv("NTPROF_PEERS_DIR", folder, TRUE);
        g_test_add_func("/peer-grant/write", test_write);
        g_test_add_func("/peer-grant/one-peer", test_one_peer);
        g_test_add_func("/peer-grant/check", test_check);
        int r = g_test_run();

        g_autofree char *path = g_build_filename(folder, "host-a.conf", NULL);
        g_remove(path);
        g_rmdir(folder);
        g_free(folder);
        return r;
}
