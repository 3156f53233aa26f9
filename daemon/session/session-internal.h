/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Between session.c, which is a session's life as others see it, and session-recording.c, which is what it does. */
#pragma once

#include "session.h"

/* session.c */
void session_set_state(Session *s, SessionState state);
void session_release_sources(Session *s);
void session_release_analysis(Session *s);

/* session-recording.c */

/* Opens the source of records, and has it attached and the targets asked from the event loop. */
int recording_prepare(Session *s, RemoteFinder *finder, CaptureConfig *config, Error *error);
/* As far as what is attached and which targets are ready allow. */
void recording_go_on(Session *s);
/* Nothing new is recorded; the report is made when the last has come. */
void recording_end(Session *s);
