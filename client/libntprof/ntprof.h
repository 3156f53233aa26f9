/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * libntprof-1: profile NVMe-oF I/O through the system service ntprofd. The only header a program includes.
 */
#pragma once


#include "ntprof-error.h"
#include "ntprof-report.h"
#include "ntprof-session.h"
#include "ntprof-client.h"

