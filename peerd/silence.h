/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Connections that have not begun to speak TLS. They cost a socket and an event source each, no thread: one is handed on when
 * its first TLS record, which must be a ClientHello, is there as a whole; it is closed when it says anything else, or nothing
 * for NP_SILENCE_SEC, or when NP_SILENCE_MAX later ones are silent, too.
 */
#pragma once

#include <gio/gio.h>

G_BEGIN_DECLS

#define NP_SILENCE_MAX 256
#define NP_SILENCE_SEC 5

typedef struct _NpSilence NpSilence;
typedef void (*NpSilenceSpoke)(GSocket *socket, gpointer data);

NpSilence *np_silence_new(NpSilenceSpoke spoke, gpointer data);
void np_silence_free(NpSilence *silence);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(NpSilence, np_silence_free)

void np_silence_add(NpSilence *silence, GSocket *socket);
/* Closes the one that has been silent for longest; FALSE: there is none. */
gboolean np_silence_drop_oldest(NpSilence *silence);
guint np_silence_count(NpSilence *silence);

G_END_DECLS
