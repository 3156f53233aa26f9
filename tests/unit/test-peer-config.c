/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "shared/peer-config.h"

#include <glib/gstdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define FINGERPRINT "sha256-0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

typedef struct {
        char *folder;
        GPtrArray *problems;
} Fixture;

static void set_up(Fixture *f, gconstpointer data)
{
        f->folder = g_dir_make_tmp("ntprof-peers.XXXXXX", NULL);
        f->problems = g_ptr_array_new_with_free_func(g_free);
        g_assert_nonnull(f->folder);
}

static void remove_folder(const char *path)
{
        g_autoptr(GDir) dir = g_dir_open(path, 0, NULL);
        const char *name;

        while (dir && (name = g_dir_read_name(dir))) {
                g_autofree char *child = g_build_filename(path, name, NULL);

                if (g_file_test(child, G_FILE_TEST_IS_DIR) && !g_file_test(child, G_FILE_TEST_IS_SYMLINK))
                        remove_folder(child);
                else
                        g_assert_cmpint(g_unlink(child), ==, 0);
        }
        g_assert_cmpint(g_rmdir(path), ==, 0);
}

static void tear_down(Fixture *f, gconstpointer data)
{
        remove_folder(f->folder);
        g_free(f->folder);
        g_ptr_array_unref(f->problems);
}

static char *put(Fixture *f, const char *name, const char *text)
{
        char *path = g_build_filename(f->folder, name, NULL);

        g_assert_true(g_file_set_contents(path, text, -1, NULL));
        g_assert_cmpint(g_chmod(path, 0644), ==, 0);
        return path;
}

static NpPeerConfig *load(Fixture *f, const char *text)
{
        g_autofree char *path = put(f, "host-a.conf", text);
        g_autoptr(GError) error = NULL;
        NpPeerConfig *config = np_peer_config_load(path, &error);

        g_assert_no_error(error);
        g_assert_cmpstr(config->path, ==, path);
        g_assert_cmpstr(config->name, ==, "host-a");
        return config;
}

static void test_everything(Fixture *f, gconstpointer data)
{
        g_autoptr(NpPeerConfig) config = load(f, "# a comment\n[Peer]\nFingerprint=" FINGERPRINT "\n"
                                              "Address = [fe80::1%eth0]:4425 \n"
                                              "HostNQN=nqn.2014-08.org:uuid:1  nqn.2014-08.org:\\s;x#y\t\n"
                                              "Allow=none\nMaxSampleRate=1/16\nMaxSessionSec=3600\n"
                                              "ClaimedHostNQN=nqn.c\nLastSeen=1700000000000000\nSubsystems=nqn.s1 nqn.s2\n");

        g_assert_cmpstr(config->fingerprint, ==, FINGERPRINT);
        g_assert_cmpstr(config->address, ==, "[fe80::1%eth0]:4425");
        g_assert_cmpuint(g_strv_length(config->host_nqns), ==, 2);
        g_assert_cmpstr(config->host_nqns[1], ==, "nqn.2014-08.org:\\s;x#y");
        g_assert_cmpint(config->allow, ==, NP_PEER_ALLOW_NONE);
        g_assert_cmphex(config->max_threshold, ==, 1U << 28);
        g_assert_cmpuint(config->max_session_sec, ==, 3600);
        g_assert_cmpstr(config->claimed_host_nqns[0], ==, "nqn.c");
        g_assert_cmpint(config->last_seen_usec, ==, 1700000000000000);
        g_assert_cmpstr(config->subsystems[1], ==, "nqn.s2");
}

