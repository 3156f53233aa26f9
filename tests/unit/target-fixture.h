/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A target (stor-a) that may record for host-a, host-b and host-c, and the other machine's ntprofd, which is the test. */
#pragma once

#include "daemon/peer/target-sides.h"
#include "daemon/peer/wire-reader.h"
#include "daemon/peer/wire-writer.h"
#include "fake-backend.h"

/* What has come over one link. */
typedef struct Link {
        int fd;
        WireReader *reader;
        WireWriter *writer;
        bool eof, reset;
        unsigned n[WIRE_ENDED + 1];     /* frames by type */
        char *facts, *ended;
        struct wire_changed changed;    /* the last of each */
        struct wire_sync sync;
        uint64_t records;
        uint64_t last_t9;
} Link;

typedef struct Fixture {
        sd_event *event;
        FakeBackend *fake;
        char *folder;
        PeerPolicy policy;
        TargetSides *sides;
        GString *told;                  /* "host-a:why; ..." */
        TargetSideCounts counts;        /* of the last that ended */
        Link link;
} Fixture;

/* Shorter than a service's. */
extern const TargetSidePatience fixture_patience;

void fixture_set_up(Fixture *f, gconstpointer data);
void fixture_tear_down(Fixture *f, gconstpointer data);
/* A file of the administrator's. */
void fixture_put(Fixture *f, const char *name, const char *text);
void fixture_run_once(Fixture *f);
void fixture_run_for(Fixture *f, unsigned msec);

/* The host of that name asks for a recording: what target_sides_open() returned. */
int fixture_open(Fixture *f, const char *name, uint64_t duration_usec, Link *link, Error *error);
/* host-a does, over f->link. */
void fixture_begin(Fixture *f);
/* And has it record all. */
void fixture_record_all(Fixture *f);
/* Until so many frames of the type have come over f->link. */
void fixture_wait_frames(Fixture *f, enum wire_type type, unsigned n);
/* Until it has ended, and nothing is attached. */
void fixture_wait_eof(Fixture *f);

void link_say(Link *link, enum wire_type type, const void *data, size_t size);
void link_say_threshold(Link *link, uint32_t threshold);
void link_receive(Link *link);
void link_clear(Link *link);

/* As the fake's on_drain: so many commands come out of the kernel. */
extern unsigned fixture_to_emit;
void fixture_emit(FakeBackend *fake);
