/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "seen.h"

/* Of a peer that was noted within the last NP_SEEN_MSEC. */
typedef struct {
        NpSeen *seen;
        char *peer;
        gboolean waits;
        char **subsystems;              /* that wait, NULL: not told */
        guint timer;
} Noted;

struct _NpSeen {
        NpPins *pins;
        void (*changed)(gpointer data);
        gpointer data;
        GHashTable *noted;              /* name: Noted */
};

static void write_waiting(Noted *n)
{
        g_auto(GStrv) subsystems = g_steal_pointer(&n->subsystems);

        if (n->waits)
                np_pins_note_seen(n->seen->pins, n->peer, (const char *const *) subsystems);
        n->waits = FALSE;
}

static void noted_free(gpointer data)
{
        Noted *n = data;

        write_waiting(n);
        g_clear_handle_id(&n->timer, g_source_remove);
        g_free(n->peer);
        g_free(n);
}

static gboolean on_time(gpointer data)
{
        Noted *n = data;
        NpSeen *self = n->seen;

        if (!n->waits) {
                n->timer = 0;
                g_hash_table_remove(self->noted, n->peer);
                return G_SOURCE_REMOVE;
        }
        write_waiting(n);
        self->changed(self->data);
        return G_SOURCE_CONTINUE;
}

NpSeen *np_seen_new(NpPins *pins, void (*changed)(gpointer data), gpointer data)
{
        NpSeen *self = g_new0(NpSeen, 1);

        self->pins = pins;
        self->changed = changed;
        self->data = data;
        self->noted = g_hash_table_new_full(g_str_hash, g_str_equal, NULL, noted_free);
        return self;
}

void np_seen_free(NpSeen *self)
{
        if (!self)
                return;
        g_hash_table_unref(self->noted);
        g_free(self);
}

gboolean np_seen_note(NpSeen *self, const char *peer, const char *const *subsystems)
{
        Noted *n = g_hash_table_lookup(self->noted, peer);

        if (n) {
                n->waits = TRUE;
                if (subsystems) {
                        g_strfreev(n->subsystems);
                        n->subsystems = g_strdupv((char **) subsystems);
                }
                return FALSE;
        }
        n = g_new0(Noted, 1);
        n->seen = self;
        n->peer = g_strdup(peer);
        n->timer = g_timeout_add(NP_SEEN_MSEC, on_time, n);
        g_hash_table_insert(self->noted, n->peer, n);
        np_pins_note_seen(self->pins, peer, subsystems);
        return TRUE;
}
