/* SPDX-License-Identifier: GPL-2.0-or-later */
/* All sessions of this daemon. */
#pragma once

#include "session.h"

/* Sessions that have not ended, at once. */
#define SESSIONS_ACTIVE_MAX 8
/* Ended ones whose reports are kept; beyond that the oldest is forgotten. */
#define SESSIONS_ENDED_MAX 64

typedef struct SessionManager SessionManager;

/* backend, finder (may be NULL, see session_new()) and observer must outlive it. */
int session_manager_new(sd_event *event, Backend *backend, RemoteFinder *finder, const SessionObserver *observer,
                        SessionManager **ret);
SessionManager *session_manager_free(SessionManager *m);
DEFINE_CLEANUP_FUNC(SessionManager *, session_manager_free);

/* Errors: TOO_MANY_SESSIONS and those of session_new(). *ret belongs to the manager. */
int session_manager_start(SessionManager *m, uid_t owner, const SessionOptions *options, Session **ret, Error *error);
Session *session_manager_find(SessionManager *m, const char *id);
/* In the order they were started. The array is the manager's own. */
const GPtrArray *session_manager_list(SessionManager *m);
/* Errors: SESSION_BUSY */
int session_manager_remove(SessionManager *m, Session *s, Error *error);
/* Ends all sessions, so that nothing stays attached. */
void session_manager_shutdown(SessionManager *m);
