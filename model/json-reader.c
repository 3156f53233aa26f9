/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <math.h>
#include <string.h>

#include "json-reader.h"
#include "report.h"

#define STRING_MAX 4096
#define NUMBER_MAX NP_JSON_NUMBER_MAX

void np_json_fail(NpJsonReader *r, const char *key, const char *format, ...)
{
        g_autofree char *what = NULL;
        va_list args;

        if (r->error)
                return;

        va_start(args, format);
        what = g_strdup_vprintf(format, args);
        va_end(args);
        g_set_error(&r->error, NP_REPORT_ERROR, NP_REPORT_ERROR_INVALID, "not a valid report: %s%s%s: %s", r->where->str,
                    r->where->len > 0 && key[0] && key[0] != '[' ? "." : "", key, what);
}

gsize np_json_enter(NpJsonReader *r, const char *key)
{
        gsize before = r->where->len;

        g_string_append_printf(r->where, "%s%s", before > 0 ? "." : "", key);
        return before;
}

gsize np_json_enter_element(NpJsonReader *r, guint i)
{
        gsize before = r->where->len;

        g_string_append_printf(r->where, "[%u]", i);
        return before;
}

void np_json_leave(NpJsonReader *r, gsize before)
{
        g_string_truncate(r->where, before);
}

JsonNode *np_json_get(NpJsonReader *r, JsonObject *o, const char *key)
{
        JsonNode *node;

        if (r->error || !o)
                return NULL;
        node = json_object_get_member(o, key);
        if (!node)
                np_json_fail(r, key, "missing");
        return node;
}

JsonObject *np_json_object_of(NpJsonReader *r, JsonNode *node, const char *key)
{
        if (!node || r->error)
                return NULL;
        if (!JSON_NODE_HOLDS_OBJECT(node)) {
                np_json_fail(r, key, "must be an object");
                return NULL;
        }
        return json_node_get_object(node);
}

JsonObject *np_json_get_object(NpJsonReader *r, JsonObject *o, const char *key)
{
        return np_json_object_of(r, np_json_get(r, o, key), key);
}

/* NULL, as after an error, when there are none. */
JsonArray *np_json_get_array(NpJsonReader *r, JsonObject *o, const char *key, guint max)
{
        JsonNode *node = np_json_get(r, o, key);
        JsonArray *array;

        if (!node)
                return NULL;
        if (!JSON_NODE_HOLDS_ARRAY(node)) {
                np_json_fail(r, key, "must be an array");
                return NULL;
        }

        array = json_node_get_array(node);
        if (json_array_get_length(array) > max) {
                np_json_fail(r, key, "has %u elements, more than %u", json_array_get_length(array), max);
                return NULL;
        }
        return array;
}

guint np_json_length(JsonArray *array)
{
        return array ? json_array_get_length(array) : 0;
}

void np_json_each(NpJsonReader *r, JsonObject *o, const char *key, guint max, NpJsonTake take, gpointer data)
{
        JsonArray *array = np_json_get_array(r, o, key, max);
        gsize outer = np_json_enter(r, key);

        for (guint i = 0; i < np_json_length(array) && !r->error; i++) {
                gsize before = np_json_enter_element(r, i);

                take(r, np_json_object_of(r, json_array_get_element(array, i), ""), data);
                np_json_leave(r, before);
        }
        np_json_leave(r, outer);
}

static gboolean printable(const char *s)
{
        for (; *s; s = g_utf8_next_char(s))
                if (g_unichar_iscntrl(g_utf8_get_char(s)))
                        return FALSE;
        return TRUE;
}

char *np_json_string_of(NpJsonReader *r, JsonNode *node, const char *key)
{
        const char *s;

        if (!node || r->error)
                return NULL;
        if (!JSON_NODE_HOLDS_VALUE(node) || json_node_get_value_type(node) != G_TYPE_STRING) {
                np_json_fail(r, key, "must be a string");
                return NULL;
        }

        s = json_node_get_string(node);
        if (strlen(s) > STRING_MAX)
                np_json_fail(r, key, "longer than %d bytes", STRING_MAX);
        else if (!g_utf8_validate(s, -1, NULL))
                np_json_fail(r, key, "is not UTF-8");
        else if (!printable(s))
                np_json_fail(r, key, "holds control characters");
        return r->error ? NULL : g_strdup(s);
}

char *np_json_get_string(NpJsonReader *r, JsonObject *o, const char *key)
{
        return np_json_string_of(r, np_json_get(r, o, key), key);
}

char *np_json_get_fact(NpJsonReader *r, JsonObject *o, const char *key)
{
        JsonNode *node = np_json_get(r, o, key);

        return node && JSON_NODE_HOLDS_NULL(node) ? NULL : np_json_string_of(r, node, key);
}

gboolean np_json_has(JsonObject *o, const char *key)
{
        return o && json_object_has_member(o, key);
}

gboolean np_json_is_null(JsonObject *o, const char *key)
{
        return o && json_object_has_member(o, key) && json_object_get_null_member(o, key);
}

/* Of a value that is null: why. */
char *np_json_get_reason(NpJsonReader *r, JsonObject *o, const char *key)
{
        g_autofree char *reason_key = g_strconcat(key, "_reason", NULL);

        return np_json_get_string(r, o, reason_key);
}

gint64 np_json_get_int(NpJsonReader *r, JsonObject *o, const char *key, gint64 min, gint64 max)
{
        JsonNode *node = np_json_get(r, o, key);
        gint64 value;

        if (!node)
                return 0;
        if (!JSON_NODE_HOLDS_VALUE(node) || json_node_get_value_type(node) != G_TYPE_INT64) {
                np_json_fail(r, key, "must be a whole number");
                return 0;
        }

        value = json_node_get_int(node);
        if (value < min || value > max) {
                np_json_fail(r, key, "must be from %" G_GINT64_FORMAT " to %" G_GINT64_FORMAT, min, max);
                return 0;
        }
        return value;
}

guint64 np_json_get_count(NpJsonReader *r, JsonObject *o, const char *key)
{
        return np_json_get_int(r, o, key, 0, G_MAXINT64);
}

double np_json_get_double(NpJsonReader *r, JsonObject *o, const char *key, double min)
{
        JsonNode *node = np_json_get(r, o, key);
        double value;

        if (!node)
                return 0;
        if (!JSON_NODE_HOLDS_VALUE(node) ||
            (json_node_get_value_type(node) != G_TYPE_DOUBLE && json_node_get_value_type(node) != G_TYPE_INT64)) {
                np_json_fail(r, key, "must be a number");
                return 0;
        }

        value = json_node_get_double(node);
        if (!isfinite(value) || value < min || value > NUMBER_MAX) {
                np_json_fail(r, key, "must be from %g to %g", min, NUMBER_MAX);
                return 0;
        }
        return value;
}

gboolean np_json_get_bool(NpJsonReader *r, JsonObject *o, const char *key)
{
        JsonNode *node = np_json_get(r, o, key);

        if (!node)
                return FALSE;
        if (!JSON_NODE_HOLDS_VALUE(node) || json_node_get_value_type(node) != G_TYPE_BOOLEAN) {
                np_json_fail(r, key, "must be true or false");
                return FALSE;
        }
        return json_node_get_boolean(node);
}
