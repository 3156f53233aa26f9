/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <sys/types.h>

/* Of the user database, valid UTF-8; NULL when it has none. */
char *user_name(uid_t uid);
