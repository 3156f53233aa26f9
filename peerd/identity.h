/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Who this machine is to others: a P-256 key and its certificate, signed by itself, in one file that only this user can read.
 * Nobody checks its name or its dates: the SHA-256 of the certificate is what others pin.
 */
#pragma once

#include <gio/gio.h>

G_BEGIN_DECLS

#define NP_IDENTITY_FILE "identity.pem"

typedef struct _NpIdentity NpIdentity;

/* Of the state directory, which must exist; made when there is none. A file that others can read, or that is damaged, is an
 * error that says what to do, never a reason to make another one: every peer would have to be paired again. A renewal that a
 * crash interrupted is finished when a peer had been told (np_identity_told()), else forgotten. */
NpIdentity *np_identity_load_or_make(const char *state_dir, GError **error);
void np_identity_free(NpIdentity *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(NpIdentity, np_identity_free)

/* With its private key. They change with np_identity_adopt(): hold no pointer. */
GTlsCertificate *np_identity_certificate(NpIdentity *self);
const char *np_identity_fingerprint(NpIdentity *self);
/* The certificate alone. */
const char *np_identity_pem(NpIdentity *self);

/* In two steps, for peers are told of the next one over links that the present one vouches for: prepare() makes and saves it
 * beside, adopt() puts it in place and takes it. Dropped in between, nothing has changed. */
NpIdentity *np_identity_prepare(NpIdentity *self, GError **error);
gboolean np_identity_adopt(NpIdentity *self, NpIdentity *next, GError **error);
void np_identity_drop(NpIdentity *self, NpIdentity *next);
/* Between the two: a peer knows the next one, and none but that. From now on a crash, or drop(), leaves it to be taken at the
 * next start. Errors are logged. */
void np_identity_told(NpIdentity *next);

G_END_DECLS
