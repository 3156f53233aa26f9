/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "json-add.h"

JsonBuilder *json_add_document(const char *schema)
{
        JsonBuilder *builder = json_builder_new();

        json_builder_begin_object(builder);
        json_add_string(builder, "schema", schema);
        return builder;
}

void json_add_string(JsonBuilder *builder, const char *name, const char *value)
{
        json_builder_set_member_name(builder, name);
        json_builder_add_string_value(builder, value ? value : "");
}

void json_add_strings(JsonBuilder *builder, const char *name, const char *const *values)
{
        json_builder_set_member_name(builder, name);
        json_builder_begin_array(builder);
        for (; values && *values; values++)
                json_builder_add_string_value(builder, *values);
        json_builder_end_array(builder);
}

void json_add_number(JsonBuilder *builder, const char *name, guint64 value)
{
        json_builder_set_member_name(builder, name);
        json_builder_add_int_value(builder, (gint64) MIN(value, (guint64) G_MAXINT64));
}

void json_add_boolean(JsonBuilder *builder, const char *name, gboolean value)
{
        json_builder_set_member_name(builder, name);
        json_builder_add_boolean_value(builder, value);
}

char *json_add_end(JsonBuilder *builder)
{
        json_builder_end_object(builder);

        g_autoptr(JsonNode) root = json_builder_get_root(builder);
        g_autofree char *json = json_to_string(root, TRUE);

        return g_strconcat(json, "\n", NULL);
}
