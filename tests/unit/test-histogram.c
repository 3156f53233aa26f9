/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <math.h>
#include <stdlib.h>

#include "histogram.h"

typedef struct {
        const char *name;
        double (*draw)(void);
} Distribution;

static double uniform(void)
{
        return g_test_rand_double_range(0, 1e6);
}

static double exponential(void)
{
        return -log(1 - g_test_rand_double()) * 80e3;
}

/* Heavy tail: nearly every octave of a gint64 gets something. */
static double pareto(void)
{
        return 100 / pow(1 - g_test_rand_double(), 3);
}

static double two_modes(void)
{
        return g_test_rand_double() < 0.97 ? 70e3 + g_test_rand_double_range(0, 3e3) : 4e6 + g_test_rand_double_range(0, 1e5);
}

static double small(void)
{
        return g_test_rand_int_range(0, 200);
}

static double constant(void)
{
        return 123456789;
}

static const Distribution distributions[] = {
        { "uniform", uniform }, { "exponential", exponential }, { "pareto", pareto },
        { "two-modes", two_modes }, { "small", small }, { "constant", constant },
};

typedef struct {
        guint64 value;
        double weight;
} Sample;

static int compare(const void *a, const void *b)
{
        const Sample *x = a, *y = b;

        return x->value < y->value ? -1 : x->value > y->value;
}

/* Of sorted samples. */
static guint64 exact_quantile(const Sample *samples, guint n, double q)
{
        double total = 0, sum = 0;

        for (guint i = 0; i < n; i++)
                total += samples[i].weight;
        for (guint i = 0; i < n; i++) {
                sum += samples[i].weight;
                if (sum >= q * total * (1 - 1e-12))
                        return samples[i].value;
        }
        return samples[n - 1].value;
}

static void check(NpHistogram *h, Sample *samples, guint n)
{
        static const double quantiles[] = { 0.001, 0.01, 0.1, 0.25, 0.5, 0.75, 0.9, 0.99, 0.999 };

        qsort(samples, n, sizeof(*samples), compare);
        for (gsize i = 0; i < G_N_ELEMENTS(quantiles); i++) {
                double exact = exact_quantile(samples, n, quantiles[i]);
                double got = np_histogram_quantile(h, quantiles[i]);

                g_assert_cmpfloat(fabs(got - exact), <=, 0.01 * exact);
        }
        g_assert_cmpuint(np_histogram_quantile(h, 0), ==, samples[0].value);
        g_assert_cmpuint(np_histogram_quantile(h, 1), ==, samples[n - 1].value);
}

static void test_quantiles(gconstpointer data)
{
        const Distribution *d = data;
        const guint n = 20000;
        g_autofree Sample *samples = g_new(Sample, n);

        for (guint weighted = 0; weighted < 2; weighted++) {
                g_autoptr(NpHistogram) h = np_histogram_new();
                double total = 0;

                for (guint i = 0; i < n; i++) {
                        samples[i] = (Sample) { d->draw(), weighted ? 1 << g_test_rand_int_range(0, 10) : 1 };
                        np_histogram_add(h, samples[i].value, samples[i].weight);
                        total += samples[i].weight;
                }
                check(h, samples, n);
                g_assert_cmpfloat(np_histogram_weight(h), ==, total);
        }
}

/* The error of one value alone, over the whole range: the buckets' edges are where it is largest. */
static void test_every_octave(void)
{
        for (guint bit = 0; bit < 64; bit++)
                for (int d = -2; d <= 2; d++)
                        for (guint part = 0; part < 64; part++) {
                                g_autoptr(NpHistogram) h = np_histogram_new();
                                guint64 base = G_GUINT64_CONSTANT(1) << bit;
                                guint64 value = base + (base / 64) * part + d, got;

                                /* something on both sides, so that the value is not the exact minimum or maximum */
                                np_histogram_add(h, 0, 1);
                                np_histogram_add(h, value, 1);
                                np_histogram_add(h, G_MAXUINT64, 1);
                                got = np_histogram_quantile(h, 0.5);
                                g_assert_cmpfloat(fabs((double) got - (double) value), <=, 0.01 * (double) value);
                                if (value < 128)
                                        g_assert_cmpuint(got, ==, value);
                        }
}

