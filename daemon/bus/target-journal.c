/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "target-journal.h"

#include <inttypes.h>
#include <string.h>
#include <systemd/sd-daemon.h>

#include "../log.h"

#define ID_ACCEPTED "c1f04607c2e945ce95d99a582f088f0f"
#define ID_REFUSED  "5b6aefbbf3f44bcca54566a28e832c5f"
#define ID_ENDED    "6a3a0162da7e499db5179fef2185a50e"

#define FIELDS_MAX (8 + 2 * NP_FILTERS_MAX)

typedef struct Fields {
        LogField fields[FIELDS_MAX];
        size_t n;
} Fields;

static void add(Fields *f, const char *name, const char *value)
{
        if (value)
                f->fields[f->n++] = (LogField) { name, value };
}

static void add_request(Fields *f, const PeerWho *who, const PeerRequest *request)
{
        add(f, "NTPROF_PEER", who->name);
        add(f, "NTPROF_FINGERPRINT", who->fingerprint);
        add(f, "NTPROF_ADDRESS", who->address);
        add(f, "NTPROF_USER", request->user);
        add(f, "NTPROF_DETAIL", request->detail ? "1" : NULL);
        for (unsigned i = 0; i < request->n_filters; i++) {
                add(f, "NTPROF_SUBSYSTEM_NQN", request->filters[i].subsysnqn);
                add(f, "NTPROF_HOST_NQN", request->filters[i].hostnqn);
        }
}

/* "host-a (10.0.0.1:4425, sha256-..., user alice)" */
static char *describe_who(const PeerWho *who, const PeerRequest *request)
{
        return g_strdup_printf("%s (%s, %s%s%s)", who->name ?: "a peer without a name", who->address ?: "no address",
                               who->fingerprint ?: "no fingerprint", request->user ? ", user " : "", request->user ?: "");
}

/* "nqn.host at nqn.sub namespace 1; ..., in detail" */
static char *describe_what(const PeerRequest *request)
{
        GString *text = g_string_new(NULL);

        for (unsigned i = 0; i < request->n_filters; i++) {
                const PeerFilter *filter = request->filters + i;

                g_string_append_printf(text, "%s%s at %s namespace %u", i ? "; " : "", filter->hostnqn, filter->subsysnqn,
                                       filter->nsid);
        }
        if (request->detail && request->n_filters > 0)
                g_string_append(text, ", in detail");
        return g_string_free(text, false);
}

void target_journal_accepted(const PeerWho *who, const PeerRequest *request)
{
        _cleanup_free_ char *by = describe_who(who, request), *what = describe_what(request);
        Fields f = {};

        add_request(&f, who, request);
        log_event(SD_INFO, ID_ACCEPTED, f.fields, f.n, "Recording for %s: %s", by, what);
}

void target_journal_refused(const PeerWho *who, const PeerRequest *request, const Error *error, const char *problems)
{
        _cleanup_free_ char *by = describe_who(who, request), *what = describe_what(request);
        Fields f = {};

        add_request(&f, who, request);
        add(&f, "NTPROF_ERROR", ntprof_error_name(error->code));
        log_event(SD_WARNING, ID_REFUSED, f.fields, f.n, "Refused %s: %s%s%s%s%s", by, error->message,
                  *what ? "; asked for " : "", what, problems ? "; " : "", problems ?: "");
}

void target_journal_ended(const TargetSidesEntry *entry, const char *why)
{
        const TargetSideCounts *counts = target_side_counts(entry->side);
        _cleanup_free_ char *by = describe_who(&entry->who, &entry->request),
                            *commands = g_strdup_printf("%" PRIu64, counts->commands),
                            *records = g_strdup_printf("%" PRIu64, counts->records),
                            *dropped = g_strdup_printf("%" PRIu64, counts->link_full);
        double seconds = (now_ns(CLOCK_MONOTONIC) / NSEC_PER_USEC - entry->begun_usec) / (double) USEC_PER_SEC;
        Fields f = {};

        add_request(&f, &entry->who, &entry->request);
        add(&f, "NTPROF_COMMANDS", commands);
        add(&f, "NTPROF_RECORDS", records);
        add(&f, "NTPROF_LINK_FULL", dropped);
        log_event(SD_INFO, ID_ENDED, f.fields, f.n,
                  "Recording for %s ended after %.1f s: %s; %s commands, %s records sent, %s dropped", by, seconds, why,
                  commands, records, dropped);
}
