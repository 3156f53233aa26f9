/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "session-json.h"

#include <json-glib/json-glib.h>

static void add_string(JsonBuilder *builder, const char *name, const char *value)
{
        json_builder_set_member_name(builder, name);
        json_builder_add_string_value(builder, value);
}

static void add_number(JsonBuilder *builder, const char *name, guint64 value)
{
        json_builder_set_member_name(builder, name);
        json_builder_add_int_value(builder, (gint64) MIN(value, (guint64) G_MAXINT64));
}

static void add_boolean(JsonBuilder *builder, const char *name, gboolean value)
{
        json_builder_set_member_name(builder, name);
        json_builder_add_boolean_value(builder, value);
}

static void add_lost(JsonBuilder *builder, GVariant *lost)
{
        GVariantIter iter;
        const char *cause;
        guint64 count;

        json_builder_set_member_name(builder, "lost");
        json_builder_begin_object(builder);
        if (lost) {
                g_variant_iter_init(&iter, lost);
                while (g_variant_iter_next(&iter, "{&st}", &cause, &count))
                        add_number(builder, cause, count);
        }
        json_builder_end_object(builder);
}

static void add_hooks(JsonBuilder *builder, GVariant *hooks)
{
        GVariantIter iter;
        const char *boundary, *mechanism, *symbol;

        json_builder_set_member_name(builder, "hooks");
        json_builder_begin_array(builder);
        if (hooks) {
                g_variant_iter_init(&iter, hooks);
                while (g_variant_iter_next(&iter, "(&s&s&s)", &boundary, &mechanism, &symbol)) {
                        json_builder_begin_object(builder);
                        add_string(builder, "boundary", boundary);
                        add_string(builder, "mechanism", mechanism);
                        add_string(builder, "symbol", symbol);
                        json_builder_end_object(builder);
                }
        }
        json_builder_end_array(builder);
}

static void add_session(JsonBuilder *builder, NtprofSession *session)
{
        add_string(builder, "id", ntprof_session_get_id(session));
        add_string(builder, "namespace", ntprof_session_get_namespace_name(session));
        add_number(builder, "owner", ntprof_session_get_owner(session));
        add_boolean(builder, "keep", ntprof_session_get_keep(session));
        add_string(builder, "state", ntprof_session_state_to_string(ntprof_session_get_state(session)));
        add_string(builder, "result", ntprof_session_get_result(session));
        add_string(builder, "message", ntprof_session_get_message(session));
        add_string(builder, "sample", ntprof_session_get_sample(session));
        add_number(builder, "duration_usec", ntprof_session_get_duration_usec(session));
        add_number(builder, "started_usec", ntprof_session_get_started_usec(session));
        add_number(builder, "recorded_usec", ntprof_session_get_recorded_usec(session));
        add_number(builder, "commands", ntprof_session_get_commands(session));
        add_number(builder, "sampled", ntprof_session_get_sampled(session));
        add_number(builder, "joined", ntprof_session_get_joined(session));
        add_lost(builder, ntprof_session_get_lost(session));
        add_boolean(builder, "has_target", ntprof_session_get_has_target(session));
        add_hooks(builder, ntprof_session_get_hooks(session));
}

static char *to_text(JsonBuilder *builder)
{
        g_autoptr(JsonNode) root = json_builder_get_root(builder);
        g_autofree char *json = json_to_string(root, TRUE);

        return g_strconcat(json, "\n", NULL);
}

char *session_to_json(NtprofSession *session)
{
        g_autoptr(JsonBuilder) builder = json_builder_new();

        json_builder_begin_object(builder);
        add_string(builder, "schema", "org.ntprof.session/1");
        add_session(builder, session);
        json_builder_end_object(builder);
        return to_text(builder);
}

char *sessions_to_json(GPtrArray *sessions)
{
        g_autoptr(JsonBuilder) builder = json_builder_new();

        json_builder_begin_object(builder);
        add_string(builder, "schema", "org.ntprof.sessions/1");
        json_builder_set_member_name(builder, "sessions");
        json_builder_begin_array(builder);
        for (guint i = 0; i < sessions->len; i++) {
                json_builder_begin_object(builder);
                add_session(builder, sessions->pdata[i]);
                json_builder_end_object(builder);
        }
        json_builder_end_array(builder);
        json_builder_end_object(builder);
        return to_text(builder);
}
