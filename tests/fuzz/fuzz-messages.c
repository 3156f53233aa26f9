/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What one ntprof-peerd reads of another: the bounds of what GDBus is given, GDBus' own parser, the gate, and the checks of
 * arguments. The first byte: is the sender's certificate pinned, has it called, and does it authenticate first or was that
 * done. What the calls would do is not done.
 */
#include <assert.h>
#include <gio/gio.h>
#include <stdint.h>
#include <string.h>

#include "peerd/link-args.h"
#include "peerd/link-gate.h"
#include "peerd/message-bounds.h"
#include "shared/peer-config.h"

#define PINNED 1
#define FROM_CLIENT 2
#define AUTHENTICATED 4

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_facts(GVariant *facts)
{
        g_autoptr(GVariant) clean = np_args_facts(facts), everybody = np_args_facts_public(facts), join = np_args_join(facts),
                            joined = np_args_joined(facts), subsystems = NULL;
        const char *machine;

        assert(g_variant_lookup(clean, "machine", "&s", &machine) && strlen(machine) <= NP_ARGS_TEXT_MAX);
        assert(g_variant_n_children(clean) == 3 && g_variant_n_children(everybody) == 2);
        assert(g_variant_n_children(join) == 2 && g_variant_n_children(joined) == 2);
        subsystems = g_variant_lookup_value(clean, "subsystems", G_VARIANT_TYPE_STRING_ARRAY);
        assert(subsystems && g_variant_n_children(subsystems) <= NP_ARGS_SUBSYSTEMS_MAX);
        /* What was cleaned is clean. */
        {
                g_autoptr(GVariant) again = np_args_facts(clean);

                assert(g_variant_equal(again, clean));
        }
}

static void check_call(const char *member, GVariant *body)
{
        g_autoptr(GVariant) facts = NULL;
        g_autoptr(GError) error = NULL;

        if (g_str_equal(member, "Hello")) {
                guint32 minimum, maximum;
                guint version;

                g_variant_get(body, "(uu@a{sv})", &minimum, &maximum, &facts);
                check_facts(facts);
                version = np_args_negotiate(minimum, maximum, facts, facts, &error);
                assert(version ? version >= minimum && version <= maximum : error != NULL);
        } else if (g_str_equal(member, "Join")) {
                const char *code;

                g_variant_get(body, "(&s@a{sv})", &code, &facts);
                check_facts(facts);
        } else if (g_str_equal(member, "OpenTarget")) {
                g_autoptr(GVariant) request = NULL;

                g_variant_get(body, "(@a{sv})", &facts);
                request = np_args_request(facts, &error);
                if (request) {
                        g_autoptr(GVariant) again = np_args_request(request, NULL);

                        assert(again && g_variant_equal(again, request));
                } else {
                        assert(error);
                }
        } else if (g_str_equal(member, "Data")) {
                g_autoptr(GVariant) bytes = NULL;
                guint64 number;
                gsize n;

                g_variant_get(body, "(t@ay)", &number, &bytes);
                assert(g_variant_get_fixed_array(bytes, &n, 1) || n == 0);
        } else if (g_str_equal(member, "Close")) {
                g_autofree char *clean = NULL;
                const char *reason;
                guint64 number;

                g_variant_get(body, "(t&s)", &number, &reason);
                clean = np_args_message(reason);
                assert(g_utf8_validate(clean, -1, NULL));
        } else if (g_str_equal(member, "Renew")) {
                const char *fingerprint;

                g_variant_get(body, "(&s)", &fingerprint);
                np_fingerprint_valid(fingerprint);
        } else {
                assert(g_str_equal(member, "Forget"));
        }
}

static void check_message(const uint8_t *blob, size_t size, gboolean pinned)
{
        g_autofree uint8_t *copy = g_memdup2(blob, size);
        g_autoptr(GError) error = NULL;
        g_autoptr(GDBusMessage) message = g_dbus_message_new_from_blob(copy, size, G_DBUS_CAPABILITY_FLAGS_NONE, NULL);

        if (!message || !np_gate_check(message, pinned, NULL))
                return;
        if (g_dbus_message_get_message_type(message) == G_DBUS_MESSAGE_TYPE_METHOD_CALL) {
                const char *member = g_dbus_message_get_member(message);

                assert(pinned || g_str_equal(member, "Hello") || g_str_equal(member, "Join"));
                check_call(member, g_dbus_message_get_body(message));
        } else if (g_dbus_message_to_gerror(message, &error)) {
                g_autofree char *clean = np_args_message(error->message);

                assert(strlen(clean) <= 4 * NP_ARGS_MESSAGE_MAX);
        }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        NpMessageBounds bounds, whole;
        const uint8_t *message = NULL;
        uint8_t flags;
        gboolean good = TRUE;

        if (size < 1)
                return 0;
        flags = *data++;
        size--;
        np_message_bounds_init(&bounds, !!(flags & FROM_CLIENT), flags & PINNED ? NP_MESSAGE_MAX : NP_MESSAGE_MAX_UNPINNED);
        if (flags & AUTHENTICATED)
                bounds.phase = NP_BOUNDS_HEADER;
        whole = bounds;
        for (size_t i = 0; i < size && good; i++) {
                if (bounds.phase == NP_BOUNDS_HEADER && bounds.have == 0)
                        message = data + i;
                good = np_message_bounds_feed(&bounds, data + i, 1, NULL);
                if (good && message && bounds.phase == NP_BOUNDS_HEADER && bounds.have == 0) {
                        /* The same border as GDBus finds, or a message could hide another. */
                        assert(g_dbus_message_bytes_needed((guchar *) message, NP_MESSAGE_HEADER, NULL) ==
                               data + i + 1 - message);
                        check_message(message, (size_t) (data + i + 1 - message), !!(flags & PINNED));
                        message = NULL;
                }
        }
        assert(np_message_bounds_feed(&whole, data, size, NULL) == good);
        return 0;
}
