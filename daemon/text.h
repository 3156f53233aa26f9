/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Text of other machines: what they call themselves may be any bytes. */
#pragma once

#include <stddef.h>

/* Valid UTF-8 without control characters, of at most max bytes; what had to go is '?' or U+FFFD. max 0: no bound. */
char *text_printable(const char *text, size_t max);
