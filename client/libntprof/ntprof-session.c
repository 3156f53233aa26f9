/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "session-private.h"

/**
 * NtprofSession:
 *
 * One recording of a namespace's commands by the service.
 *
 * Sessions come from a [class@Client]. The properties mirror those of the D-Bus object and notify as the service tells of
 * changes (states at once, counters at most once a second), in the thread-default main context that was in force when the
 * client was made: a program that runs no main loop sees them change only when it calls [method@Session.wait_sync],
 * [method@Session.stop_sync] or [method@Session.cancel_sync]. After a session has ended its properties stay as they are,
 * except for [property@Session:gone].
 *
 * A session started without the option "keep" is cancelled by the service when the bus connection of its client closes.
 */

G_DEFINE_FINAL_TYPE(NtprofSession, ntprof_session, G_TYPE_OBJECT)

static const struct {
        const char *dbus_name, *type, *name;
} mirrored[NP_N_MIRRORED] = {
        [NP_PROP_ID]             = { "Id", "s", "id" },
        [NP_PROP_NAMESPACE_NAME] = { "Namespace", "s", "namespace-name" },
        [NP_PROP_OWNER]          = { "Owner", "u", "owner" },
        [NP_PROP_KEEP]           = { "Keep", "b", "keep" },
        [NP_PROP_DETAIL]         = { "Detail", "b", "detail" },
        [NP_PROP_STATE]          = { "State", "s", "state" },
        [NP_PROP_RESULT]         = { "Result", "s", "result" },
        [NP_PROP_MESSAGE]        = { "Message", "s", "message" },
        [NP_PROP_SAMPLE]         = { "Sample", "s", "sample" },
        [NP_PROP_DURATION_USEC]  = { "DurationUSec", "t", "duration-usec" },
        [NP_PROP_STARTED_USEC]   = { "StartedUSec", "t", "started-usec" },
        [NP_PROP_RECORDED_USEC]  = { "RecordedUSec", "t", "recorded-usec" },
        [NP_PROP_COMMANDS]       = { "Commands", "t", "commands" },
        [NP_PROP_SAMPLED]        = { "Sampled", "t", "sampled" },
        [NP_PROP_JOINED]         = { "Joined", "t", "joined" },
        [NP_PROP_LOST]           = { "Lost", "a{st}", "lost" },
        [NP_PROP_HAS_TARGET]     = { "HasTarget", "b", "has-target" },
        [NP_PROP_HOOKS]          = { "Hooks", "a(sss)", "hooks" },
        [NP_PROP_HOLDS]          = { "Holds", "as", "holds" },
        [NP_PROP_TARGETS]        = { "Targets", "a(sss)", "targets" },
};

static GParamSpec *properties[NP_N_PROPERTIES];

/* A reply read synchronously overtakes the signals queued in the main context: what they tell about a session known to
 * have ended is old. */
void np_session_apply(NtprofSession *self, GVariant *changed)
{
        GVariantIter iter;
        const char *name;
        GVariant *value;

        if (ntprof_session_has_ended(self))
                return;

        g_object_freeze_notify(G_OBJECT(self));
        g_variant_iter_init(&iter, changed);
        while (g_variant_iter_loop(&iter, "{&sv}", &name, &value))
                for (int i = 1; i < NP_N_MIRRORED; i++) {
                        if (!g_str_equal(mirrored[i].dbus_name, name) ||
                            !g_variant_is_of_type(value, G_VARIANT_TYPE(mirrored[i].type)))
                                continue;
                        if (self->values[i] && g_variant_equal(self->values[i], value))
                                break;
                        g_clear_pointer(&self->values[i], g_variant_unref);
                        self->values[i] = g_variant_ref(value);
                        g_object_notify_by_pspec(G_OBJECT(self), properties[i]);
                        break;
                }
        g_object_thaw_notify(G_OBJECT(self));
}

static void on_properties_changed(GDBusProxy *proxy, GVariant *changed, GStrv invalidated, NtprofSession *self)
{
        np_session_apply(self, changed);
}

