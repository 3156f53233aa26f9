/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "error-table.h"
#include "output.h"
#include "render-check.h"
#include "verbs.h"

#define DESCRIPTION \
        "What can be recorded on this kernel, by what, and what a report will lack. With\n" \
        "--verbose, for each boundary of a command's way the hook that takes it, and why\n" \
        "better ones do not. The exit status is 0 when a session can run."

int verb_check(Invocation *call)
{
        g_autofree char *namespace_name = NULL;
        gboolean json = FALSE, verbose = FALSE, usable;
        const GOptionEntry entries[] = {
                { "namespace", 'n', 0, G_OPTION_ARG_STRING, &namespace_name, "What a session of this namespace takes", "NAME" },
                { "verbose", 'v', 0, G_OPTION_ARG_NONE, &verbose, "Show the hook of each boundary", NULL },
                { "json", 0, 0, G_OPTION_ARG_NONE, &json, "Print the JSON document (org.ntprof.inspection/1)", NULL },
                {},
        };
        g_autoptr(GError) error = NULL;

        int status = verb_parse(call, entries, DESCRIPTION, 0, 0);
        if (status >= 0)
                return status;

        g_autoptr(NtprofClient) client = verb_connect(call, &status);
        if (!client)
                return status;

        g_autofree char *inspection = ntprof_client_inspect_namespace_sync(client, namespace_name, NULL, &error);
        if (!inspection)
                return verb_fail(call, error);
        g_autofree char *text = render_check(inspection, verbose, &usable, &error);
        if (!text)
                return verb_fail(call, error);
        if (json)
                output_printf("%s%s", inspection, g_str_has_suffix(inspection, "\n") ? "" : "\n");
        else
                output_write(text);
        return usable ? 0 : np_error_row_by_code(NTPROF_ERROR_KERNEL_UNSUPPORTED)->exit_status;
}
