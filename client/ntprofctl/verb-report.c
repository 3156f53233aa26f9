/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <unistd.h>

#include "render-report.h"
#include "usage.h"
#include "verbs.h"

static gboolean has_report(NtprofSession *session)
{
        return ntprof_session_get_state(session) == NTPROF_SESSION_STATE_FINISHED &&
               g_str_equal(ntprof_session_get_result(session), "done");
}

/* The newest finished one: of this user, or else of anybody. */
static NtprofSession *newest(NtprofClient *client, GError **error)
{
        g_autoptr(GPtrArray) sessions = ntprof_client_list_sessions(client);
        NtprofSession *of_anybody = NULL, *running = NULL;

        for (guint i = sessions->len; i > 0; i--) {
                NtprofSession *session = sessions->pdata[i - 1];
                if (!ntprof_session_has_ended(session) && !running)
                        running = session;
                if (!has_report(session))
                        continue;
                if (ntprof_session_get_owner(session) == getuid())
                        return g_object_ref(session);
                if (!of_anybody)
                        of_anybody = session;
        }
        if (of_anybody)
                return g_object_ref(of_anybody);
        if (running)
                g_set_error(error, NTPROF_ERROR, NTPROF_ERROR_NO_REPORT,
                            "no session is finished; 'ntprofctl report %s' prints the report so far of the one that goes on",
                            ntprof_session_get_id(running));
        else
                g_set_error(error, NTPROF_ERROR, NTPROF_ERROR_NO_REPORT,
                            "no session is finished; 'ntprofctl session start --namespace NAME' makes a report");
        return NULL;
}

static const struct {
        const char *name;
        NtprofReportTextFlags flag;
} keys[] = {
        { "queue",   NTPROF_REPORT_TEXT_BY_QUEUE },
        { "cpu",     NTPROF_REPORT_TEXT_BY_CPU },
        { "path",    NTPROF_REPORT_TEXT_BY_PATH },
        { "size",    NTPROF_REPORT_TEXT_BY_SIZE },
        { "process", NTPROF_REPORT_TEXT_BY_PROCESS },
};

static gboolean parse_by(const char *by, NtprofReportTextFlags *flags, GError **error)
{
        g_autoptr(GString) names = g_string_new(NULL);

        for (gsize i = 0; i < G_N_ELEMENTS(keys); i++) {
                if (g_str_equal(keys[i].name, by)) {
                        *flags |= keys[i].flag;
                        return TRUE;
                }
                g_string_append_printf(names, "%s%s", i == 0 ? "" : i + 1 < G_N_ELEMENTS(keys) ? ", " : " and ", keys[i].name);
        }
        g_set_error(error, USAGE_ERROR, USAGE_ERROR_FAILED, "--by '%s' is unknown; there is %s", by, names->str);
        return FALSE;
}

int verb_report(Invocation *call)
{
        gboolean json = FALSE, detail = FALSE;
        g_autofree char *by = NULL;
        const GOptionEntry entries[] = {
                { "detail", 0, 0, G_OPTION_ARG_NONE, &detail, "Print below each stage what it consists of", NULL },
                { "by", 0, 0, G_OPTION_ARG_STRING, &by, "Print a table by queue, cpu, path, size or process", "KEY" },
                { "json", 0, 0, G_OPTION_ARG_NONE, &json, "Print the JSON document (org.ntprof.report/1)", NULL },
                {},
        };
        g_autoptr(GError) error = NULL;

        int status = verb_parse(call, entries, "Of a session that still records, the report so far.", 0, 1);
        if (status >= 0)
                return status;

        NtprofReportTextFlags flags = detail ? NTPROF_REPORT_TEXT_DETAIL : 0;
        if (by && !parse_by(by, &flags, &error))
                return verb_fail(call, error);

        g_autoptr(NtprofClient) client = verb_connect(call, &status);
        if (!client)
                return status;

        g_autoptr(NtprofSession) session =
                call->args[0] ? ntprof_client_find_session(client, call->args[0], &error) : newest(client, &error);
        if (!session)
                return verb_fail(call, error);

        g_autoptr(NtprofReport) report = ntprof_session_get_report_sync(session, NULL, &error);
        if (!report)
                return verb_fail(call, error);
        render_report(report, json, flags);
        return 0;
}
