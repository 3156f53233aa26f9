/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "recording-facts.h"

#include <glib.h>
#include <string.h>

#include "../../model/json-depth.h"

#define SCHEMA "org.ntprof.recording/1"
#define HOOKS_MAX 256

void recording_facts_free(RecordingFacts *facts)
{
        if (!facts)
                return;

        for (unsigned i = 0; i < facts->n_hooks; i++) {
                g_free((char *) facts->hooks[i].boundary);
                g_free((char *) facts->hooks[i].mechanism);
                g_free((char *) facts->hooks[i].symbol);
        }
        g_free(facts->hooks);
        g_free(facts->machine);
        g_free(facts->kernel);
        g_free(facts->no_target_reason);
        namespace_info_free(facts->namespace);
        if (facts->inspection)
                json_node_unref(facts->inspection);
        g_free(facts);
}

static void add_string(JsonBuilder *b, const char *name, const char *value)
{
        json_builder_set_member_name(b, name);
        if (value)
                json_builder_add_string_value(b, value);
        else
                json_builder_add_null_value(b);
}

static void add_int(JsonBuilder *b, const char *name, gint64 value)
{
        json_builder_set_member_name(b, name);
        json_builder_add_int_value(b, value);
}

static void add_bool(JsonBuilder *b, const char *name, bool value)
{
        json_builder_set_member_name(b, name);
        json_builder_add_boolean_value(b, value);
}

static void add_namespace(JsonBuilder *b, const NamespaceInfo *info)
{
        json_builder_set_member_name(b, "namespace");
        json_builder_begin_object(b);
        add_string(b, "name", info->name);
        add_int(b, "major", info->major);
        add_int(b, "minor", info->minor);
        add_int(b, "nsid", info->nsid);
        add_int(b, "block_size", info->block_size);
        add_string(b, "subsystem_nqn", info->subsystem_nqn);
        add_string(b, "drive_hidden", info->drive_hidden);
        json_builder_set_member_name(b, "paths");
        json_builder_begin_array(b);
        for (size_t i = 0; i < info->n_paths; i++) {
                const NamespacePath *path = info->paths + i;

                json_builder_begin_object(b);
                add_string(b, "disk", path->disk);
                add_string(b, "controller", path->controller);
                add_string(b, "transport", path->transport);
                add_string(b, "traddr", path->traddr);
                add_string(b, "trsvcid", path->trsvcid);
                add_string(b, "hostnqn", path->hostnqn);
                add_int(b, "cntlid", path->cntlid);
                add_string(b, "state", path->state);
                add_bool(b, "local", path->local);
                json_builder_end_object(b);
        }
        json_builder_end_array(b);
        json_builder_end_object(b);
}

char *recording_facts_to_json(const RecordingFacts *facts)
{
        g_autoptr(JsonBuilder) b = json_builder_new();
        g_autoptr(JsonNode) root = NULL;

        json_builder_begin_object(b);
        add_string(b, "schema", SCHEMA);
        add_int(b, "record_version", NP_RECORD_VERSION);
        add_string(b, "machine", facts->machine);
        add_string(b, "kernel", facts->kernel);
        add_int(b, "start_ns", facts->start_ns);
        add_namespace(b, facts->namespace);
        add_bool(b, "detail", facts->detail);
        add_bool(b, "has_target", facts->has_target);
        add_string(b, "no_target_reason", facts->no_target_reason);
        json_builder_set_member_name(b, "hooks");
        json_builder_begin_array(b);
        for (unsigned i = 0; i < facts->n_hooks; i++) {
                json_builder_begin_object(b);
                add_string(b, "boundary", facts->hooks[i].boundary);
                add_string(b, "mechanism", facts->hooks[i].mechanism);
                add_string(b, "symbol", facts->hooks[i].symbol);
                add_bool(b, "target", facts->hooks[i].target);
                json_builder_end_object(b);
        }
        json_builder_end_array(b);
        if (facts->inspection) {
                json_builder_set_member_name(b, "inspection");
                json_builder_add_value(b, json_node_copy(facts->inspection));
        }
        json_builder_end_object(b);

        root = json_builder_get_root(b);
        return json_to_string(root, true);
}

/* Reads members one after another; the first that is wrong is what is reported. */
typedef struct Reader {
        const char *wrong;              /* member */
        const char *where;              /* object it is in */
} Reader;

