/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "opcode.h"

static void test_names(void)
{
        g_assert_cmpstr(np_opcode_name(0x00), ==, "flush");
        g_assert_cmpstr(np_opcode_name(0x01), ==, "write");
        g_assert_cmpstr(np_opcode_name(0x02), ==, "read");
        g_assert_cmpstr(np_opcode_name(0x08), ==, "write_zeroes");
        g_assert_cmpstr(np_opcode_name(0x09), ==, "discard");
        g_assert_cmpstr(np_opcode_name(0x9a), ==, "opcode 0x9a");
        g_assert_cmpstr(np_opcode_name(0x03), ==, "opcode 0x03");
        g_assert_null(np_opcode_info(0x9a));
        g_assert_cmpuint(np_opcode_info(0x7d)->opcode, ==, 0x7d);
}

/* A name stands for one opcode, or groups would mix. */
static void test_distinct(void)
{
        g_autoptr(GHashTable) names = g_hash_table_new(g_str_hash, g_str_equal);

        for (guint i = 0; i < 256; i++)
                g_assert_true(g_hash_table_add(names, (gpointer) np_opcode_name(i)));
}

static void test_length(void)
{
        g_assert_cmpuint(np_opcode_blocks(0x02, 7), ==, 8);
        g_assert_cmpuint(np_opcode_blocks(0x01, 65535), ==, 65536);
        g_assert_cmpuint(np_opcode_blocks(0x08, 0), ==, 1);
        g_assert_cmpuint(np_opcode_blocks(0x00, 7), ==, 0);
        g_assert_cmpuint(np_opcode_blocks(0x09, 7), ==, 0);
        g_assert_cmpuint(np_opcode_blocks(0x9a, 7), ==, 0);
}

static void test_transfer(void)
{
        g_assert_cmpint(np_opcode_transfer(0x00), ==, NP_TRANSFER_NONE);
        g_assert_cmpint(np_opcode_transfer(0x01), ==, NP_TRANSFER_TO_TARGET);
        g_assert_cmpint(np_opcode_transfer(0x02), ==, NP_TRANSFER_TO_HOST);
        g_assert_cmpint(np_opcode_transfer(0x08), ==, NP_TRANSFER_NONE);
        g_assert_cmpint(np_opcode_transfer(0x09), ==, NP_TRANSFER_TO_TARGET);
        g_assert_cmpint(np_opcode_transfer_by_name("read"), ==, NP_TRANSFER_TO_HOST);
        g_assert_cmpint(np_opcode_transfer_by_name("write"), ==, NP_TRANSFER_TO_TARGET);
        g_assert_cmpint(np_opcode_transfer_by_name("opcode 0x90"), ==, NP_TRANSFER_BOTH);
}

int main(int argc, char **argv)
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/opcode/names", test_names);
        g_test_add_func("/opcode/distinct", test_distinct);
        g_test_add_func("/opcode/length", test_length);
        g_test_add_func("/opcode/transfer", test_transfer);
        return g_test_run();
}
