/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/peer/policy.h"

#include <glib.h>
#include <glib/gstdio.h>
#include <string.h>

#define FINGERPRINT "sha256-0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define OTHER "sha256-ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff"

typedef struct Fixture {
        char *folder;
        PeerPolicy policy;
        PeerRequest request;
        PeerGrant grant;
        Error error;
        char *problems;
} Fixture;

static void set_up(Fixture *f, gconstpointer data)
{
        f->folder = g_dir_make_tmp("ntprof-policy.XXXXXX", NULL);
        g_assert_nonnull(f->folder);
        f->policy = (PeerPolicy) { .folder = f->folder, .own_files = true, .machine = "stor-a" };
        f->request.n_filters = 1;
        f->request.filters[0] = (PeerFilter) { .subsysnqn = g_strdup("nqn.sub"), .hostnqn = g_strdup("nqn.host-a"), .nsid = 1 };
}

static void forget(Fixture *f)
{
        peer_grant_clear(&f->grant);
        error_clear(&f->error);
        g_clear_pointer(&f->problems, g_free);
}

static void tear_down(Fixture *f, gconstpointer data)
{
        g_autoptr(GDir) dir = g_dir_open(f->folder, 0, NULL);
        const char *name;

        while ((name = g_dir_read_name(dir))) {
                g_autofree char *path = g_build_filename(f->folder, name, NULL);

                g_assert_cmpint(g_unlink(path), ==, 0);
        }
        g_assert_cmpint(g_rmdir(f->folder), ==, 0);
        g_free(f->folder);
        peer_request_clear(&f->request);
        forget(f);
}

static char *put(Fixture *f, const char *name, const char *text)
{
        char *path = g_build_filename(f->folder, name, NULL);
        g_autofree char *all = g_strconcat("[Peer]\n", text, "\n", NULL);

        g_assert_true(g_file_set_contents(path, all, -1, NULL));
        g_assert_cmpint(g_chmod(path, 0644), ==, 0);
        return path;
}

static int check(Fixture *f)
{
        PeerWho who = { .name = (char *) "host-a", .fingerprint = (char *) FINGERPRINT, .address = (char *) "10.0.0.1:4425" };

        forget(f);
        return peer_policy_check(&f->policy, &who, &f->request, &f->grant, &f->problems, &f->error);
}

static void allowed(Fixture *f)
{
        int r = check(f);

        g_assert_cmpstr(f->error.message, ==, NULL);
        g_assert_cmpint(r, ==, 0);
}

/* Refused, in words that have the machine first and all of these. */
static void refused(Fixture *f, const char *const *words)
{
        g_assert_cmpint(check(f), ==, -EPERM);
        g_test_message("%s", f->error.message);
        g_assert_cmpint(f->error.code, ==, NTPROF_ERROR_PEER_REFUSED);
        g_assert_true(g_str_has_prefix(f->error.message, "stor-a: "));
        for (; *words; words++)
                g_assert_nonnull(strstr(f->error.message, *words));
        g_assert_null(f->grant.limit);
}

#define REFUSED(f, ...) refused(f, (const char *const []) { __VA_ARGS__, NULL })

static void test_allowed(Fixture *f, gconstpointer data)
{
        g_autofree char *path = put(f, "host-a.conf", "HostNQN=nqn.x nqn.host-a"),
                        *other = put(f, "host-b.conf", "HostNQN=nqn.host-b");

        allowed(f);
        g_assert_null(f->problems);
        g_assert_cmphex(f->grant.max_threshold, ==, UINT32_MAX);
        g_assert_cmpuint(f->grant.max_usec, ==, 0);
        g_assert_null(f->grant.limit);

        g_free(put(f, "host-a.conf", "Fingerprint=" FINGERPRINT "\nHostNQN=nqn.host-a\nMaxSampleRate=1/16\nMaxSessionSec=60"));
        allowed(f);
        g_assert_cmphex(f->grant.max_threshold, ==, 1U << 28);
        g_assert_cmpuint(f->grant.max_usec, ==, 60 * USEC_PER_SEC);
        g_assert_true(g_str_has_prefix(f->grant.limit, "MaxSessionSec=60 in "));
        g_assert_true(g_str_has_suffix(f->grant.limit, path));
}

static void test_nothing_granted(Fixture *f, gconstpointer data)
{
        g_autofree char *path = g_build_filename(f->folder, "host-a.conf", NULL);

        REFUSED(f, "host-a is not confirmed (no HostNQN= in", path, "run 'ntprofctl peer confirm host-a' there");
        g_free(put(f, "host-a.conf", "Fingerprint=" FINGERPRINT));
        REFUSED(f, "host-a is not confirmed (no HostNQN= in", path, "run 'ntprofctl peer confirm host-a' there");
        g_free(put(f, "host-a.conf", "Allow=observe"));
        REFUSED(f, "host-a is not confirmed (no HostNQN= in", path);
        /* what it claims is no grant */
        g_free(put(f, "host-a.conf", "ClaimedHostNQN=nqn.host-a"));
        REFUSED(f, "host-a is not confirmed (no HostNQN= in", path);
        /* nor what another has */
        g_free(put(f, "host-b.conf", "HostNQN=nqn.host-a"));
        REFUSED(f, "host-a is not confirmed (no HostNQN= in", path);

        g_free(put(f, "host-b.conf", ""));
        g_free(put(f, "host-a.conf", "HostNQN=nqn.host-a"));
        allowed(f);
}

