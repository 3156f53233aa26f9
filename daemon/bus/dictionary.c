/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "dictionary.h"

#include <glib.h>

static const DictionaryKey *find_key(const DictionaryKey *table, size_t n, const char *key)
{
        for (size_t i = 0; i < n; i++)
                if (g_str_equal(table[i].key, key))
                        return table + i;
        return NULL;
}

static int read_basic(sd_bus_message *m, const DictionaryKey *key, void *userdata, Error *error)
{
        union {
                const char *s;
                uint64_t t;
                int b;
        } value;
        int r;

        r = sd_bus_message_read_basic(m, key->type[0], &value);
        if (r < 0)
                return r;
        return key->set(&value, userdata, error);
}

static int read_value(sd_bus_message *m, const DictionaryKey *key, void *userdata, Error *error)
{
        const char *contents;
        char type;
        int r;

        r = sd_bus_message_peek_type(m, &type, &contents);
        if (r < 0)
                return r;
        if (!g_str_equal(contents, key->type))
                return error_set(error, NTPROF_ERROR_INVALID_OPTION, "%s: its value has type %.16s, not %s", key->key, contents,
                                 key->type);

        r = sd_bus_message_enter_container(m, SD_BUS_TYPE_VARIANT, key->type);
        if (r < 0)
                return r;
        r = key->read ? key->read(m, userdata, error) : read_basic(m, key, userdata, error);
        if (r < 0)
                return r;
        return sd_bus_message_exit_container(m);
}

static int read_entry(sd_bus_message *m, const DictionaryKey *table, size_t n, uint64_t *seen, void *userdata, Error *error)
{
        const DictionaryKey *found;
        const char *key;
        int r;

        r = sd_bus_message_read_basic(m, SD_BUS_TYPE_STRING, &key);
        if (r < 0)
                return r;

        found = find_key(table, n, key);
        if (!found) {
                _cleanup_free_ char *quoted = error_quote(key);

                return error_set(error, NTPROF_ERROR_INVALID_OPTION, "%s: no such option", quoted);
        }
        if (*seen & 1ULL << (found - table))
                return error_set(error, NTPROF_ERROR_INVALID_OPTION, "%s: given twice", found->key);
        *seen |= 1ULL << (found - table);

        return read_value(m, found, userdata, error);
}

static int read_entries(sd_bus_message *m, const DictionaryKey *table, size_t n, uint64_t *seen, void *userdata, Error *error)
{
        int r;

        r = sd_bus_message_enter_container(m, SD_BUS_TYPE_ARRAY, "{sv}");
        if (r < 0)
                return r;
        while ((r = sd_bus_message_enter_container(m, SD_BUS_TYPE_DICT_ENTRY, "sv")) > 0) {
                r = read_entry(m, table, n, seen, userdata, error);
                if (r < 0)
                        return r;
                r = sd_bus_message_exit_container(m);
                if (r < 0)
                        return r;
        }
        return r < 0 ? r : sd_bus_message_exit_container(m);
}

int dictionary_read(sd_bus_message *m, const char *name, const DictionaryKey *table, size_t n, void *userdata, Error *error)
{
        uint64_t seen = 0;
        int r;

        r = read_entries(m, table, n, &seen, userdata, error);
        if (r < 0 && error->code != NTPROF_ERROR_NONE)
                return r;
        if (r < 0)
                return error_set(error, NTPROF_ERROR_INVALID_OPTION, "%s: the message cannot be read: %s", name,
                                 g_strerror(-r));

        for (size_t i = 0; i < n; i++)
                if (table[i].required && !(seen & 1ULL << i))
                        return error_set(error, NTPROF_ERROR_INVALID_OPTION, "%s: this option is required", table[i].key);
        return 0;
}
