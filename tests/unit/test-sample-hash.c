/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Two machines of different versions must choose the same commands: the hash must never change.
 */
#include <glib.h>
#include <linux/types.h>
#include <math.h>

#include "bpf/record.h"
#include "bpf/sample-hash.h"

/* Worked out by a program of its own (Python), whose mixing function gives splitmix64's published first output. */
static const struct {
        struct np_identity id;
        guint32 seed, hash;
} pins[] = {
        { { .qid = 0, .cid = 0, .opcode = 0, .nsid = 0, .slba = 0, .nlb = 0 }, 0, 0x00000000u },
        { { .qid = 1, .cid = 7, .opcode = 2, .nsid = 1, .slba = 4096, .nlb = 7 }, 0x5eed, 0x7623885cu },
        { { .qid = 1, .cid = 0x1007, .opcode = 2, .nsid = 1, .slba = 4096, .nlb = 7 }, 0x5eed, 0xb3265ba4u },
        { { .qid = 2, .cid = 7, .opcode = 2, .nsid = 1, .slba = 4096, .nlb = 7 }, 0x5eed, 0x72f562cfu },
        { { .qid = 1, .cid = 7, .opcode = 1, .nsid = 1, .slba = 4096, .nlb = 7 }, 0x5eed, 0x41999acfu },
        { { .qid = 1, .cid = 7, .opcode = 2, .nsid = 2, .slba = 4096, .nlb = 7 }, 0x5eed, 0x1b6a74b3u },
        { { .qid = 1, .cid = 7, .opcode = 2, .nsid = 1, .slba = 4097, .nlb = 7 }, 0x5eed, 0xa8faa3cfu },
        { { .qid = 1, .cid = 7, .opcode = 2, .nsid = 1, .slba = 4096, .nlb = 8 }, 0x5eed, 0x3dda2922u },
        { { .qid = 1, .cid = 7, .opcode = 2, .nsid = 1, .slba = 4096, .nlb = 7 }, 0x5eee, 0x8a9184e9u },
        { { .qid = 65535, .cid = 65535, .opcode = 255, .nsid = 0xffffffffu, .slba = G_MAXUINT64, .nlb = 65535 }, 0xffffffffu,
          0x0a8a1dbeu },
};

static void test_pinned(void)
{
        for (gsize i = 0; i < G_N_ELEMENTS(pins); i++)
                g_assert_cmphex(np_sample_hash(&pins[i].id, pins[i].seed), ==, pins[i].hash);
}

static void test_mix(void)
{
        /* splitmix64 with state 0 */
        g_assert_cmphex(np_mix64(0x9e3779b97f4a7c15ULL), ==, 0xe220a8397b1dcdafULL);
}

static void test_controller_is_no_part(void)
{
        struct np_identity id = pins[1].id;

        id.cntlid = 0xbeef;
        id.reserved[1] = 1;
        g_assert_cmphex(np_sample_hash(&id, pins[1].seed), ==, pins[1].hash);
}

/* Chi-squared over 256 slots of the hash's high bits, the ones that a threshold looks at: mean 255, standard deviation 22.6. */
static double chi_squared(const guint *slots, guint n)
{
        double expected = n / 256.0, sum = 0;

        for (guint i = 0; i < 256; i++)
                sum += (slots[i] - expected) * (slots[i] - expected) / expected;
        return sum;
}

/* Loads as they come: one queue and its few cids, walking the disk in order, or one block only. */
static void test_uniform(void)
{
        for (guint load = 0; load < 3; load++) {
                guint slots[256] = { 0 }, n = 65536;

                for (guint i = 0; i < n; i++) {
                        struct np_identity id = { .nsid = 1, .qid = 1, .opcode = 2, .nlb = 7 };

                        switch (load) {
                        case 0:         /* sequential, queue depth 1 */
                                id.slba = i * 8;
                                id.cid = (i % 16) << 12;
                                break;
                        case 1:         /* one block, every cid and generation */
                                id.slba = 4096;
                                id.cid = i;
                                break;
                        default:        /* strided over a large disk, 8 queues */
                                id.slba = (guint64) i << 21;
                                id.qid = 1 + i % 8;
                                break;
                        }
                        slots[np_sample_hash(&id, 0x1234567) >> 24]++;
                }
                g_assert_cmpfloat(fabs(chi_squared(slots, n) - 255), <, 6 * 22.6);
        }
}

/* Every bit of the identity and of the seed changes about half of the hash. */
static void check_avalanche(struct np_identity a, guint32 seed_a, struct np_identity b, guint32 seed_b, double *sum, guint *n)
{
        *sum += __builtin_popcount(np_sample_hash(&a, seed_a) ^ np_sample_hash(&b, seed_b));
        (*n)++;
}

static void test_avalanche(void)
{
        double sum[7] = { 0 };
        guint n[7] = { 0 };

        for (guint i = 0; i < 2000; i++) {
                struct np_identity id = { .slba = (guint64) g_test_rand_int() << 20, .nsid = 1, .qid = g_test_rand_int() % 64,
                                          .cid = g_test_rand_int(), .nlb = g_test_rand_int() % 256, .opcode = 2 };
                struct np_identity other[6] = { id, id, id, id, id, id };

                other[0].slba ^= G_GUINT64_CONSTANT(1) << i % 64;
                other[1].nsid ^= 1u << i % 32;
                other[2].qid ^= 1u << i % 16;
                other[3].cid ^= 1u << i % 16;
                other[4].nlb ^= 1u << i % 16;
                other[5].opcode ^= 1u << i % 8;
                for (guint j = 0; j < 6; j++)
                        check_avalanche(id, 99, other[j], 99, &sum[j], &n[j]);
                check_avalanche(id, 99, id, 99 ^ 1u << i % 32, &sum[6], &n[6]);
        }
        for (guint j = 0; j < 7; j++)
                g_assert_cmpfloat(fabs(sum[j] / n[j] - 16), <, 0.5);
}

int main(int argc, char **argv)
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/sample-hash/pinned", test_pinned);
        g_test_add_func("/sample-hash/mix", test_mix);
        g_test_add_func("/sample-hash/controller-is-no-part", test_controller_is_no_part);
        g_test_add_func("/sample-hash/uniform", test_uniform);
        g_test_add_func("/sample-hash/avalanche", test_avalanche);
        return g_test_run();
}
