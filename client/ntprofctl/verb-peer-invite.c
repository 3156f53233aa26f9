/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "duration.h"
#include "output.h"
#include "peer-grant.h"
#include "usage.h"
#include "verbs.h"

#define DESCRIPTION \
        "Run it on the target, as root, and give the line that it prints to the host's\n" \
        "administrator: 'ntprofctl peer join LINE' there pairs the two machines. Who has\n" \
        "the line before it is used or has expired can pair in the host's place.\n" \
        "\n" \
        "A host has nothing recorded here before its NQN (/etc/nvme/hostnqn there) is\n" \
        "confirmed: now by --name with --host-nqn, or later by 'ntprofctl peer confirm'.\n" \
        "TIME is as in systemd.time(7), 10min by default, at most a day."

#define EXPIRES_MAX_USEC (24 * G_GUINT64_CONSTANT(3600) * G_USEC_PER_SEC)

typedef struct {
        char *expires, *name, *address;
        PeerGrant grant;
} Options;

static void options_clear(Options *options)
{
        g_free(options->expires);
        g_free(options->name);
        g_free(options->address);
        peer_grant_clear(&options->grant);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Options, options_clear)

static gboolean check(const Options *options, GError **error)
{
        if (options->grant.host_nqns && !options->name)
                g_set_error_literal(error, USAGE_ERROR, USAGE_ERROR_FAILED,
                                    "--host-nqn needs --name: what the machine will be called here");
        else if (options->grant.allow && !options->grant.host_nqns)
                g_set_error_literal(error, USAGE_ERROR, USAGE_ERROR_FAILED,
                                    "--allow needs --host-nqn: a machine without one may do nothing here");
        else if (!options->name)
                return TRUE;
        else
                return peer_grant_check(options->name, &options->grant, error);
        return FALSE;
}

static GVariant *build(const Options *options, GError **error)
{
        g_auto(GVariantDict) dict;
        guint64 usec = 0;

        g_variant_dict_init(&dict, NULL);
        if (options->expires) {
                if (!duration_parse(options->expires, &usec, error)) {
                        g_prefix_error(error, "--expires: ");
                        return NULL;
                }
                if (usec > EXPIRES_MAX_USEC) {
                        g_set_error(error, USAGE_ERROR, USAGE_ERROR_FAILED, "--expires: %s is too long, at most a day (24h)",
                                    options->expires);
                        return NULL;
                }
                g_variant_dict_insert(&dict, "expires-usec", "t", usec);
        }
        if (options->name)
                g_variant_dict_insert(&dict, "name", "s", options->name);
        if (options->address)
                g_variant_dict_insert(&dict, "address", "s", options->address);
        return g_variant_ref_sink(g_variant_dict_end(&dict));
}

/* The service may take its time to answer; nobody cares for less than ten seconds. */
static char *good_for(guint64 expires_usec)
{
        const guint64 now = (guint64) g_get_real_time(), step = 10 * G_USEC_PER_SEC;

        if (expires_usec < now + step)
                return g_strdup("a few seconds");
        return duration_format((expires_usec - now + step / 2) / step * step);
}

static void tell(const Options *options, const char *line, guint64 expires_usec, const char *path)
{
        g_autofree char *span = good_for(expires_usec);
        g_autofree char *before = options->name ? peer_grant_find(options->name) : NULL;

        output_printf("Give this to the host (%s, one use):  %s\n", span, line);
        if (path) {
                g_autofree char *granted = peer_grant_describe(options->name, &options->grant, path);
                output_write(granted);
        } else if (before)
                output_printf("What %s may do here is in %s already.\n", options->name, before);
        else if (options->name)
                output_printf("When it has joined, confirm its host NQN:  ntprofctl peer confirm %s\n", options->name);
        else
                output_printf("When it has joined, confirm its host NQN:  ntprofctl peer confirm NAME  "
                              "('ntprofctl peer list' has the NAME)\n");
}

int verb_peer_invite(Invocation *call)
{
        g_auto(Options) options = { .grant = PEER_GRANT_NONE };
        const GOptionEntry entries[] = {
                { "expires", 0, 0, G_OPTION_ARG_STRING, &options.expires, "For how long the line is good", "TIME" },
                { "name", 0, 0, G_OPTION_ARG_STRING, &options.name, "What the other machine will be called here", "NAME" },
                { "host-nqn", 0, 0, G_OPTION_ARG_STRING_ARRAY, &options.grant.host_nqns, "Whose commands it may have recorded",
                  "NQN" },
                { "allow", 0, 0, G_OPTION_ARG_STRING, &options.grant.allow, "What it may do: observe or none", "WHAT" },
                { "address", 0, 0, G_OPTION_ARG_STRING, &options.address, "Of this machine, as the host reaches it",
                  "ADDRESS" },
                {},
        };
        g_autofree char *line = NULL, *path = NULL;
        g_autoptr(GError) error = NULL;
        guint64 expires_usec = 0;

        int status = verb_parse(call, entries, DESCRIPTION, 0, 0);
        if (status >= 0)
                return status;
        g_autoptr(GVariant) invite_options = check(&options, &error) ? build(&options, &error) : NULL;
        if (!invite_options || (options.grant.host_nqns && !peer_grant_possible(options.name, &options.grant, &error)))
                return verb_fail(call, error);

        g_autoptr(NtprofPeers) peers = verb_connect_peers(call, &status);
        if (!peers)
                return status;
        line = ntprof_peers_invite_sync(peers, invite_options, &expires_usec, NULL, &error);
        /* An invitation whose line nobody has does no harm; a file without an invitation would be in the way of the next. */
        if (line && options.grant.host_nqns)
                path = peer_grant_write(options.name, &options.grant, &error);
        if (error)
                return verb_fail(call, error);
        tell(&options, line, expires_usec, path);
        return 0;
}