NtprofSession *np_session_new(NpDBusSession *proxy)
{
        NtprofSession *self = g_object_new(NTPROF_TYPE_SESSION, NULL);
        g_auto(GVariantDict) known;

        self->proxy = g_object_ref(proxy);
        g_signal_connect_object(proxy, "g-properties-changed", G_CALLBACK(on_properties_changed), self, 0);

        g_variant_dict_init(&known, NULL);
        for (int i = 1; i < NP_N_MIRRORED; i++) {
                GVariant *value = g_dbus_proxy_get_cached_property(G_DBUS_PROXY(proxy), mirrored[i].dbus_name);
                if (value) {
                        g_variant_dict_insert_value(&known, mirrored[i].dbus_name, value);
                        g_variant_unref(value);
                }
        }
        g_autoptr(GVariant) all = g_variant_ref_sink(g_variant_dict_end(&known));
        np_session_apply(self, all);

        self->label = g_strdup_printf("session %s", strrchr(ntprof_session_get_object_path(self), '/') + 1);
        return self;
}

void np_session_set_gone(NtprofSession *self)
{
        if (self->gone)
                return;
        self->gone = TRUE;
        g_object_notify_by_pspec(G_OBJECT(self), properties[NP_PROP_GONE]);
}

static void ntprof_session_init(NtprofSession *self)
{
        self->values = g_new0(GVariant *, NP_N_MIRRORED);
}

static void ntprof_session_finalize(GObject *object)
{
        NtprofSession *self = NTPROF_SESSION(object);

        for (int i = 0; i < NP_N_MIRRORED; i++)
                g_clear_pointer(&self->values[i], g_variant_unref);
        g_free(self->values);
        g_free(self->label);
        g_clear_object(&self->proxy);
        G_OBJECT_CLASS(ntprof_session_parent_class)->finalize(object);
}

static void ntprof_session_get_property(GObject *object, guint id, GValue *value, GParamSpec *pspec)
{
        NtprofSession *self = NTPROF_SESSION(object);

        if (id == NP_PROP_GONE)
                g_value_set_boolean(value, self->gone);
        else if (id == NP_PROP_OBJECT_PATH)
                g_value_set_string(value, ntprof_session_get_object_path(self));
        else if (id == NP_PROP_STATE)
                g_value_set_enum(value, ntprof_session_get_state(self));
        else if (id > NP_PROP_0 && id < NP_N_MIRRORED)
                switch (mirrored[id].type[0]) {
                case 's':
                        g_value_set_string(value, np_session_get_string(self, (int) id));
                        break;
                case 'u':
                        g_value_set_uint(value, ntprof_session_get_owner(self));
                        break;
                case 't':
                        g_value_set_uint64(value, np_session_get_uint64(self, (int) id));
                        break;
                case 'b':
                        g_value_set_boolean(value, np_session_get_boolean(self, (int) id));
                        break;
                default:
                        g_value_set_variant(value, self->values[id]);
                }
        else
                G_OBJECT_WARN_INVALID_PROPERTY_ID(object, id, pspec);
}

static GParamSpec *make_pspec(int id)
{
        const GParamFlags flags = G_PARAM_READABLE | G_PARAM_STATIC_STRINGS | G_PARAM_EXPLICIT_NOTIFY;
        const char *name = mirrored[id].name;

        if (id == NP_PROP_STATE)
                return g_param_spec_enum(name, NULL, NULL, NTPROF_TYPE_SESSION_STATE, NTPROF_SESSION_STATE_UNKNOWN, flags);
        switch (mirrored[id].type[0]) {
        case 's':
                return g_param_spec_string(name, NULL, NULL, "", flags);
        case 'u':
                return g_param_spec_uint(name, NULL, NULL, 0, G_MAXUINT, 0, flags);
        case 't':
                return g_param_spec_uint64(name, NULL, NULL, 0, G_MAXUINT64, 0, flags);
        case 'b':
                return g_param_spec_boolean(name, NULL, NULL, FALSE, flags);
        default:
                return g_param_spec_variant(name, NULL, NULL, G_VARIANT_TYPE(mirrored[id].type), NULL, flags);
        }
}

