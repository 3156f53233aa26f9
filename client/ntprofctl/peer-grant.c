/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "peer-grant.h"

#include <errno.h>
#include <glib/gstdio.h>
#include <ntprof.h>
#include <unistd.h>

#include "output.h"
#include "shared/peer-config.h"
#include "usage.h"

void peer_grant_clear(PeerGrant *grant)
{
        g_strfreev(grant->host_nqns);
        g_free(grant->allow);
        g_free(grant->max_sample_rate);
        *grant = (PeerGrant) PEER_GRANT_NONE;
}

/* Elsewhere in tests. */
static const char *folder(void)
{
        const char *given = g_getenv("NTPROF_PEERS_DIR");

        return given && *given ? given : NP_PEERS_ETC;
}

static char *path_of(const char *name)
{
        g_autofree char *file = g_strconcat(name, ".conf", NULL);

        return g_build_filename(folder(), file, NULL);
}

/* ---- what is given ---- */

static gboolean set(NpPeerConfig *config, const char *option, const char *key, const char *value, GError **error)
{
        g_autoptr(GError) why = NULL;

        if (np_peer_config_set(config, key, value, &why))
                return TRUE;
        g_set_error(error, USAGE_ERROR, USAGE_ERROR_FAILED, "--%s: %s", option, why->message);
        return FALSE;
}

static gboolean apply(const PeerGrant *grant, NpPeerConfig *config, GError **error)
{
        g_autofree char *nqns = grant->host_nqns ? g_strjoinv(" ", grant->host_nqns) : NULL;
        g_autofree char *seconds =
                grant->max_session_sec >= 0 ? g_strdup_printf("%" G_GINT64_FORMAT, grant->max_session_sec) : NULL;

        if (nqns && !set(config, "host-nqn", "HostNQN", nqns, error))
                return FALSE;
        if (!set(config, "allow", "Allow", grant->allow ? grant->allow : config->host_nqns[0] ? "observe" : "none", error))
                return FALSE;
        if (grant->max_sample_rate && !set(config, "max-sample-rate", "MaxSampleRate", grant->max_sample_rate, error))
                return FALSE;
        return !seconds || set(config, "max-session-sec", "MaxSessionSec", seconds, error);
}

gboolean peer_grant_check(const char *name, const PeerGrant *grant, GError **error)
{
        if (!np_peer_name_valid(name)) {
                g_set_error(error, USAGE_ERROR, USAGE_ERROR_FAILED,
                            "'%s' can't be the name of a peer: letters, digits, '-', '_' and '.', not first '.' or '-', "
                            "at most %d",
                            name, NP_PEER_NAME_MAX);
                return FALSE;
        }
        for (char **nqn = grant->host_nqns; nqn && *nqn; nqn++)
                if (!np_nqn_valid(*nqn)) {
                        g_set_error(error, USAGE_ERROR, USAGE_ERROR_FAILED,
                                    "--host-nqn: '%s' is no NQN (on the host, /etc/nvme/hostnqn has its own)", *nqn);
                        return FALSE;
                }
        if (grant->max_session_sec < -1) {
                g_set_error_literal(error, USAGE_ERROR, USAGE_ERROR_FAILED, "--max-session-sec: less than 0; 0 is no limit");
                return FALSE;
        }

        g_autoptr(NpPeerConfig) scratch = np_peer_config_new(name);
        return apply(grant, scratch, error);
}

/* ---- the files ---- */

static void tell_problem(const GError *error, gpointer data)
{
        output_error("left out: %s", error->message);
}

static gboolean check_others(const char *name, const PeerGrant *grant, GError **error)
{
        g_autoptr(GPtrArray) all = np_peer_configs_load(folder(), NULL, tell_problem, NULL);

        for (guint i = 0; i < all->len; i++) {
                const NpPeerConfig *other = all->pdata[i];

                if (g_str_equal(other->name, name))
                        continue;
                for (char **nqn = grant->host_nqns; nqn && *nqn; nqn++)
                        if (g_strv_contains((const char *const *) other->host_nqns, *nqn)) {
                                g_set_error(error, NTPROF_ERROR, NTPROF_ERROR_PEER_EXISTS,
                                            "%s is the host NQN of %s already (%s), and it belongs to one peer only; "
                                            "'ntprofctl peer forget %s' takes it away", *nqn, other->name, other->path,
                                            other->name);
                                return FALSE;
                        }
        }
        return TRUE;
}

/* The folder may be yet to be made. */
static gboolean check_access(GError **error)
{
        g_autofree char *existing = g_strdup(folder());

        while (access(existing, F_OK) < 0 && errno == ENOENT && !g_str_equal(existing, "/") && !g_str_equal(existing, ".")) {
                char *parent = g_path_get_dirname(existing);
                g_free(existing);
                existing = parent;
        }
        if (access(existing, W_OK | X_OK) == 0)
                return TRUE;
        if (errno == EACCES || errno == EPERM)
                g_set_error(error, NTPROF_ERROR, NTPROF_ERROR_ACCESS_DENIED,
                            "what a peer may do here is root's to say (in %s): run this as root, for example by sudo",
                            folder());
        else
                g_set_error(error, NTPROF_ERROR, NTPROF_ERROR_FAILED, "%s can't be written: %s", existing, g_strerror(errno));
        return FALSE;
}

gboolean peer_grant_possible(const char *name, const PeerGrant *grant, GError **error)
{
        return check_access(error) && check_others(name, grant, error);
}

/* What the file has is kept; one that can't be read isn't written over. */
static NpPeerConfig *load(const char *name, const char *path, GError **error)
{
        return g_file_test(path, G_FILE_TEST_EXISTS) ? np_peer_config_load(path, error) : np_peer_config_new(name);
}

char *peer_grant_write(const char *name, const PeerGrant *grant, GError **error)
{
        g_autofree char *path = path_of(name);

        if (!peer_grant_possible(name, grant, error))
                return NULL;
        g_autoptr(NpPeerConfig) config = load(name, path, error);
        if (!config || !apply(grant, config, error) || !np_peer_config_save(config, folder(), error))
                return NULL;
        return g_steal_pointer(&path);
}

char *peer_grant_describe(const char *name, const PeerGrant *grant, const char *path)
{
        if (g_strcmp0(grant->allow, "none") == 0)
                return g_strdup_printf("%s may have nothing recorded here (%s).\n", name, path);
        g_autofree char *nqns = g_strjoinv(", ", grant->host_nqns), *clean = output_sanitize(nqns);
        return g_strdup_printf("%s may have the commands of %s recorded here (%s).\n", name, clean, path);
}

char *peer_grant_find(const char *name)
{
        g_autofree char *path = path_of(name);

        return g_file_test(path, G_FILE_TEST_EXISTS) ? g_steal_pointer(&path) : NULL;
}

gboolean peer_grant_remove(const char *name, char **ret_path, GError **error)
{
        g_autofree char *path = path_of(name);

        *ret_path = NULL;
        if (g_unlink(path) == 0)
                *ret_path = g_steal_pointer(&path);
        else if (errno != ENOENT) {
                g_set_error(error, NTPROF_ERROR, NTPROF_ERROR_FAILED,
                            "%s: it still says what %s may do here, and can't be removed: %s", path, name, g_strerror(errno));
                return FALSE;
        }
        return TRUE;
}
