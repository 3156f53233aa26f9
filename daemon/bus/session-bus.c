/* SPDX-License-Identifier: GPL-2.0-or-later */
/* org.ntprof1.Session: dbus/org.ntprof1.Session.xml says what each member does. */
#include <stdio.h>
#include <string.h>

#include "../log.h"
#include "authority.h"
#include "options.h"
#include "service-internal.h"

typedef struct SessionContext {
        sd_bus_track *track;            /* the client that it ends with; NULL: none */
        GPtrArray *stops;               /* calls of Stop() to be answered when it has ended */
} SessionContext;

static void session_context_free(void *data)
{
        SessionContext *context = data;

        sd_bus_track_unref(context->track);
        g_ptr_array_unref(context->stops);
        g_free(context);
}

static void message_unref(void *data)
{
        sd_bus_message_unref(data);
}

char *session_bus_path(const Session *s)
{
        return g_strdup_printf(SESSIONS_PATH "/%s", s->id);
}

static int check(Method method, sd_bus_message *m, const Session *s, sd_bus_error *ret_error)
{
        _cleanup_error_ Error error = ERROR_INIT;
        int r;

        r = authority_check(method, m, s->owner, NULL, &error);
        return r < 0 ? service_error(ret_error, &error) : 0;
}

static int method_stop(sd_bus_message *m, void *userdata, sd_bus_error *ret_error)
{
        Session *s = userdata;
        Service *service = s->observer->userdata;
        SessionContext *context = g_hash_table_lookup(service->session_contexts, s);
        int r;

        r = check(METHOD_STOP, m, s, ret_error);
        if (r < 0)
                return r;
        if (session_has_ended(s))
                return sd_bus_reply_method_return(m, NULL);

        g_ptr_array_add(context->stops, sd_bus_message_ref(m));
        session_stop(s);
        return 1;
}

static int method_cancel(sd_bus_message *m, void *userdata, sd_bus_error *ret_error)
{
        Session *s = userdata;
        int r;

        r = check(METHOD_CANCEL, m, s, ret_error);
        if (r < 0)
                return r;

        session_cancel(s);
        return sd_bus_reply_method_return(m, NULL);
}

static int method_remove(sd_bus_message *m, void *userdata, sd_bus_error *ret_error)
{
        Session *s = userdata;
        Service *service = s->observer->userdata;
        _cleanup_error_ Error error = ERROR_INIT;
        int r;

        r = check(METHOD_REMOVE, m, s, ret_error);
        if (r < 0)
                return r;

        r = session_manager_remove(service->sessions, s, &error);
        if (r < 0)
                return service_error(ret_error, &error);
        return sd_bus_reply_method_return(m, NULL);
}

static int method_get_report(sd_bus_message *m, void *userdata, sd_bus_error *ret_error)
{
        Session *s = userdata;
        _cleanup_error_ Error error = ERROR_INIT;
        _cleanup_free_ char *json = NULL;
        int r;

        r = check(METHOD_GET_REPORT, m, s, ret_error);
        if (r < 0)
                return r;

        r = options_read_none(m, &error);
        if (r >= 0)
                r = session_report(s, &json, &error);
        if (r < 0)
                return service_error(ret_error, &error);
        return service_reply_memfd(m, "ntprof-report", json, ret_error);
}

/* Properties: one getter for all of a type, by name. */
static int property_string(sd_bus *bus, const char *path, const char *interface, const char *property, sd_bus_message *reply,
                           void *userdata, sd_bus_error *ret_error)
{
        const Session *s = userdata;
        _cleanup_free_ char *sample = NULL;
        const char *value = NULL;

        if (g_str_equal(property, "Id"))
                value = s->id;
        else if (g_str_equal(property, "Namespace"))
                value = s->namespace->name;
        else if (g_str_equal(property, "State"))
                value = session_state_to_string(s->state);
        else if (g_str_equal(property, "Result"))
                value = session_result(s);
        else if (g_str_equal(property, "Message"))
                value = s->message;
        else if (g_str_equal(property, "Sample"))
                value = sample = sample_option_format(&s->options.sample);

        return sd_bus_message_append(reply, "s", value ?: "");
}

