/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "peer-config.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define GROUP "Peer"
#define SUFFIX ".conf"
#define FILE_MAX (64 << 10)

/* 2^32 hashes: sampled are those below the threshold, and G_MAXUINT32 stands for all. */
#define HASHES (G_GUINT64_CONSTANT(1) << 32)

typedef struct {
        const char *key;
        /* NULL, or what the value must be, as the end of "... is not". A value is what stands after '=', without blanks around
         * it. */
        const char *(*set)(NpPeerConfig *config, const char *value);
        /* NULL: nothing to write */
        char *(*get)(const NpPeerConfig *config);
} KeyInfo;

NpPeerConfig *np_peer_config_new(const char *name)
{
        NpPeerConfig *config = g_new0(NpPeerConfig, 1);

        config->name = g_strdup(name);
        config->host_nqns = g_new0(char *, 1);
        config->claimed_host_nqns = g_new0(char *, 1);
        config->subsystems = g_new0(char *, 1);
        config->max_threshold = G_MAXUINT32;
        return config;
}

void np_peer_config_free(NpPeerConfig *config)
{
        if (!config)
                return;
        g_free(config->name);
        g_free(config->path);
        g_free(config->fingerprint);
        g_free(config->address);
        g_strfreev(config->host_nqns);
        g_strfreev(config->claimed_host_nqns);
        g_strfreev(config->subsystems);
        g_free(config);
}

static const char *set_fingerprint(NpPeerConfig *config, const char *value)
{
        if (!np_fingerprint_valid(value))
                return "a fingerprint: \"sha256-\" and 64 lower-case hexadecimal digits";
        g_free(config->fingerprint);
        config->fingerprint = g_strdup(value);
        return NULL;
}

static char *get_fingerprint(const NpPeerConfig *config)
{
        return g_strdup(config->fingerprint);
}

static const char *set_address(NpPeerConfig *config, const char *value)
{
        g_autoptr(GSocketConnectable) address = np_address_parse(value, NULL);

        if (!address)
                return "an address: \"10.0.0.2:4425\", \"[fe80::1%eth0]:4425\" or \"name.example:4425\"";
        g_free(config->address);
        config->address = g_strdup(value);
        return NULL;
}

static char *get_address(const NpPeerConfig *config)
{
        return g_strdup(config->address);
}

static const char host_nqns_expected[] = "one or more NQNs, each \"nqn.\" and at most 223 bytes in all, separated by blanks";

static const char *set_nqns(char ***nqns, const char *value, gboolean (*valid)(const char *nqn), const char *expected)
{
        g_autoptr(GPtrArray) list = g_ptr_array_new_with_free_func(g_free);
        g_auto(GStrv) words = g_strsplit_set(value, " \t", -1);

        for (char **word = words; *word; word++) {
                if (**word == '\0')
                        continue;
                if (!valid(*word))
                        return expected;
                g_ptr_array_add(list, g_strdup(*word));
        }
        g_ptr_array_add(list, NULL);
        g_strfreev(*nqns);
        *nqns = (char **) g_ptr_array_free(g_steal_pointer(&list), FALSE);
        return NULL;
}

static char *get_nqns(char **nqns)
{
        return nqns[0] ? g_strjoinv(" ", nqns) : NULL;
}

static const char *set_host_nqns(NpPeerConfig *config, const char *value)
{
        return set_nqns(&config->host_nqns, value, np_nqn_valid, host_nqns_expected);
}

static char *get_host_nqns(const NpPeerConfig *config)
{
        return get_nqns(config->host_nqns);
}

static const char *set_claimed(NpPeerConfig *config, const char *value)
{
        return set_nqns(&config->claimed_host_nqns, value, np_nqn_valid, host_nqns_expected);
}

static char *get_claimed(const NpPeerConfig *config)
{
        return get_nqns(config->claimed_host_nqns);
}

static const char *set_subsystems(NpPeerConfig *config, const char *value)
{
        return set_nqns(&config->subsystems, value, np_subsystem_nqn_valid,
                        "one or more NQNs of at most 223 bytes, separated by blanks");
}

