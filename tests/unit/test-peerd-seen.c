/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <glib/gstdio.h>

#include "peerd/seen.h"

#define A "sha256-aa112233445566778899aabbccddeeff00112233445566778899aabbccddeeff"

static char *subsystem_of(NpPins *pins)
{
        const NpPeerConfig *peer = np_pins_by_name(pins, "stor-a");

        return g_strdup(peer->subsystems[0]);
}

static void on_changed(gpointer data)
{
        (*(guint *) data)++;
}

static void wait_changed(const guint *changes, guint wanted)
{
        for (int i = 0; i < 500 && *changes < wanted; i++) {
                g_main_context_iteration(NULL, FALSE);
                g_usleep(10000);
        }
        g_assert_cmpuint(*changes, ==, wanted);
}

/* However often it is said: written at once, and then once for all that came within the time. */
static void test_often(void)
{
        g_autofree char *folder = g_dir_make_tmp("ntprof-XXXXXX", NULL), *peers = g_build_filename(folder, "peers.d", NULL);
        g_autofree char *path = g_build_filename(peers, "stor-a.conf", NULL), *first = NULL, *second = NULL, *third = NULL;
        g_autoptr(NpPins) pins = np_pins_new("/nonexistent", folder);
        guint changes = 0;
        g_autoptr(NpSeen) seen = np_seen_new(pins, on_changed, &changes);
        const char *told[] = { "nqn.test:0", NULL };
        GStatBuf before, after;
        g_autofree char *last = NULL, *fourth = NULL;
        gint64 before_usec;

        g_assert_true(np_pins_add(pins, "stor-a", A, NULL, NULL, NULL));
        g_assert_true(np_seen_note(seen, "stor-a", told));
        first = subsystem_of(pins);
        g_assert_cmpstr(first, ==, told[0]);
        g_assert_cmpint(g_stat(path, &before), ==, 0);
        for (int i = 1; i <= 100; i++) {
                g_free(last);
                told[0] = last = g_strdup_printf("nqn.test:%d", i);
                g_assert_false(np_seen_note(seen, "stor-a", told));
        }
        g_assert_cmpint(g_stat(path, &after), ==, 0);
        g_assert_cmpuint(after.st_ino, ==, before.st_ino);
        wait_changed(&changes, 1);
        second = subsystem_of(pins);
        g_assert_cmpstr(second, ==, "nqn.test:100");

        /* That it was seen, without a word on what it exports, takes nothing away: of what is known, or of what waits. */
        told[0] = "nqn.test:waits";
        g_assert_false(np_seen_note(seen, "stor-a", told));
        g_assert_false(np_seen_note(seen, "stor-a", NULL));
        wait_changed(&changes, 2);
        g_assert_false(np_seen_note(seen, "stor-a", NULL));
        before_usec = np_pins_by_name(pins, "stor-a")->last_seen_usec;
        wait_changed(&changes, 3);
        g_assert_cmpint(np_pins_by_name(pins, "stor-a")->last_seen_usec, >, before_usec);
        fourth = subsystem_of(pins);
        g_assert_cmpstr(fourth, ==, "nqn.test:waits");

        /* What still waits at the end is not lost. */
        told[0] = "nqn.test:last";
        g_assert_false(np_seen_note(seen, "stor-a", told));
        g_clear_pointer(&seen, np_seen_free);
        third = subsystem_of(pins);
        g_assert_cmpstr(third, ==, "nqn.test:last");

        g_clear_pointer(&pins, np_pins_free);
        g_assert_cmpint(g_remove(path), ==, 0);
        g_assert_cmpint(g_rmdir(peers), ==, 0);
        g_assert_cmpint(g_rmdir(folder), ==, 0);
}

int main(int argc, char **argv)
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/peerd/seen/often", test_often);
        return g_test_run();
}
