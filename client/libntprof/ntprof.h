/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * libntprof-1: profile NVMe-oF I/O through the system service ntprofd, and pair machines through ntprof-peerd. The only
 * header a program includes.
 */
#pragma once

#include "ntprof-error.h"
#include "ntprof-peer-answer.h"
#include "ntprof-peer.h"
#include "ntprof-peers.h"
#include "ntprof-report.h"
#include "ntprof-session.h"
#include "ntprof-client.h"

