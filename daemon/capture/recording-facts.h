/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a recording says of itself before its first record: JSON, schema org.ntprof.recording/1. */
#pragma once

#include <json-glib/json-glib.h>

#include "../session/namespace.h"
#include "capture.h"

typedef struct RecordingFacts {
        char *machine, *kernel;         /* host name, uname -r */
        uint64_t start_ns;              /* CLOCK_MONOTONIC of the host when recording started */
        NamespaceInfo *namespace;
        bool detail;                    /* what only the components of the stages need is in it, too */
        bool has_target;
        char *no_target_reason;         /* when not has_target */
        unsigned n_hooks;
        CaptureHook *hooks;             /* strings are owned */
        JsonNode *inspection;           /* the document of Manager.Inspect(), or NULL */
} RecordingFacts;

void recording_facts_free(RecordingFacts *facts);
DEFINE_CLEANUP_FUNC(RecordingFacts *, recording_facts_free);

char *recording_facts_to_json(const RecordingFacts *facts);
/* text comes from a file that anybody may have made. On error *ret_error (to be freed) says what is wrong. */
int recording_facts_from_json(const char *text, size_t size, RecordingFacts **ret, char **ret_error);
