/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Errors of the command line. */
#pragma once

#include <glib.h>

#define USAGE_ERROR (usage_error_quark())
GQuark usage_error_quark(void);

typedef enum {
        USAGE_ERROR_FAILED,
} UsageError;

/* Of the NULL-terminated candidates the one that word was probably meant to be, NULL when none is near. */
const char *usage_nearest(const char *word, const char *const *candidates);
