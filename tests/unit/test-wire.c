/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <glib.h>
#include <string.h>
#include <sys/socket.h>

#include "daemon/peer/wire-reader.h"
#include "daemon/peer/wire-writer.h"

typedef struct Pair {
        int ours, theirs;
} Pair;

static Pair pair_new(void)
{
        int fds[2];

        g_assert_cmpint(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, fds), ==, 0);
        return (Pair) { fds[0], fds[1] };
}

static void add_frame(GByteArray *bytes, uint32_t type, const void *data, uint32_t size)
{
        struct wire_frame frame = { .type = type, .size = size };

        g_byte_array_append(bytes, (const guint8 *) &frame, sizeof(frame));
        g_byte_array_append(bytes, data, size);
}

/* What a reader made of bytes given it in pieces of so many: "1:8 2:0 !a frame came out of turn" */
static char *read_in_pieces(WireSide from, const guint8 *bytes, size_t n_bytes, size_t piece, bool *ret_at_end)
{
        _cleanup_(wire_reader_freep) WireReader *reader = wire_reader_new(from);
        g_autoptr(GString) told = g_string_new(NULL);
        const char *why = NULL;
        WireFrame frame;
        int r = 0;

        for (size_t at = 0; at < n_bytes && r >= 0; at += piece) {
                size_t size = MIN(piece, n_bytes - at);
                /* of its own, so that a sanitizer sees a byte too many being read */
                g_autofree void *copy = g_memdup2(bytes + at, size);
                const void *data = copy;

                while ((r = wire_reader_next(reader, &data, &size, &frame, &why)) > 0) {
                        g_string_append_printf(told, "%s%u:%u", told->len ? " " : "", frame.type, frame.size);
                        g_assert_cmpuint((uintptr_t) frame.data % 8, ==, 0);
                }
                if (r == 0)
                        g_assert_cmpuint(size, ==, 0);
        }
        if (r < 0) {
                const char *again = NULL;
                const void *none = NULL;
                size_t size = 0;

                g_assert_cmpint(r, ==, -EBADMSG);
                g_string_append_printf(told, "%s!%s", told->len ? " " : "", why);
                g_assert_cmpint(wire_reader_next(reader, &none, &size, &frame, &again), ==, -EBADMSG);
                g_assert_cmpstr(again, ==, why);
        }
        if (ret_at_end)
                *ret_at_end = wire_reader_at_end(reader);
        return g_string_free(g_steal_pointer(&told), false);
}

static void check(WireSide from, const GByteArray *bytes, const char *expected)
{
        g_autofree char *told = read_in_pieces(from, bytes->data, bytes->len, bytes->len, NULL);

        g_assert_cmpstr(told, ==, expected);
}

static GByteArray *host_talk(void)
{
        GByteArray *bytes = g_byte_array_new();

        add_frame(bytes, WIRE_THRESHOLD, &(struct wire_threshold) { .threshold = UINT32_MAX }, sizeof(struct wire_threshold));
        add_frame(bytes, WIRE_RESUME, NULL, 0);
        add_frame(bytes, WIRE_THRESHOLD, &(struct wire_threshold) { .threshold = 7 }, sizeof(struct wire_threshold));
        add_frame(bytes, WIRE_PAUSE, NULL, 0);
        return bytes;
}

static GByteArray *target_talk(void)
{
        GByteArray *bytes = g_byte_array_new();
        struct np_target_record records[3] = {};

        add_frame(bytes, WIRE_FACTS, "{\"machine\":\"stor-a\"}", 20);
        add_frame(bytes, WIRE_CHANGED, &(struct wire_changed) {}, sizeof(struct wire_changed));
        add_frame(bytes, WIRE_RECORDS, records, sizeof(records));
        add_frame(bytes, WIRE_SYNC, &(struct wire_sync) {}, sizeof(struct wire_sync));
        add_frame(bytes, WIRE_RECORDS, records, sizeof(records[0]));
        add_frame(bytes, WIRE_ENDED, "{}", 2);
        return bytes;
}

