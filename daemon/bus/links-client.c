/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "links-client.h"

#include <fcntl.h>
#include <glib.h>

#include "../peer/remote-target.h"
#include "../../shared/peer-config.h"
#include "../text.h"
#include "user-name.h"

#define PEERS_NAME "org.ntprof1.Peers"
#define INTERNAL_PATH "/org/ntprof1/internal"
#define LINKS_INTERFACE "org.ntprof1.internal.Links"
#define TIMEOUT_USEC (30 * USEC_PER_SEC)
#define MESSAGE_MAX_BYTES 1024

typedef struct LinksClient {
        RemoteFinder finder;
        sd_bus *bus;
        sd_event *event;
} LinksClient;

/* A call without an answer yet: of FindPeer() or OpenTarget(). */
typedef struct Call {
        sd_bus_slot *slot;
        char *peer;
        RemoteFound found;
        void *userdata;
        RemoteTarget *target;
} Call;

static void call_free(void *data)
{
        Call *call = data;

        sd_bus_slot_unref(call->slot);
        g_free(call->peer);
        g_free(call);
}

/* What the bus says when ntprof-peerd is not there, and when it was and did not answer. */
static const struct {
        const char *name;               /* the end of it may be left out: a prefix */
        NtprofError code;
        const char *sentence;
} bus_errors[] = {
#define NOT_THERE "ntprof-peerd, which reaches other machines, is not installed or does not start"
        { SD_BUS_ERROR_SERVICE_UNKNOWN, NTPROF_ERROR_NO_PEER, NOT_THERE },
        { SD_BUS_ERROR_NAME_HAS_NO_OWNER, NTPROF_ERROR_NO_PEER, NOT_THERE },
        { "org.freedesktop.DBus.Error.Spawn.", NTPROF_ERROR_NO_PEER, NOT_THERE },
        { "org.freedesktop.systemd1.", NTPROF_ERROR_NO_PEER, NOT_THERE },
        { SD_BUS_ERROR_ACCESS_DENIED, NTPROF_ERROR_NO_PEER, "the bus's policy lets ntprofd not ask ntprof-peerd" },
        { SD_BUS_ERROR_UNKNOWN_OBJECT, NTPROF_ERROR_NO_PEER, "ntprof-peerd is of another version than ntprofd" },
        { SD_BUS_ERROR_UNKNOWN_INTERFACE, NTPROF_ERROR_NO_PEER, "ntprof-peerd is of another version than ntprofd" },
        { SD_BUS_ERROR_UNKNOWN_METHOD, NTPROF_ERROR_NO_PEER, "ntprof-peerd is of another version than ntprofd" },
        { SD_BUS_ERROR_NO_REPLY, NTPROF_ERROR_PEER_UNREACHABLE, "ntprof-peerd did not answer" },
        { SD_BUS_ERROR_TIMEOUT, NTPROF_ERROR_PEER_UNREACHABLE, "ntprof-peerd did not answer in time" },
        { "System.Error.ETIMEDOUT", NTPROF_ERROR_PEER_UNREACHABLE, "ntprof-peerd did not answer in time" },
};

static void read_error(const sd_bus_error *from, Error *ret)
{
        NtprofError code = ntprof_error_by_dbus_name(from->name);
        _cleanup_free_ char *message = text_printable(from->message ?: from->name, MESSAGE_MAX_BYTES);

        if (code != NTPROF_ERROR_NONE) {
                error_set(ret, code, "%s", message);
                return;
        }
        for (size_t i = 0; i < ELEMENTSOF(bus_errors); i++)
                if (g_str_has_prefix(from->name, bus_errors[i].name)) {
                        error_set(ret, bus_errors[i].code, "%s (%s)", bus_errors[i].sentence, message);
                        return;
                }
        error_set(ret, NTPROF_ERROR_PEER_UNREACHABLE, "ntprof-peerd: %s", message);
}

static int begin(LinksClient *c, const char *method, sd_bus_message **ret)
{
        return sd_bus_message_new_method_call(c->bus, ret, PEERS_NAME, INTERNAL_PATH, LINKS_INTERFACE, method);
}

static int on_found(sd_bus_message *m, void *userdata, sd_bus_error *ret_error)
{
        _cleanup_(freep) Call *call = userdata;
        _cleanup_(sd_bus_slot_unrefp) sd_bus_slot *slot = TAKE_PTR(call->slot);
        _cleanup_error_ Error error = ERROR_INIT;
        const char *name = NULL;
        int r = 0;

        if (sd_bus_message_is_method_error(m, NULL))
                read_error(sd_bus_message_get_error(m), &error);
        else if (sd_bus_message_read(m, "s", &name) < 0 || !np_peer_name_valid(name))
                error_set(&error, NTPROF_ERROR_NO_PEER, "ntprof-peerd: its answer cannot be read");
        if (error.code != NTPROF_ERROR_NONE)
                r = -ntprof_error_errno(error.code);

        call->found(r, r < 0 ? NULL : name, &error, call->userdata);
        return 0;
}

static int links_find(RemoteFinder *f, const RemoteWhere *where, RemoteFound found, void *userdata, void **ret_ticket)
{
        LinksClient *c = (LinksClient *) f;
        _cleanup_(sd_bus_message_unrefp) sd_bus_message *m = NULL;
        Call *call;
        int r;

        r = begin(c, "FindPeer", &m);
        if (r >= 0 && where->peer)
                r = sd_bus_message_append(m, "a{sv}", 1, "peer", "s", where->peer);
        else if (r >= 0)
                r = sd_bus_message_append(m, "a{sv}", 2, "subsysnqn", "s", where->subsysnqn, "traddr", "s", where->traddr);
        if (r < 0)
                return r;

        call = g_new0(Call, 1);
        call->found = found;
        call->userdata = userdata;
        r = sd_bus_call_async(c->bus, &call->slot, m, on_found, call, TIMEOUT_USEC);
        if (r < 0) {
                call_free(call);
                return r;
        }
        *ret_ticket = call;
        return 0;
}

