/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "progress.h"

#include <string.h>
#include <unistd.h>

#include "duration.h"
#include "output.h"

#define REDRAW_MSEC 200
/* Off a terminal: the first line after so long, each next one after twice as long, up to the most. */
#define SPARSE_FIRST_USEC (10 * G_USEC_PER_SEC)
#define SPARSE_MOST_USEC (300 * G_USEC_PER_SEC)

struct Progress {
        NtprofSession *session;
        gboolean terminal, drawn;
        guint timer;
        gulong handler;

        /* As of the last time the service told */
        gint64 told_at;                 /* g_get_monotonic_time() */
        guint64 recorded_usec, commands;
        double rate;

        GHashTable *missed;             /* targets whose end was told */
        gint64 next_line_at, interval;
        gboolean announced;
};

/* Appends the other machines in that state, "; WORDS stor-a, stor-b". */
static void add_targets(GString *text, GVariant *targets, const char *wanted, const char *words)
{
        const char *peer, *state, *reason;
        GVariantIter iter;
        gboolean any = FALSE;

        if (!targets)
                return;
        g_variant_iter_init(&iter, targets);
        while (g_variant_iter_next(&iter, "(&s&s&s)", &peer, &state, &reason))
                if (*peer && g_str_equal(state, wanted) && (*reason || !g_str_equal(wanted, "ended"))) {
                        g_string_append_printf(text, "%s%s", any ? ", " : words, peer);
                        any = TRUE;
                }
}

char *progress_text(const ProgressFacts *facts)
{
        GString *text = g_string_new(NULL);

        if (facts->state == NTPROF_SESSION_STATE_PREPARING) {
                g_string_append(text, "attaching to the kernel");
                add_targets(text, facts->targets, "connecting", "; connecting to ");
                add_targets(text, facts->targets, "ended", "; without ");
                return g_string_free(text, FALSE);
        }
        if (facts->state == NTPROF_SESSION_STATE_JOINING)
                g_string_append(text, "joining: ");
        else {
                g_autofree char *elapsed = duration_format_short(facts->elapsed_usec);
                g_autofree char *of = facts->duration_usec ? duration_format(facts->duration_usec) : NULL;
                g_string_append_printf(text, "%s%s%s: ", elapsed, of ? " of " : "", of ? of : "");
        }

        g_autofree char *commands = output_count(facts->commands), *rate = output_count((guint64) (facts->rate + 0.5)),
                        *sampled = output_count(facts->sampled), *joined = output_count(facts->joined),
                        *lost = output_count(facts->lost);
        g_string_append_printf(text, "%s commands", commands);
        if (facts->state == NTPROF_SESSION_STATE_RECORDING)
                g_string_append_printf(text, ", %s/s", rate);
        g_string_append_printf(text, ", %s sampled", sampled);
        if (facts->has_target)
                g_string_append_printf(text, ", %s joined", joined);
        g_string_append_printf(text, ", %s lost", lost);
        add_targets(text, facts->targets, "connecting", "; connecting to ");
        add_targets(text, facts->targets, "ended", "; without ");
        return g_string_free(text, FALSE);
}

char *progress_missed(GVariant *targets, GHashTable *told)
{
        GString *lines = g_string_new(NULL);
        const char *peer, *state, *reason;
        GVariantIter iter;

        if (!targets)
                return g_string_free(lines, FALSE);
        g_variant_iter_init(&iter, targets);
        while (g_variant_iter_next(&iter, "(&s&s&s)", &peer, &state, &reason))
                if (g_str_equal(state, "ended") && *reason && g_hash_table_add(told, g_strdup(peer)))
                        g_string_append_printf(lines, "without %s: %s\n", *peer ? peer : "this machine's target side", reason);
        return g_string_free(lines, FALSE);
}

static void get_facts(Progress *progress, ProgressFacts *ret)
{
        NtprofSession *session = progress->session;
        const guint64 duration = ntprof_session_get_duration_usec(session);
        guint64 elapsed = progress->recorded_usec;

        /* The service tells once a second. */
        if (ntprof_session_get_state(session) == NTPROF_SESSION_STATE_RECORDING)
                elapsed += (guint64) (g_get_monotonic_time() - progress->told_at);
        *ret = (ProgressFacts){
                .state = ntprof_session_get_state(session),
                .elapsed_usec = duration ? MIN(elapsed, duration) : elapsed,
                .duration_usec = duration,
                .commands = ntprof_session_get_commands(session),
                .rate = progress->rate,
                .sampled = ntprof_session_get_sampled(session),
                .joined = ntprof_session_get_joined(session),
                .lost = ntprof_session_get_lost_total(session),
                .has_target = ntprof_session_get_has_target(session),
                .targets = ntprof_session_get_targets(session),
        };
}

