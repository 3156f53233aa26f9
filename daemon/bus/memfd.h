/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stddef.h>

/* A memory file that holds data and can never change. Returns the descriptor, or -errno. */
int memfd_new_sealed(const char *name, const void *data, size_t size);
