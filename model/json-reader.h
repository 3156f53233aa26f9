/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Reads values of a report's JSON, which is not to be believed: types, ranges and sizes are checked, and strings can't hold
 * what would steer a terminal.
 */
#pragma once

#include <json-glib/json-glib.h>

G_BEGIN_DECLS

/* Numbers that may have a fraction are at most that: more than any sum of times is, whoever made the records. */
#define NP_JSON_NUMBER_MAX 1e19

/* Keeps the first error, which names the value; after it every reader returns nothing at once. */
typedef struct {
        GString *where;                 /* "groups[2].stages[0]" */
        GError *error;
} NpJsonReader;

void np_json_fail(NpJsonReader *r, const char *key, const char *format, ...) G_GNUC_PRINTF(3, 4);

/* Where one is in the document; leave() takes what enter() returned. */
gsize np_json_enter(NpJsonReader *r, const char *key);
gsize np_json_enter_element(NpJsonReader *r, guint i);
void np_json_leave(NpJsonReader *r, gsize before);

/* All of them: o NULL, as after an error, is an object without anything, and no error of its own. */
JsonNode *np_json_get(NpJsonReader *r, JsonObject *o, const char *key);
JsonObject *np_json_object_of(NpJsonReader *r, JsonNode *node, const char *key);
JsonObject *np_json_get_object(NpJsonReader *r, JsonObject *o, const char *key);
/* NULL, as after an error, when there are none. */
JsonArray *np_json_get_array(NpJsonReader *r, JsonObject *o, const char *key, guint max);
guint np_json_length(JsonArray *array);
/* Each element of an array of at most max objects, until there is an error. */
typedef void (*NpJsonTake)(NpJsonReader *r, JsonObject *item, gpointer data);
void np_json_each(NpJsonReader *r, JsonObject *o, const char *key, guint max, NpJsonTake take, gpointer data);
char *np_json_string_of(NpJsonReader *r, JsonNode *node, const char *key);
char *np_json_get_string(NpJsonReader *r, JsonObject *o, const char *key);
/* A string or null. */
char *np_json_get_fact(NpJsonReader *r, JsonObject *o, const char *key);
gint64 np_json_get_int(NpJsonReader *r, JsonObject *o, const char *key, gint64 min, gint64 max);
guint64 np_json_get_count(NpJsonReader *r, JsonObject *o, const char *key);
double np_json_get_double(NpJsonReader *r, JsonObject *o, const char *key, double min);
gboolean np_json_get_bool(NpJsonReader *r, JsonObject *o, const char *key);

/* Documents grow: whether this one has a key that earlier versions did not write. */
gboolean np_json_has(JsonObject *o, const char *key);
gboolean np_json_is_null(JsonObject *o, const char *key);
/* Of a value that is null: why. */
char *np_json_get_reason(NpJsonReader *r, JsonObject *o, const char *key);

G_END_DECLS