void progress_clear(Progress *progress)
{
        if (progress->drawn)
                output_note("\r\033[K");
        progress->drawn = FALSE;
}

/* Once, when it records: what, how long, how to end it. */
static void announce(Progress *progress)
{
        NtprofSession *session = progress->session;
        const guint64 duration = ntprof_session_get_duration_usec(session);

        if (progress->announced || ntprof_session_get_state(session) != NTPROF_SESSION_STATE_RECORDING)
                return;
        progress->announced = TRUE;

        g_autofree char *span = duration ? duration_format(duration) : NULL;
        g_autofree char *line = g_strdup_printf(
                "session %s: recording %s%s%s; Ctrl-C %s and prints the report\n", ntprof_session_get_id(session),
                ntprof_session_get_namespace_name(session), span ? " for " : "", span ? span : "", span ? "ends it earlier" : "ends it");
        g_autofree char *clean = output_sanitize(line);
        progress_clear(progress);
        output_note(clean);
}

static void tell_missed(Progress *progress)
{
        g_autofree char *lines = progress_missed(ntprof_session_get_targets(progress->session), progress->missed);
        g_autofree char *clean = output_sanitize(lines);

        if (!*clean)
                return;
        progress_clear(progress);
        output_note(clean);
}

static void draw(Progress *progress)
{
        ProgressFacts facts;

        get_facts(progress, &facts);
        g_autofree char *raw = progress_text(&facts), *text = output_sanitize(raw);
        if (!progress->terminal) {
                g_autofree char *line = g_strconcat(text, "\n", NULL);
                output_note(line);
                return;
        }

        /* ASCII only (names of peers are), so bytes are columns; the last column stays free, or some terminals wrap. */
        const unsigned width = output_width(STDERR_FILENO);
        g_autofree char *line = g_strdup_printf("\r%.*s\033[K", (int) (width > 1 ? width - 1 : 1), text);
        output_note(line);
        progress->drawn = TRUE;
}

static gboolean on_timer(gpointer user_data)
{
        Progress *progress = user_data;
        const gint64 now = g_get_monotonic_time();

        announce(progress);
        if (progress->terminal) {
                draw(progress);
                return G_SOURCE_CONTINUE;
        }
        if (progress->announced && now >= progress->next_line_at) {
                draw(progress);
                progress->interval = MIN(progress->interval * 2, (gint64) SPARSE_MOST_USEC);
                progress->next_line_at = now + progress->interval;
        }
        return G_SOURCE_CONTINUE;
}

static void take_counters(Progress *progress)
{
        const guint64 recorded = ntprof_session_get_recorded_usec(progress->session),
                      commands = ntprof_session_get_commands(progress->session);

        if (recorded > progress->recorded_usec) {
                if (commands >= progress->commands)
                        progress->rate = (double) (commands - progress->commands) * 1e6 / (double) (recorded - progress->recorded_usec);
                progress->recorded_usec = recorded;
                progress->commands = commands;
        }
        progress->told_at = g_get_monotonic_time();
}

static void on_notify(NtprofSession *session, GParamSpec *pspec, Progress *progress)
{
        if (g_str_equal(pspec->name, "recorded-usec") || g_str_equal(pspec->name, "state"))
                take_counters(progress);
        if (g_str_equal(pspec->name, "targets"))
                tell_missed(progress);
        if (!g_str_equal(pspec->name, "state"))
                return;
        announce(progress);
        if (progress->terminal)
                draw(progress);
}

Progress *progress_start(NtprofSession *session)
{
        Progress *progress = g_new0(Progress, 1);

        progress->session = g_object_ref(session);
        progress->missed = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
        progress->terminal = output_is_terminal(STDERR_FILENO);
        progress->interval = SPARSE_FIRST_USEC;
        progress->next_line_at = g_get_monotonic_time() + progress->interval;
        progress->handler = g_signal_connect(session, "notify", G_CALLBACK(on_notify), progress);
        progress->timer = g_timeout_add(REDRAW_MSEC, on_timer, progress);
        take_counters(progress);
        on_timer(progress);
        tell_missed(progress);
        return progress;
}

void progress_end(Progress *progress)
{
        progress_clear(progress);
        g_signal_handler_disconnect(progress->session, progress->handler);
        g_source_remove(progress->timer);
        g_hash_table_unref(progress->missed);
        g_object_unref(progress->session);
        g_free(progress);
}
