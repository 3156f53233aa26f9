/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sampling.h"

#include <glib.h>
#include <string.h>

#define FIRST_WINDOW_NS (100 * NSEC_PER_MSEC)
#define WINDOW_NS (250 * NSEC_PER_MSEC)
#define SHORTEST_WINDOW_NS (10 * NSEC_PER_MSEC)
/* A wrong guess upwards costs overhead, a wrong one downwards only precision: grow in steps. */
#define GROWTH_MAX 16
#define HYSTERESIS 1.25
#define START_N 256

static const double two_to_32 = 4294967296.0;

int sample_option_parse(const char *text, SampleOption *ret)
{
        guint64 n;

        if (g_str_equal(text, "auto"))
                *ret = (SampleOption) { .mode = SAMPLE_AUTO };
        else if (g_str_equal(text, "all"))
                *ret = (SampleOption) { .mode = SAMPLE_ALL };
        else if (g_str_has_prefix(text, "1/") && g_ascii_string_to_unsigned(text + 2, 10, 1, UINT32_MAX, &n, NULL))
                *ret = (SampleOption) { .mode = SAMPLE_FRACTION, .n = n };
        else
                return -EINVAL;

        return 0;
}

char *sample_option_format(const SampleOption *option)
{
        switch (option->mode) {
        case SAMPLE_AUTO:
                return g_strdup("auto");
        case SAMPLE_ALL:
                return g_strdup("all");
        case SAMPLE_FRACTION:
                return g_strdup_printf("1/%u", option->n);
        }
        g_assert_not_reached();
}

static uint32_t threshold_of(double fraction)
{
        if (fraction >= 1)
                return UINT32_MAX;

        /* UINT32_MAX - 1: the largest that does not mean "all" */
        return (uint32_t) CLAMP(fraction * two_to_32, 1.0, (double) (UINT32_MAX - 1));
}

static double fraction_of(uint32_t threshold)
{
        return threshold == UINT32_MAX ? 1 : threshold / two_to_32;
}

uint32_t sampling_start(Sampling *sampling, const SampleOption *option, uint64_t start_ns)
{
        *sampling = (Sampling) { .option = *option, .window_start_ns = start_ns };

        switch (option->mode) {
        case SAMPLE_AUTO:
                sampling->threshold = threshold_of(1.0 / START_N);
                break;
        case SAMPLE_ALL:
                sampling->threshold = UINT32_MAX;
                break;
        case SAMPLE_FRACTION:
                sampling->threshold = threshold_of(1.0 / option->n);
                break;
        }

        return sampling->threshold;
}

bool sampling_update(Sampling *sampling, uint64_t time_ns, uint64_t commands)
{
        double current = fraction_of(sampling->threshold), wanted, rate;
        uint64_t window_ns = time_ns - sampling->window_start_ns, n = commands - sampling->window_start_commands;
        uint32_t threshold;
        bool flood;

        if (sampling->option.mode != SAMPLE_AUTO)
                return false;

        /* More than a second's samples already: don't wait for the window's end. */
        flood = n * current > SAMPLING_RATE && window_ns >= SHORTEST_WINDOW_NS;
        if (!flood && window_ns < (sampling->measured ? WINDOW_NS : FIRST_WINDOW_NS))
                return false;

        rate = n / (window_ns / (double) NSEC_PER_SEC);
        sampling->measured = true;
        sampling->window_start_ns = time_ns;
        sampling->window_start_commands = commands;

        wanted = rate > SAMPLING_RATE ? SAMPLING_RATE / rate : 1;
        wanted = MIN(wanted, current * GROWTH_MAX);
        if (wanted < current * HYSTERESIS && wanted * HYSTERESIS > current)
                return false;

        threshold = threshold_of(wanted);
        if (threshold == sampling->threshold)
                return false;

        sampling->threshold = threshold;
        return true;
}