static void ntprof_session_class_init(NtprofSessionClass *class)
{
        const GParamFlags flags = G_PARAM_READABLE | G_PARAM_STATIC_STRINGS | G_PARAM_EXPLICIT_NOTIFY;
        GObjectClass *object_class = G_OBJECT_CLASS(class);

        object_class->finalize = ntprof_session_finalize;
        object_class->get_property = ntprof_session_get_property;

        /**
         * NtprofSession:id: (getter get_id)
         *
         * A number, as a string, that the service does not use again.
         */
        /**
         * NtprofSession:namespace-name: (getter get_namespace_name)
         *
         * E.g. "nvme6n1".
         */
        /**
         * NtprofSession:owner: (getter get_owner)
         *
         * Uid of who started it.
         */
        /**
         * NtprofSession:keep: (getter get_keep)
         *
         * Whether it outlives the bus connection of who started it.
         */
        /**
         * NtprofSession:detail: (getter get_detail)
         *
         * Whether it records what only the components of the stages need, too.
         */
        /**
         * NtprofSession:state: (getter get_state)
         *
         * Where it is in its life.
         */
        /**
         * NtprofSession:result: (getter get_result)
         *
         * "" until the session has ended, then "done", "cancelled" or the name of an error (see [func@error_from_name]).
         */
        /**
         * NtprofSession:message: (getter get_message)
         *
         * For a person, when the result is an error: what failed, on what, why, what to do.
         */
        /**
         * NtprofSession:sample: (getter get_sample)
         *
         * "auto", "all" or "1/N", as asked for.
         */
        /**
         * NtprofSession:duration-usec: (getter get_duration_usec)
         *
         * Us to record, as asked for; 0: until it is stopped.
         */
        /**
         * NtprofSession:started-usec: (getter get_started_usec)
         *
         * CLOCK_REALTIME in us when the recording started, 0 before.
         */
        /**
         * NtprofSession:recorded-usec: (getter get_recorded_usec)
         *
         * Us it has recorded.
         */
        /**
         * NtprofSession:commands: (getter get_commands)
         *
         * Commands of the namespace while it recorded, sampled or not.
         */
        /**
         * NtprofSession:sampled: (getter get_sampled)
         *
         * Commands chosen by the sampling hash.
         */
        /**
         * NtprofSession:joined: (getter get_joined)
         *
         * Sampled commands with both sides' records.
         */
        /**
         * NtprofSession:lost: (getter get_lost)
         *
         * a{st}: number of commands by cause (key as in "losses" of the report), only causes that occurred.
         */
        /**
         * NtprofSession:has-target: (getter get_has_target)
         *
         * Whether the target's side is recorded too.
         */
        /**
         * NtprofSession:hooks: (getter get_hooks)
         *
         * a(sss): boundary, mechanism and symbol of what is attached.
         */
        /**
         * NtprofSession:holds: (getter get_holds)
         *
         * as: kernel modules of this machine that cannot be unloaded because of what is attached.
         */
        /**
         * NtprofSession:targets: (getter get_targets)
         *
         * a(sss): of each machine that records the target's side, or was to: the peer's name ("" for this machine itself);
         * "connecting", "recording" or "ended"; and, when it ended before the session did, why.
         */
        for (int i = 1; i < NP_N_MIRRORED; i++)
                properties[i] = make_pspec(i);

        /**
         * NtprofSession:object-path: (getter get_object_path)
         *
         * Of the session on the bus.
         */
        properties[NP_PROP_OBJECT_PATH] = g_param_spec_string("object-path", NULL, NULL, NULL, flags);
        /**
         * NtprofSession:gone: (getter get_gone)
         *
         * Whether the session no longer exists: it was removed, or the service or the bus went away.
         */
        properties[NP_PROP_GONE] = g_param_spec_boolean("gone", NULL, NULL, FALSE, flags);

        g_object_class_install_properties(object_class, NP_N_PROPERTIES, properties);
}