static char *get_subsystems(const NpPeerConfig *config)
{
        return get_nqns(config->subsystems);
}

static NpPeerAllow default_allow(const NpPeerConfig *config)
{
        return config->host_nqns[0] ? NP_PEER_ALLOW_OBSERVE : NP_PEER_ALLOW_NONE;
}

static const char *set_allow(NpPeerConfig *config, const char *value)
{
        if (g_str_equal(value, "observe"))
                config->allow = NP_PEER_ALLOW_OBSERVE;
        else if (g_str_equal(value, "none"))
                config->allow = NP_PEER_ALLOW_NONE;
        else
                return "\"observe\" or \"none\"";
        return NULL;
}

static char *get_allow(const NpPeerConfig *config)
{
        if (config->allow == default_allow(config))
                return NULL;
        return g_strdup(config->allow == NP_PEER_ALLOW_OBSERVE ? "observe" : "none");
}

static const char *set_rate(NpPeerConfig *config, const char *value)
{
        guint64 n = 1;

        if (!g_str_equal(value, "all") &&
            !(g_str_has_prefix(value, "1/") && g_ascii_string_to_unsigned(value + 2, 10, 1, G_MAXUINT32, &n, NULL)))
                return "\"all\" or \"1/N\" with N from 1 to 4294967295";
        config->max_threshold = n == 1 ? G_MAXUINT32 : HASHES / n;
        return NULL;
}

char *np_peer_config_sample_rate(const NpPeerConfig *config)
{
        /* 0 is no rate, and written as what the check of the whole refuses */
        if (config->max_threshold == G_MAXUINT32)
                return g_strdup("all");
        return g_strdup_printf("1/%" G_GUINT64_FORMAT,
                               config->max_threshold ? MIN(HASHES / config->max_threshold, G_MAXUINT32) : 0);
}

static char *get_rate(const NpPeerConfig *config)
{
        return config->max_threshold == G_MAXUINT32 ? NULL : np_peer_config_sample_rate(config);
}

static const char *set_session(NpPeerConfig *config, const char *value)
{
        if (!g_ascii_string_to_unsigned(value, 10, 0, G_MAXUINT32, &config->max_session_sec, NULL))
                return "a number of seconds, at most 4294967295; 0 is no limit";
        return NULL;
}

static char *get_session(const NpPeerConfig *config)
{
        return config->max_session_sec ? g_strdup_printf("%" G_GUINT64_FORMAT, config->max_session_sec) : NULL;
}

static const char *set_last_seen(NpPeerConfig *config, const char *value)
{
        guint64 usec;

        if (!g_ascii_string_to_unsigned(value, 10, 0, G_MAXINT64, &usec, NULL))
                return "a time, in microseconds since 1970";
        config->last_seen_usec = usec;
        return NULL;
}

static char *get_last_seen(const NpPeerConfig *config)
{
        return config->last_seen_usec ? g_strdup_printf("%" G_GINT64_FORMAT, config->last_seen_usec) : NULL;
}

/* In the order in which they are written. */
static const KeyInfo keys[] = {
        { "Fingerprint",    set_fingerprint, get_fingerprint },
        { "Address",        set_address,     get_address },
        { "HostNQN",        set_host_nqns,   get_host_nqns },
        { "Allow",          set_allow,       get_allow },
        { "MaxSampleRate",  set_rate,        get_rate },
        { "MaxSessionSec",  set_session,     get_session },
        { "ClaimedHostNQN", set_claimed,     get_claimed },
        { "LastSeen",       set_last_seen,   get_last_seen },
        { "Subsystems",     set_subsystems,  get_subsystems },
};

static const KeyInfo *find_key(const char *key)
{
        for (gsize i = 0; i < G_N_ELEMENTS(keys); i++)
                if (g_str_equal(keys[i].key, key))
                        return &keys[i];
        return NULL;
}

