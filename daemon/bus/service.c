/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "service.h"

#include <string.h>

#include "../log.h"
#include "links-client.h"
#include "memfd.h"
#include "service-internal.h"

int service_error(sd_bus_error *ret_error, const Error *error)
{
        return sd_bus_error_set(ret_error, ntprof_error_dbus_name(error->code), error->message);
}

int service_reply_memfd(sd_bus_message *m, const char *name, const char *text, sd_bus_error *ret_error)
{
        _cleanup_close_ int fd = -1;

        fd = memfd_new_sealed(name, text, strlen(text));
        if (fd < 0)
                return sd_bus_error_set_errnof(ret_error, fd, "%s: no memory file: %s", name, g_strerror(-fd));

        return sd_bus_reply_method_return(m, "h", fd);
}

/* Sees every message before its object does. */
static int on_message(sd_bus_message *m, void *userdata, sd_bus_error *ret_error)
{
        Service *service = userdata;

        if (sd_bus_message_is_method_call(m, NULL, NULL) > 0)
                service->last_call_usec = monotonic_usec();
        return 0;
}

static bool is_idle(const Service *service)
{
        return session_manager_list(service->sessions)->len == 0 && target_sides_count(service->target_sides) == 0;
}

static int on_idle_timer(sd_event_source *source, uint64_t usec, void *userdata)
{
        Service *service = userdata;
        uint64_t idle_usec = monotonic_usec() - service->last_call_usec;

        if (is_idle(service) && idle_usec >= service->idle_usec) {
                uint64_t before = service->last_call_usec;

                /* For what is called from now on the bus starts the daemon anew. What was called before that is here when the
                 * bus has answered; its own answer may take longer. */
                (void) sd_bus_release_name(service->bus, BUS_NAME);
                while (sd_bus_process(service->bus, NULL) > 0)
                        ;
                if (is_idle(service) && service->last_call_usec == before)
                        return sd_event_exit(service->event, 0);
                (void) sd_bus_request_name(service->bus, BUS_NAME, 0);
                idle_usec = 0;
        }

        idle_usec = MIN(idle_usec, service->idle_usec);
        (void) sd_event_source_set_time_relative(source, MAX(service->idle_usec - idle_usec, USEC_PER_SEC));
        return sd_event_source_set_enabled(source, SD_EVENT_ONESHOT);
}

void service_set_peers_folder(Service *service, const char *folder)
{
        service->peers_folder = g_strdup(folder);
        service->peers.folder = service->peers_folder;
        service->peers.own_files = true;
}

int service_set_idle_exit(Service *service, uint64_t usec)
{
        service->idle_usec = usec;
        return sd_event_add_time_relative(service->event, &service->idle_source, CLOCK_MONOTONIC, usec, USEC_PER_SEC,
                                          on_idle_timer, service);
}

static int connect_bus(const char *address, sd_bus **ret)
{
        _cleanup_(sd_bus_unrefp) sd_bus *bus = NULL;
        int r;

        if (g_str_equal(address, "system"))
                return sd_bus_open_system(ret);

        r = sd_bus_new(&bus);
        if (r < 0)
                return r;
        r = sd_bus_set_address(bus, address);
        if (r < 0)
                return r;
        r = sd_bus_set_bus_client(bus, true);
        if (r < 0)
                return r;
        r = sd_bus_start(bus);
        if (r < 0)
                return r;

        *ret = TAKE_PTR(bus);
        return 0;
}

static int add_objects(Service *service)
{
        int r;

        r = sd_bus_add_filter(service->bus, NULL, on_message, service);
        if (r < 0)
                return r;
        r = sd_bus_add_object_manager(service->bus, NULL, ROOT_PATH);
        if (r < 0)
                return r;
        r = manager_bus_add(service);
        if (r < 0)
                return r;
        r = internal_bus_add(service);
        if (r < 0)
                return r;
        return session_bus_add(service);
}

int service_new(sd_event *event, const char *address, Backend *backend, Service **ret, char **ret_error)
{
        _cleanup_(service_freep) Service *service = g_new0(Service, 1);
        int r;

        service->event = sd_event_ref(event);
        service->backend = backend;
        service->last_call_usec = monotonic_usec();
        service->observer = session_bus_observer;
        service->observer.userdata = service;

        r = connect_bus(address, &service->bus);
        if (r < 0) {
                *ret_error = g_strdup_printf("Cannot connect to the bus (%s): %s", address, g_strerror(-r));
                return r;
        }

        service->finder = links_client_new(service->bus, event);
        r = session_manager_new(event, backend, service->finder, &service->observer, &service->sessions);
        if (r >= 0)
                r = add_objects(service);
        if (r < 0) {
                *ret_error = g_strdup_printf("Cannot add the objects to the bus: %s", g_strerror(-r));
                return r;
        }

        r = sd_bus_request_name(service->bus, BUS_NAME, 0);
        if (r < 0) {
                *ret_error = g_strdup_printf("Cannot own " BUS_NAME " on the bus (%s): %s", address,
                                             r == -EEXIST ? "another ntprofd does" :
                                             r == -EPERM || r == -EACCES ? "the bus's policy allows it to user ntprofd only" :
                                             g_strerror(-r));
                return r;
        }

        r = sd_bus_attach_event(service->bus, event, SD_EVENT_PRIORITY_NORMAL);
        if (r >= 0)
                r = sd_bus_set_exit_on_disconnect(service->bus, true);
        /* Not by sd-event: how the sessions ended is to be told after the loop. */
        if (r >= 0)
                r = sd_bus_set_close_on_exit(service->bus, false);
        if (r < 0) {
                *ret_error = g_strdup_printf("Cannot watch the bus: %s", g_strerror(-r));
                return r;
        }

        *ret = TAKE_PTR(service);
        return 0;
}

Service *service_free(Service *service)
{
        if (!service)
                return NULL;

        session_manager_free(service->sessions);
        target_sides_free(service->target_sides);
        g_free(service->peers_folder);
        links_client_free(service->finder);
        sd_event_source_disable_unref(service->idle_source);
        if (service->session_contexts)
                g_hash_table_unref(service->session_contexts);
        sd_bus_flush_close_unref(service->bus);
        sd_event_unref(service->event);
        g_free(service);
        return NULL;
}

void service_shutdown(Service *service)
{
        session_manager_shutdown(service->sessions);
        target_sides_shutdown(service->target_sides);
        (void) sd_bus_flush(service->bus);
}
