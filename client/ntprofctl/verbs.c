/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "verbs.h"

#include <string.h>

#include "exit-status.h"
#include "output.h"
#include "usage.h"

const Verb verbs[] = {
        { "session", "start", "--namespace NAME", "Record a namespace and print the report", verb_session_start },
        { "session", "list", NULL, "List the sessions", verb_session_list },
        { "session", "show", "SESSION", "Show one session", verb_session_show },
        { "session", "stop", "SESSION...", "End recordings, keep the reports", verb_session_stop },
        { "session", "cancel", "SESSION...", "End recordings without reports", verb_session_cancel },
        { "session", "remove", "SESSION...", "Forget ended sessions and their reports", verb_session_remove },
        { "peer", "invite", NULL, "Let another machine pair with this one", verb_peer_invite },
        { "peer", "join", "LINE", "Accept another machine's invitation", verb_peer_join },
        { "peer", "confirm", "PEER", "Let a host record its own commands here", verb_peer_confirm },
        { "peer", "list", NULL, "List the paired machines", verb_peer_list },
        { "peer", "show", "PEER", "Show one paired machine", verb_peer_show },
        { "peer", "test", "PEER", "Ask a paired machine whether it answers", verb_peer_test },
        { "peer", "forget", "PEER...", "Trust machines no longer", verb_peer_forget },
        { "peer", "renew", NULL, "Make a new key, and tell the peers", verb_peer_renew },
        { "peer", "show-identity", NULL, "Show this machine's fingerprint", verb_peer_show_identity },
        { NULL, "report", "[SESSION]", "Print a report, by default the newest", verb_report },
        { NULL, "check", NULL, "Tell what can be measured on this kernel", verb_check },
        { NULL, "help", "[VERB]", "Show help", verb_help },
};

const gsize n_verbs = G_N_ELEMENTS(verbs);

char *verb_full_name(const Verb *verb)
{
        return verb->group ? g_strdup_printf("%s %s", verb->group, verb->name) : g_strdup(verb->name);
}

/* Names of a group's verbs, for group NULL also the groups. NULL-terminated. */
static const char **names_of(const char *group)
{
        GPtrArray *names = g_ptr_array_new();

        for (gsize i = 0; i < n_verbs; i++)
                if (g_strcmp0(verbs[i].group, group) == 0)
                        g_ptr_array_add(names, (gpointer) verbs[i].name);
                else if (!group && !g_ptr_array_find_with_equal_func(names, verbs[i].group, g_str_equal, NULL))
                        g_ptr_array_add(names, (gpointer) verbs[i].group);
        g_ptr_array_add(names, NULL);
        return (const char **) g_ptr_array_free(names, FALSE);
}

static const Verb *lookup(const char *group, const char *name)
{
        for (gsize i = 0; i < n_verbs; i++)
                if (g_strcmp0(verbs[i].group, group) == 0 && g_strcmp0(verbs[i].name, name) == 0)
                        return &verbs[i];
        return NULL;
}

gboolean verbs_is_group(const char *name)
{
        for (gsize i = 0; i < n_verbs; i++)
                if (verbs[i].group && g_str_equal(verbs[i].group, name))
                        return TRUE;
        return FALSE;
}

static void unknown_verb(const char *group, const char *name, GError **error)
{
        g_autofree const char **names = names_of(group);
        const char *nearest = usage_nearest(name, names);
        const char *prefix = group ? group : "", *space = group ? " " : "";

        if (nearest) {
                g_set_error(error, USAGE_ERROR, USAGE_ERROR_FAILED, "unknown verb '%s%s%s'; did you mean '%s%s%s'?", prefix, space, name,
                            prefix, space, nearest);
                return;
        }
        /* A verb of a group without the group. */
        for (gsize i = 0; i < n_verbs && !group; i++)
                if (g_str_equal(verbs[i].name, name)) {
                        g_set_error(error, USAGE_ERROR, USAGE_ERROR_FAILED, "unknown verb '%s'; did you mean '%s %s'?", name,
                                    verbs[i].group, name);
                        return;
                }
        g_autofree char *all = g_strjoinv(", ", (char **) names);
        g_set_error(error, USAGE_ERROR, USAGE_ERROR_FAILED, "unknown verb '%s%s%s' (there are %s)", prefix, space, name, all);
}

