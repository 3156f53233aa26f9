/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Frames out of bytes that come in whatever pieces, from a side that is not to be trusted. A pure function of the bytes:
 * it reads no file, and never holds more than one frame.
 */
#pragma once

#include "../util.h"
#include "wire.h"

typedef enum WireSide {
        WIRE_SIDE_HOST,
        WIRE_SIDE_TARGET,
} WireSide;

typedef struct WireFrame {
        enum wire_type type;
        uint32_t size;
        const void *data;               /* aligned to 8 bytes; until the next call */
} WireFrame;

typedef struct WireReader WireReader;

/* from: who writes what is read. */
WireReader *wire_reader_new(WireSide from);
WireReader *wire_reader_free(WireReader *reader);
DEFINE_CLEANUP_FUNC(WireReader *, wire_reader_free);

/* Takes bytes off the front of *data, of which there are *size, up to the end of one frame. > 0: *ret is a frame whose type
 * this side may send now, and whose size fits its type; there may be more in *data. 0: all was taken, and no frame is whole
 * yet. -EBADMSG: *ret_why is a sentence (static), and the reader says the same again whatever else it is given.
 *
 * What is checked is the frame. Of JSON, and of records' contents, the size alone. */
int wire_reader_next(WireReader *reader, const void **data, size_t *size, WireFrame *ret, const char **ret_why);

/* The stream may end here: before its first byte, or with WIRE_ENDED. */
bool wire_reader_at_end(const WireReader *reader);
