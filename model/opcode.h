/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Opcodes of the NVM and Zoned Namespace command sets (NVM Command Set Specification 1.0, section 3; Zoned Namespace
 * Command Set Specification 1.1, section 3), as far as a host's block layer or passthrough may send them.
 */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* Of all that carry data the lowest two bits of the opcode tell the direction; the others have none. */
typedef enum {
        NP_TRANSFER_NONE = 0,
        NP_TRANSFER_TO_TARGET = 1,
        NP_TRANSFER_TO_HOST = 2,
        NP_TRANSFER_BOTH = 3,
} NpTransfer;

typedef struct {
        guint8 opcode;
        const char *name;               /* as in reports: "read" */
        gboolean has_length;            /* nlb is a number of logical blocks, 0's based */
} NpOpcodeInfo;

/* NULL for an opcode that is not in the table. */
const NpOpcodeInfo *np_opcode_info(guint8 opcode);

/* "read", or "opcode 0x9a" when unknown. Static storage. */
const char *np_opcode_name(guint8 opcode);

NpTransfer np_opcode_transfer(guint8 opcode);

/* By a name as in reports; NP_TRANSFER_BOTH, which is nothing that can be ruled out, when it is not in the table. */
NpTransfer np_opcode_transfer_by_name(const char *name);

/* Logical blocks of a command, 0 when its operation has no length. */
guint32 np_opcode_blocks(guint8 opcode, guint16 nlb);

G_END_DECLS
