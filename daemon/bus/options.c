/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "options.h"

#include <glib.h>

#include "../../shared/peer-config.h"

typedef struct OptionInfo {
        const char *key;
        const char *type;
        /* value: as sd_bus_message_read_basic() gave it */
        int (*set)(const void *value, SessionOptions *options, Error *error);
} OptionInfo;

static int set_namespace(const void *value, SessionOptions *options, Error *error)
{
        options->namespace = g_strdup(*(const char *const *) value);
        return 0;
}

static int set_duration(const void *value, SessionOptions *options, Error *error)
{
        options->duration_usec = *(const uint64_t *) value;
        return 0;
}

static int set_sample(const void *value, SessionOptions *options, Error *error)
{
        const char *text = *(const char *const *) value;
        _cleanup_free_ char *quoted = NULL;

        if (sample_option_parse(text, &options->sample) >= 0)
                return 0;

        quoted = error_quote(text);
        return error_set(error, NTPROF_ERROR_INVALID_OPTION,
                         "sample: %s is none of \"auto\", \"all\" and \"1/N\" with N from 1 to 4294967295", quoted);
}

static int set_keep(const void *value, SessionOptions *options, Error *error)
{
        options->keep = *(const int *) value;
        return 0;
}

static int set_peer(const void *value, SessionOptions *options, Error *error)
{
        const char *name = *(const char *const *) value;
        _cleanup_free_ char *quoted = NULL;

        if (np_peer_name_valid(name)) {
                options->peer = g_strdup(name);
                return 0;
        }

        quoted = error_quote(name);
        return error_set(error, NTPROF_ERROR_INVALID_OPTION,
                         "peer: %s cannot be the name of a paired machine; 'ntprofctl peer list' shows them", quoted);
}

static int set_no_target(const void *value, SessionOptions *options, Error *error)
{
        options->no_target = *(const int *) value;
        return 0;
}

/* The options of StartSession(): documented in dbus/org.ntprof1.Manager.xml. */
static const OptionInfo session_options[] = {
        { "namespace",     "s", set_namespace },
        { "duration-usec", "t", set_duration },
        { "sample",        "s", set_sample },
        { "keep",          "b", set_keep },
        { "peer",          "s", set_peer },
        { "no-target",     "b", set_no_target },
};

static const OptionInfo *find_option(const OptionInfo *table, size_t n, const char *key)
{
        for (size_t i = 0; i < n; i++)
                if (g_str_equal(table[i].key, key))
                        return table + i;
        return NULL;
}

static int read_value(sd_bus_message *m, const OptionInfo *option, SessionOptions *options, Error *error)
{
        union {
                const char *s;
                uint64_t t;
                int b;
        } value;
        const char *contents;
        char type;
        int r;

        r = sd_bus_message_peek_type(m, &type, &contents);
        if (r < 0)
                return r;
        if (!g_str_equal(contents, option->type))
                return error_set(error, NTPROF_ERROR_INVALID_OPTION, "%s: its value has type %.16s, not %s", option->key,
                                 contents, option->type);

        r = sd_bus_message_enter_container(m, SD_BUS_TYPE_VARIANT, option->type);
        if (r < 0)
                return r;
        r = sd_bus_message_read_basic(m, option->type[0], &value);
        if (r < 0)
                return r;
        r = option->set(&value, options, error);
        if (r < 0)
                return r;
        return sd_bus_message_exit_container(m);
}

static int read_entry(sd_bus_message *m, const OptionInfo *table, size_t n, uint64_t *seen, SessionOptions *options, Error *error)
{
        const OptionInfo *option;
        const char *key;
        int r;

        r = sd_bus_message_read_basic(m, SD_BUS_TYPE_STRING, &key);
        if (r < 0)
                return r;

        option = find_option(table, n, key);
        if (!option) {
                _cleanup_free_ char *quoted = error_quote(key);

                return error_set(error, NTPROF_ERROR_INVALID_OPTION, "%s: no such option", quoted);
        }
        if (*seen & 1ULL << (option - table))
                return error_set(error, NTPROF_ERROR_INVALID_OPTION, "%s: given twice", option->key);
        *seen |= 1ULL << (option - table);

        return read_value(m, option, options, error);
}

static int read_options(sd_bus_message *m, const OptionInfo *table, size_t n, SessionOptions *options, Error *error)
{
        uint64_t seen = 0;
        int r;

        r = sd_bus_message_enter_container(m, SD_BUS_TYPE_ARRAY, "{sv}");
        if (r < 0)
                goto malformed;
        while ((r = sd_bus_message_enter_container(m, SD_BUS_TYPE_DICT_ENTRY, "sv")) > 0) {
                r = read_entry(m, table, n, &seen, options, error);
                if (r < 0)
                        goto malformed;
                r = sd_bus_message_exit_container(m);
                if (r < 0)
                        goto malformed;
        }
        if (r >= 0)
                r = sd_bus_message_exit_container(m);
        if (r < 0)
                goto malformed;
        return 0;

malformed:
        if (error->code != NTPROF_ERROR_NONE)
                return r;
        return error_set(error, NTPROF_ERROR_INVALID_OPTION, "options: the message cannot be read: %s", g_strerror(-r));
}

int options_read_session(sd_bus_message *m, SessionOptions *ret, Error *error)
{
        SessionOptions options = {};
        int r;

        r = read_options(m, session_options, ELEMENTSOF(session_options), &options, error);
        if (r >= 0 && !options.namespace)
                r = error_set(error, NTPROF_ERROR_INVALID_OPTION, "namespace: this option is required");
        if (r < 0) {
                session_options_clear(&options);
                return r;
        }

        *ret = options;
        return 0;
}

int options_read_none(sd_bus_message *m, Error *error)
{
        SessionOptions options = {};

        return read_options(m, NULL, 0, &options, error);
}
