/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "render-session.h"

#include <libsmartcols.h>
#include <pwd.h>
#include <string.h>
#include <unistd.h>

#include "duration.h"
#include "model/report.h"
#include "output.h"
#include "table.h"
#include "when.h"

static char *user_name(uid_t uid)
{
        const struct passwd *entry = getpwuid(uid);

        return entry ? g_strdup(entry->pw_name) : g_strdup_printf("%u", uid);
}

/* The state, or for an ended session without a report why there is none. */
static const char *outcome(NtprofSession *session)
{
        const char *result = ntprof_session_get_result(session);

        if (ntprof_session_get_state(session) == NTPROF_SESSION_STATE_FINISHED && !g_str_equal(result, "done") && *result)
                return result;
        return ntprof_session_state_to_string(ntprof_session_get_state(session));
}

enum { COLUMN_ID, COLUMN_NAMESPACE, COLUMN_STATE, COLUMN_OWNER, COLUMN_STARTED, COLUMN_RECORDED, COLUMN_COMMANDS, COLUMN_SAMPLED };

static const TableColumn columns[] = {
        [COLUMN_ID] = { "ID", TRUE },
        [COLUMN_NAMESPACE] = { "NAMESPACE", FALSE },
        [COLUMN_STATE] = { "STATE", FALSE },
        [COLUMN_OWNER] = { "OWNER", FALSE },
        [COLUMN_STARTED] = { "STARTED", FALSE },
        [COLUMN_RECORDED] = { "RECORDED", TRUE },
        [COLUMN_COMMANDS] = { "COMMANDS", TRUE },
        [COLUMN_SAMPLED] = { "SAMPLED", TRUE },
};

char *render_sessions(GPtrArray *sessions)
{
        if (sessions->len == 0)
                return g_strdup("No sessions. 'ntprofctl session start --namespace NAME' starts one.\n");

        struct libscols_table *table = table_new(columns, G_N_ELEMENTS(columns));
        for (guint i = 0; i < sessions->len; i++) {
                NtprofSession *session = sessions->pdata[i];
                struct libscols_line *line = table_add_line(table);
                const char *state = outcome(session);

                table_set(line, COLUMN_ID, g_strdup(ntprof_session_get_id(session)));
                table_set(line, COLUMN_NAMESPACE, g_strdup(ntprof_session_get_namespace_name(session)));
                table_set(line, COLUMN_STATE, g_strdup(state));
                table_set(line, COLUMN_OWNER, user_name(ntprof_session_get_owner(session)));
                table_set(line, COLUMN_STARTED, when_short(ntprof_session_get_started_usec(session)));
                table_set(line, COLUMN_RECORDED, duration_format_short(ntprof_session_get_recorded_usec(session)));
                table_set(line, COLUMN_COMMANDS, output_count(ntprof_session_get_commands(session)));
                table_set(line, COLUMN_SAMPLED, output_count(ntprof_session_get_sampled(session)));
                if (ntprof_session_get_state(session) == NTPROF_SESSION_STATE_FAILED)
                        table_color(line, COLUMN_STATE, STYLE_BAD);
                else if (!ntprof_session_has_ended(session))
                        table_color(line, COLUMN_STATE, STYLE_GOOD);
        }
        return table_free_to_text(table);
}

static void add_targets(GString *text, NtprofSession *session)
{
        const char *name = "target", *peer, *state, *reason;
        GVariant *targets = ntprof_session_get_targets(session);
        GVariantIter iter;

        if (!targets || g_variant_n_children(targets) == 0) {
                output_row(text, name, "%s", ntprof_session_get_has_target(session) ? "recorded too" : "not recorded");
                return;
        }
        g_variant_iter_init(&iter, targets);
        while (g_variant_iter_next(&iter, "(&s&s&s)", &peer, &state, &reason)) {
                const char *how = g_str_equal(state, "ended") && !*reason ? "recorded" : state;
                output_row(text, name, "%s: %s%s%s", *peer ? peer : "this machine", how, *reason ? ": " : "", reason);
                name = "";
        }
}

