/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "error-table.h"
#include "output.h"
#include "render-check.h"
#include "verbs.h"

#define DESCRIPTION \
        "For each boundary of a command's way: the hook that takes it on this kernel, and\n" \
        "why better ones do not. The exit status is 0 when a session can run."

int verb_check(Invocation *call)
{
        gboolean json = FALSE, usable;
        const GOptionEntry entries[] = {
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

        g_autofree char *inspection = ntprof_client_inspect_sync(client, NULL, &error);
        if (!inspection)
                return verb_fail(call, error);
        g_autofree char *text = render_check(inspection, &usable, &error);
        if (!text)
                return verb_fail(call, error);
        if (json)
                output_printf("%s%s", inspection, g_str_has_suffix(inspection, "\n") ? "" : "\n");
        else
                output_write(text);
        return usable ? 0 : np_error_row_by_code(NTPROF_ERROR_KERNEL_UNSUPPORTED)->exit_status;
}