static int property_number(sd_bus *bus, const char *path, const char *interface, const char *property, sd_bus_message *reply,
                           void *userdata, sd_bus_error *ret_error)
{
        const Session *s = userdata;
        uint64_t value = 0;

        if (g_str_equal(property, "DurationUSec"))
                value = s->options.duration_usec;
        else if (g_str_equal(property, "StartedUSec"))
                value = s->started_realtime_usec;
        else if (g_str_equal(property, "RecordedUSec"))
                value = s->recorded_ns / NSEC_PER_USEC;
        else if (g_str_equal(property, "Commands"))
                value = s->commands;
        else if (g_str_equal(property, "Sampled"))
                value = s->sampled;
        else if (g_str_equal(property, "Joined"))
                value = s->joined;

        return sd_bus_message_append(reply, "t", value);
}

static int property_bool(sd_bus *bus, const char *path, const char *interface, const char *property, sd_bus_message *reply,
                         void *userdata, sd_bus_error *ret_error)
{
        const Session *s = userdata;
        bool value;

        if (g_str_equal(property, "Keep"))
                value = s->options.keep;
        else if (g_str_equal(property, "Detail"))
                value = s->options.detail;
        else
                value = session_has_target(s);
        return sd_bus_message_append(reply, "b", (int) value);
}

static int property_owner(sd_bus *bus, const char *path, const char *interface, const char *property, sd_bus_message *reply,
                          void *userdata, sd_bus_error *ret_error)
{
        const Session *s = userdata;

        return sd_bus_message_append(reply, "u", (uint32_t) s->owner);
}

static int property_lost(sd_bus *bus, const char *path, const char *interface, const char *property, sd_bus_message *reply,
                         void *userdata, sd_bus_error *ret_error)
{
        const Session *s = userdata;
        int r;

        r = sd_bus_message_open_container(reply, SD_BUS_TYPE_ARRAY, "{st}");
        if (r < 0)
                return r;
        for (int i = 0; i < NP_LOSS_COUNT; i++) {
                if (s->losses[i] == 0)
                        continue;
                r = sd_bus_message_append(reply, "{st}", np_loss_info(i)->key, s->losses[i]);
                if (r < 0)
                        return r;
        }
        return sd_bus_message_close_container(reply);
}

/* prefix: the machine's name, or NULL for this one. */
static int append_hooks(sd_bus_message *reply, const char *prefix, const GArray *hooks)
{
        for (guint i = 0; i < hooks->len; i++) {
                const SessionHook *hook = &g_array_index(hooks, SessionHook, i);
                _cleanup_free_ char *boundary = prefix ? g_strdup_printf("%s: %s", prefix, hook->boundary) : NULL;
                int r;

                r = sd_bus_message_append(reply, "(sss)", boundary ?: hook->boundary, hook->mechanism, hook->symbol);
                if (r < 0)
                        return r;
        }
        return 0;
}

static int property_hooks(sd_bus *bus, const char *path, const char *interface, const char *property, sd_bus_message *reply,
                          void *userdata, sd_bus_error *ret_error)
{
        const Session *s = userdata;
        const GPtrArray *targets = targets_list(s->targets);
        int r;

        r = sd_bus_message_open_container(reply, SD_BUS_TYPE_ARRAY, "(sss)");
        if (r < 0)
                return r;
        r = append_hooks(reply, NULL, s->hooks);
        for (guint i = 0; r >= 0 && i < targets->len; i++) {
                const SessionTarget *target = targets->pdata[i];

                r = append_hooks(reply, target->peer, target->hooks);
        }
        if (r < 0)
                return r;
        return sd_bus_message_close_container(reply);
}

static int property_holds(sd_bus *bus, const char *path, const char *interface, const char *property, sd_bus_message *reply,
                          void *userdata, sd_bus_error *ret_error)
{
        const Session *s = userdata;
        int r;

        r = sd_bus_message_open_container(reply, SD_BUS_TYPE_ARRAY, "s");
        for (guint i = 0; r >= 0 && i < s->holds->len && !session_has_ended(s); i++)
                r = sd_bus_message_append(reply, "s", s->holds->pdata[i]);
        return r < 0 ? r : sd_bus_message_close_container(reply);
}

