/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A machine with links: an identity of its own, a listening socket on loopback, pins that a test sets, and answers that it can
 * look at. */
#pragma once

#include "peerd/identity.h"
#include "peerd/links.h"

typedef struct {
        const char *name;
        char *folder;
        NpIdentity *identity;
        GSocket *socket;                /* listens */
        char *address;                  /* "127.0.0.1:PORT" */
        GHashTable *pins;               /* fingerprint: NpPeerConfig */
        NpLinks *links;
        gboolean invited;
        gboolean renewable;
        GVariant *facts;                /* NULL: its own */

        /* what happened */
        guint met, changed, joins, forgotten, renewed;
        char *joined_code;
        GVariant *joined_facts;
        char *join_error;               /* InvitationInvalid with this message is the answer to Join() */
        GVariant *requested;
        int targets[32]; /* the other ends of what OpenTarget() was answered with, in order; -1: taken by the test */
        guint n_targets;
        GError *target_error;           /* the answer to OpenTarget() */
} Machine;

Machine *machine_new(const char *name);
void machine_free(Machine *m);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Machine, machine_free)

/* a pins b under b's name; with b's address when it is to be connected to. */
void machine_pin(Machine *a, Machine *b, gboolean address);
void machine_unpin(Machine *a, Machine *b);

/* Lets the main loop run until condition(), which must come true within seconds. */
typedef gboolean (*Condition)(gpointer data);
void run_until(Condition condition, gpointer data, double seconds);
void run_for(double seconds);

/* np_links_get_async() as a function; within seconds. */
NpLink *machine_get(Machine *m, const char *peer, double seconds, GError **error);
/* np_links_open_target_async(); the other end is the peer's targets[n_targets - 1]. */
int machine_open(Machine *m, const char *peer, GError **error);
GVariant *machine_join(Machine *m, Machine *target, const char *fingerprint, const char *code, GError **error);

GVariant *request_new(void);
