/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <glib.h>

/* Ends a source that is there, and lets go of it. As g_clear_handle_id(), of sources of any main context. */
static inline void np_source_clear(GSource **source)
{
        if (*source)
                g_source_destroy(*source);
        g_clear_pointer(source, g_source_unref);
}
