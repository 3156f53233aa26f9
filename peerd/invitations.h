/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Invitations of this machine, each in a file of STATE/invitations, so that they outlive an exit on idle. A code is kept as a
 * hash. An invitation ends at its first use, when it expires, or after NP_INVITATION_ATTEMPTS wrong codes; a code says not
 * which invitation it is of, so a wrong one counts for all.
 */
#pragma once

#include <gio/gio.h>

G_BEGIN_DECLS

#define NP_INVITATIONS_MAX 16
#define NP_INVITATION_ATTEMPTS 5

typedef struct _NpInvitations NpInvitations;

NpInvitations *np_invitations_new(const char *state_dir);
void np_invitations_free(NpInvitations *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(NpInvitations, np_invitations_free)

/* Somebody without a pin may call Join now. */
gboolean np_invitations_stand(NpInvitations *self);
/* An invitation that calls its guest so stands. */
gboolean np_invitations_have_name(NpInvitations *self, const char *name);

/* For code, which only the certificate of this fingerprint can be asked for. name: of the guest, or NULL. expires_usec:
 * CLOCK_REALTIME. */
gboolean np_invitations_add(NpInvitations *self, const char *fingerprint, const char *code, const char *name,
                            gint64 expires_usec, GError **error);

/* The code's invitation is gone when this returns, whatever becomes of the guest. Errors: INVITATION_INVALID, which tells a
 * guest no more than that. ret_name: what the guest is to be called, or NULL. */
gboolean np_invitations_redeem(NpInvitations *self, const char *fingerprint, const char *code, char **ret_name, GError **error);

void np_invitations_end_all(NpInvitations *self);

G_END_DECLS
