/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the daemon is made of, and what its links are told: whom to trust (pins, invitations), who this machine is (identity),
 * what it exports and records (target-client). What it offers on the bus is in objects.h, how machines become peers in
 * pairing.h.
 */
#pragma once

#include "identity.h"
#include "invitations.h"
#include "links.h"
#include "pins.h"
#include "seen.h"
#include "target-client.h"

G_BEGIN_DECLS

typedef struct _NpPeerd NpPeerd;

struct _NpPeerd {
        NpIdentity *identity;
        NpPins *pins;
        NpSeen *seen;
        NpInvitations *invitations;
        NpTarget *target;
        NpLinks *links;
        GPtrArray *sockets;             /* that listen */
        guint check;                    /* source: pins have changed, links are to be checked */
        gboolean renewing;

        /* Something that org.ntprof1.Peer or .PeerManager tells may be another. */
        void (*changed)(gpointer data);
        gpointer changed_data;
        /* Somebody uses a link. */
        void (*used)(gpointer data);
        gpointer used_data;
};

/* state_dir is made when it is missing. */
NpPeerd *np_peerd_new(const char *etc_dir, const char *state_dir, GDBusConnection *bus, GError **error);
void np_peerd_free(NpPeerd *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(NpPeerd, np_peerd_free)

/* They are known from now on (Listening, invitations), but accept nobody before np_peerd_listen(). */
void np_peerd_add_socket(NpPeerd *self, GSocket *socket);
void np_peerd_listen(NpPeerd *self);

/* "10.0.0.2:4425" of each socket, ended by NULL. */
char **np_peerd_listening(NpPeerd *self);
/* Recordings under way over all links. */
guint np_peerd_n_streams(NpPeerd *self);

void np_peerd_tell_changed(NpPeerd *self);

G_END_DECLS
