/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "target-request.h"

#include <glib.h>
#include <string.h>

#include "../../shared/peer-config.h"
#include "../text.h"
#include "dictionary.h"

/* Bytes, of what is only for the journal. */
#define TEXT_MAX 256

static int set_name(const void *value, void *userdata, Error *error)
{
        const char *name = *(const char *const *) value;
        PeerWho *who = userdata;
        _cleanup_free_ char *quoted = NULL;

        if (np_peer_name_valid(name)) {
                who->name = g_strdup(name);
                return 0;
        }
        quoted = error_quote(name);
        return error_set(error, NTPROF_ERROR_INVALID_OPTION, "name: %s cannot be the name of a peer", quoted);
}

static int set_fingerprint(const void *value, void *userdata, Error *error)
{
        const char *fingerprint = *(const char *const *) value;
        PeerWho *who = userdata;
        _cleanup_free_ char *quoted = NULL;

        if (np_fingerprint_valid(fingerprint)) {
                who->fingerprint = g_strdup(fingerprint);
                return 0;
        }
        quoted = error_quote(fingerprint);
        return error_set(error, NTPROF_ERROR_INVALID_OPTION, "fingerprint: %s is none: \"sha256-\" and 64 hexadecimal digits",
                         quoted);
}

static int set_address(const void *value, void *userdata, Error *error)
{
        PeerWho *who = userdata;

        who->address = text_printable(*(const char *const *) value, TEXT_MAX);
        return 0;
}

static const DictionaryKey who_keys[] = {
        { "name",        "s", .required = true, .set = set_name },
        { "fingerprint", "s", .required = true, .set = set_fingerprint },
        { "address",     "s", .required = true, .set = set_address },
};

static int check_nqn(const char *nqn, const char *what, Error *error)
{
        _cleanup_free_ char *quoted = NULL;

        if (np_subsystem_nqn_valid(nqn))
                return 0;
        quoted = error_quote(nqn);
        return error_set(error, NTPROF_ERROR_INVALID_OPTION, "filters: %s %s is none: at most 223 bytes without blanks", what,
                         quoted);
}

static int read_filters(sd_bus_message *m, void *userdata, Error *error)
{
        PeerRequest *request = userdata;
        const char *subsysnqn, *hostnqn;
        uint32_t nsid;
        int r;

        r = sd_bus_message_enter_container(m, SD_BUS_TYPE_ARRAY, "(ssu)");
        if (r < 0)
                return r;
        while ((r = sd_bus_message_read(m, "(ssu)", &subsysnqn, &hostnqn, &nsid)) > 0) {
                if (request->n_filters == NP_FILTERS_MAX)
                        return error_set(error, NTPROF_ERROR_INVALID_OPTION, "filters: more than %d", NP_FILTERS_MAX);
                r = check_nqn(subsysnqn, "subsystem NQN", error);
                if (r >= 0)
                        r = check_nqn(hostnqn, "host NQN", error);
                if (r < 0)
                        return r;
                if (nsid == 0 || nsid == UINT32_MAX)
                        return error_set(error, NTPROF_ERROR_INVALID_OPTION, "filters: %u is no namespace's id", nsid);
                request->filters[request->n_filters++] = (PeerFilter) { g_strdup(subsysnqn), g_strdup(hostnqn), nsid };
        }
        if (r < 0)
                return r;
        if (request->n_filters == 0)
                return error_set(error, NTPROF_ERROR_INVALID_OPTION, "filters: at least one is required");
        return sd_bus_message_exit_container(m);
}

static int set_duration(const void *value, void *userdata, Error *error)
{
        PeerRequest *request = userdata;

        request->duration_usec = *(const uint64_t *) value;
        return 0;
}

static int set_detail(const void *value, void *userdata, Error *error)
{
        PeerRequest *request = userdata;

        request->detail = *(const int *) value;
        return 0;
}

static int read_transports(sd_bus_message *m, void *userdata, Error *error)
{
        PeerRequest *request = userdata;
        const char *name;
        int r;

        r = sd_bus_message_enter_container(m, SD_BUS_TYPE_ARRAY, "s");
        if (r < 0)
                return r;
        request->transports = 0;
        while ((r = sd_bus_message_read_basic(m, SD_BUS_TYPE_STRING, &name)) > 0) {
                const TransportInfo *transport = transport_by_name(name);
                _cleanup_free_ char *quoted = NULL;

                if (transport) {
                        request->transports |= transport->transport;
                        continue;
                }
                quoted = error_quote(name);
                return error_set(error, NTPROF_ERROR_INVALID_OPTION,
                                 "transports: this version cannot measure %s, only %s: update ntprof on the target", quoted,
                                 transport_names());
        }
        if (r < 0)
                return r;
        if (request->transports == 0)
                return error_set(error, NTPROF_ERROR_INVALID_OPTION, "transports: none is given");
        return sd_bus_message_exit_container(m);
}

static int set_user(const void *value, void *userdata, Error *error)
{
        PeerRequest *request = userdata;

        request->user = text_printable(*(const char *const *) value, TEXT_MAX);
        return 0;
}

static const DictionaryKey request_keys[] = {
        { "filters",       "a(ssu)", .required = true, .read = read_filters },
        { "duration-usec", "t", .set = set_duration },
        { "user",          "s", .set = set_user },
        { "detail",        "b", .set = set_detail },
        { "transports",    "as", .read = read_transports },
};

int target_request_read(sd_bus_message *m, PeerWho *who, PeerRequest *request, Error *error)
{
        int r;

        request->transports = TRANSPORTS_ALL;
        r = dictionary_read(m, "peer", who_keys, ELEMENTSOF(who_keys), who, error);
        if (r < 0)
                return r;
        return dictionary_read(m, "request", request_keys, ELEMENTSOF(request_keys), request, error);
}
