/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Whom this machine trusts: the files of /etc/ntprof/peers.d, which are root's, and those of STATE/peers.d, which pairing
 * writes; a name in both is one peer, of which /etc has the last word. Who has no fingerprint in either is no peer, whatever
 * /etc says of its name. Files that somebody changes are read again at the next look.
 */
#pragma once

#include <gio/gio.h>

#include "../shared/peer-config.h"

G_BEGIN_DECLS

typedef enum {
        NP_ORIGIN_PAIRED = 1,
        NP_ORIGIN_CONFIGURED = 2,
        NP_ORIGIN_BOTH = NP_ORIGIN_PAIRED | NP_ORIGIN_CONFIGURED,
} NpOrigin;

typedef struct _NpPins NpPins;

NpPins *np_pins_new(const char *etc_dir, const char *state_dir);
void np_pins_free(NpPins *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(NpPins, np_pins_free)

/* Something of some peer has changed; from the main loop or from within a call of what is below. */
typedef void (*NpPinsChanged)(gpointer data);
void np_pins_set_changed(NpPins *self, NpPinsChanged changed, gpointer data);

/* What they return is valid until the main loop goes on: copy what is kept. NULL: no such peer. */
const NpPeerConfig *np_pins_by_fingerprint(NpPins *self, const char *fingerprint);
const NpPeerConfig *np_pins_by_name(NpPins *self, const char *name);
/* Of const NpPeerConfig, by name; the container is the caller's. */
GPtrArray *np_pins_list(NpPins *self);
NpOrigin np_pins_origin(NpPins *self, const char *name);

/* A name that nobody has: wanted made valid, with a number when it is taken, also by a file of /etc without a fingerprint: what
 * that grants is meant for one whom its administrator names. */
char *np_pins_free_name(NpPins *self, const char *wanted);

/* By pairing. address, claimed_host_nqns: may be NULL. Errors: PEER_EXISTS (name or fingerprint). */
gboolean np_pins_add(NpPins *self, const char *name, const char *fingerprint, const char *address,
                     const char *const *claimed_host_nqns, GError **error);
/* AccessDenied when /etc has the fingerprint; the message names the file. */
gboolean np_pins_replace_fingerprint(NpPins *self, const char *name, const char *fingerprint, GError **error);
/* Whether it would succeed. */
gboolean np_pins_removable(NpPins *self, const char *name, GError **error);
gboolean np_pins_remove(NpPins *self, const char *name, GError **error);

/* There is a link. subsystems: as it told, or NULL: not told. Errors are logged: nothing hangs on it. */
void np_pins_note_seen(NpPins *self, const char *name, const char *const *subsystems);

G_END_DECLS