/* Split anywhere, and into pieces of any size, it reads the same; only at its end the stream may end. */
static void test_split_anywhere(void)
{
        g_autoptr(GByteArray) host = host_talk(), target = target_talk();
        const struct {
                WireSide from;
                const GByteArray *bytes;
                const char *expected;
        } talks[] = {
                { WIRE_SIDE_HOST, host, "1:8 2:0 1:8 3:0" },
                { WIRE_SIDE_TARGET, target, "16:20 17:16 18:576 19:128 18:192 20:2" },
        };

        G_STATIC_ASSERT(sizeof(struct np_target_record) == 192 && sizeof(struct wire_sync) == 128);
        for (size_t i = 0; i < ELEMENTSOF(talks); i++) {
                for (size_t piece = 1; piece <= talks[i].bytes->len; piece++) {
                        bool at_end;
                        g_autofree char *told = read_in_pieces(talks[i].from, talks[i].bytes->data, talks[i].bytes->len, piece,
                                                               &at_end);

                        g_assert_cmpstr(told, ==, talks[i].expected);
                        g_assert_true(at_end);
                }
                for (size_t length = 0; length < talks[i].bytes->len; length++) {
                        bool at_end;
                        g_autofree char *told = read_in_pieces(talks[i].from, talks[i].bytes->data, length, 7, &at_end);

                        g_assert_true(g_str_has_prefix(talks[i].expected, told));
                        g_assert_cmpint(at_end, ==, length == 0);
                }
        }
}

static void test_contents(void)
{
        _cleanup_(wire_reader_freep) WireReader *reader = wire_reader_new(WIRE_SIDE_HOST);
        g_autoptr(GByteArray) bytes = host_talk();
        const void *data = bytes->data;
        size_t size = bytes->len;
        const char *why;
        WireFrame frame;

        g_assert_cmpint(wire_reader_next(reader, &data, &size, &frame, &why), ==, 1);
        g_assert_cmphex(((const struct wire_threshold *) frame.data)->threshold, ==, UINT32_MAX);
        g_assert_cmpint(wire_reader_next(reader, &data, &size, &frame, &why), ==, 1);
        g_assert_cmpint(wire_reader_next(reader, &data, &size, &frame, &why), ==, 1);
        g_assert_cmphex(((const struct wire_threshold *) frame.data)->threshold, ==, 7);
        g_assert_cmpuint(size, ==, sizeof(struct wire_frame));
}

/* What either side says is nothing that the other may say. */
static void test_roles(void)
{
        static const uint32_t of_host[] = { WIRE_THRESHOLD, WIRE_RESUME, WIRE_PAUSE },
                              of_target[] = { WIRE_FACTS, WIRE_CHANGED, WIRE_RECORDS, WIRE_SYNC, WIRE_ENDED },
                              of_nobody[] = { 0, 4, 15, 21, 32, 33, 48, 0x80000001, UINT32_MAX };
        static const char expected[] = "!a frame came that is of no type this side may send";

        for (size_t i = 0; i < ELEMENTSOF(of_target); i++) {
                g_autoptr(GByteArray) bytes = g_byte_array_new();

                add_frame(bytes, of_target[i], "", 0);
                check(WIRE_SIDE_HOST, bytes, expected);
        }
        for (size_t i = 0; i < ELEMENTSOF(of_host); i++) {
                g_autoptr(GByteArray) bytes = g_byte_array_new();

                add_frame(bytes, of_host[i], "", 0);
                check(WIRE_SIDE_TARGET, bytes, expected);
        }
        for (size_t i = 0; i < ELEMENTSOF(of_nobody); i++) {
                g_autoptr(GByteArray) bytes = g_byte_array_new();

                add_frame(bytes, of_nobody[i], "", 0);
                check(WIRE_SIDE_HOST, bytes, expected);
                check(WIRE_SIDE_TARGET, bytes, expected);
        }
}

