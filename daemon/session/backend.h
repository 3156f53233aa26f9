/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where a session's facts and records come from: this machine's kernel (capture/backend-live.c) or a recorded file
 * (capture/backend-replay.c). A test can be one too. The session knows no other way.
 */
#pragma once

#include <json-glib/json-glib.h>

#include "../capture/capture.h"
#include "../error.h"
#include "iostat.h"
#include "machine-facts.h"
#include "namespace.h"

typedef struct Backend Backend;

typedef struct BackendOps {
        /* Errors as namespace_resolve(). */
        int (*resolve)(Backend *b, const char *name, NamespaceInfo **ret, Error *error);
        /* Makes the source of records, not yet attached. When the target's side was asked for and cannot be had, drops the
         * target filters from config and sets *ret_no_target_reason, a sentence. Errors: KERNEL_UNSUPPORTED, CAPTURE_FAILED,
         * INVALID_OPTION (what is asked for is not in a recording). */
        int (*open)(Backend *b, const NamespaceInfo *info, CaptureConfig *config, const CaptureHandlers *handlers,
                    Capture **ret, char **ret_no_target_reason, Error *error);
        /* The target's side alone, for another machine: config has target filters only. Errors: KERNEL_UNSUPPORTED,
         * CAPTURE_FAILED. */
        int (*open_target)(Backend *b, const CaptureConfig *config, const CaptureHandlers *handlers, Capture **ret,
                           Error *error);
        /* drive_hidden_read() of a namespace that the machine exports. */
        char *(*drive_hidden)(Backend *b, const char *subsysnqn, uint32_t nsid);
        /* What the machine that the records are from is to others. */
        MachineFacts *(*describe)(Backend *b);
        /* Counts now, by the clock of the capture. */
        void (*read_iostat)(Backend *b, Capture *capture, const NamespaceInfo *info, IoStat *ret);
        /* The document of Manager.Inspect(). namespace NULL: of all that the machine has. as_service: of what the service could do,
         * whatever this process may. Errors: KERNEL_UNSUPPORTED (it cannot be read), as resolve. */
        int (*inspect)(Backend *b, const char *namespace, bool as_service, JsonNode **ret, Error *error);
        void (*free)(Backend *b);
} BackendOps;

struct Backend {
        const BackendOps *ops;
        char *machine;                  /* host name of the machine that the records are from */
        char *kernel;                   /* its kernel's release */
};

static inline void backend_free(Backend *b)
{
        b->ops->free(b);
}
DEFINE_CLEANUP_FUNC(Backend *, backend_free);
