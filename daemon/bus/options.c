/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "options.h"

#include <glib.h>

#include "../../shared/peer-config.h"
#include "dictionary.h"

static int set_namespace(const void *value, void *userdata, Error *error)
{
        SessionOptions *options = userdata;

        options->namespace = g_strdup(*(const char *const *) value);
        return 0;
}

static int set_duration(const void *value, void *userdata, Error *error)
{
        SessionOptions *options = userdata;

        options->duration_usec = *(const uint64_t *) value;
        return 0;
}

static int set_sample(const void *value, void *userdata, Error *error)
{
        SessionOptions *options = userdata;
        const char *text = *(const char *const *) value;
        _cleanup_free_ char *quoted = NULL;

        if (sample_option_parse(text, &options->sample) >= 0)
                return 0;

        quoted = error_quote(text);
        return error_set(error, NTPROF_ERROR_INVALID_OPTION,
                         "sample: %s is none of \"auto\", \"all\" and \"1/N\" with N from 1 to 4294967295", quoted);
}

static int set_keep(const void *value, void *userdata, Error *error)
{
        SessionOptions *options = userdata;

        options->keep = *(const int *) value;
        return 0;
}

static int set_peer(const void *value, void *userdata, Error *error)
{
        SessionOptions *options = userdata;
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

static int set_no_target(const void *value, void *userdata, Error *error)
{
        SessionOptions *options = userdata;

        options->no_target = *(const int *) value;
        return 0;
}

static int set_detail(const void *value, void *userdata, Error *error)
{
        SessionOptions *options = userdata;

        options->detail = *(const int *) value;
        return 0;
}

/* The options of StartSession(): documented in dbus/org.ntprof1.Manager.xml. */
static const DictionaryKey session_options[] = {
        { "namespace",      "s", .required = true, .set = set_namespace },
        { "duration-usec",  "t", .set = set_duration },
        { "sample",         "s", .set = set_sample },
        { "keep",           "b", .set = set_keep },
        { "peer",           "s", .set = set_peer },
        { "no-target",      "b", .set = set_no_target },
        { "detail",         "b", .set = set_detail },
};

int options_read_session(sd_bus_message *m, SessionOptions *ret, Error *error)
{
        SessionOptions options = {};
        int r;

        r = dictionary_read(m, "options", session_options, ELEMENTSOF(session_options), &options, error);
        if (r < 0) {
                session_options_clear(&options);
                return r;
        }

        *ret = options;
        return 0;
}

static int set_inspect_namespace(const void *value, void *userdata, Error *error)
{
        char **namespace = userdata;

        g_free(*namespace);
        *namespace = g_strdup(*(const char *const *) value);
        return 0;
}

static const DictionaryKey inspect_options[] = {
        { "namespace",      "s", .set = set_inspect_namespace },
};

int options_read_inspect(sd_bus_message *m, char **ret_namespace, Error *error)
{
        _cleanup_free_ char *namespace = NULL;
        int r;

        r = dictionary_read(m, "options", inspect_options, ELEMENTSOF(inspect_options), &namespace, error);
        if (r >= 0)
                *ret_namespace = TAKE_PTR(namespace);
        return r;
}

int options_read_none(sd_bus_message *m, Error *error)
{
        return dictionary_read(m, "options", NULL, 0, NULL, error);
}