static void test_sizes(void)
{
        static const struct {
                WireSide from;
                uint32_t type, size;
                bool good;
        } cases[] = {
                { WIRE_SIDE_HOST, WIRE_THRESHOLD, 0 },
                { WIRE_SIDE_HOST, WIRE_THRESHOLD, 7 },
                { WIRE_SIDE_HOST, WIRE_THRESHOLD, 16 },
                { WIRE_SIDE_HOST, WIRE_THRESHOLD, UINT32_MAX },
                { WIRE_SIDE_HOST, WIRE_PAUSE, 1 },
                { WIRE_SIDE_HOST, WIRE_PAUSE, 0, true },
                { WIRE_SIDE_TARGET, WIRE_FACTS, 0 },
                { WIRE_SIDE_TARGET, WIRE_FACTS, WIRE_FRAME_MAX, true },
                { WIRE_SIDE_TARGET, WIRE_FACTS, WIRE_FRAME_MAX + 1 },
                { WIRE_SIDE_TARGET, WIRE_FACTS, UINT32_MAX },
                { WIRE_SIDE_TARGET, WIRE_ENDED, 0 },
                { WIRE_SIDE_TARGET, WIRE_ENDED, WIRE_FRAME_MAX + 1 },
                { WIRE_SIDE_TARGET, WIRE_ENDED, 13, true },
        };
        static const uint32_t records[] = {
                0, 1, 191, 193, 384 + 8, WIRE_FRAME_MAX, WIRE_FRAME_MAX - WIRE_FRAME_MAX % 192 + 192
        };
        g_autofree guint8 *zeros = g_malloc0(WIRE_FRAME_MAX + 192);

        for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
                g_autoptr(GByteArray) bytes = g_byte_array_new();
                struct wire_frame frame = { cases[i].type, cases[i].size };
                g_autofree char *good = g_strdup_printf("%u:%u", cases[i].type, cases[i].size);

                g_byte_array_append(bytes, (const guint8 *) &frame, sizeof(frame));
                if (cases[i].good)
                        g_byte_array_append(bytes, zeros, cases[i].size);
                check(cases[i].from, bytes, cases[i].good ? good : "!a frame's size does not fit its type");
        }
        for (size_t i = 0; i < ELEMENTSOF(records); i++) {
                g_autoptr(GByteArray) bytes = g_byte_array_new();

                add_frame(bytes, WIRE_FACTS, "{}", 2);
                add_frame(bytes, WIRE_CHANGED, zeros, sizeof(struct wire_changed));
                add_frame(bytes, WIRE_RECORDS, zeros, records[i]);
                check(WIRE_SIDE_TARGET, bytes, "16:2 17:16 !a frame's size does not fit its type");
        }
}

static void test_out_of_turn(void)
{
        static const struct {
                WireSide from;
                struct { uint32_t type, size; } sent[3];
                const char *expected;
        } cases[] = {
                { WIRE_SIDE_HOST, { { WIRE_RESUME, 0 } }, "!a frame came out of turn" },
                { WIRE_SIDE_HOST, { { WIRE_PAUSE, 0 } }, "3:0" },
                { WIRE_SIDE_HOST, { { WIRE_PAUSE, 0 }, { WIRE_PAUSE, 0 } }, "3:0 !a frame came after the last one" },
                { WIRE_SIDE_HOST, { { WIRE_PAUSE, 0 }, { WIRE_THRESHOLD, 8 } }, "3:0 !a frame came after the last one" },
                { WIRE_SIDE_HOST, { { WIRE_THRESHOLD, 8 }, { WIRE_RESUME, 0 }, { WIRE_RESUME, 0 } },
                  "1:8 2:0 !a frame came twice that comes once" },
                { WIRE_SIDE_TARGET, { { WIRE_ENDED, 2 } }, "20:2" },
                { WIRE_SIDE_TARGET, { { WIRE_ENDED, 2 }, { WIRE_FACTS, 2 } }, "20:2 !a frame came after the last one" },
                { WIRE_SIDE_TARGET, { { WIRE_CHANGED, 16 } }, "!a frame came out of turn" },
                { WIRE_SIDE_TARGET, { { WIRE_FACTS, 2 }, { WIRE_FACTS, 2 } }, "16:2 !a frame came twice that comes once" },
                { WIRE_SIDE_TARGET, { { WIRE_FACTS, 2 }, { WIRE_RECORDS, 192 } }, "16:2 !a frame came out of turn" },
                { WIRE_SIDE_TARGET, { { WIRE_FACTS, 2 }, { WIRE_SYNC, 128 } }, "16:2 !a frame came out of turn" },
        };
        static const guint8 zeros[192];

        for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
                g_autoptr(GByteArray) bytes = g_byte_array_new();

                for (size_t j = 0; j < ELEMENTSOF(cases[i].sent) && cases[i].sent[j].type; j++)
                        add_frame(bytes, cases[i].sent[j].type, zeros, cases[i].sent[j].size);
                check(cases[i].from, bytes, cases[i].expected);
        }
}

