/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The dictionaries that come from another machine, checked. Each function returns a new one that has the known keys only, of
 * the right types, and text that can be printed and is of bounded size: nothing of what was received is handed on as it came.
 */
#pragma once

#include <gio/gio.h>

G_BEGIN_DECLS

#define NP_ARGS_TEXT_MAX 128            /* bytes */
#define NP_ARGS_NQN_MAX 223
#define NP_ARGS_SUBSYSTEMS_MAX 1024
#define NP_ARGS_HOST_NQNS_MAX 16
#define NP_ARGS_FILTERS_MAX 8
#define NP_ARGS_TRANSPORTS_MAX 8
#define NP_ARGS_TRANSPORT_MAX 16
#define NP_ARGS_MESSAGE_MAX 512

/* Hello's: "software", "machine", "subsystems". What is missing or wrong is empty: another version may tell more, or less. */
GVariant *np_args_facts(GVariant *facts);
/* The same without what is not for everybody. */
GVariant *np_args_facts_public(GVariant *facts);
/* Join's: "machine", "host-nqns"; what is wrong is left out. */
GVariant *np_args_join(GVariant *facts);
/* Join's answer: "name", "confirmed". */
GVariant *np_args_joined(GVariant *facts);
/* OpenTarget's: an unknown key or a wrong value is an error (INVALID_OPTION), for it may be what limits the rest. */
GVariant *np_args_request(GVariant *request, GError **error);
/* An error's or a Close()'s: printable, of at most NP_ARGS_MESSAGE_MAX bytes. */
char *np_args_message(const char *message);

/* Both sides' versions. 0, error (PEER_VERSION): none in common; says which machine is to be updated. */
guint np_args_negotiate(guint minimum, guint maximum, GVariant *their_facts, GVariant *our_facts, GError **error);

G_END_DECLS