const Verb *verbs_find(char ***args, GError **error)
{
        const char *group = NULL, *name = (*args)[0];

        if (name && verbs_is_group(name)) {
                group = name;
                (*args)++;
                name = (*args)[0];
        }
        if (!name || *name == '-') {
                g_autofree const char **names = names_of(group);
                g_autofree char *all = g_strjoinv(", ", (char **) names);
                g_set_error(error, USAGE_ERROR, USAGE_ERROR_FAILED, "%s%sa verb is missing: %s", group ? group : "", group ? ": " : "",
                            all);
                return NULL;
        }

        const Verb *verb = lookup(group, name);
        if (!verb) {
                unknown_verb(group, name, error);
                return NULL;
        }
        (*args)++;
        return verb;
}

char *verbs_help(const char *group)
{
        GString *text = g_string_new("Verbs:\n");

        for (gsize i = 0; i < n_verbs; i++) {
                if (group && g_strcmp0(verbs[i].group, group) != 0)
                        continue;
                g_autofree char *name = verb_full_name(&verbs[i]);
                g_string_append_printf(text, "  %-19s %s\n", name, verbs[i].summary);
        }
        return g_string_free(text, FALSE);
}

int verb_fail(Invocation *call, const GError *error)
{
        output_error("%s", error->message);
        if (error->domain == USAGE_ERROR) {
                g_autofree char *name = call->verb ? verb_full_name(call->verb) : NULL;
                g_autofree char *hint = g_strdup_printf("Try 'ntprofctl help%s%s'.\n", name ? " " : "", name ? name : "");
                output_note(hint);
        }
        return exit_status_of(error);
}

/* GOption says which option it doesn't know; this adds which one was meant. */
static void suggest_option(const GOptionEntry *entries, char **args, GError **error)
{
        g_autoptr(GStrvBuilder) builder = g_strv_builder_new();

        for (; entries && entries->long_name; entries++)
                g_strv_builder_add(builder, entries->long_name);
        g_strv_builder_add_many(builder, "help", "bus", NULL);
        g_auto(GStrv) known = g_strv_builder_end(builder);

        for (; *args; args++) {
                if (!g_str_has_prefix(*args, "--") || !(*args)[2])
                        continue;
                g_autofree char *name = g_strndup(*args + 2, strcspn(*args + 2, "="));
                if (!strstr((*error)->message, name) || g_strv_contains((const char *const *) known, name))
                        continue;
                const char *nearest = usage_nearest(name, (const char *const *) known);
                g_clear_error(error);
                *error = g_error_new(USAGE_ERROR, USAGE_ERROR_FAILED, "unknown option --%s%s%s%s", name,
                                     nearest ? "; did you mean --" : "", nearest ? nearest : "", nearest ? "?" : "");
                return;
        }
}

/* Of the first argument, when there is none. */
static const char *missing(const Verb *verb)
{
        static const struct {
                const char *argument, *text;
        } rows[] = {
                { "SESSION", "which session? 'ntprofctl session list' lists them" },
                { "PEER", "which peer? 'ntprofctl peer list' lists them" },
                { "LINE", "the line is missing that 'ntprofctl peer invite' printed on the other machine" },
        };

        for (gsize i = 0; i < G_N_ELEMENTS(rows); i++)
                if (g_str_has_prefix(verb->args, rows[i].argument))
                        return rows[i].text;
        return "an argument is missing";
}

static gboolean check_count(const Verb *verb, char **args, int min, int max, GError **error)
{
        const int n = (int) g_strv_length(args);

        /* What goes over the bus is. */
        for (int i = 0; i < n; i++)
                if (!g_utf8_validate(args[i], -1, NULL)) {
                        g_set_error(error, USAGE_ERROR, USAGE_ERROR_FAILED, "%s: argument %d is not UTF-8", verb->name, i + 1);
                        return FALSE;
                }
        if (n < min) {
                g_set_error(error, USAGE_ERROR, USAGE_ERROR_FAILED, "%s: %s", verb->name, missing(verb));
                return FALSE;
        }
        if (max >= 0 && n > max) {
                g_set_error(error, USAGE_ERROR, USAGE_ERROR_FAILED, "%s: too many arguments: '%s'", verb->name, args[max]);
                return FALSE;
        }
        return TRUE;
}