static void test_lower_rank(void)
{
        g_autoptr(NpHistogram) h = np_histogram_new();

        g_assert_cmpuint(np_histogram_quantile(h, 0.5), ==, 0);
        np_histogram_add(h, 10, 1);
        np_histogram_add(h, 20, 1);
        g_assert_cmpuint(np_histogram_quantile(h, 0.5), ==, 10);
        g_assert_cmpuint(np_histogram_quantile(h, 0.51), ==, 20);
        np_histogram_add(h, 30, 6);
        g_assert_cmpuint(np_histogram_quantile(h, 0.125), ==, 10);
        g_assert_cmpuint(np_histogram_quantile(h, 0.25), ==, 20);
        g_assert_cmpuint(np_histogram_quantile(h, 0.26), ==, 30);
        g_assert_cmpfloat(np_histogram_weight(h), ==, 8);
}

/* No quantile is beyond what was added. */
static void test_within_range(void)
{
        for (guint64 value = 1; value < G_MAXUINT64 / 3; value *= 3) {
                g_autoptr(NpHistogram) h = np_histogram_new();

                np_histogram_add(h, value, 0.1);
                for (guint i = 0; i <= 10; i++)
                        g_assert_cmpuint(np_histogram_quantile(h, i / 10.0), ==, value);
        }
}

/* Sums of such weights round, and differently in another order. */
static void test_inexact_weights(void)
{
        g_autoptr(NpHistogram) h = np_histogram_new();
        double sums[101] = { 0 };

        for (guint i = 100; i > 0; i--)
                np_histogram_add(h, i, 1.0 / (i % 7 + 3));
        for (guint i = 1; i <= 100; i++)
                sums[i] = sums[i - 1] + 1.0 / (i % 7 + 3);
        for (guint i = 1; i < 100; i++)
                g_assert_cmpuint(np_histogram_quantile(h, sums[i] / sums[100]), ==, i);
}

static void test_merge(void)
{
        g_autoptr(NpHistogram) a = np_histogram_new(), b = np_histogram_new(), all = np_histogram_new();

        for (guint i = 0; i < 5000; i++) {
                guint64 value = pareto();
                double weight = 1 + i % 3;

                np_histogram_add(i % 2 ? a : b, value, weight);
                np_histogram_add(all, value, weight);
        }
        np_histogram_merge(a, b);
        g_assert_cmpfloat(np_histogram_weight(a), ==, np_histogram_weight(all));
        for (guint i = 0; i <= 100; i++)
                g_assert_cmpuint(np_histogram_quantile(a, i / 100.0), ==, np_histogram_quantile(all, i / 100.0));
}

static void test_merge_empty(void)
{
        g_autoptr(NpHistogram) a = np_histogram_new(), empty = np_histogram_new();

        np_histogram_add(a, 77, 2);
        np_histogram_merge(a, empty);
        np_histogram_merge(empty, a);
        g_assert_cmpuint(np_histogram_quantile(a, 0), ==, 77);
        g_assert_cmpuint(np_histogram_quantile(empty, 0), ==, 77);
        g_assert_cmpuint(np_histogram_quantile(empty, 1), ==, 77);
}

int main(int argc, char **argv)
{
        g_test_init(&argc, &argv, NULL);
        for (gsize i = 0; i < G_N_ELEMENTS(distributions); i++) {
                g_autofree char *path = g_strdup_printf("/histogram/quantiles/%s", distributions[i].name);

                g_test_add_data_func(path, &distributions[i], test_quantiles);
        }
        g_test_add_func("/histogram/every-octave", test_every_octave);
        g_test_add_func("/histogram/lower-rank", test_lower_rank);
        g_test_add_func("/histogram/within-range", test_within_range);
        g_test_add_func("/histogram/inexact-weights", test_inexact_weights);
        g_test_add_func("/histogram/merge", test_merge);
        g_test_add_func("/histogram/merge-empty", test_merge_empty);
        return g_test_run();
}
