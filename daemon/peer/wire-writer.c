/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "wire-writer.h"

#include <glib.h>
#include <string.h>
#include <sys/socket.h>

#define CHUNK_SIZE (64U << 10)

typedef struct Chunk {
        size_t begin, end;              /* what is in use of data */
        unsigned char data[CHUNK_SIZE];
} Chunk;

struct WireWriter {
        GQueue chunks;                  /* of Chunk, none empty */
        size_t pending;
};

WireWriter *wire_writer_new(void)
{
        return g_new0(WireWriter, 1);
}

WireWriter *wire_writer_free(WireWriter *writer)
{
        if (!writer)
                return NULL;
        g_queue_clear_full(&writer->chunks, g_free);
        g_free(writer);
        return NULL;
}

static void append(WireWriter *writer, const void *data, size_t size)
{
        while (size > 0) {
                Chunk *chunk = g_queue_peek_tail(&writer->chunks);
                size_t n;

                if (!chunk || chunk->end == CHUNK_SIZE) {
                        chunk = g_new(Chunk, 1);
                        chunk->begin = chunk->end = 0;
                        g_queue_push_tail(&writer->chunks, chunk);
                }
                n = MIN(size, CHUNK_SIZE - chunk->end);
                memcpy(chunk->data + chunk->end, data, n);
                chunk->end += n;
                writer->pending += n;
                data = (const unsigned char *) data + n;
                size -= n;
        }
}

void wire_writer_add(WireWriter *writer, enum wire_type type, const void *data, size_t size)
{
        struct wire_frame frame = { .type = type, .size = size };

        g_assert(size <= WIRE_FRAME_MAX);
        append(writer, &frame, sizeof(frame));
        append(writer, data, size);
}

size_t wire_writer_pending(const WireWriter *writer)
{
        return writer->pending;
}

int wire_writer_flush(WireWriter *writer, int fd)
{
        Chunk *chunk;

        while ((chunk = g_queue_peek_head(&writer->chunks))) {
                ssize_t n = send(fd, chunk->data + chunk->begin, chunk->end - chunk->begin, MSG_DONTWAIT | MSG_NOSIGNAL);

                if (n < 0 && errno == EINTR)
                        continue;
                if (n < 0 && errno == EAGAIN)
                        return 1;
                if (n < 0)
                        return -errno;
                chunk->begin += n;
                writer->pending -= n;
                if (chunk->begin == chunk->end)
                        g_free(g_queue_pop_head(&writer->chunks));
        }
        return 0;
}
