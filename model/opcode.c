/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "opcode.h"

static const NpOpcodeInfo opcodes[] = {
        { 0x00, "flush",                FALSE },
        { 0x01, "write",                TRUE },
        { 0x02, "read",                 TRUE },
        { 0x04, "write_uncorrectable",  TRUE },
        { 0x05, "compare",              TRUE },
        { 0x08, "write_zeroes",         TRUE },
        /* Dataset Management; the block layer sends it for discards only. Its ranges are in the data, not in nlb. */
        { 0x09, "discard",              FALSE },
        { 0x0c, "verify",               TRUE },
        { 0x0d, "reservation_register", FALSE },
        { 0x0e, "reservation_report",   FALSE },
        { 0x11, "reservation_acquire",  FALSE },
        { 0x12, "io_management_receive", FALSE },
        { 0x15, "reservation_release",  FALSE },
        { 0x18, "cancel",               FALSE },
        { 0x19, "copy",                 FALSE },
        { 0x1d, "io_management_send",   FALSE },
        { 0x79, "zone_management_send", FALSE },
        { 0x7a, "zone_management_receive", FALSE },
        { 0x7d, "zone_append",          TRUE },
        { 0x7f, "fabrics",              FALSE },
};

const NpOpcodeInfo *np_opcode_info(guint8 opcode)
{
        for (gsize i = 0; i < G_N_ELEMENTS(opcodes); i++)
                if (opcodes[i].opcode == opcode)
                        return &opcodes[i];
        return NULL;
}

const char *np_opcode_name(guint8 opcode)
{
        const NpOpcodeInfo *info = np_opcode_info(opcode);
        char unknown[sizeof("opcode 0xff")];

        if (info)
                return info->name;

        g_snprintf(unknown, sizeof(unknown), "opcode 0x%02x", opcode);
        return g_intern_string(unknown);
}

NpTransfer np_opcode_transfer(guint8 opcode)
{
        return opcode & 3;
}

NpTransfer np_opcode_transfer_by_name(const char *name)
{
        for (gsize i = 0; i < G_N_ELEMENTS(opcodes); i++)
                if (g_str_equal(opcodes[i].name, name))
                        return np_opcode_transfer(opcodes[i].opcode);
        return NP_TRANSFER_BOTH;
}

guint32 np_opcode_blocks(guint8 opcode, guint16 nlb)
{
        const NpOpcodeInfo *info = np_opcode_info(opcode);

        return info && info->has_length ? nlb + 1u : 0;
}
