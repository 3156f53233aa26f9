/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "target-json.h"

#include "../text.h"
#include "wire.h"

/* Bytes. In a frame all of them have room, also when each is two in JSON. */
#define NAME_LEN_MAX 255
#define WORD_LEN_MAX 64
#define SYMBOL_LEN_MAX 255
#define DRIVE_LEN_MAX 255
#define MESSAGE_LEN_MAX 1000
G_STATIC_ASSERT(WIRE_FACTS_HOOKS_MAX *(2 * (2 * WORD_LEN_MAX + SYMBOL_LEN_MAX) + 64) + 3 * (2 * NAME_LEN_MAX + 64) +
                2 * DRIVE_LEN_MAX + 64 < WIRE_FRAME_MAX);

static void add_text(JsonBuilder *b, const char *name, const char *value, size_t max)
{
        _cleanup_free_ char *text = value ? text_printable(value, max) : NULL;

        json_builder_set_member_name(b, name);
        if (text)
                json_builder_add_string_value(b, text);
        else
                json_builder_add_null_value(b);
}

static char *to_string(JsonBuilder *b)
{
        g_autoptr(JsonNode) root = json_builder_get_root(b);

        return json_to_string(root, false);
}

char *target_drive_hidden(Backend *backend, const CaptureConfig *config)
{
        char *why = NULL;

        for (unsigned i = 0; i < config->n_target_filters && !why; i++)
                why = backend->ops->drive_hidden(backend, config->target_filters[i].subsysnqn, config->target_filters[i].nsid);
        return why;
}

char *target_facts_json(const Backend *backend, const CaptureHook *hooks, unsigned n_hooks, const char *drive_hidden)
{
        g_autoptr(JsonBuilder) b = json_builder_new();
        unsigned n = 0;

        json_builder_begin_object(b);
        add_text(b, "machine", backend->machine, NAME_LEN_MAX);
        add_text(b, "kernel", backend->kernel, NAME_LEN_MAX);
        add_text(b, "version", NTPROF_VERSION, NAME_LEN_MAX);
        json_builder_set_member_name(b, "hooks");
        json_builder_begin_array(b);
        for (unsigned i = 0; i < n_hooks && n < WIRE_FACTS_HOOKS_MAX; i++) {
                if (!hooks[i].target)
                        continue;
                n++;
                json_builder_begin_object(b);
                add_text(b, "boundary", hooks[i].boundary, WORD_LEN_MAX);
                add_text(b, "mechanism", hooks[i].mechanism, WORD_LEN_MAX);
                add_text(b, "symbol", hooks[i].symbol, SYMBOL_LEN_MAX);
                json_builder_end_object(b);
        }
        json_builder_end_array(b);
        add_text(b, "drive_hidden", drive_hidden, DRIVE_LEN_MAX);
        json_builder_end_object(b);
        return to_string(b);
}

char *target_ended_json(NtprofError code, const char *message)
{
        g_autoptr(JsonBuilder) b = json_builder_new();

        json_builder_begin_object(b);
        add_text(b, "error", code == NTPROF_ERROR_NONE ? NULL : ntprof_error_name(code), WORD_LEN_MAX);
        add_text(b, "message", message, MESSAGE_LEN_MAX);
        json_builder_end_object(b);
        return to_string(b);
}