static void test_defaults(Fixture *f, gconstpointer data)
{
        g_autoptr(NpPeerConfig) empty = load(f, "[Peer]\n");
        g_autoptr(NpPeerConfig) granted = load(f, "[Peer]\nHostNQN=nqn.h\n");
        g_autoptr(NpPeerConfig) all = load(f, "[Peer]\nAllow=observe\nMaxSampleRate=all\nHostNQN=\n");
        g_autoptr(NpPeerConfig) one = load(f, "[Peer]\nMaxSampleRate=1/1\n");
        g_autoptr(NpPeerConfig) least = load(f, "[Peer]\nMaxSampleRate=1/4294967295\n");
        g_autoptr(NpPeerConfig) some = load(f, "[Peer]\nMaxSampleRate=1/16\n");
        g_autofree char *all_rate = np_peer_config_sample_rate(all), *least_rate = np_peer_config_sample_rate(least),
                        *some_rate = np_peer_config_sample_rate(some);

        g_assert_null(empty->fingerprint);
        g_assert_null(empty->address);
        g_assert_nonnull(empty->host_nqns);
        g_assert_null(empty->host_nqns[0]);
        g_assert_null(empty->claimed_host_nqns[0]);
        g_assert_null(empty->subsystems[0]);
        g_assert_cmpint(empty->allow, ==, NP_PEER_ALLOW_NONE);
        g_assert_cmphex(empty->max_threshold, ==, G_MAXUINT32);
        g_assert_cmpuint(empty->max_session_sec, ==, 0);
        g_assert_cmpint(granted->allow, ==, NP_PEER_ALLOW_OBSERVE);
        g_assert_cmpint(all->allow, ==, NP_PEER_ALLOW_OBSERVE);
        g_assert_cmphex(all->max_threshold, ==, G_MAXUINT32);
        g_assert_cmphex(one->max_threshold, ==, G_MAXUINT32);
        g_assert_cmphex(least->max_threshold, ==, 1);
        g_assert_cmpstr(all_rate, ==, "all");
        g_assert_cmpstr(least_rate, ==, "1/4294967295");
        g_assert_cmpstr(some_rate, ==, "1/16");
}

/* Each message names the file, the key, and the value as far as there is one. */
static void test_bad_values(Fixture *f, gconstpointer data)
{
        static const struct {
                const char *text, *expected;
        } cases[] = {
                { "Fingerprint=sha256-0", "Fingerprint=sha256-0 is not a fingerprint" },
                { "Fingerprint=", "Fingerprint= is not a fingerprint" },
                { "Fingerprint=SHA256-0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef",
                  "Fingerprint=SHA256-" },
                { "Fingerprint=sha256-0123456789ABCDEF0123456789abcdef0123456789abcdef0123456789abcdef",
                  "Fingerprint=sha256-" },
                { "Address=a b", "Address=a b is not an address" },
                { "Address=10.0.0.2:0", "Address=10.0.0.2:0 is not an address" },
                { "HostNQN=nqn.a host", "HostNQN=nqn.a host is not one or more NQNs" },
                { "HostNQN=nqn.a\001b", "HostNQN=nqn.a\\001b is not" },
                { "Allow=all", "Allow=all is not \"observe\" or \"none\"" },
                { "Allow=Observe", "Allow=Observe is not" },
                { "MaxSampleRate=16", "MaxSampleRate=16 is not \"all\" or \"1/N\"" },
                { "MaxSampleRate=1/0", "MaxSampleRate=1/0 is not" },
                { "MaxSampleRate=1/-1", "MaxSampleRate=1/-1 is not" },
                { "MaxSampleRate=1/4294967296", "MaxSampleRate=1/4294967296 is not" },
                { "MaxSampleRate=auto", "MaxSampleRate=auto is not" },
                { "MaxSessionSec=1h", "MaxSessionSec=1h is not a number of seconds" },
                { "MaxSessionSec=-1", "MaxSessionSec=-1 is not" },
                { "MaxSessionSec=99999999999999999999", "MaxSessionSec=99999999999999999999 is not" },
                { "ClaimedHostNQN=x", "ClaimedHostNQN=x is not" },
                { "Subsystems=nqn.a\001", "Subsystems=nqn.a\\001 is not" },
                { "LastSeen=yesterday", "LastSeen=yesterday is not a time" },
                { "hostnqn=nqn.a", "hostnqn: no such key; known are Fingerprint, Address, HostNQN," },
                { "HostNQN[de]=nqn.a", "HostNQN[de]: no such key" },
                { "HostNQN=nqn.a\n[Other]\nx=1", "must have the section [Peer], and no other" },
                { "what is this", "host-a.conf: " },
        };

        for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
                g_autofree char *text = g_strdup_printf("[Peer]\n%s\n", cases[i].text), *path = put(f, "host-a.conf", text);
                g_autoptr(GError) error = NULL;
                g_autoptr(NpPeerConfig) config = np_peer_config_load(path, &error);

                g_test_message("%s: %s", cases[i].text, error ? error->message : "no error");
                g_assert_null(config);
                g_assert_nonnull(error);
                g_assert_true(g_str_has_prefix(error->message, path));
                g_assert_nonnull(strstr(error->message, cases[i].expected));
        }
}