static int property_targets(sd_bus *bus, const char *path, const char *interface, const char *property, sd_bus_message *reply,
                            void *userdata, sd_bus_error *ret_error)
{
        static const char *const states[] = {
                [TARGET_CONNECTING] = "connecting",
                [TARGET_READY] = "connecting",
                [TARGET_RECORDING] = "recording",
                [TARGET_ENDED] = "ended",
        };
        const Session *s = userdata;
        const GPtrArray *targets = targets_list(s->targets);
        int r;

        r = sd_bus_message_open_container(reply, SD_BUS_TYPE_ARRAY, "(sss)");
        if (r < 0)
                return r;
        for (guint i = 0; i < targets->len; i++) {
                const SessionTarget *target = targets->pdata[i];

                r = sd_bus_message_append(reply, "(sss)", target->peer ?: "", states[target->state], target->reason ?: "");
                if (r < 0)
                        return r;
        }
        return sd_bus_message_close_container(reply);
}

#define CONSTANT SD_BUS_VTABLE_PROPERTY_CONST
#define CHANGES SD_BUS_VTABLE_PROPERTY_EMITS_CHANGE

static const sd_bus_vtable session_vtable[] = {
        SD_BUS_VTABLE_START(0),
        SD_BUS_METHOD("Stop", NULL, NULL, method_stop, SD_BUS_VTABLE_UNPRIVILEGED),
        SD_BUS_METHOD("Cancel", NULL, NULL, method_cancel, SD_BUS_VTABLE_UNPRIVILEGED),
        SD_BUS_METHOD("Remove", NULL, NULL, method_remove, SD_BUS_VTABLE_UNPRIVILEGED),
        SD_BUS_METHOD_WITH_ARGS("GetReport", SD_BUS_ARGS("a{sv}", options), SD_BUS_RESULT("h", report), method_get_report,
                                SD_BUS_VTABLE_UNPRIVILEGED),
        SD_BUS_PROPERTY("Id", "s", property_string, 0, CONSTANT),
        SD_BUS_PROPERTY("Namespace", "s", property_string, 0, CONSTANT),
        SD_BUS_PROPERTY("Owner", "u", property_owner, 0, CONSTANT),
        SD_BUS_PROPERTY("Keep", "b", property_bool, 0, CONSTANT),
        SD_BUS_PROPERTY("Detail", "b", property_bool, 0, CONSTANT),
        SD_BUS_PROPERTY("State", "s", property_string, 0, CHANGES),
        SD_BUS_PROPERTY("Result", "s", property_string, 0, CHANGES),
        SD_BUS_PROPERTY("Message", "s", property_string, 0, CHANGES),
        SD_BUS_PROPERTY("Sample", "s", property_string, 0, CONSTANT),
        SD_BUS_PROPERTY("DurationUSec", "t", property_number, 0, CONSTANT),
        SD_BUS_PROPERTY("StartedUSec", "t", property_number, 0, CHANGES),
        SD_BUS_PROPERTY("RecordedUSec", "t", property_number, 0, CHANGES),
        SD_BUS_PROPERTY("Commands", "t", property_number, 0, CHANGES),
        SD_BUS_PROPERTY("Sampled", "t", property_number, 0, CHANGES),
        SD_BUS_PROPERTY("Joined", "t", property_number, 0, CHANGES),
        SD_BUS_PROPERTY("Lost", "a{st}", property_lost, 0, CHANGES),
        SD_BUS_PROPERTY("HasTarget", "b", property_bool, 0, CHANGES),
        SD_BUS_PROPERTY("Targets", "a(sss)", property_targets, 0, CHANGES),
        SD_BUS_PROPERTY("Hooks", "a(sss)", property_hooks, 0, CHANGES),
        SD_BUS_PROPERTY("Holds", "as", property_holds, 0, CHANGES),
        SD_BUS_VTABLE_END,
};

/* What each kind of change is called on the bus. */
static const struct {
        unsigned change;                /* of SessionChange */
        const char *property;
} changes[] = {
        { SESSION_CHANGED_STATE, "State" },
        { SESSION_CHANGED_STATE, "Result" },
        { SESSION_CHANGED_STATE, "Message" },
        { SESSION_CHANGED_STATE, "StartedUSec" },
        { SESSION_CHANGED_COUNTERS, "RecordedUSec" },
        { SESSION_CHANGED_COUNTERS, "Commands" },
        { SESSION_CHANGED_COUNTERS, "Sampled" },
        { SESSION_CHANGED_COUNTERS, "Joined" },
        { SESSION_CHANGED_COUNTERS, "Lost" },
        { SESSION_CHANGED_HOOKS | SESSION_CHANGED_TARGETS, "HasTarget" },
        { SESSION_CHANGED_HOOKS | SESSION_CHANGED_TARGETS, "Hooks" },
        { SESSION_CHANGED_STATE | SESSION_CHANGED_HOOKS, "Holds" },
        { SESSION_CHANGED_STATE | SESSION_CHANGED_TARGETS, "Targets" },
};