static const char *loss_text(const char *key)
{
        for (int i = 0; i < NP_LOSS_COUNT; i++)
                if (g_str_equal(np_loss_info(i)->key, key))
                        return np_loss_info(i)->text;
        return key;
}

static void add_lost(GString *text, GVariant *lost)
{
        const char *name = "lost", *cause;
        GVariantIter iter;
        guint64 count;

        if (!lost || g_variant_n_children(lost) == 0)
                return output_row(text, name, "none");
        g_variant_iter_init(&iter, lost);
        while (g_variant_iter_next(&iter, "{&st}", &cause, &count)) {
                output_row(text, name, "%" G_GUINT64_FORMAT ": %s", count, loss_text(cause));
                name = "";
        }
}

/* Of "stor-a: T4 (flush, file)" without of which commands, which is too long for a column and comes last. */
static gsize boundary_length(const char *boundary)
{
        const char *covers = strstr(boundary, " (");

        return covers ? (gsize) (covers - boundary) : strlen(boundary);
}

static void add_hooks(GString *text, GVariant *hooks)
{
        const char *name = "hooks", *boundary, *mechanism, *symbol;
        GVariantIter iter;
        int width = 3;

        if (!hooks)
                return;
        g_variant_iter_init(&iter, hooks);
        while (g_variant_iter_next(&iter, "(&s&s&s)", &boundary, NULL, NULL))
                width = MAX(width, (int) boundary_length(boundary));
        g_variant_iter_init(&iter, hooks);
        while (g_variant_iter_next(&iter, "(&s&s&s)", &boundary, &mechanism, &symbol)) {
                const int length = (int) boundary_length(boundary);

                output_row(text, name, "%-*.*s %-13s %s%s", width, length, boundary, mechanism, symbol, boundary + length);
                name = "";
        }
}

static void add_holds(GString *text, GVariant *holds)
{
        g_autofree const char **modules = holds ? g_variant_get_strv(holds, NULL) : NULL;

        if (modules && *modules) {
                g_autofree char *names = g_strjoinv(", ", (char **) modules);
                output_row(text, "holds", "%s: cannot be unloaded before it ends", names);
        }
}

char *render_session(NtprofSession *session)
{
        GString *text = g_string_new(NULL);
        const guint64 duration = ntprof_session_get_duration_usec(session), started = ntprof_session_get_started_usec(session);
        const char *message = ntprof_session_get_message(session);
        g_autofree char *owner = user_name(ntprof_session_get_owner(session)),
                        *recorded = duration_format_short(ntprof_session_get_recorded_usec(session)),
                        *asked = duration ? duration_format(duration) : g_strdup("until it is stopped");

        g_string_append_printf(text, "%ssession %s%s: %s\n", output_style(STDOUT_FILENO, STYLE_BOLD), ntprof_session_get_id(session),
                               output_style(STDOUT_FILENO, STYLE_NONE), outcome(session));
        if (*message)
                output_row(text, "why", "%s: %s", ntprof_session_get_result(session), message);
        output_row(text, "namespace", "%s", ntprof_session_get_namespace_name(session));
        output_row(text, "owner", "%s%s", owner, ntprof_session_get_keep(session) ? "" : " (ends with who started it)");
        if (started) {
                g_autofree char *when = when_long(started);
                output_row(text, "started", "%s", when);
        }
        output_row(text, "duration", "%s", asked);
        output_row(text, "recorded", "%s", recorded);
        output_row(text, "sample", "%s", ntprof_session_get_sample(session));
        output_row(text, "detail", "%s", ntprof_session_get_detail(session) ? "yes" : "no");
        output_row(text, "commands", "%" G_GUINT64_FORMAT, ntprof_session_get_commands(session));
        output_row(text, "sampled", "%" G_GUINT64_FORMAT, ntprof_session_get_sampled(session));
        if (ntprof_session_get_has_target(session))
                output_row(text, "joined", "%" G_GUINT64_FORMAT, ntprof_session_get_joined(session));
        add_targets(text, session);
        add_lost(text, ntprof_session_get_lost(session));
        add_holds(text, ntprof_session_get_holds(session));
        add_hooks(text, ntprof_session_get_hooks(session));
        return g_string_free(text, FALSE);
}
