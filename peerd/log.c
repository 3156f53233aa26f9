/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "log.h"

#include <stdio.h>

static const char *field(const GLogField *fields, gsize n_fields, const char *key)
{
        for (gsize i = 0; i < n_fields; i++)
                if (g_str_equal(fields[i].key, key) && fields[i].length < 0)
                        return fields[i].value;
        return NULL;
}

static const char *level_word(GLogLevelFlags level)
{
        if (level & (G_LOG_LEVEL_ERROR | G_LOG_LEVEL_CRITICAL))
                return "CRITICAL: ";
        return level & G_LOG_LEVEL_WARNING ? "warning: " : "";
}

static GLogWriterOutput write_line(GLogLevelFlags level, const GLogField *fields, gsize n_fields, gpointer data)
{
        const char *domain = field(fields, n_fields, "GLIB_DOMAIN");
        g_autofree char *text = g_strdup(field(fields, n_fields, "MESSAGE") ?: "");
        gboolean ours = g_strcmp0(domain, G_LOG_DOMAIN) == 0;

        if (g_log_writer_default_would_drop(level, domain))
                return G_LOG_WRITER_HANDLED;
        if (g_log_writer_is_journald(fileno(stderr)) &&
            g_log_writer_journald(level, fields, n_fields, NULL) == G_LOG_WRITER_HANDLED)
                return G_LOG_WRITER_HANDLED;

        /* One line each, whatever a message holds. A library's critical message is a defect of ours, an error of ours is none.
         * */
        g_strdelimit(text, "\r\n", ' ');
        if (ours)
                fprintf(stderr, "ntprof-peerd: %s\n", text);
        else
                fprintf(stderr, "ntprof-peerd: %s%s: %s\n", level_word(level), domain ?: "?", text);
        return G_LOG_WRITER_HANDLED;
}

void np_log_init(void)
{
        g_log_set_writer_func(write_line, NULL, NULL);
}