static void test_bad_files(Fixture *f, gconstpointer data)
{
        static const char *const names[] = { "absent.conf", "empty.conf", "long.conf", "folder.conf",
                                             "-x.conf",     "a b.conf",   "latin.conf" };
        g_autofree char *empty = put(f, "empty.conf", ""), *dash = put(f, "-x.conf", "[Peer]\n"),
                        *blank = put(f, "a b.conf", "[Peer]\n");
        g_autofree char *many = g_strnfill(70 << 10, '\n'), *long_ = put(f, "long.conf", many);
        g_autofree char *folder = g_build_filename(f->folder, "folder.conf", NULL),
                        *latin = put(f, "latin.conf", "[Peer[\xe9]\n");

        g_assert_cmpint(g_mkdir(folder, 0755), ==, 0);
        for (gsize i = 0; i < G_N_ELEMENTS(names); i++) {
                g_autofree char *path = g_build_filename(f->folder, names[i], NULL);
                g_autoptr(GError) error = NULL;

                g_assert_null(np_peer_config_load(path, &error));
                g_assert_nonnull(error);
                g_test_message("%s", error->message);
                g_assert_true(g_str_has_prefix(error->message, path));
                g_assert_true(g_utf8_validate(error->message, -1, NULL));
        }
}

static void test_names(void)
{
        g_autofree char *longest = g_strnfill(NP_PEER_NAME_MAX, 'a'), *longer = g_strnfill(NP_PEER_NAME_MAX + 1, 'a');
        const char *const good[] = { "a", "host-a", "stor_1.example", "9", longest };
        const char *const bad[] = { "", ".a", "..", "-a", "a/b", "a b", "\303\244", "a\n", "a:b", longer };

        for (gsize i = 0; i < G_N_ELEMENTS(good); i++)
                g_assert_true(np_peer_name_valid(good[i]));
        for (gsize i = 0; i < G_N_ELEMENTS(bad); i++)
                g_assert_false(np_peer_name_valid(bad[i]));
}