static void answer_stops(SessionContext *context)
{
        for (guint i = 0; i < context->stops->len; i++)
                (void) sd_bus_reply_method_return(context->stops->pdata[i], NULL);
        g_ptr_array_set_size(context->stops, 0);
}

static void on_added(Session *s, void *userdata)
{
        Service *service = userdata;
        SessionContext *context = g_new0(SessionContext, 1);
        _cleanup_free_ char *path = session_bus_path(s);
        int r;

        context->stops = g_ptr_array_new_with_free_func(message_unref);
        g_hash_table_insert(service->session_contexts, s, context);

        r = sd_bus_emit_object_added(service->bus, path);
        if (r < 0)
                log_error("%s: cannot be announced: %s", path, g_strerror(-r));
}

static void on_removed(Session *s, void *userdata)
{
        Service *service = userdata;
        _cleanup_free_ char *path = session_bus_path(s);
        SessionContext *context = g_hash_table_lookup(service->session_contexts, s);

        answer_stops(context);
        (void) sd_bus_emit_object_removed(service->bus, path);
        g_hash_table_remove(service->session_contexts, s);
}

static void on_changed(Session *s, SessionChange what, void *userdata)
{
        Service *service = userdata;
        SessionContext *context = g_hash_table_lookup(service->session_contexts, s);
        _cleanup_free_ char *path = session_bus_path(s);
        char *names[ELEMENTSOF(changes) + 1];
        size_t n = 0;
        int r;

        for (size_t i = 0; i < ELEMENTSOF(changes); i++)
                if (what & changes[i].change)
                        names[n++] = (char *) changes[i].property;
        names[n] = NULL;

        r = sd_bus_emit_properties_changed_strv(service->bus, path, SESSION_INTERFACE, names);
        if (r < 0)
                log_error("%s: a change cannot be told: %s", path, g_strerror(-r));

        if (!(what & SESSION_CHANGED_STATE) || !session_has_ended(s))
                return;
        if (s->state == SESSION_FAILED)
                log_error("Session %s: %s", s->id, s->message);
        answer_stops(context);
}

const SessionObserver session_bus_observer = {
        .added = on_added,
        .removed = on_removed,
        .changed = on_changed,
};

static int on_client_gone(sd_bus_track *track, void *userdata)
{
        session_cancel(userdata);
        return 1;
}

int session_bus_bind(Service *service, Session *s, sd_bus_message *m)
{
        SessionContext *context = g_hash_table_lookup(service->session_contexts, s);
        int r;

        r = sd_bus_track_new(service->bus, &context->track, on_client_gone, s);
        if (r < 0)
                return r;
        return sd_bus_track_add_sender(context->track, m);
}

static int find_session(sd_bus *bus, const char *path, const char *interface, void *userdata, void **ret, sd_bus_error *ret_error)
{
        Service *service = userdata;
        Session *s;

        if (!g_str_has_prefix(path, SESSIONS_PATH "/"))
                return 0;
        s = session_manager_find(service->sessions, path + strlen(SESSIONS_PATH "/"));
        if (!s)
                return 0;

        *ret = s;
        return 1;
}

static int enumerate_sessions(sd_bus *bus, const char *prefix, void *userdata, char ***ret, sd_bus_error *ret_error)
{
        Service *service = userdata;
        const GPtrArray *sessions = session_manager_list(service->sessions);
        char **paths = g_new0(char *, sessions->len + 1);

        for (guint i = 0; i < sessions->len; i++)
                paths[i] = session_bus_path(sessions->pdata[i]);
        *ret = paths;
        return 1;
}

int session_bus_add(Service *service)
{
        int r;

        service->session_contexts = g_hash_table_new_full(NULL, NULL, NULL, session_context_free);

        r = sd_bus_add_fallback_vtable(service->bus, NULL, SESSIONS_PATH, SESSION_INTERFACE, session_vtable, find_session,
                                       service);
        if (r < 0)
                return r;
        return sd_bus_add_node_enumerator(service->bus, NULL, SESSIONS_PATH, enumerate_sessions, service);
}