/* Noise, with headers that pass now and then: it never crashes, and says the same in any pieces. */
static void test_noise(void)
{
        g_autoptr(GRand) chance = g_rand_new_with_seed(1);

        for (int i = 0; i < 3000; i++) {
                WireSide from = g_rand_boolean(chance) ? WIRE_SIDE_HOST : WIRE_SIDE_TARGET;
                g_autoptr(GByteArray) bytes = from == WIRE_SIDE_HOST ? host_talk() : target_talk();
                g_autofree char *one = NULL, *other = NULL;

                for (int j = g_rand_int_range(chance, 1, 5); j > 0; j--)
                        bytes->data[g_rand_int_range(chance, 0, bytes->len)] = g_rand_int_range(chance, 0, 256);
                one = read_in_pieces(from, bytes->data, bytes->len, bytes->len, NULL);
                other = read_in_pieces(from, bytes->data, bytes->len, g_rand_int_range(chance, 1, 40), NULL);
                g_assert_cmpstr(one, ==, other);
        }
}

/* More than a socket takes at once arrives whole and in order, and what is not read waits. */
static void test_writer(void)
{
        _cleanup_(wire_writer_freep) WireWriter *writer = wire_writer_new();
        _cleanup_(wire_reader_freep) WireReader *reader = wire_reader_new(WIRE_SIDE_TARGET);
        g_autofree guint8 *records = g_malloc0(WIRE_FRAME_MAX), *buffer = g_malloc(30000);
        Pair pair = pair_new();
        unsigned n_frames = 0, written = 102;
        size_t all;

        wire_writer_add(writer, WIRE_FACTS, "{}", 2);
        wire_writer_add(writer, WIRE_CHANGED, &(struct wire_changed) {}, sizeof(struct wire_changed));
        for (unsigned i = 0; i < 100; i++) {
                memcpy(records, &i, sizeof(i));
                wire_writer_add(writer, WIRE_RECORDS, records, 192 * (1 + i * 3));
        }
        all = wire_writer_pending(writer);
        g_assert_cmpuint(all, ==, 102 * 8 + 2 + 16 + 192 * (100 + 3 * 4950));
        g_assert_cmpint(wire_writer_flush(writer, pair.ours), ==, 1);
        g_assert_cmpuint(wire_writer_pending(writer), <, all);
        g_assert_cmpuint(wire_writer_pending(writer), >, 0);

        while (n_frames < written) {
                ssize_t n = read(pair.theirs, buffer, 30000);
                const void *data = buffer;
                size_t size = n;
                const char *why;
                WireFrame frame;

                g_assert_cmpint(n, >, 0);
                while (wire_reader_next(reader, &data, &size, &frame, &why) > 0) {
                        if (n_frames >= 2) {
                                g_assert_cmpuint(frame.size, ==, 192 * (1 + (n_frames - 2) * 3));
                                g_assert_cmpuint(*(const uint32_t *) frame.data, ==, n_frames - 2);
                        }
                        n_frames++;
                }
                g_assert_cmpint(wire_writer_flush(writer, pair.ours), >=, 0);
        }
        g_assert_cmpuint(wire_writer_pending(writer), ==, 0);
        g_assert_cmpint(wire_writer_flush(writer, pair.ours), ==, 0);

        /* no SIGPIPE */
        close(pair.theirs);
        wire_writer_add(writer, WIRE_ENDED, "{}", 2);
        g_assert_cmpint(wire_writer_flush(writer, pair.ours), ==, -EPIPE);
        close(pair.ours);
}

int main(int argc, char **argv)
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/wire/split-anywhere", test_split_anywhere);
        g_test_add_func("/wire/contents", test_contents);
        g_test_add_func("/wire/roles", test_roles);
        g_test_add_func("/wire/sizes", test_sizes);
        g_test_add_func("/wire/out-of-turn", test_out_of_turn);
        g_test_add_func("/wire/noise", test_noise);
        g_test_add_func("/wire/writer", test_writer);
        return g_test_run();
}
