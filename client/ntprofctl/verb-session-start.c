/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "attached.h"
#include "duration.h"
#include "output.h"
#include "usage.h"
#include "verbs.h"

#define DESCRIPTION \
        "Stays with the session, shows on stderr how far it is, and prints the report on\n" \
        "stdout when the session ends: after the duration, or on Ctrl-C (a second one\n" \
        "leaves without a report). A session ends with the program that started it,\n" \
        "except with --detach.\n" \
        "\n" \
        "NAME is as nvme6n1, /dev/nvme6n1 or a path device of it, nvme6c6n1.\n" \
        "TIME is as in systemd.time(7): 10s, 500ms, '1min 30s', 2h.\n" \
        "RATE is auto (the default: about 2,000 commands/s), all, or 1/N for one in N.\n" \
        "The target's side is recorded, too, when the target is this machine or a paired\n" \
        "one (see 'ntprofctl peer --help'); which, is found out."

typedef struct {
        char *namespace_name, *duration, *sample, *peer;
        gboolean detach, json, no_target, detail;
} Options;

static void options_clear(Options *options)
{
        g_free(options->namespace_name);
        g_free(options->duration);
        g_free(options->sample);
        g_free(options->peer);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Options, options_clear)

static GVariant *build(const Options *options, GError **error)
{
        g_auto(GVariantDict) dict;
        guint64 usec = 0;

        g_variant_dict_init(&dict, NULL);
        if (options->duration) {
                if (!duration_parse(options->duration, &usec, error))
                        return NULL;
                if (usec != DURATION_INFINITE)
                        g_variant_dict_insert(&dict, "duration-usec", "t", usec);
        }
        if (options->sample)
                g_variant_dict_insert(&dict, "sample", "s", options->sample);
        if (options->peer)
                g_variant_dict_insert(&dict, "peer", "s", options->peer);
        if (options->no_target)
                g_variant_dict_insert(&dict, "no-target", "b", TRUE);
        if (options->detail)
                g_variant_dict_insert(&dict, "detail", "b", TRUE);
        if (options->detach)
                g_variant_dict_insert(&dict, "keep", "b", TRUE);
        return g_variant_ref_sink(g_variant_dict_end(&dict));
}

int verb_session_start(Invocation *call)
{
        g_auto(Options) options = {};
        const GOptionEntry entries[] = {
                { "namespace", 'n', 0, G_OPTION_ARG_STRING, &options.namespace_name, "What to record", "NAME" },
                { "duration", 'd', 0, G_OPTION_ARG_STRING, &options.duration, "How long, e.g. 10s; by default until Ctrl-C",
                  "TIME" },
                { "sample", 's', 0, G_OPTION_ARG_STRING, &options.sample, "Which commands: auto, all or 1/N", "RATE" },
                { "peer", 0, 0, G_OPTION_ARG_STRING, &options.peer, "The paired machine that is the target, or fail", "PEER" },
                { "no-target", 0, 0, G_OPTION_ARG_NONE, &options.no_target, "Record the host's side only", NULL },
                { "detach", 0, 0, G_OPTION_ARG_NONE, &options.detach, "Leave the session running and return", NULL },
                { "detail", 0, 0, G_OPTION_ARG_NONE, &options.detail, "Record and print also what each stage consists of", NULL },
                { "json", 0, 0, G_OPTION_ARG_NONE, &options.json, "Print JSON: the report; detached, the session", NULL },
                {},
        };
        g_autoptr(GError) error = NULL;

        int status = verb_parse(call, entries, DESCRIPTION, 0, 1);
        if (status >= 0)
                return status;

        if (call->args[0])
                error = g_error_new(USAGE_ERROR, USAGE_ERROR_FAILED, "'%s' is no option; did you mean --namespace %s?", call->args[0],
                                    call->args[0]);
        else if (!options.namespace_name)
                error = g_error_new(USAGE_ERROR, USAGE_ERROR_FAILED, "--namespace is missing; for example --namespace nvme6n1 "
                                                                     "('nvme list' shows what there is)");
        else if (options.peer && options.no_target)
                error = g_error_new(USAGE_ERROR, USAGE_ERROR_FAILED, "--peer and --no-target exclude each other");
        if (error)
                return verb_fail(call, error);

        g_autoptr(GVariant) start_options = build(&options, &error);
        if (!start_options)
                return verb_fail(call, error);

        /* The bus may have to start the service, and a session's programs take seconds to attach. */
        output_passing("starting ...");
        g_autoptr(NtprofClient) client = verb_connect(call, &status);
        if (!client)
                return status;

        const AttachedOptions attached = {
                .namespace_name = options.namespace_name,
                .options = start_options,
                .detach = options.detach,
                .json = options.json,
                .text_flags = options.detail ? NTPROF_REPORT_TEXT_DETAIL : NTPROF_REPORT_TEXT_DEFAULT,
        };
        return attached_run(call, client, &attached);
}
