/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "target-json.h"

#include "../text.h"

/* Bytes: what a kernel or a person called something is no longer. */
#define TEXT_MAX 1000

static void add_text(JsonBuilder *b, const char *name, const char *value)
{
        _cleanup_free_ char *text = value ? text_printable(value, TEXT_MAX) : NULL;

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

char *target_facts_json(const Backend *backend, const CaptureHook *hooks, unsigned n_hooks)
{
        g_autoptr(JsonBuilder) b = json_builder_new();

        json_builder_begin_object(b);
        add_text(b, "machine", backend->machine);
        add_text(b, "kernel", backend->kernel);
        add_text(b, "version", NTPROF_VERSION);
        json_builder_set_member_name(b, "hooks");
        json_builder_begin_array(b);
        for (unsigned i = 0; i < n_hooks; i++) {
                if (!hooks[i].target)
                        continue;
                json_builder_begin_object(b);
                add_text(b, "boundary", hooks[i].boundary);
                add_text(b, "mechanism", hooks[i].mechanism);
                add_text(b, "symbol", hooks[i].symbol);
                json_builder_end_object(b);
        }
        json_builder_end_array(b);
        json_builder_end_object(b);
        return to_string(b);
}

char *target_ended_json(NtprofError code, const char *message)
{
        g_autoptr(JsonBuilder) b = json_builder_new();

        json_builder_begin_object(b);
        add_text(b, "error", code == NTPROF_ERROR_NONE ? NULL : ntprof_error_name(code));
        add_text(b, "message", message);
        json_builder_end_object(b);
        return to_string(b);
}