static gboolean read_key(NpPeerConfig *config, GKeyFile *file, const char *key, const char *path, GError **error)
{
        const KeyInfo *info = find_key(key);
        g_autofree char *value = NULL, *shown = NULL;
        const char *expected;

        if (!info) {
                g_autoptr(GString) known = g_string_new(NULL);

                for (gsize i = 0; i < G_N_ELEMENTS(keys); i++)
                        g_string_append_printf(known, "%s%s", i ? ", " : "", keys[i].key);
                shown = g_strescape(key, NULL);
                g_set_error(error, G_IO_ERROR, G_IO_ERROR_INVALID_DATA, "%s: %s: no such key; known are %s", path, shown,
                            known->str);
                return FALSE;
        }

        /* As it stands there: NQNs are not escaped. */
        value = g_key_file_get_value(file, GROUP, key, error);
        if (!value) {
                g_prefix_error(error, "%s: %s: ", path, key);
                return FALSE;
        }
        expected = info->set(config, g_strstrip(value));
        if (expected) {
                shown = g_strescape(value, NULL);
                g_set_error(error, G_IO_ERROR, G_IO_ERROR_INVALID_DATA, "%s: %s=%.300s is not %s", path, key, shown, expected);
                return FALSE;
        }
        return TRUE;
}

static NpPeerConfig *parse(const char *name, const char *path, const char *text, gsize size, GError **error)
{
        g_autoptr(NpPeerConfig) config = np_peer_config_new(name);
        g_autoptr(GKeyFile) file = g_key_file_new();
        g_auto(GStrv) groups = NULL, names = NULL;
        gboolean has_allow = FALSE;

        config->path = g_strdup(path);
        if (!np_peer_name_valid(name)) {
                g_autofree char *shown = g_strescape(name, NULL);

                g_set_error(error, G_IO_ERROR, G_IO_ERROR_INVALID_DATA,
                            "%s: \"%.100s\" cannot be the name of a peer: letters, digits, "
                            "'-', '_' and '.', not first '.' or '-', at most %d",
                            path, shown, NP_PEER_NAME_MAX);
                return NULL;
        }
        /* What is wrong is told with parts of the text, and a message goes to people and over the bus. */
        if (!g_utf8_validate(text, (gssize) size, NULL)) {
                g_set_error(error, G_IO_ERROR, G_IO_ERROR_INVALID_DATA, "%s: it is not UTF-8 text", path);
                return NULL;
        }
        if (!g_key_file_load_from_data(file, text, size, G_KEY_FILE_KEEP_TRANSLATIONS, error)) {
                g_prefix_error(error, "%s: ", path);
                return NULL;
        }

        groups = g_key_file_get_groups(file, NULL);
        if (!groups[0] || groups[1] || !g_str_equal(groups[0], GROUP)) {
                g_set_error(error, G_IO_ERROR, G_IO_ERROR_INVALID_DATA,
                            "%s: it must have the section [" GROUP "], and no other", path);
                return NULL;
        }
        names = g_key_file_get_keys(file, GROUP, NULL, error);
        for (char **key = names; key && *key; key++) {
                if (!read_key(config, file, *key, path, error))
                        return NULL;
                has_allow |= g_str_equal(*key, "Allow");
        }
        if (!has_allow)
                config->allow = default_allow(config);
        return g_steal_pointer(&config);
}

gboolean np_peer_config_set(NpPeerConfig *config, const char *key, const char *value, GError **error)
{
        const KeyInfo *info = find_key(key);
        const char *expected;

        g_return_val_if_fail(info, FALSE);
        expected = info->set(config, value);
        if (expected) {
                g_autofree char *shown = g_strescape(value, NULL);

                g_set_error(error, G_IO_ERROR, G_IO_ERROR_INVALID_DATA, "\"%.300s\" is not %s", shown, expected);
                return FALSE;
        }
        return TRUE;
}

static char *name_of(const char *path)
{
        char *name = g_path_get_basename(path);

        if (g_str_has_suffix(name, SUFFIX))
                name[strlen(name) - strlen(SUFFIX)] = '\0';
        return name;
}

static void set_errno_error(GError **error, int code, const char *path, const char *what)
{
        g_set_error(error, G_IO_ERROR, g_io_error_from_errno(code), "%s: %s: %s", path, what, g_strerror(code));
}