static JsonNode *member(Reader *r, JsonObject *object, const char *where, const char *name, GType type)
{
        JsonNode *node = json_object_get_member(object, name);

        if (r->wrong)
                return NULL;
        if (!node || !JSON_NODE_HOLDS_VALUE(node) || json_node_get_value_type(node) != type) {
                r->wrong = name;
                r->where = where;
                return NULL;
        }
        return node;
}

static char *get_string(Reader *r, JsonObject *object, const char *where, const char *name, size_t max)
{
        JsonNode *node = member(r, object, where, name, G_TYPE_STRING);

        if (!node)
                return NULL;
        if (strlen(json_node_get_string(node)) > max) {
                r->wrong = name;
                r->where = where;
                return NULL;
        }
        return json_node_dup_string(node);
}

/* null or absent is NULL */
static char *get_optional_string(Reader *r, JsonObject *object, const char *where, const char *name, size_t max)
{
        JsonNode *node = json_object_get_member(object, name);

        return !node || JSON_NODE_HOLDS_NULL(node) ? NULL : get_string(r, object, where, name, max);
}

static gint64 get_int(Reader *r, JsonObject *object, const char *where, const char *name, gint64 min, gint64 max)
{
        JsonNode *node = member(r, object, where, name, G_TYPE_INT64);
        gint64 n;

        if (!node)
                return min;
        n = json_node_get_int(node);
        if (n < min || n > max) {
                r->wrong = name;
                r->where = where;
                return min;
        }
        return n;
}

static bool get_bool(Reader *r, JsonObject *object, const char *where, const char *name)
{
        JsonNode *node = member(r, object, where, name, G_TYPE_BOOLEAN);

        return node && json_node_get_boolean(node);
}

/* The objects of an array, at most max of them. */
static JsonArray *get_array(Reader *r, JsonObject *object, const char *where, const char *name, guint min, guint max)
{
        JsonNode *node = json_object_get_member(object, name);
        JsonArray *array = node && JSON_NODE_HOLDS_ARRAY(node) ? json_node_get_array(node) : NULL;
        bool ok = array && json_array_get_length(array) >= min && json_array_get_length(array) <= max;

        for (guint i = 0; ok && i < json_array_get_length(array); i++)
                ok = JSON_NODE_HOLDS_OBJECT(json_array_get_element(array, i));
        if (ok)
                return array;

        if (!r->wrong) {
                r->wrong = name;
                r->where = where;
        }
        return NULL;
}

static void read_path(Reader *r, JsonObject *object, NamespacePath *path)
{
        unsigned a, b, c;

        path->disk = get_string(r, object, "path", "disk", NP_DISK_NAME_LEN - 1);
        path->controller = get_string(r, object, "path", "controller", NP_DISK_NAME_LEN - 1);
        path->transport = get_string(r, object, "path", "transport", 16);
        if (!r->wrong && !transport_by_name(path->transport)) {
                r->wrong = "transport";
                r->where = "path";
        }
        path->traddr = get_string(r, object, "path", "traddr", 256);
        path->trsvcid = get_optional_string(r, object, "path", "trsvcid", 32);
        path->hostnqn = get_string(r, object, "path", "hostnqn", NP_NQN_LEN - 1);
        path->cntlid = get_int(r, object, "path", "cntlid", -1, UINT16_MAX);
        path->state = get_optional_string(r, object, "path", "state", 32);
        path->local = get_bool(r, object, "path", "local");

        if (!r->wrong && !nvme_head_name_parse(path->disk, &a, &b) && !nvme_path_name_parse(path->disk, &a, &b, &c)) {
                r->wrong = "disk";
                r->where = "path";
        }
}