int verb_parse(Invocation *call, const GOptionEntry *entries, const char *description, int min, int max)
{
        gboolean help = FALSE;
        const GOptionEntry program_entries[] = {
                { "help", 'h', 0, G_OPTION_ARG_NONE, &help, "Show this help", NULL },
                { "bus", 0, G_OPTION_FLAG_HIDDEN, G_OPTION_ARG_STRING, &call->bus, NULL, NULL },
                {},
        };
        g_autoptr(GOptionContext) context = g_option_context_new(call->verb->args);
        g_autofree char *name = verb_full_name(call->verb), *program = g_strdup_printf("ntprofctl %s", name);
        g_autoptr(GError) error = NULL;
        g_autoptr(GPtrArray) argv = g_ptr_array_new_with_free_func(g_free);
        char **parsed;

        g_option_context_set_help_enabled(context, FALSE);
        g_option_context_set_summary(context, call->verb->summary);
        g_option_context_set_description(context, description);
        if (entries)
                g_option_context_add_main_entries(context, entries, NULL);
        g_option_context_add_main_entries(context, program_entries, NULL);

        g_ptr_array_add(argv, g_strdup(program));
        for (char **arg = call->args; *arg; arg++)
                g_ptr_array_add(argv, g_strdup(*arg));
        g_ptr_array_add(argv, NULL);
        parsed = g_strdupv((char **) argv->pdata);

        if (!g_option_context_parse_strv(context, &parsed, &error)) {
                if (error->domain == G_OPTION_ERROR) {
                        error->domain = USAGE_ERROR;
                        if (error->code == G_OPTION_ERROR_UNKNOWN_OPTION)
                                suggest_option(entries, call->args, &error);
                } else {
                        /* A value that is no text in the user's locale. */
                        g_clear_error(&error);
                        error = g_error_new_literal(USAGE_ERROR, USAGE_ERROR_FAILED,
                                                    "the value of an option is no text in this locale's encoding "
                                                    "(locale charmap)");
                }
                g_strfreev(parsed);
                return verb_fail(call, error);
        }

        g_strfreev(call->args);
        call->args = g_strdupv(parsed + 1);
        g_strfreev(parsed);

        /* An argument that looks like an option comes behind "--", which stays. */
        if (call->args[0] && g_str_equal(call->args[0], "--")) {
                char **rest = g_strdupv(call->args + 1);
                g_strfreev(call->args);
                call->args = rest;
        }

        if (help) {
                g_autofree char *text = NULL;
                g_set_prgname(program);
                text = g_option_context_get_help(context, TRUE, NULL);
                output_write(text);
                return 0;
        }
        if (!check_count(call->verb, call->args, min, max, &error))
                return verb_fail(call, error);
        return -1;
}

NtprofClient *verb_connect(Invocation *call, int *ret_status)
{
        g_autoptr(GError) error = NULL;
        NtprofClient *client = ntprof_client_new_sync(call->bus, NULL, &error);

        if (!client) {
                *ret_status = verb_fail(call, error);
                return NULL;
        }
        /* By default the process would be killed when the bus goes away, without a word. */
        g_dbus_connection_set_exit_on_close(ntprof_client_get_connection(client), FALSE);
        return client;
}

NtprofPeers *verb_connect_peers(Invocation *call, int *ret_status)
{
        g_autoptr(GError) error = NULL;
        NtprofPeers *peers = ntprof_peers_new_sync(call->bus, NULL, &error);

        if (!peers) {
                *ret_status = verb_fail(call, error);
                return NULL;
        }
        g_dbus_connection_set_exit_on_close(ntprof_peers_get_connection(peers), FALSE);
        return peers;
}