/* Of what is open: what the name stands for may be another the next moment. */
static gboolean check_trusted(const struct stat *st, const char *path, const uid_t *trusted_uids, GError **error)
{
        gboolean trusted = FALSE;

        for (const uid_t *uid = trusted_uids; *uid != (uid_t) -1; uid++)
                trusted |= *uid == st->st_uid;
        if (!trusted) {
                g_set_error(error, G_IO_ERROR, G_IO_ERROR_PERMISSION_DENIED,
                            "%s: uid %u owns it, so it is not trusted: chown root %s", path, st->st_uid, path);
                return FALSE;
        }
        if (st->st_mode & (S_IWGRP | S_IWOTH)) {
                g_set_error(error, G_IO_ERROR, G_IO_ERROR_PERMISSION_DENIED,
                            "%s: others than its owner may write it, so it is not trusted: chmod go-w %s", path, path);
                return FALSE;
        }
        return TRUE;
}

static char *read_all(const char *path, const uid_t *trusted_uids, gsize *ret_size, GError **error)
{
        g_autofree char *text = g_malloc(FILE_MAX + 1);
        gsize size = 0;
        struct stat st;
        int fd;

        fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
        if (fd < 0 || fstat(fd, &st) < 0) {
                set_errno_error(error, errno, path, "it cannot be opened");
                goto fail;
        }
        if (!S_ISREG(st.st_mode)) {
                g_set_error(error, G_IO_ERROR, G_IO_ERROR_NOT_REGULAR_FILE, "%s: it is not a regular file", path);
                goto fail;
        }
        if (trusted_uids && !check_trusted(&st, path, trusted_uids, error))
                goto fail;

        for (;;) {
                ssize_t n = read(fd, text + size, FILE_MAX + 1 - size);

                if (n < 0 && errno == EINTR)
                        continue;
                if (n < 0) {
                        set_errno_error(error, errno, path, "it cannot be read");
                        goto fail;
                }
                if (n == 0)
                        break;
                size += n;
                if (size > FILE_MAX) {
                        g_set_error(error, G_IO_ERROR, G_IO_ERROR_INVALID_DATA, "%s: it is longer than %d bytes", path,
                                    FILE_MAX);
                        goto fail;
                }
        }
        close(fd);
        *ret_size = size;
        return g_steal_pointer(&text);

fail:
        if (fd >= 0)
                close(fd);
        return NULL;
}

static NpPeerConfig *load(const char *path, const uid_t *trusted_uids, GError **error)
{
        g_autofree char *text = NULL, *name = name_of(path);
        gsize size;

        text = read_all(path, trusted_uids, &size, error);
        return text ? parse(name, path, text, size, error) : NULL;
}

NpPeerConfig *np_peer_config_load(const char *path, GError **error)
{
        return load(path, NULL, error);
}

static gboolean folder_trusted(const char *folder, const uid_t *trusted_uids, GError **error)
{
        struct stat st;

        if (stat(folder, &st) < 0) {
                set_errno_error(error, errno, folder, "it cannot be looked at");
                return FALSE;
        }
        return check_trusted(&st, folder, trusted_uids, error);
}

static void tell(NpPeerProblem problem, gpointer data, GError *error)
{
        if (problem)
                problem(error, data);
        g_error_free(error);
}

static int by_name(gconstpointer a, gconstpointer b)
{
        return strcmp(*(const char *const *) a, *(const char *const *) b);
}

