/* SPDX-License-Identifier: GPL-2.0-or-later */
/* org.ntprof1.internal.Target: dbus/org.ntprof1.internal.Target.xml says what each member does. */
#include "authority.h"
#include "service-internal.h"
#include "target-journal.h"
#include "target-request.h"

static int open_target(Service *service, sd_bus_message *m, PeerWho *who, PeerRequest *request, int *ret_fd,
                       char **ret_problems, Error *error)
{
        int r;

        r = target_request_read(m, who, request, error);
        if (r < 0)
                return r;
        return target_sides_open(service->target_sides, who, request, ret_fd, ret_problems, error);
}

static int method_open_target(sd_bus_message *m, void *userdata, sd_bus_error *ret_error)
{
        Service *service = userdata;
        _cleanup_error_ Error error = ERROR_INIT;
        _cleanup_(peer_who_clear) PeerWho who = {};
        _cleanup_(peer_request_clear) PeerRequest request = {};
        _cleanup_free_ char *problems = NULL;
        _cleanup_close_ int fd = -1;
        int r;

        r = authority_check(METHOD_OPEN_TARGET, m, OWNER_NONE, NULL, &error);
        if (r < 0)
                return service_error(ret_error, &error);

        r = open_target(service, m, &who, &request, &fd, &problems, &error);
        if (r < 0) {
                target_journal_refused(&who, &request, &error, problems);
                return service_error(ret_error, &error);
        }
        target_journal_accepted(&who, &request);
        return sd_bus_reply_method_return(m, "h", fd);
}

static int append_list(sd_bus_message *reply, const char *key, char **list)
{
        int r;

        r = sd_bus_message_open_container(reply, SD_BUS_TYPE_DICT_ENTRY, "sv");
        if (r >= 0)
                r = sd_bus_message_append(reply, "s", key);
        if (r >= 0)
                r = sd_bus_message_open_container(reply, SD_BUS_TYPE_VARIANT, "as");
        if (r >= 0)
                r = sd_bus_message_append_strv(reply, list);
        if (r >= 0)
                r = sd_bus_message_close_container(reply);
        if (r >= 0)
                r = sd_bus_message_close_container(reply);
        return r;
}

static int method_describe(sd_bus_message *m, void *userdata, sd_bus_error *ret_error)
{
        Service *service = userdata;
        _cleanup_error_ Error error = ERROR_INIT;
        _cleanup_(machine_facts_freep) MachineFacts *facts = NULL;
        _cleanup_(sd_bus_message_unrefp) sd_bus_message *reply = NULL;
        int r;

        r = authority_check(METHOD_DESCRIBE, m, OWNER_NONE, NULL, &error);
        if (r < 0)
                return service_error(ret_error, &error);

        facts = service->backend->ops->describe(service->backend);
        r = sd_bus_message_new_method_return(m, &reply);
        if (r >= 0)
                r = sd_bus_message_open_container(reply, SD_BUS_TYPE_ARRAY, "{sv}");
        if (r >= 0)
                r = append_list(reply, "subsystems", facts->subsystems);
        if (r >= 0)
                r = append_list(reply, "addresses", facts->addresses);
        if (r >= 0)
                r = append_list(reply, "host-nqns", facts->host_nqns);
        if (r >= 0)
                r = sd_bus_message_close_container(reply);
        if (r < 0)
                return r;
        return sd_bus_send(NULL, reply, NULL);
}

static const sd_bus_vtable target_vtable[] = {
        SD_BUS_VTABLE_START(0),
        SD_BUS_METHOD_WITH_ARGS("OpenTarget", SD_BUS_ARGS("a{sv}", peer, "a{sv}", request), SD_BUS_RESULT("h", stream),
                                method_open_target, SD_BUS_VTABLE_UNPRIVILEGED),
        SD_BUS_METHOD_WITH_ARGS("Describe", SD_BUS_NO_ARGS, SD_BUS_RESULT("a{sv}", facts), method_describe,
                                SD_BUS_VTABLE_UNPRIVILEGED),
        SD_BUS_VTABLE_END,
};

static void on_ended(const TargetSidesEntry *entry, const char *why, void *userdata)
{
        target_journal_ended(entry, why);
}

int internal_bus_add(Service *service)
{
        service->peers.machine = service->backend->machine;
        service->target_sides = target_sides_new(service->event, service->backend, &service->peers,
                                                 &(TargetSidesObserver) { .ended = on_ended });
        return sd_bus_add_object_vtable(service->bus, NULL, INTERNAL_PATH, TARGET_INTERFACE, target_vtable, service);
}