static void links_cancel(RemoteFinder *f, void *ticket)
{
        call_free(ticket);
}

static int on_opened(sd_bus_message *m, void *userdata, sd_bus_error *ret_error)
{
        Call *call = userdata;
        RemoteTarget *target = call->target;
        _cleanup_(sd_bus_slot_unrefp) sd_bus_slot *slot = TAKE_PTR(call->slot);
        _cleanup_error_ Error error = ERROR_INIT;
        int fd = -1;

        if (sd_bus_message_is_method_error(m, NULL))
                read_error(sd_bus_message_get_error(m), &error);
        else if (sd_bus_message_read(m, "h", &fd) < 0)
                error_set(&error, NTPROF_ERROR_PEER_UNREACHABLE, "%s: ntprof-peerd's answer cannot be read", call->peer);
        else {
                fd = fcntl(fd, F_DUPFD_CLOEXEC, 3);
                if (fd < 0)
                        error_set(&error, NTPROF_ERROR_CAPTURE_FAILED, "%s: its stream cannot be kept: %s", call->peer,
                                  g_strerror(errno));
        }
        call_free(call);

        if (error.code == NTPROF_ERROR_NONE)
                remote_target_connected(target, fd);
        else
                remote_target_failed(target, error.code, error.message);
        return 0;
}

static int append_filters(sd_bus_message *m, const RemoteRequest *request)
{
        int r;

        r = sd_bus_message_open_container(m, SD_BUS_TYPE_DICT_ENTRY, "sv");
        if (r >= 0)
                r = sd_bus_message_append(m, "s", "filters");
        if (r >= 0)
                r = sd_bus_message_open_container(m, SD_BUS_TYPE_VARIANT, "a(ssu)");
        if (r >= 0)
                r = sd_bus_message_open_container(m, SD_BUS_TYPE_ARRAY, "(ssu)");
        for (unsigned i = 0; r >= 0 && i < request->n_filters; i++)
                r = sd_bus_message_append(m, "(ssu)", request->filters[i].subsysnqn, request->filters[i].hostnqn,
                                          request->filters[i].nsid);
        for (unsigned i = 0; r >= 0 && i < 3; i++)
                r = sd_bus_message_close_container(m);
        return r;
}

static int append_transports(sd_bus_message *m, Transports all)
{
        int r;

        r = sd_bus_message_open_container(m, SD_BUS_TYPE_DICT_ENTRY, "sv");
        if (r >= 0)
                r = sd_bus_message_append(m, "s", "transports");
        if (r >= 0)
                r = sd_bus_message_open_container(m, SD_BUS_TYPE_VARIANT, "as");
        if (r >= 0)
                r = sd_bus_message_open_container(m, SD_BUS_TYPE_ARRAY, "s");
        for (unsigned i = 0; r >= 0 && i < n_transports; i++)
                if (transports[i].transport & all)
                        r = sd_bus_message_append(m, "s", transports[i].name);
        for (unsigned i = 0; r >= 0 && i < 3; i++)
                r = sd_bus_message_close_container(m);
        return r;
}

static int append_request(sd_bus_message *m, const RemoteRequest *request)
{
        _cleanup_free_ char *user = user_name(request->owner) ?: g_strdup_printf("%u", (unsigned) request->owner);
        int r;

        r = sd_bus_message_open_container(m, SD_BUS_TYPE_ARRAY, "{sv}");
        if (r >= 0)
                r = append_filters(m, request);
        if (r >= 0)
                r = append_transports(m, request->transports);
        if (r >= 0)
                r = sd_bus_message_append(m, "{sv}", "detail", "b", (int) request->detail);
        if (r >= 0)
                r = sd_bus_message_append(m, "{sv}", "duration-usec", "t", request->duration_usec);
        if (r >= 0)
                r = sd_bus_message_append(m, "{sv}", "user", "s", user);
        if (r >= 0)
                r = sd_bus_message_close_container(m);
        return r;
}

static int links_open(RemoteFinder *f, const char *peer, const RemoteRequest *request, const RemoteHandlers *handlers,
                      Remote **ret)
{
        LinksClient *c = (LinksClient *) f;
        _cleanup_(sd_bus_message_unrefp) sd_bus_message *m = NULL;
        Call *call;
        int r;

        r = begin(c, "OpenTarget", &m);
        if (r >= 0)
                r = sd_bus_message_append(m, "s", peer);
        if (r >= 0)
                r = append_request(m, request);
        if (r < 0)
                return r;

        call = g_new0(Call, 1);
        call->peer = g_strdup(peer);
        r = sd_bus_call_async(c->bus, &call->slot, m, on_opened, call, TIMEOUT_USEC);
        if (r < 0) {
                call_free(call);
                return r;
        }
        call->target = remote_target_new(c->event, peer, request, handlers, call_free, call);
        *ret = remote_target_remote(call->target);
        return 0;
}

RemoteFinder *links_client_new(sd_bus *bus, sd_event *event)
{
        static const RemoteFinderOps ops = {
                .find = links_find,
                .cancel = links_cancel,
                .open = links_open,
        };
        LinksClient *c = g_new0(LinksClient, 1);

        c->finder.ops = &ops;
        c->bus = bus;
        c->event = event;
        return &c->finder;
}

RemoteFinder *links_client_free(RemoteFinder *finder)
{
        g_free(finder);
        return NULL;
}
