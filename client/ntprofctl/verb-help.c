/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "exit-status.h"
#include "output.h"
#include "usage.h"
#include "verbs.h"

static const struct {
        const char *group, *text;
} groups[] = {
        { "session",
          "'session start' records a namespace, stays until the recording ends, and prints\n"
          "the report. With --detach it returns at once: 'session list' has the session's\n"
          "number, 'session stop' ends it, and 'ntprofctl report' prints its report. The\n"
          "service keeps ended sessions until 'session remove', the last 64 of them.\n" },
        { "peer",
          "When the target is another machine, pair the two, once, as root:\n"
          "\n"
          "    target# ntprofctl peer invite             prints a line for the host\n"
          "    host#   ntprofctl peer join LINE          each knows the other from then on\n"
          "    target# ntprofctl peer confirm HOST       lets its commands be recorded\n"
          "\n"
          "The target has to listen: systemctl enable --now ntprof-peerd.socket. Then\n"
          "'session start' on the host records both sides. 'peer forget' ends it.\n" },
};

int verb_help_group(const char *group)
{
        g_autofree char *list = verbs_help(group);

        output_printf("Usage: ntprofctl %s VERB [ARGUMENT...]\n\n", group);
        for (gsize i = 0; i < G_N_ELEMENTS(groups); i++)
                if (g_str_equal(groups[i].group, group))
                        output_printf("%s\n", groups[i].text);
        output_printf("%s\nEach has a --help of its own.\n", list);
        return 0;
}

static int help_program(void)
{
        g_autofree char *list = verbs_help(NULL), *statuses = exit_status_help();

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

        if (!call->verb || !args || !args[0] || args[0][0] == '-')
                return help_program();
        if (verbs_is_group(args[0]) && !args[1])
                return verb_help_group(args[0]);

        const Verb *verb = verbs_find(&args, &error);
        if (!verb)
                return verb_fail(call, error);
        call->verb = verb;
        g_strfreev(call->args);
        call->args = g_strdupv((char **) help);
        return verb->run == verb_help ? help_program() : verb->run(call);
}
