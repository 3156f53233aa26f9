/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Frames that wait for a non-blocking socket to take them. Memory is given back as they leave. */
#pragma once

#include "../util.h"
#include "wire.h"

typedef struct WireWriter WireWriter;

WireWriter *wire_writer_new(void);
WireWriter *wire_writer_free(WireWriter *writer);
DEFINE_CLEANUP_FUNC(WireWriter *, wire_writer_free);

/* size: at most WIRE_FRAME_MAX. How much may wait is the caller's to decide. */
void wire_writer_add(WireWriter *writer, enum wire_type type, const void *data, size_t size);
/* Bytes not yet taken, frames' headers among them. */
size_t wire_writer_pending(const WireWriter *writer);
/* 0: all is gone. > 0: the socket takes no more now. Negative errno: the other end is gone. */
int wire_writer_flush(WireWriter *writer, int fd);
