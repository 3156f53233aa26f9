/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The JSON that a target sends: WIRE_FACTS and WIRE_ENDED, as the host reads it. It may be any bytes. */
#pragma once

#include "../session/remote.h"

typedef struct ParsedHook {
        char *boundary, *mechanism, *symbol;
} ParsedHook;

typedef struct ParsedFacts {
        char *machine, *kernel, *version;       /* printable and short */
        char *drive_hidden;                     /* so, too; NULL: the drive is seen */
        unsigned n_hooks;
        ParsedHook hooks[WIRE_FACTS_HOOKS_MAX];
} ParsedFacts;

/* NULL, *ret_why (static): what is wrong with it. */
ParsedFacts *remote_facts_parse(const void *json, size_t size, const char **ret_why);
ParsedFacts *remote_facts_free(ParsedFacts *facts);
DEFINE_CLEANUP_FUNC(ParsedFacts *, remote_facts_free);

/* *ret_code is NONE when it ended without an error; *ret_message is then NULL when it was told to end, else why it did not wait for
 * that: a limit of its administrator's. False, *ret_why: what is wrong with it. */
bool remote_ended_parse(const void *json, size_t size, NtprofError *ret_code, char **ret_message, const char **ret_why);
