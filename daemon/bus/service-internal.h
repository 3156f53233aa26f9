/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <glib.h>
#include <systemd/sd-bus.h>

#include "../peer/target-sides.h"
#include "../session/manager.h"
#include "service.h"

#define BUS_NAME "org.ntprof1"
#define ROOT_PATH "/org/ntprof1"
#define SESSIONS_PATH "/org/ntprof1/session"
#define INTERNAL_PATH "/org/ntprof1/internal"
#define MANAGER_INTERFACE "org.ntprof1.Manager"
#define SESSION_INTERFACE "org.ntprof1.Session"
#define TARGET_INTERFACE "org.ntprof1.internal.Target"

struct Service {
        sd_event *event;
        sd_bus *bus;
        Backend *backend;
        RemoteFinder *finder;
        SessionObserver observer;
        SessionManager *sessions;
        GHashTable *session_contexts;   /* Session* to SessionContext*: what the bus keeps of each */
        PeerPolicy peers;
        char *peers_folder;
        TargetSides *target_sides;
        sd_event_source *idle_source;
        uint64_t idle_usec;
        uint64_t last_call_usec;        /* CLOCK_MONOTONIC */
};

/* Of errors to the bus: what every method returns when it fails. */
int service_error(sd_bus_error *ret_error, const Error *error);
/* Answers with a sealed memfd; frees nothing. */
int service_reply_memfd(sd_bus_message *m, const char *name, const char *text, sd_bus_error *ret_error);

/* manager-bus.c */
int manager_bus_add(Service *service);

/* internal-bus.c */
int internal_bus_add(Service *service);

/* session-bus.c */
int session_bus_add(Service *service);
/* The session ends with the sender of m. */
int session_bus_bind(Service *service, Session *s, sd_bus_message *m);
char *session_bus_path(const Session *s);
extern const SessionObserver session_bus_observer;
