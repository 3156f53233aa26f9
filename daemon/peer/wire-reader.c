/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "wire-reader.h"

#include <glib.h>
#include <string.h>

#define BIT(type) (1U << (type))

struct WireReader {
        WireSide from;
        uint32_t seen;                  /* BIT() of the types that came */
        bool ended;                     /* by the frame after which none may come */
        const char *broken;             /* why nothing more is read */
        size_t have;                    /* bytes of the frame so far, its header's among them */
        struct wire_frame header;
        _Alignas(8) unsigned char data[WIRE_FRAME_MAX];
};

typedef struct FrameInfo {
        enum wire_type type;
        WireSide from;
        uint32_t size, size_max;        /* least and most; between them by steps of size, or of 1 for JSON */
        bool text;
        bool once;
        uint32_t after;                 /* BIT() of what must have come before */
        bool last;                      /* none may follow */
} FrameInfo;

/* The conversation, once. WIRE_ENDED may be the target's only frame: when it could not attach. */
static const FrameInfo frames[] = {
        { .type = WIRE_THRESHOLD, .from = WIRE_SIDE_HOST, .size = sizeof(struct wire_threshold),
          .size_max = sizeof(struct wire_threshold) },
        { .type = WIRE_RESUME, .from = WIRE_SIDE_HOST, .once = true, .after = BIT(WIRE_THRESHOLD) },
        { .type = WIRE_PAUSE, .from = WIRE_SIDE_HOST, .once = true, .last = true },

        { .type = WIRE_FACTS, .from = WIRE_SIDE_TARGET, .size = 1, .size_max = WIRE_FRAME_MAX, .text = true, .once = true },
        { .type = WIRE_CHANGED, .from = WIRE_SIDE_TARGET, .size = sizeof(struct wire_changed),
          .size_max = sizeof(struct wire_changed), .after = BIT(WIRE_FACTS) },
        { .type = WIRE_RECORDS, .from = WIRE_SIDE_TARGET, .size = sizeof(struct np_target_record), .size_max = WIRE_FRAME_MAX,
          .after = BIT(WIRE_CHANGED) },
        { .type = WIRE_SYNC, .from = WIRE_SIDE_TARGET, .size = sizeof(struct wire_sync), .size_max = sizeof(struct wire_sync),
          .after = BIT(WIRE_CHANGED) },
        { .type = WIRE_ENDED, .from = WIRE_SIDE_TARGET, .size = 1, .size_max = WIRE_FRAME_MAX, .text = true, .once = true,
          .last = true },
};

WireReader *wire_reader_new(WireSide from)
{
        WireReader *reader = g_new(WireReader, 1);

        reader->from = from;
        reader->seen = 0;
        reader->ended = false;
        reader->broken = NULL;
        reader->have = 0;
        return reader;
}

WireReader *wire_reader_free(WireReader *reader)
{
        g_free(reader);
        return NULL;
}

static const FrameInfo *find_frame(WireSide from, uint32_t type)
{
        for (size_t i = 0; i < ELEMENTSOF(frames); i++)
                if (frames[i].type == type && frames[i].from == from)
                        return &frames[i];
        return NULL;
}

/* NULL, or what is wrong with a frame that begins so. Asked as soon as its header is there: nothing is kept of what won't
 * be taken. */
static const char *check_header(const WireReader *reader)
{
        const struct wire_frame *header = &reader->header;
        const FrameInfo *info = find_frame(reader->from, header->type);
        uint32_t step;

        if (reader->ended)
                return "a frame came after the last one";
        if (!info)
                return "a frame came that is of no type this side may send";
        if (header->size < info->size || header->size > info->size_max)
                return "a frame's size does not fit its type";
        step = info->text || info->size == 0 ? 1 : info->size;
        if (header->size % step != 0)
                return "a frame's size does not fit its type";
        if (info->once && reader->seen & BIT(header->type))
                return "a frame came twice that comes once";
        if ((reader->seen & info->after) != info->after)
                return "a frame came out of turn";
        return NULL;
}

/* As many bytes as are there, but not beyond until. True when the frame has until bytes now. */
static bool take(WireReader *reader, const void **data, size_t *size, void *to, size_t at, size_t until)
{
        size_t n = MIN(*size, until - reader->have);

        if (n > 0)
                memcpy((unsigned char *) to + (reader->have - at), *data, n);
        reader->have += n;
        *data = (const unsigned char *) *data + n;
        *size -= n;
        return reader->have == until;
}

int wire_reader_next(WireReader *reader, const void **data, size_t *size, WireFrame *ret, const char **ret_why)
{
        const struct wire_frame *header = &reader->header;

        if (reader->broken)
                goto broken;

        if (reader->have < sizeof(*header)) {
                if (!take(reader, data, size, &reader->header, 0, sizeof(*header)))
                        return 0;
                reader->broken = check_header(reader);
                if (reader->broken)
                        goto broken;
        }
        if (!take(reader, data, size, reader->data, sizeof(*header), sizeof(*header) + header->size))
                return 0;

        reader->seen |= BIT(header->type);
        reader->ended = find_frame(reader->from, header->type)->last;
        reader->have = 0;
        *ret = (WireFrame) { .type = header->type, .size = header->size, .data = reader->data };
        return 1;

broken:
        *ret_why = reader->broken;
        return -EBADMSG;
}

bool wire_reader_at_end(const WireReader *reader)
{
        return !reader->broken && reader->have == 0 && (reader->ended || reader->seen == 0);
}
