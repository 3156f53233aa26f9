/* SPDX-License-Identifier: GPL-2.0-or-later */
/* a{sv} from a caller, by a table of what may be in it: every error names the key. */
#pragma once

#include <systemd/sd-bus.h>

#include "../error.h"

typedef struct DictionaryKey {
        const char *key;
        const char *type;
        bool required;
        /* value: as sd_bus_message_read_basic() gave it */
        int (*set)(const void *value, void *userdata, Error *error);
        /* In place of set when the type is not basic: reads all of it. */
        int (*read)(sd_bus_message *m, void *userdata, Error *error);
} DictionaryKey;

/* name: of the argument, for the message when it is malformed as a whole. At most 64 keys. Errors: INVALID_OPTION; userdata
 * may have been filled in part. */
int dictionary_read(sd_bus_message *m, const char *name, const DictionaryKey *table, size_t n, void *userdata, Error *error);
