/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Other machines under a test's control: a finder, and what is opened by it. Nothing answers by itself. */
#pragma once

#include "fake-backend.h"

#define FAKE_REMOTES_MAX 4

typedef struct FakeRemote {
        Remote remote;
        struct FakeFinder *finder;
        char *peer;
        RemoteRequest request;
        uint32_t threshold;
        const char *drive_hidden;       /* what it tells of its drive */
        bool freed;
} FakeRemote;

typedef struct FakeLookup {
        char *traddr, *peer;            /* as asked for */
        RemoteFound found;
        void *userdata;
        bool done;
} FakeLookup;

typedef struct FakeFinder {
        RemoteFinder finder;
        int find_error, open_error;     /* of the next calls */
        GPtrArray *lookups;             /* of FakeLookup */
        GPtrArray *remotes;             /* of FakeRemote */
        GString *calls;                 /* "find:10.0.0.2 open:stor-a threshold:stor-a resume:stor-a ..." */
} FakeFinder;

FakeFinder *fake_finder_new(void);
/* All lookups must have been answered or cancelled, and all remotes freed. */
void fake_finder_free(FakeFinder *finder);

/* Answers the oldest that is open; peer NULL: NO_PEER with message. */
void fake_found(FakeFinder *finder, const char *peer, const char *message);
FakeRemote *fake_remote(FakeFinder *finder, guint index);
void fake_remote_ready(FakeRemote *r);
void fake_remote_changed(FakeRemote *r, uint64_t target_ns);
/* Bytes of it came, a part of a frame. */
void fake_remote_heard(FakeRemote *r);
void fake_remote_synced(FakeRemote *r, const struct wire_sync *sync);
/* message NULL: as it was told to. */
void fake_remote_ended(FakeRemote *r, NtprofError code, const char *message);
/* One command of that path that the host saw and that machine, too, whose clock is ahead by offset_ns. */
void fake_remote_command(FakeBackend *fake, unsigned path, FakeRemote *r, uint64_t offset_ns);
