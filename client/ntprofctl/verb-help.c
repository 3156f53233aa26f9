/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "exit-status.h"
#include "output.h"
#include "usage.h"
#include "verbs.h"

static int help_program(void)
{
        g_autofree char *list = verbs_help(), *statuses = exit_status_help();

        output_printf("Usage: ntprofctl VERB [ARGUMENT...]\n"
                      "\n"
                      "Tells where the time of NVMe-over-Fabrics I/O goes.\n"
                      "\n"
                      "    ntprofctl session start --namespace nvme6n1 --duration 10s\n"
                      "\n"
                      "%s\n"
                      "Options:\n"
                      "  -h, --help       Show this help; behind a verb, the verb's\n"
                      "  --version        Show the version\n"
                      "\n"
                      "%s",
                      list, statuses);
        return 0;
}

int verb_help(Invocation *call)
{
        static char *const help[] = { "--help", NULL };
        g_autoptr(GError) error = NULL;
        char **args = call->args;

        if (!call->verb || !args || !args[0] || args[0][0] == '-' || (verbs_is_group(args[0]) && !args[1]))
                return help_program();

        const Verb *verb = verbs_find(&args, &error);
        if (!verb)
                return verb_fail(call, error);
        call->verb = verb;
        g_strfreev(call->args);
        call->args = g_strdupv((char **) help);
        return verb->run == verb_help ? help_program() : verb->run(call);
}
