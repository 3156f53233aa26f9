/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One recording at another machine: the host's half of wire.h over a socket, as a Remote. Whatever the other side sends is
 * checked before the session sees it; what is wrong ends the stream, and the sentence says what was.
 */
#pragma once

#include <systemd/sd-event.h>

#include "../session/remote.h"

typedef struct RemoteTarget RemoteTarget;

/* Waits for a socket, while pending is under way; cancel(pending) ends that when nobody waits any more. */
RemoteTarget *remote_target_new(sd_event *event, const char *peer, const RemoteRequest *request, const RemoteHandlers *handlers,
                                void (*cancel)(void *pending), void *pending);
Remote *remote_target_remote(RemoteTarget *r);

/* One of them, once, from the event loop; pending is the caller's then. Takes fd, a stream socket. */
void remote_target_connected(RemoteTarget *r, int fd);
void remote_target_failed(RemoteTarget *r, NtprofError code, const char *message);
