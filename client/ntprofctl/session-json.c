/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "session-json.h"

#include "json-add.h"

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
                        json_add_number(builder, cause, count);
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
                        json_add_string(builder, "boundary", boundary);
                        json_add_string(builder, "mechanism", mechanism);
                        json_add_string(builder, "symbol", symbol);
                        json_builder_end_object(builder);
                }
        }
        json_builder_end_array(builder);
}

static void add_holds(JsonBuilder *builder, GVariant *holds)
{
        GVariantIter iter;
        const char *module;

        json_builder_set_member_name(builder, "holds");
        json_builder_begin_array(builder);
        if (holds) {
                g_variant_iter_init(&iter, holds);
                while (g_variant_iter_next(&iter, "&s", &module))
                        json_builder_add_string_value(builder, module);
        }
        json_builder_end_array(builder);
}

static void add_targets(JsonBuilder *builder, GVariant *targets)
{
        GVariantIter iter;
        const char *peer, *state, *reason;

        json_builder_set_member_name(builder, "targets");
        json_builder_begin_array(builder);
        if (targets) {
                g_variant_iter_init(&iter, targets);
                while (g_variant_iter_next(&iter, "(&s&s&s)", &peer, &state, &reason)) {
                        json_builder_begin_object(builder);
                        json_add_string(builder, "peer", peer);
                        json_add_string(builder, "state", state);
                        json_add_string(builder, "reason", reason);
                        json_builder_end_object(builder);
                }
        }
        json_builder_end_array(builder);
}

static void add_session(JsonBuilder *builder, NtprofSession *session)
{
        json_add_string(builder, "id", ntprof_session_get_id(session));
        json_add_string(builder, "namespace", ntprof_session_get_namespace_name(session));
        json_add_number(builder, "owner", ntprof_session_get_owner(session));
        json_add_boolean(builder, "keep", ntprof_session_get_keep(session));
        json_add_boolean(builder, "detail", ntprof_session_get_detail(session));
        json_add_string(builder, "state", ntprof_session_state_to_string(ntprof_session_get_state(session)));
        json_add_string(builder, "result", ntprof_session_get_result(session));
        json_add_string(builder, "message", ntprof_session_get_message(session));
        json_add_string(builder, "sample", ntprof_session_get_sample(session));
        json_add_number(builder, "duration_usec", ntprof_session_get_duration_usec(session));
        json_add_number(builder, "started_usec", ntprof_session_get_started_usec(session));
        json_add_number(builder, "recorded_usec", ntprof_session_get_recorded_usec(session));
        json_add_number(builder, "commands", ntprof_session_get_commands(session));
        json_add_number(builder, "sampled", ntprof_session_get_sampled(session));
        json_add_number(builder, "joined", ntprof_session_get_joined(session));
        add_lost(builder, ntprof_session_get_lost(session));
        json_add_boolean(builder, "has_target", ntprof_session_get_has_target(session));
        add_targets(builder, ntprof_session_get_targets(session));
        add_hooks(builder, ntprof_session_get_hooks(session));
        add_holds(builder, ntprof_session_get_holds(session));
}

char *session_to_json(NtprofSession *session)
{
        g_autoptr(JsonBuilder) builder = json_add_document("org.ntprof.session/1");

        add_session(builder, session);
        return json_add_end(builder);
}

char *sessions_to_json(GPtrArray *sessions)
{
        g_autoptr(JsonBuilder) builder = json_add_document("org.ntprof.sessions/1");

        json_builder_set_member_name(builder, "sessions");
        json_builder_begin_array(builder);
        for (guint i = 0; i < sessions->len; i++) {
                json_builder_begin_object(builder);
                add_session(builder, sessions->pdata[i]);
                json_builder_end_object(builder);
        }
        json_builder_end_array(builder);
        return json_add_end(builder);
}
