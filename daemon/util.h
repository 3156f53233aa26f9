/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The few macros of systemd's style that the daemon uses. */
#pragma once

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define _cleanup_(function) __attribute__((cleanup(function)))
#define _printf_(position, first) __attribute__((format(printf, position, first)))

#define ELEMENTSOF(array) (sizeof(array) / sizeof((array)[0]))

#define TAKE_PTR(pointer)                               \
        ({                                              \
                typeof(pointer) *_pp_ = &(pointer);     \
                typeof(pointer) _p_ = *_pp_;            \
                *_pp_ = NULL;                           \
                _p_;                                    \
        })

#define TAKE_FD(fd)                                     \
        ({                                              \
                int *_fdp_ = &(fd);                     \
                int _fd_ = *_fdp_;                      \
                *_fdp_ = -1;                            \
                _fd_;                                   \
        })

/* Defines functionp(), to be used as _cleanup_(functionp). */
#define DEFINE_CLEANUP_FUNC(type, function)             \
        static inline void function##p(type *pointer)   \
        {                                               \
                if (*pointer)                           \
                        function(*pointer);             \
        }                                               \
        struct _semicolon_

static inline void freep(void *pointer)
{
        free(*(void **) pointer);
}

static inline void closep(int *fd)
{
        if (*fd >= 0)
                close(*fd);
}

#define _cleanup_free_ _cleanup_(freep)
#define _cleanup_close_ _cleanup_(closep)

#define NSEC_PER_SEC 1000000000ULL
#define NSEC_PER_MSEC 1000000ULL
#define NSEC_PER_USEC 1000ULL
#define USEC_PER_SEC 1000000ULL
#define USEC_PER_MSEC 1000ULL

static inline uint64_t now_ns(clockid_t clock)
{
        struct timespec ts;

        clock_gettime(clock, &ts);
        return (uint64_t) ts.tv_sec * NSEC_PER_SEC + (uint64_t) ts.tv_nsec;
}

/* Not the loop's cached time: a drain can take long. */
static inline uint64_t monotonic_usec(void)
{
        return now_ns(CLOCK_MONOTONIC) / NSEC_PER_USEC;
}
