/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is in an inspection: NULL, or FALSE, when there is none of that name and kind, for it may be of another version. */
#pragma once

#include <json-glib/json-glib.h>

static inline JsonObject *check_object(JsonObject *object, const char *name)
{
        JsonNode *node = object ? json_object_get_member(object, name) : NULL;

        return node && JSON_NODE_HOLDS_OBJECT(node) ? json_node_get_object(node) : NULL;
}

static inline JsonArray *check_array(JsonObject *object, const char *name)
{
        JsonNode *node = object ? json_object_get_member(object, name) : NULL;

        return node && JSON_NODE_HOLDS_ARRAY(node) ? json_node_get_array(node) : NULL;
}

static inline const char *check_string(JsonObject *object, const char *name)
{
        JsonNode *node = object ? json_object_get_member(object, name) : NULL;

        return node && JSON_NODE_HOLDS_VALUE(node) ? json_node_get_string(node) : NULL;
}

static inline gboolean check_boolean(JsonObject *object, const char *name)
{
        JsonNode *node = object ? json_object_get_member(object, name) : NULL;

        return node && JSON_NODE_HOLDS_VALUE(node) && json_node_get_value_type(node) == G_TYPE_BOOLEAN &&
                json_node_get_boolean(node);
}

static inline guint check_length(JsonArray *array)
{
        return array ? json_array_get_length(array) : 0;
}

static inline JsonObject *check_element(JsonArray *array, guint index)
{
        JsonNode *node = json_array_get_element(array, index);

        return JSON_NODE_HOLDS_OBJECT(node) ? json_node_get_object(node) : NULL;
}

static inline const char *check_text(const char *text)
{
        return text ? text : "";
}
