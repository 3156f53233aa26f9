/* SPDX-License-Identifier: GPL-2.0-or-later */
/* org.ntprof1.Manager: dbus/org.ntprof1.Manager.xml says what each member does. */
#include "authority.h"
#include "options.h"
#include "../privileges.h"
#include "service-internal.h"

static int method_start_session(sd_bus_message *m, void *userdata, sd_bus_error *ret_error)
{
        Service *service = userdata;
        _cleanup_error_ Error error = ERROR_INIT;
        _cleanup_(session_options_clear) SessionOptions options = {};
        _cleanup_free_ char *path = NULL;
        Session *s;
        uid_t uid;
        int r;

        r = authority_check(METHOD_START_SESSION, m, OWNER_NONE, &uid, &error);
        if (r < 0)
                return service_error(ret_error, &error);
        r = options_read_session(m, &options, &error);
        if (r < 0)
                return service_error(ret_error, &error);
        if (options.keep) {
                r = authority_check(METHOD_START_SESSION_KEEP, m, OWNER_NONE, NULL, &error);
                if (r < 0)
                        return service_error(ret_error, &error);
        }

        r = session_manager_start(service->sessions, uid, &options, &s, &error);
        if (r < 0)
                return service_error(ret_error, &error);
        if (!options.keep) {
                r = session_bus_bind(service, s, m);
                if (r < 0) {
                        session_cancel(s);
                        return r;
                }
        }

        path = session_bus_path(s);
        return sd_bus_reply_method_return(m, "o", path);
}

static int method_inspect(sd_bus_message *m, void *userdata, sd_bus_error *ret_error)
{
        Service *service = userdata;
        _cleanup_error_ Error error = ERROR_INIT;
        _cleanup_free_ char *text = NULL, *namespace = NULL;
        JsonNode *inspection;
        int r;

        r = authority_check(METHOD_INSPECT, m, OWNER_NONE, NULL, &error);
        if (r >= 0)
                r = options_read_inspect(m, &namespace, &error);
        if (r >= 0)
                r = service->backend->ops->inspect(service->backend, namespace, false, &inspection, &error);
        if (r < 0)
                return service_error(ret_error, &error);

        text = json_to_string(inspection, true);
        json_node_unref(inspection);
        return service_reply_memfd(m, "ntprof-inspection", text, ret_error);
}

static int property_version(sd_bus *bus, const char *path, const char *interface, const char *property, sd_bus_message *reply,
                            void *userdata, sd_bus_error *ret_error)
{
        return sd_bus_message_append(reply, "s", NTPROF_VERSION);
}

static int property_features(sd_bus *bus, const char *path, const char *interface, const char *property, sd_bus_message *reply,
                             void *userdata, sd_bus_error *ret_error)
{
        static const char *const sides[] = { "host", "target" };
        int r;

        r = sd_bus_message_open_container(reply, SD_BUS_TYPE_ARRAY, "s");
        for (unsigned i = 0; r >= 0 && i < n_transports; i++)
                for (size_t k = 0; r >= 0 && k < ELEMENTSOF(sides); k++) {
                        _cleanup_free_ char *feature = g_strdup_printf("nvme-%s-%s", transports[i].name, sides[k]);

                        r = sd_bus_message_append(reply, "s", feature);
                }
        if (r >= 0)
                r = sd_bus_message_append(reply, "s", "detail");
        return r < 0 ? r : sd_bus_message_close_container(reply);
}

static int property_kernel(sd_bus *bus, const char *path, const char *interface, const char *property, sd_bus_message *reply,
                           void *userdata, sd_bus_error *ret_error)
{
        Service *service = userdata;

        return sd_bus_message_append(reply, "s", service->backend->kernel);
}

static int append_privileges(sd_bus_message *m, const char *which, uint64_t set)
{
        g_auto(GStrv) names = privileges_names(set);
        int r;

        r = sd_bus_message_open_container(m, SD_BUS_TYPE_DICT_ENTRY, "sas");
        if (r >= 0)
                r = sd_bus_message_append(m, "s", which);
        if (r >= 0)
                r = sd_bus_message_append_strv(m, names);
        return r < 0 ? r : sd_bus_message_close_container(m);
}

static int property_privileges(sd_bus *bus, const char *path, const char *interface, const char *property, sd_bus_message *reply,
                               void *userdata, sd_bus_error *ret_error)
{
        int r;

        r = sd_bus_message_open_container(reply, SD_BUS_TYPE_ARRAY, "{sas}");
        if (r >= 0)
                r = append_privileges(reply, "effective", privileges_effective());
        if (r >= 0)
                r = append_privileges(reply, "permitted", privileges_permitted());
        return r < 0 ? r : sd_bus_message_close_container(reply);
}

/* Unprivileged: the bus's own check is not used, authority.c is asked instead. */
static const sd_bus_vtable manager_vtable[] = {
        SD_BUS_VTABLE_START(0),
        SD_BUS_METHOD_WITH_ARGS("StartSession", SD_BUS_ARGS("a{sv}", options), SD_BUS_RESULT("o", session),
                                method_start_session, SD_BUS_VTABLE_UNPRIVILEGED),
        SD_BUS_METHOD_WITH_ARGS("Inspect", SD_BUS_ARGS("a{sv}", options), SD_BUS_RESULT("h", inspection), method_inspect,
                                SD_BUS_VTABLE_UNPRIVILEGED),
        SD_BUS_PROPERTY("Version", "s", property_version, 0, SD_BUS_VTABLE_PROPERTY_CONST),
        SD_BUS_PROPERTY("Features", "as", property_features, 0, SD_BUS_VTABLE_PROPERTY_CONST),
        SD_BUS_PROPERTY("Kernel", "s", property_kernel, 0, SD_BUS_VTABLE_PROPERTY_CONST),
        SD_BUS_PROPERTY("Privileges", "a{sas}", property_privileges, 0, 0),
        SD_BUS_VTABLE_END,
};

int manager_bus_add(Service *service)
{
        return sd_bus_add_object_vtable(service->bus, NULL, ROOT_PATH, MANAGER_INTERFACE, manager_vtable, service);
}