static void test_no_folder(Fixture *f, gconstpointer data)
{
        f->policy.folder = "/nonexistent/peers.d";
        REFUSED(f, "host-a is not confirmed (no HostNQN= in /nonexistent/peers.d/host-a.conf)");
        g_assert_null(f->problems);
}

static void test_fingerprint(Fixture *f, gconstpointer data)
{
        g_autofree char *path = put(f, "host-a.conf", "Fingerprint=" OTHER "\nHostNQN=nqn.host-a");

        REFUSED(f, "the certificate of host-a is " FINGERPRINT, "Fingerprint= in", path, "administrator must change it");
}

static void test_not_allowed(Fixture *f, gconstpointer data)
{
        g_autofree char *path = put(f, "host-a.conf", "Allow=none\nHostNQN=nqn.host-a");

        REFUSED(f, "host-a may not record there", path, "Allow=none", "Allow=observe");
}

static void test_another_hosts(Fixture *f, gconstpointer data)
{
        g_autofree char *path = put(f, "host-a.conf", "HostNQN=nqn.host-a"),
                        *other = put(f, "host-b.conf", "HostNQN=nqn.host-b");

        f->request.filters[f->request.n_filters++] =
                (PeerFilter) { .subsysnqn = g_strdup("nqn.sub"), .hostnqn = g_strdup("nqn.host-b"), .nsid = 1 };
        REFUSED(f, "host NQN nqn.host-b is not host-a's there", path, "add it");
        /* a prefix is not the name */
        g_free(f->request.filters[1].hostnqn);
        f->request.filters[1].hostnqn = g_strdup("nqn.host");
        REFUSED(f, "host NQN nqn.host is not");
}

static void test_claimed_twice(Fixture *f, gconstpointer data)
{
        g_autofree char *path = put(f, "host-a.conf", "HostNQN=nqn.host-a nqn.only-a"),
                        *other = put(f, "host-b.conf", "Allow=none\nHostNQN=nqn.host-a");

        REFUSED(f, "host NQN nqn.host-a is in both", path, other, "neither may have it recorded");
        g_free(f->request.filters[0].hostnqn);
        f->request.filters[0].hostnqn = g_strdup("nqn.only-a");
        allowed(f);
}

/* What is wrong with the file is this machine's business; that something is, is told. */
static void test_bad_file(Fixture *f, gconstpointer data)
{
        g_autofree char *path = put(f, "host-a.conf", "HostNQN=nqn.host-a\nMaxSampleRate=secret"), *other = NULL;

        REFUSED(f, path, "cannot be read or used", "journalctl -u ntprofd");
        g_assert_null(strstr(f->error.message, "secret"));
        g_assert_nonnull(strstr(f->problems, "MaxSampleRate=secret"));

        /* another's does not matter */
        g_free(put(f, "host-a.conf", "HostNQN=nqn.host-a"));
        other = put(f, "host-b.conf", "nonsense");
        allowed(f);
        g_assert_nonnull(strstr(f->problems, "host-b.conf"));
}

static void test_who_owns_it(Fixture *f, gconstpointer data)
{
        g_autofree char *path = put(f, "host-a.conf", "HostNQN=nqn.host-a");

        allowed(f);
        f->policy.own_files = false;
        if (geteuid() == 0)
                allowed(f);
        else
                REFUSED(f, "cannot be read or used");

        f->policy.own_files = true;
        g_assert_cmpint(g_chmod(path, 0666), ==, 0);
        REFUSED(f, path, "cannot be read or used");
        g_assert_nonnull(strstr(f->problems, "others than its owner may write it"));
}

int main(int argc, char **argv)
{
        g_test_init(&argc, &argv, NULL);
#define ADD(path, function) g_test_add("/policy/" path, Fixture, NULL, set_up, function, tear_down)
        ADD("allowed", test_allowed);
        ADD("nothing-granted", test_nothing_granted);
        ADD("no-folder", test_no_folder);
        ADD("fingerprint", test_fingerprint);
        ADD("not-allowed", test_not_allowed);
        ADD("another-hosts", test_another_hosts);
        ADD("claimed-twice", test_claimed_twice);
        ADD("bad-file", test_bad_file);
        ADD("who-owns-it", test_who_owns_it);
        return g_test_run();
}