static void test_fingerprints(void)
{
        g_autofree char *of_abc = np_fingerprint_of_der("abc", 3), *longer = g_strconcat(FINGERPRINT, "0", NULL),
                        *shorter = g_strndup(FINGERPRINT, strlen(FINGERPRINT) - 1);

        /* FIPS 180-2, B.1 */
        g_assert_cmpstr(of_abc, ==, "sha256-ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
        g_assert_true(np_fingerprint_valid(of_abc));
        g_assert_true(np_fingerprint_valid(FINGERPRINT));
        g_assert_false(np_fingerprint_valid(""));
        g_assert_false(np_fingerprint_valid("sha256-"));
        g_assert_false(np_fingerprint_valid(FINGERPRINT + strlen("sha256-")));
        g_assert_false(np_fingerprint_valid(longer));
        g_assert_false(np_fingerprint_valid(shorter));
}

static void test_nqns(void)
{
        g_autofree char *rest = g_strnfill(223 - strlen("nqn."), 'x'), *longest = g_strconcat("nqn.", rest, NULL),
                        *longer = g_strconcat(longest, "x", NULL);
        const char *const good[] = { "nqn.2014-08.org.nvmexpress:uuid:f81d4fae-7dec-11d0-a765-00a0c91e6bf6", "nqn.x",
                                     "nqn.\303\244", longest };
        const char *const bad[] = { "",         "nqn.",    "nqn",      "NQN.x",        "nqn.a b",
                                    "nqn.a\tb", "nqn.a\n", "nqn.\177", "nqn.\302\240", "nqn.\342\200\250",
                                    "nqn.\377", longer };

        for (gsize i = 0; i < G_N_ELEMENTS(good); i++)
                g_assert_true(np_nqn_valid(good[i]));
        for (gsize i = 0; i < G_N_ELEMENTS(bad); i++)
                g_assert_false(np_nqn_valid(bad[i]));
        g_assert_true(np_subsystem_nqn_valid("testnqn"));
        g_assert_false(np_subsystem_nqn_valid(""));
        g_assert_false(np_subsystem_nqn_valid("test nqn"));
        g_assert_false(np_subsystem_nqn_valid(longer));
}

static void test_addresses(void)
{
        static const struct {
                const char *text, *host;
                guint port;
        } good[] = {
                { "10.0.0.2:4425", "10.0.0.2", 4425 }, { "10.0.0.2", "10.0.0.2", NP_PEER_PORT },
                { "[fe80::1%eth0]:1", "fe80::1%eth0", 1 }, { "[::1]", "::1", NP_PEER_PORT }, { "::1", "::1", NP_PEER_PORT },
                { "fe80::1%eth0", "fe80::1%eth0", NP_PEER_PORT }, { "stor-a.example:65535", "stor-a.example", 65535 },
                { "stor_a", "stor_a", NP_PEER_PORT },
        };
        static const char *const bad[] = {
                "", ":4425", "10.0.0.2:", "10.0.0.2:0", "10.0.0.2:65536", "10.0.0.2:http", "10.0.0.2:+1", "10.0.0.256",
                "10.0.0", "[10.0.0.2]:1", "[::1", "[]", "[::1]1", "[::1]:", "::1:x", "[::1%]:1", "[::1%a/b]:1", "a b", "a/b",
                "user@host", "-h", "h\n", "http://x", "h:1:2",
        };

        for (gsize i = 0; i < G_N_ELEMENTS(good); i++) {
                g_autoptr(GError) error = NULL;
                g_autoptr(GSocketConnectable) address = np_address_parse(good[i].text, &error);

                g_assert_no_error(error);
                g_assert_cmpstr(g_network_address_get_hostname(G_NETWORK_ADDRESS(address)), ==, good[i].host);
                g_assert_cmpuint(g_network_address_get_port(G_NETWORK_ADDRESS(address)), ==, good[i].port);
        }
        for (gsize i = 0; i < G_N_ELEMENTS(bad); i++) {
                g_autoptr(GError) error = NULL;

                g_test_message("%s", bad[i]);
                g_assert_null(np_address_parse(bad[i], &error));
                g_assert_error(error, G_IO_ERROR, G_IO_ERROR_INVALID_ARGUMENT);
        }
}

static guint mode_of(const char *path)
{
        struct stat st;

        g_assert_cmpint(stat(path, &st), ==, 0);
        return st.st_mode & 07777;
}

/* Whatever the umask is, and the folder is made. */
static void test_saved_and_loaded(Fixture *f, gconstpointer data)
{
        g_autofree char *folder = g_build_filename(f->folder, "etc", "peers.d", NULL),
                        *path = g_build_filename(folder, "host-a.conf", NULL), *text = NULL, *again = NULL;
        g_autoptr(NpPeerConfig) config = np_peer_config_new("host-a"), loaded = NULL;
        g_autoptr(GError) error = NULL;
        g_autoptr(GDir) dir = NULL;
        mode_t old = umask(0077);

        config->fingerprint = g_strdup(FINGERPRINT);
        config->address = g_strdup("10.0.0.2");
        g_strfreev(config->host_nqns);
        config->host_nqns = g_strsplit("nqn.a:\\x nqn.b", " ", -1);
        config->allow = NP_PEER_ALLOW_OBSERVE;
        config->max_session_sec = 60;
        config->last_seen_usec = 12345;
        for (guint64 n = 1; n < 5000; n += n < 100 ? 1 : 97) {
                g_clear_pointer(&loaded, np_peer_config_free);
                config->max_threshold = n == 1 ? G_MAXUINT32 : (guint32) ((G_GUINT64_CONSTANT(1) << 32) / n);
                g_assert_true(np_peer_config_save(config, folder, &error));
                g_assert_no_error(error);
                loaded = np_peer_config_load(path, &error);
                g_assert_no_error(error);
                g_assert_cmphex(loaded->max_threshold, ==, config->max_threshold);
        }
        umask(old);

        g_assert_cmpstr(loaded->fingerprint, ==, FINGERPRINT);
        g_assert_cmpstr(loaded->address, ==, "10.0.0.2");
        g_assert_true(g_strv_equal((const char *const *) loaded->host_nqns, (const char *const *) config->host_nqns));
        g_assert_cmpint(loaded->allow, ==, NP_PEER_ALLOW_OBSERVE);
        g_assert_cmpuint(loaded->max_session_sec, ==, 60);
        g_assert_cmpint(loaded->last_seen_usec, ==, 12345);
        g_assert_cmphex(mode_of(path), ==, 0644);
        g_assert_cmphex(mode_of(folder), ==, 0755);

        /* only what is set, and nothing else is left in the folder */
        g_assert_true(g_file_get_contents(path, &text, NULL, NULL));
        g_assert_null(strstr(text, "Allow"));
        g_assert_null(strstr(text, "Subsystems"));
        dir = g_dir_open(folder, 0, NULL);
        g_assert_cmpstr(g_dir_read_name(dir), ==, "host-a.conf");
        g_assert_null(g_dir_read_name(dir));

        config->allow = NP_PEER_ALLOW_NONE;
        g_assert_true(np_peer_config_save(config, folder, NULL));
        g_assert_true(g_file_get_contents(path, &again, NULL, NULL));
        g_assert_nonnull(strstr(again, "Allow=none"));
}

/* What could not be read again is not written, and what is there stays. */
static void test_nothing_bad_is_saved(Fixture *f, gconstpointer data)
{
        g_autofree char *path = put(f, "host-a.conf", "[Peer]\nMaxSessionSec=7\n");
        g_autoptr(NpPeerConfig) config = np_peer_config_new("host-a"), outside = np_peer_config_new("../x"), kept = NULL;
        g_autoptr(GError) error = NULL;

        g_assert_false(np_peer_config_save(outside, f->folder, &error));
        g_assert_nonnull(strstr(error->message, "cannot be the name of a peer"));
        g_clear_error(&error);

        config->max_threshold = 0;
        g_assert_false(np_peer_config_save(config, f->folder, &error));
        g_assert_nonnull(strstr(error->message, "MaxSampleRate=1/0"));
        g_clear_error(&error);

        config->max_threshold = G_MAXUINT32;
        config->address = g_strdup("10.0.0.2\nHostNQN=nqn.a");
        g_assert_false(np_peer_config_save(config, f->folder, &error));

        kept = np_peer_config_load(path, NULL);
        g_assert_cmpuint(kept->max_session_sec, ==, 7);
}

static void on_problem(const GError *error, gpointer data)
{
        Fixture *f = data;

        g_test_message("%s", error->message);
        g_ptr_array_add(f->problems, g_strdup(error->message));
}

static void test_folder(Fixture *f, gconstpointer data)
{
        g_autofree char *b = put(f, "b.conf", "[Peer]\n"), *a = put(f, "a.conf", "[Peer]\n"),
                        *other = put(f, "a.conf.old", "nonsense"), *hidden = put(f, ".a.conf", "nonsense"),
                        *bad = put(f, "c.conf", "[Peer]\nX=1\n"), *absent = g_build_filename(f->folder, "absent", NULL);
        g_autoptr(GPtrArray) configs = np_peer_configs_load(f->folder, NULL, on_problem, f);
        g_autoptr(GPtrArray) silent = np_peer_configs_load(f->folder, NULL, NULL, NULL);
        g_autoptr(GPtrArray) none = NULL;

        g_assert_cmpuint(configs->len, ==, 2);
        g_assert_cmpuint(silent->len, ==, 2);
        g_assert_cmpstr(((NpPeerConfig *) configs->pdata[0])->name, ==, "a");
        g_assert_cmpstr(((NpPeerConfig *) configs->pdata[1])->name, ==, "b");
        g_assert_cmpuint(f->problems->len, ==, 1);
        g_assert_nonnull(strstr(f->problems->pdata[0], "c.conf: X: no such key"));

        none = np_peer_configs_load(absent, (uid_t[]) { 0, (uid_t) -1 }, on_problem, f);
        g_assert_cmpuint(none->len, ==, 0);
        g_assert_cmpuint(f->problems->len, ==, 1);
}

static guint n_trusted(Fixture *f, uid_t uid)
{
        g_autoptr(GPtrArray) configs = NULL;

        g_ptr_array_set_size(f->problems, 0);
        configs = np_peer_configs_load(f->folder, (uid_t[]) { uid, (uid_t) -1 }, on_problem, f);
        return configs->len;
}

static void test_trust(Fixture *f, gconstpointer data)
{
        g_autofree char *path = put(f, "a.conf", "[Peer]\n");
        uid_t me = getuid();

        g_assert_cmpuint(n_trusted(f, me), ==, 1);
        g_assert_cmpuint(f->problems->len, ==, 0);

        g_assert_cmpuint(n_trusted(f, me + 1), ==, 0);
        g_assert_cmpuint(f->problems->len, ==, 1);
        g_assert_nonnull(strstr(f->problems->pdata[0], "owns it"));

        for (guint i = 0; i < 2; i++) {
                g_assert_cmpint(g_chmod(path, i ? 0664 : 0646), ==, 0);
                g_assert_cmpuint(n_trusted(f, me), ==, 0);
                g_assert_cmpuint(f->problems->len, ==, 1);
                g_assert_nonnull(strstr(f->problems->pdata[0], "a.conf: others than its owner may write it"));
        }

        g_assert_cmpint(g_chmod(path, 0644), ==, 0);
        g_assert_cmpint(g_chmod(f->folder, 0777), ==, 0);
        g_assert_cmpuint(n_trusted(f, me), ==, 0);
        g_assert_cmpuint(f->problems->len, ==, 1);
        g_assert_true(g_str_has_prefix(f->problems->pdata[0], f->folder));
        g_assert_cmpint(g_chmod(f->folder, 0700), ==, 0);
        g_assert_cmpuint(n_trusted(f, me), ==, 1);
}

/* A file that is root's own, but in another's folder. */
static void test_trust_of_links(Fixture *f, gconstpointer data)
{
        g_autofree char *target = put(f, "elsewhere", "[Peer]\n"), *link = g_build_filename(f->folder, "a.conf", NULL),
                        *fifo = g_build_filename(f->folder, "b.conf", NULL);

        g_assert_cmpint(g_chmod(target, 0666), ==, 0);
        g_assert_cmpint(symlink(target, link), ==, 0);
        g_assert_cmpint(mkfifo(fifo, 0600), ==, 0);
        g_assert_cmpuint(n_trusted(f, getuid()), ==, 0);
        g_assert_cmpuint(f->problems->len, ==, 2);
        g_assert_nonnull(strstr(f->problems->pdata[0], "others than its owner may write it"));
        g_assert_nonnull(strstr(f->problems->pdata[1], "not a regular file"));
}

int main(int argc, char **argv)
{
        g_test_init(&argc, &argv, NULL);
#define ADD(path, function) g_test_add("/peer-config/" path, Fixture, NULL, set_up, function, tear_down)
        ADD("everything", test_everything);
        ADD("defaults", test_defaults);
        ADD("bad-values", test_bad_values);
        ADD("bad-files", test_bad_files);
        g_test_add_func("/peer-config/names", test_names);
        g_test_add_func("/peer-config/fingerprints", test_fingerprints);
        g_test_add_func("/peer-config/nqns", test_nqns);
        g_test_add_func("/peer-config/addresses", test_addresses);
        ADD("saved-and-loaded", test_saved_and_loaded);
        ADD("nothing-bad-is-saved", test_nothing_bad_is_saved);
        ADD("folder", test_folder);
        ADD("trust", test_trust);
        ADD("trust-of-links", test_trust_of_links);
        return g_test_run();
}
