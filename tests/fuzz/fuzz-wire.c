/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What one ntprofd reads of another: bit 0 of the first byte says from whom, the rest of that byte how long the pieces are that
 * the bytes come in. The same bytes in one piece must give the same frames.
 */
#include <assert.h>
#include <glib.h>
#include <stdint.h>
#include <string.h>

#include "daemon/peer/remote-facts.h"
#include "daemon/peer/wire-reader.h"
#include "model/stage.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Frames until the end or the first that is wrong, and a sum over what they hold. */
typedef struct {
        unsigned frames;
        uint64_t sum;
        bool bad;
} Outcome;

static void look_at(const WireFrame *frame, Outcome *outcome)
{
        const uint8_t *bytes = frame->data;
        const char *why = NULL;

        outcome->frames++;
        outcome->sum = outcome->sum * 31 + frame->type;
        for (uint32_t i = 0; i < frame->size; i++)
                outcome->sum = outcome->sum * 31 + bytes[i];
        if (frame->type == WIRE_FACTS) {
                _cleanup_(remote_facts_freep) ParsedFacts *facts = remote_facts_parse(frame->data, frame->size, &why);

                assert(facts ? facts->machine && facts->n_hooks <= WIRE_FACTS_HOOKS_MAX : why != NULL);
        } else if (frame->type == WIRE_ENDED) {
                g_autofree char *message = NULL;
                NtprofError code;

                if (!remote_ended_parse(frame->data, frame->size, &code, &message, &why))
                        assert(why);
        } else if (frame->type == WIRE_RECORDS) {
                const struct np_target_record *records = frame->data;
                unsigned valid = 0;

                assert(frame->size % sizeof(*records) == 0);
                for (size_t i = 0; i < frame->size / sizeof(*records); i++)
                        valid += np_target_record_valid(records + i);
                outcome->sum += valid;
        }
}

static Outcome read_all(WireSide from, const uint8_t *bytes, size_t size, size_t piece)
{
        _cleanup_(wire_reader_freep) WireReader *reader = wire_reader_new(from);
        Outcome outcome = {};

        for (size_t at = 0; at < size && !outcome.bad; at += piece) {
                size_t left = MIN(piece, size - at);
                g_autofree void *copy = g_memdup2(bytes + at, left);
                const void *p = copy;
                const char *why = NULL;
                WireFrame frame;
                int r;

                while ((r = wire_reader_next(reader, &p, &left, &frame, &why)) > 0)
                        look_at(&frame, &outcome);
                outcome.bad = r < 0;
                assert(r < 0 ? why != NULL : left == 0);
        }
        wire_reader_at_end(reader);
        return outcome;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        WireSide from;
        Outcome whole, pieces;

        if (size < 1)
                return 0;
        from = data[0] & 1 ? WIRE_SIDE_TARGET : WIRE_SIDE_HOST;
        whole = read_all(from, data + 1, size - 1, size);
        pieces = read_all(from, data + 1, size - 1, 1U + (data[0] >> 1));
        assert(whole.bad == pieces.bad && whole.frames == pieces.frames && whole.sum == pieces.sum);
        return 0;
}
