/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "../session/backend.h"

/* This machine's kernel. */
int backend_live_new(Backend **ret);
