/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Documents of ntprofctl: objects with the member "schema". */
#pragma once

#include <json-glib/json-glib.h>

JsonBuilder *json_add_document(const char *schema);
/* NULL is "" */
void json_add_string(JsonBuilder *builder, const char *name, const char *value);
/* NULL is [] */
void json_add_strings(JsonBuilder *builder, const char *name, const char *const *values);
void json_add_number(JsonBuilder *builder, const char *name, guint64 value);
void json_add_boolean(JsonBuilder *builder, const char *name, gboolean value);
/* The document's text, with a newline. */
char *json_add_end(JsonBuilder *builder);
