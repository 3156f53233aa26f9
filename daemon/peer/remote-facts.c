/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "remote-facts.h"

#include <json-glib/json-glib.h>

#include "../../model/json-depth.h"
#include "../text.h"

#define NESTING_MAX 4
#define NAME_MAX_BYTES 64
#define SYMBOL_MAX_BYTES 160
#define DRIVE_MAX_BYTES 256
#define MESSAGE_MAX_BYTES 512

static JsonObject *parse_object(const void *json, size_t size, JsonParser **ret_parser)
{
        g_autoptr(JsonParser) parser = NULL;
        JsonNode *root;

        if (!g_utf8_validate_len(json, size, NULL) || !np_json_nests_at_most(json, size, NESTING_MAX))
                return NULL;
        parser = json_parser_new_immutable();
        if (!json_parser_load_from_data(parser, json, size, NULL))
                return NULL;
        root = json_parser_get_root(parser);
        if (!root || !JSON_NODE_HOLDS_OBJECT(root))
                return NULL;
        *ret_parser = g_steal_pointer(&parser);
        return json_node_get_object(root);
}

static const char *get_string(JsonObject *object, const char *key)
{
        JsonNode *node = json_object_get_member(object, key);

        return node && json_node_get_value_type(node) == G_TYPE_STRING ? json_node_get_string(node) : NULL;
}

/* Not empty. */
static bool get_text(JsonObject *object, const char *key, size_t max, char **ret)
{
        const char *text = get_string(object, key);

        if (!text || !*text)
                return false;
        *ret = text_printable(text, max);
        return true;
}

static bool parse_hook(JsonNode *node, ParsedHook *ret)
{
        JsonObject *object = JSON_NODE_HOLDS_OBJECT(node) ? json_node_get_object(node) : NULL;

        return object && get_text(object, "boundary", NAME_MAX_BYTES, &ret->boundary) &&
                get_text(object, "mechanism", NAME_MAX_BYTES, &ret->mechanism) &&
                get_text(object, "symbol", SYMBOL_MAX_BYTES, &ret->symbol);
}

static const char *parse_hooks(JsonObject *root, ParsedFacts *facts)
{
        JsonNode *node = json_object_get_member(root, "hooks");
        JsonArray *array = node && JSON_NODE_HOLDS_ARRAY(node) ? json_node_get_array(node) : NULL;

        if (!array)
                return "its facts have no list of hooks";
        if (json_array_get_length(array) > WIRE_FACTS_HOOKS_MAX)
                return "its facts have too many hooks";
        for (guint i = 0; i < json_array_get_length(array); i++)
                if (!parse_hook(json_array_get_element(array, i), facts->hooks + facts->n_hooks++))
                        return "its facts have a hook without boundary, mechanism or symbol";
        return NULL;
}

static const char *parse_drive(JsonObject *root, ParsedFacts *facts)
{
        JsonNode *node = json_object_get_member(root, "drive_hidden");

        if (!node || JSON_NODE_HOLDS_NULL(node) || get_text(root, "drive_hidden", DRIVE_MAX_BYTES, &facts->drive_hidden))
                return NULL;
        return "its facts say of the drive what is no text";
}

ParsedFacts *remote_facts_parse(const void *json, size_t size, const char **ret_why)
{
        _cleanup_(remote_facts_freep) ParsedFacts *facts = g_new0(ParsedFacts, 1);
        g_autoptr(JsonParser) parser = NULL;
        JsonObject *root = parse_object(json, size, &parser);

        if (!root) {
                *ret_why = "its facts are no JSON object";
                return NULL;
        }
        if (!get_text(root, "machine", NAME_MAX_BYTES, &facts->machine) ||
            !get_text(root, "kernel", NAME_MAX_BYTES, &facts->kernel) ||
            !get_text(root, "version", NAME_MAX_BYTES, &facts->version)) {
                *ret_why = "its facts lack its name, its kernel or its version";
                return NULL;
        }
        *ret_why = parse_hooks(root, facts) ?: parse_drive(root, facts);
        return *ret_why ? NULL : TAKE_PTR(facts);
}

ParsedFacts *remote_facts_free(ParsedFacts *facts)
{
        if (!facts)
                return NULL;

        for (unsigned i = 0; i < facts->n_hooks; i++) {
                g_free(facts->hooks[i].boundary);
                g_free(facts->hooks[i].mechanism);
                g_free(facts->hooks[i].symbol);
        }
        g_free(facts->machine);
        g_free(facts->kernel);
        g_free(facts->version);
        g_free(facts->drive_hidden);
        g_free(facts);
        return NULL;
}

bool remote_ended_parse(const void *json, size_t size, NtprofError *ret_code, char **ret_message, const char **ret_why)
{
        g_autoptr(JsonParser) parser = NULL;
        JsonObject *root = parse_object(json, size, &parser);
        const char *name, *message;

        *ret_code = NTPROF_ERROR_NONE;
        *ret_message = NULL;
        if (!root || !json_object_has_member(root, "error")) {
                *ret_why = "how it ended cannot be read";
                return false;
        }
        message = get_string(root, "message");
        if (JSON_NODE_HOLDS_NULL(json_object_get_member(root, "error"))) {
                /* Nothing failed; a message says who else ended it, a limit. */
                *ret_message = message && *message ? text_printable(message, MESSAGE_MAX_BYTES) : NULL;
                return true;
        }

        name = get_string(root, "error");
        /* An error that this version does not know is one all the same. */
        *ret_code = name ? ntprof_error_by_name(name) : NTPROF_ERROR_NONE;
        if (*ret_code == NTPROF_ERROR_NONE)
                *ret_code = NTPROF_ERROR_CAPTURE_FAILED;
        *ret_message = message && *message ? text_printable(message, MESSAGE_MAX_BYTES) : g_strdup("it ended without a reason");
        return true;
}
