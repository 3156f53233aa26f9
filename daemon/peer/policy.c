/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "policy.h"

#include <glib.h>
#include <inttypes.h>
#include <string.h>

#include "../../shared/peer-config.h"

void peer_who_clear(PeerWho *who)
{
        g_free(who->name);
        g_free(who->fingerprint);
        g_free(who->address);
        *who = (PeerWho) {};
}

void peer_request_clear(PeerRequest *request)
{
        for (unsigned i = 0; i < request->n_filters; i++) {
                g_free(request->filters[i].subsysnqn);
                g_free(request->filters[i].hostnqn);
        }
        g_free(request->user);
        *request = (PeerRequest) {};
}

void peer_grant_clear(PeerGrant *grant)
{
        g_free(grant->limit);
        *grant = (PeerGrant) {};
}

static void on_problem(const GError *error, void *data)
{
        GString *problems = data;

        g_string_append_printf(problems, "%s%s", problems->len > 0 ? "; " : "", error->message);
}

static const NpPeerConfig *find(const GPtrArray *configs, const char *name)
{
        for (guint i = 0; i < configs->len; i++) {
                const NpPeerConfig *config = configs->pdata[i];

                if (g_str_equal(config->name, name))
                        return config;
        }
        return NULL;
}

static bool has_nqn(const NpPeerConfig *config, const char *nqn)
{
        return g_strv_contains((const char *const *) config->host_nqns, nqn);
}

/* Another than config that says a host NQN is its peer's. */
static const NpPeerConfig *find_rival(const GPtrArray *configs, const NpPeerConfig *config, const char *nqn)
{
        for (guint i = 0; i < configs->len; i++)
                if (configs->pdata[i] != config && has_nqn(configs->pdata[i], nqn))
                        return configs->pdata[i];
        return NULL;
}

static int check_nqn(const PeerPolicy *policy, const GPtrArray *configs, const NpPeerConfig *config, const char *nqn,
                     Error *error)
{
        const NpPeerConfig *rival;

        if (!has_nqn(config, nqn))
                return error_set(
                        error, NTPROF_ERROR_PEER_REFUSED,
                        "%s: host NQN %s is not %s's there: HostNQN= in %s does not have it; its administrator can add it, "
                        "or run 'ntprofctl peer confirm %s' there",
                        policy->machine, nqn, config->name, config->path, config->name);
        rival = find_rival(configs, config, nqn);
        if (rival)
                return error_set(
                        error, NTPROF_ERROR_PEER_REFUSED,
                        "%s: host NQN %s is in both %s and %s there, so neither may have it recorded: its administrator must "
                        "take it out of one",
                        policy->machine, nqn, config->path, rival->path);
        return 0;
}

static int no_nqn(const PeerPolicy *policy, const char *name, const char *path, Error *error)
{
        return error_set(error, NTPROF_ERROR_PEER_REFUSED,
                         "%s: %s is not confirmed (no HostNQN= in %s): run 'ntprofctl peer confirm %s' there", policy->machine, name, path,
                         name);
}

static void set_grant(const NpPeerConfig *config, PeerGrant *ret)
{
        *ret = (PeerGrant) { .max_threshold = config->max_threshold };
        if (config->max_session_sec == 0)
                return;
        ret->max_usec = config->max_session_sec * USEC_PER_SEC;
        ret->limit = g_strdup_printf("MaxSessionSec=%" PRIu64 " in %s", config->max_session_sec, config->path);
}

int peer_policy_check(const PeerPolicy *policy, const PeerWho *who, const PeerRequest *request, PeerGrant *ret,
                      char **ret_problems, Error *error)
{
        const uid_t trusted[] = { 0, policy->own_files ? geteuid() : 0, (uid_t) -1 };
        const char *folder = policy->folder ?: NP_PEERS_ETC;
        g_autofree char *path = g_strdup_printf("%s/%s.conf", folder, who->name);
        g_autoptr(GString) problems = g_string_new(NULL);
        g_autoptr(GPtrArray) configs = NULL;
        const NpPeerConfig *config;
        int r;

        configs = np_peer_configs_load(folder, trusted, on_problem, problems);
        *ret_problems = problems->len > 0 ? g_strdup(problems->str) : NULL;

        config = find(configs, who->name);
        if (!config && problems->len > 0)
                return error_set(error, NTPROF_ERROR_PEER_REFUSED,
                                 "%s: %s cannot be read or used: the journal there has the reason (journalctl -u ntprofd)",
                                 policy->machine, g_file_test(path, G_FILE_TEST_EXISTS) ? path : folder);
        if (!config)
                return no_nqn(policy, who->name, path, error);

        if (config->fingerprint && !g_str_equal(config->fingerprint, who->fingerprint))
                return error_set(
                        error, NTPROF_ERROR_PEER_REFUSED,
                        "%s: the certificate of %s is %s, but Fingerprint= in %s there is another: its administrator must "
                        "change it",
                        policy->machine, who->name, who->fingerprint, config->path);
        if (!config->host_nqns[0])
                return no_nqn(policy, who->name, config->path, error);
        if (config->allow != NP_PEER_ALLOW_OBSERVE)
                return error_set(error, NTPROF_ERROR_PEER_REFUSED,
                                 "%s: %s may not record there: %s says Allow=none, which its administrator can change to "
                                 "Allow=observe", policy->machine, who->name, config->path);

        for (unsigned i = 0; i < request->n_filters; i++) {
                r = check_nqn(policy, configs, config, request->filters[i].hostnqn, error);
                if (r < 0)
                        return r;
        }

        set_grant(config, ret);
        return 0;
}
