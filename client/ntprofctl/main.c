/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <locale.h>
#include <stdlib.h>
#include <string.h>

#include "exit-status.h"
#include "output.h"
#include "usage.h"
#include "verbs.h"

static int show_version(Invocation *call)
{
        output_printf("ntprofctl %s\n", NTPROF_VERSION);
        return EXIT_SUCCESS;
}

static gboolean is_help(const char *option)
{
        return g_strcmp0(option, "--help") == 0 || g_strcmp0(option, "-h") == 0;
}

/* Options before the verb. Returns -1 to go on, or an exit status. */
static int parse_program_options(Invocation *call, char ***args)
{
        g_autoptr(GError) error = NULL;

        for (; **args && ***args == '-'; (*args)++) {
                const char *option = **args;

                if (is_help(option))
                        return verb_help(call);
                if (g_str_equal(option, "--version"))
                        return show_version(call);
                if (g_str_has_prefix(option, "--bus=")) {
                        g_free(call->bus);
                        call->bus = g_strdup(option + strlen("--bus="));
                } else if (g_str_equal(option, "--bus") && (*args)[1]) {
                        g_free(call->bus);
                        call->bus = g_strdup((*args)[1]);
                        (*args)++;
                } else if (g_str_equal(option, "--bus")) {
                        error = g_error_new(USAGE_ERROR, USAGE_ERROR_FAILED, "--bus: an address is missing");
                        return verb_fail(call, error);
                } else {
                        g_autofree char *name = g_strndup(option, strcspn(option, "="));
                        const char *nearest = usage_nearest(name, (const char *const[]){ "--help", "--version", "--bus", NULL });
                        error = nearest ? g_error_new(USAGE_ERROR, USAGE_ERROR_FAILED, "unknown option %s; did you mean %s?", name, nearest)
                                        : g_error_new(USAGE_ERROR, USAGE_ERROR_FAILED,
                                                      "unknown option %s (options of a verb come behind the verb)", name);
                        return verb_fail(call, error);
                }
        }
        return -1;
}

int main(int argc, char *argv[])
{
        g_autoptr(GError) error = NULL;
        Invocation call = {};
        char **args = argv + (argc > 0);
        int status;

        setlocale(LC_ALL, "");

        status = parse_program_options(&call, &args);
        if (status < 0 && args[0] && verbs_is_group(args[0]) && is_help(args[1]))
                status = verb_help_group(args[0]);
        if (status < 0) {
                call.verb = verbs_find(&args, &error);
                if (call.verb) {
                        call.args = g_strdupv(args);
                        status = call.verb->run(&call);
                } else
                        status = verb_fail(&call, error);
        }
        g_strfreev(call.args);
        g_free(call.bus);
        return status;
}
