/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which share of the commands is sampled: what --sample says, and how "auto" adapts. Pure; a threshold is that of
 * docs/model.md: a command is sampled iff its hash is below it, UINT32_MAX means all.
 */
#pragma once

#include "../util.h"

typedef enum SampleMode {
        SAMPLE_AUTO,
        SAMPLE_ALL,
        SAMPLE_FRACTION,
} SampleMode;

typedef struct SampleOption {
        SampleMode mode;
        uint32_t n;                     /* of 1/n */
} SampleOption;

/* "auto", "all", "1/N" with N from 1 to UINT32_MAX. -EINVAL for anything else. */
int sample_option_parse(const char *text, SampleOption *ret);
char *sample_option_format(const SampleOption *option);

/* What auto aims at, commands/s. */
#define SAMPLING_RATE 2000

typedef struct Sampling {
        SampleOption option;
        uint32_t threshold;
        bool measured;                  /* a window has ended */
        uint64_t window_start_ns, window_start_commands;
} Sampling;

/* Returns the threshold to begin with. auto begins at 1/256, so that the first moment of a host with a million commands
 * a second is harmless too. */
uint32_t sampling_start(Sampling *sampling, const SampleOption *option, uint64_t now_ns);
/* commands: all so far, sampled or not. True when the threshold is to be changed to sampling->threshold. */
bool sampling_update(Sampling *sampling, uint64_t now_ns, uint64_t commands);