GPtrArray *np_peer_configs_load(const char *folder, const uid_t *trusted_uids, NpPeerProblem problem, gpointer data)
{
        GPtrArray *configs = g_ptr_array_new_with_free_func((GDestroyNotify) np_peer_config_free);
        g_autoptr(GPtrArray) names = g_ptr_array_new_with_free_func(g_free);
        GError *error = NULL;
        g_autoptr(GDir) dir = NULL;
        const char *entry;

        dir = g_dir_open(folder, 0, &error);
        if (!dir && g_error_matches(error, G_FILE_ERROR, G_FILE_ERROR_NOENT)) {
                g_error_free(error);
                return configs;
        }
        if (!dir || (trusted_uids && !folder_trusted(folder, trusted_uids, &error))) {
                tell(problem, data, error);
                return configs;
        }

        /* What begins with '.' is an editor's, or a file being written. */
        while ((entry = g_dir_read_name(dir)))
                if (g_str_has_suffix(entry, SUFFIX) && entry[0] != '.')
                        g_ptr_array_add(names, g_strdup(entry));
        g_ptr_array_sort(names, by_name);

        for (guint i = 0; i < names->len; i++) {
                g_autofree char *path = g_build_filename(folder, names->pdata[i], NULL);
                NpPeerConfig *config = load(path, trusted_uids, &error);

                if (config)
                        g_ptr_array_add(configs, config);
                else
                        tell(problem, data, g_steal_pointer(&error));
        }
        return configs;
}

/* Readable by all whatever the umask: names and fingerprints are no secret, and both daemons have users of their own. */
static gboolean make_folder(const char *folder, GError **error)
{
        g_autofree char *parent = g_path_get_dirname(folder);

        if (g_file_test(folder, G_FILE_TEST_IS_DIR))
                return TRUE;
        if (!g_str_equal(parent, folder) && !make_folder(parent, error))
                return FALSE;
        if (mkdir(folder, 0755) < 0 || chmod(folder, 0755) < 0) {
                set_errno_error(error, errno, folder, "the folder cannot be made");
                return FALSE;
        }
        return TRUE;
}

static gboolean write_all(int fd, const char *text, gsize size)
{
        while (size > 0) {
                ssize_t n = write(fd, text, size);

                if (n < 0 && errno == EINTR)
                        continue;
                if (n < 0)
                        return FALSE;
                text += n;
                size -= n;
        }
        return TRUE;
}

/* A reader sees the old file or the new one, also after a crash. */
static gboolean replace(const char *folder, const char *path, const char *text, gsize size, GError **error)
{
        g_autofree char *temporary = g_strconcat(path, ".XXXXXX", NULL);
        int fd, dir, code;
        gboolean good;

        fd = g_mkstemp_full(temporary, O_RDWR | O_CLOEXEC, 0600);
        if (fd < 0) {
                set_errno_error(error, errno, path, "it cannot be written");
                return FALSE;
        }
        good = write_all(fd, text, size) && fchmod(fd, 0644) >= 0 && fsync(fd) >= 0 && rename(temporary, path) >= 0;
        code = errno;
        close(fd);
        if (!good) {
                (void) unlink(temporary);
                set_errno_error(error, code, path, "it cannot be written");
                return FALSE;
        }

        dir = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (dir >= 0) {
                (void) fsync(dir);
                close(dir);
        }
        return TRUE;
}

gboolean np_peer_config_save(const NpPeerConfig *config, const char *folder, GError **error)
{
        g_autofree char *file_name = g_strconcat(config->name, SUFFIX, NULL), *path = g_build_filename(folder, file_name, NULL);
        g_autoptr(GString) text = g_string_new("[" GROUP "]\n");
        g_autoptr(NpPeerConfig) again = NULL;

        for (gsize i = 0; i < G_N_ELEMENTS(keys); i++) {
                g_autofree char *value = keys[i].get(config);

                if (value)
                        g_string_append_printf(text, "%s=%s\n", keys[i].key, value);
        }

        /* What would be read as something else is never written. */
        again = parse(config->name, path, text->str, text->len, error);
        if (!again)
                return FALSE;
        for (gsize i = 0; i < G_N_ELEMENTS(keys); i++) {
                g_autofree char *value = keys[i].get(config), *read = keys[i].get(again);

                if (g_strcmp0(value, read) != 0) {
                        g_set_error(error, G_IO_ERROR, G_IO_ERROR_INVALID_DATA,
                                    "%s: %s cannot be written: its value would be read as "
                                    "another",
                                    path, keys[i].key);
                        return FALSE;
                }
        }
        return make_folder(folder, error) && replace(folder, path, text->str, text->len, error);
}
