/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <math.h>

#include "histogram.h"

/* Values below 128 have a bucket each, then every octave has 64 buckets: the middle of one is at most 1/128 away from any
 * value in it. Buckets come in chunks of 64, allocated when first needed: latencies span few octaves. */
#define CHUNK_BITS 6
#define CHUNK_SIZE (1u << CHUNK_BITS)
#define CHUNKS (64 - CHUNK_BITS + 1)

struct _NpHistogram {
        double *chunks[CHUNKS];
        double weight;
        guint64 min, max;
};

static void locate(guint64 value, guint *ret_chunk, guint *ret_bucket)
{
        guint bits = value ? 64 - __builtin_clzll(value) : 0;
        guint shift = bits > CHUNK_BITS + 1 ? bits - CHUNK_BITS - 1 : 0;
        guint64 mantissa = value >> shift;

        *ret_chunk = shift + (mantissa >= CHUNK_SIZE);
        *ret_bucket = mantissa % CHUNK_SIZE;
}

static guint64 middle(guint chunk, guint bucket)
{
        guint shift = chunk > 1 ? chunk - 1 : 0;
        guint64 low = (guint64) ((chunk > 0 ? CHUNK_SIZE : 0) + bucket) << shift;

        return low + ((G_GUINT64_CONSTANT(1) << shift) - 1) / 2;
}

NpHistogram *np_histogram_new(void)
{
        NpHistogram *h = g_new0(NpHistogram, 1);

        h->min = G_MAXUINT64;
        return h;
}

void np_histogram_free(NpHistogram *h)
{
        if (!h)
                return;

        for (guint i = 0; i < CHUNKS; i++)
                g_free(h->chunks[i]);
        g_free(h);
}

void np_histogram_add(NpHistogram *h, guint64 value, double weight)
{
        guint chunk, bucket;

        g_return_if_fail(weight > 0 && isfinite(weight));

        locate(value, &chunk, &bucket);
        if (!h->chunks[chunk])
                h->chunks[chunk] = g_new0(double, CHUNK_SIZE);
        h->chunks[chunk][bucket] += weight;

        h->weight += weight;
        h->min = MIN(h->min, value);
        h->max = MAX(h->max, value);
}

void np_histogram_merge(NpHistogram *h, const NpHistogram *other)
{
        for (guint i = 0; i < CHUNKS; i++) {
                if (!other->chunks[i])
                        continue;
                if (!h->chunks[i])
                        h->chunks[i] = g_new0(double, CHUNK_SIZE);
                for (guint j = 0; j < CHUNK_SIZE; j++)
                        h->chunks[i][j] += other->chunks[i][j];
        }

        h->weight += other->weight;
        h->min = MIN(h->min, other->min);
        h->max = MAX(h->max, other->max);
}

double np_histogram_weight(const NpHistogram *h)
{
        return h->weight;
}

guint64 np_histogram_quantile(const NpHistogram *h, double q)
{
        /* Sums of weights that aren't whole numbers round: without it a rank that is met exactly could be missed. */
        double wanted = q * h->weight * (1 - 1e-12), sum = 0;

        g_return_val_if_fail(q >= 0 && q <= 1, 0);

        if (h->weight == 0)
                return 0;
        if (q == 0)
                return h->min;

        for (guint i = 0; q < 1 && i < CHUNKS; i++) {
                if (!h->chunks[i])
                        continue;
                for (guint j = 0; j < CHUNK_SIZE; j++) {
                        sum += h->chunks[i][j];
                        if (h->chunks[i][j] > 0 && sum >= wanted)
                                return CLAMP(middle(i, j), h->min, h->max);
                }
        }
        return h->max;
}
