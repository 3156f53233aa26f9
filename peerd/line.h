/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The line of an invitation: "ntprof:ADDRESS:PORT:sha256-FINGERPRINT:CODE". CODE is three groups of four characters of
 * Crockford's base32: two of the one-time code, the third of the SHA-256 of all that is before it, so that a mistyped line is
 * refused before anything is sent. Upper and lower case, and O for 0, I and L for 1, are the same.
 */
#pragma once

#include <gio/gio.h>

G_BEGIN_DECLS

#define NP_CODE_SIZE 9          /* "7Q2K-9XMD", without the NUL */

typedef struct {
        char *address;          /* without brackets */
        guint16 port;
        char *fingerprint;
        char *code;             /* np_code_canonical() */
} NpLine;

/* Errors are INVITATION_INVALID and say which part is wrong. */
NpLine *np_line_parse(const char *text, GError **error);
char *np_line_format(const NpLine *line);
/* "ADDRESS:PORT", as np_address_parse() takes it. */
char *np_line_address(const NpLine *line);
void np_line_free(NpLine *line);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(NpLine, np_line_free)

/* 40 random bits. NULL: there is no randomness. */
char *np_code_new(GError **error);
/* "7q2k9xmd" or "7Q2K-9XMD" as the latter; NULL when it cannot be a code. */
char *np_code_canonical(const char *text);

G_END_DECLS