static NamespaceInfo *read_namespace(Reader *r, JsonObject *root)
{
        JsonNode *node = json_object_get_member(root, "namespace");
        NamespaceInfo *info = g_new0(NamespaceInfo, 1);
        JsonObject *object;
        JsonArray *paths;
        unsigned a, b;

        if (!node || !JSON_NODE_HOLDS_OBJECT(node)) {
                if (!r->wrong) {
                        r->wrong = "namespace";
                        r->where = "facts";
                }
                return info;
        }
        object = json_node_get_object(node);

        info->name = get_string(r, object, "namespace", "name", NP_DISK_NAME_LEN - 1);
        info->major = get_int(r, object, "namespace", "major", 0, (1 << 12) - 1);
        info->minor = get_int(r, object, "namespace", "minor", 0, (1 << 20) - 1);
        info->nsid = get_int(r, object, "namespace", "nsid", 1, UINT32_MAX - 1);
        info->block_size = get_int(r, object, "namespace", "block_size", 1, 1 << 24);
        info->subsystem_nqn = get_string(r, object, "namespace", "subsystem_nqn", NP_NQN_LEN - 1);
        info->drive_hidden = get_optional_string(r, object, "namespace", "drive_hidden", 256);
        if (!r->wrong && !nvme_head_name_parse(info->name, &a, &b)) {
                r->wrong = "name";
                r->where = "namespace";
        }

        paths = get_array(r, object, "namespace", "paths", 1, NP_FILTERS_MAX);
        if (!paths)
                return info;
        info->n_paths = json_array_get_length(paths);
        info->paths = g_new0(NamespacePath, info->n_paths);
        for (size_t i = 0; i < info->n_paths; i++)
                read_path(r, json_array_get_object_element(paths, i), info->paths + i);
        return info;
}

static void read_hooks(Reader *r, JsonObject *root, RecordingFacts *facts)
{
        JsonArray *hooks = get_array(r, root, "facts", "hooks", 0, HOOKS_MAX);

        if (!hooks)
                return;
        facts->n_hooks = json_array_get_length(hooks);
        facts->hooks = g_new0(CaptureHook, facts->n_hooks);
        for (unsigned i = 0; i < facts->n_hooks; i++) {
                JsonObject *object = json_array_get_object_element(hooks, i);

                facts->hooks[i].boundary = get_string(r, object, "hook", "boundary", 128);
                facts->hooks[i].mechanism = get_string(r, object, "hook", "mechanism", 32);
                facts->hooks[i].symbol = get_string(r, object, "hook", "symbol", 512);
                facts->hooks[i].target = get_bool(r, object, "hook", "target");
        }
}

int recording_facts_from_json(const char *text, size_t size, RecordingFacts **ret, char **ret_error)
{
        _cleanup_(recording_facts_freep) RecordingFacts *facts = g_new0(RecordingFacts, 1);
        _cleanup_free_ char *schema = NULL;
        g_autoptr(JsonParser) parser = json_parser_new();
        g_autoptr(GError) e = NULL;
        JsonObject *root;
        Reader r = {};

        if (!g_utf8_validate(text, size, NULL)) {
                *ret_error = g_strdup("not UTF-8");
                return -EBADMSG;
        }
        if (!np_json_nests_at_most(text, size, 64)) {
                *ret_error = g_strdup("JSON nested deeper than 64 levels");
                return -EBADMSG;
        }
        if (!json_parser_load_from_data(parser, text, size, &e)) {
                *ret_error = g_strdup_printf("not JSON: %s", e->message);
                return -EBADMSG;
        }
        if (!json_parser_get_root(parser) || !JSON_NODE_HOLDS_OBJECT(json_parser_get_root(parser))) {
                *ret_error = g_strdup("not a JSON object");
                return -EBADMSG;
        }
        root = json_node_get_object(json_parser_get_root(parser));

        schema = get_string(&r, root, "facts", "schema", 64);
        if (schema && !g_str_equal(schema, SCHEMA)) {
                *ret_error = g_strdup_printf("its schema is \"%s\", not \"" SCHEMA "\"", schema);
                return -EBADMSG;
        }
        get_int(&r, root, "facts", "record_version", NP_RECORD_VERSION, NP_RECORD_VERSION);
        facts->machine = get_string(&r, root, "facts", "machine", 256);
        facts->kernel = get_string(&r, root, "facts", "kernel", 256);
        /* Times of the file are compared with it, so leave room for a few years of uptime, not more. */
        facts->start_ns = get_int(&r, root, "facts", "start_ns", 0, INT64_MAX / 2);
        facts->detail = get_bool(&r, root, "facts", "detail");
        facts->has_target = get_bool(&r, root, "facts", "has_target");
        facts->no_target_reason = get_optional_string(&r, root, "facts", "no_target_reason", 1024);
        facts->namespace = read_namespace(&r, root);
        read_hooks(&r, root, facts);
        if (json_object_has_member(root, "inspection"))
                facts->inspection = json_node_copy(json_object_get_member(root, "inspection"));

        if (r.wrong) {
                *ret_error = g_strdup_printf("\"%s\" of the %s is missing or wrong", r.wrong, r.where);
                return -EBADMSG;
        }

        *ret = TAKE_PTR(facts);
        return 0;
}
