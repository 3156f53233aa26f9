/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "../util.h"

/* First line of a small file such as sysfs has, without its end; -errno. */
int read_attribute(char **ret, const char *path_format, ...) _printf_(2, 3);
int read_attribute_u64(uint64_t *ret, const char *path_format, ...) _printf_(2, 3);
bool path_exists(const char *path_format, ...) _printf_(1, 2);
/* Last element of what the symlink points to. */
int read_link_name(char **ret, const char *path_format, ...) _printf_(2, 3);

/* Names in a directory for which accept() is true, sorted; NULL-terminated, to be freed with g_strfreev(). */
int list_directory(char ***ret, bool (*accept)(const char *name, const void *userdata), const void *userdata,
                   const char *path_format, ...) _printf_(4, 5);
