/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * That a peer was seen, and what it told of itself in Hello, on its way into a file (np_pins_note_seen()). A peer may say
 * Hello, and connect and go, as often as it likes, but it does not make this machine's disk write, and its bus tell, more often
 * than once in NP_SEEN_MSEC: what comes earlier waits, and of several the last is kept.
 */
#pragma once

#include "pins.h"

G_BEGIN_DECLS

#define NP_SEEN_MSEC 1000

typedef struct _NpSeen NpSeen;

/* changed(): something was noted later, from the main loop. */
NpSeen *np_seen_new(NpPins *pins, void (*changed)(gpointer data), gpointer data);
/* What waits is noted first. */
void np_seen_free(NpSeen *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(NpSeen, np_seen_free)

/* TRUE: at once. subsystems: NULL: not told. */
gboolean np_seen_note(NpSeen *self, const char *peer, const char *const *subsystems);

G_END_DECLS
