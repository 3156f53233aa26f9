/* SPDX-License-Identifier: GPL-2.0-or-later */
/* For main and bus only: what is below them returns errors. To standard error, with priorities when that is the journal. */
#pragma once

#include "util.h"

void log_error(const char *format, ...) _printf_(1, 2);
void log_info(const char *format, ...) _printf_(1, 2);
