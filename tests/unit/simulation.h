/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A made-up load on a made-up host and target, each with its clock, for tests of the join. Which records are one command is
 * known: both carry its number in their field cpu.
 */
#pragma once

#include "join.h"
#include "records.h"

typedef struct {
        /* load */
        guint commands;
        guint queues, depth;            /* cids of a queue are the slots below depth, with four bits of generation */
        gboolean same_cid;              /* no generation: a slot's cid never changes */
        guint blocks;                   /* commands start at one of so many addresses */
        guint64 think_ns;               /* of a slot between two commands, on average */
        guint64 wire_ns;                /* one way, at least; the rest is random, seldom long */
        gboolean periodic;              /* think time and storage are the same every time */
        guint fetched_percent;          /* writes with an R2T */
        /* from delay_from_ns on, so much more to the target (commands, write data) and back (R2Ts, responses) */
        guint64 delay_from_ns, delay_there_ns, delay_back_ns;
        /* clocks: target = host + offset_ns + drift_ppm of the time since the start */
        gint64 offset_ns;
        double drift_ppm;
        /* losses */
        guint lost_host_percent, lost_target_percent;
        guint64 start_ns;
} Simulation;

typedef struct {
        TestCommand records;
        gboolean host_lost, target_lost;
} SimulatedCommand;

/* Of SimulatedCommand, in the order in which the host's records come: by H8. */
GArray *simulate(const Simulation *s);

gint64 simulated_offset(const Simulation *s, guint64 host_ns);

/* What a join made of it. */
typedef struct {
        guint64 right, wrong, unjoined[NP_UNJOINED_COUNT];
        guint32 last_threshold;
} TestOutcome;

/* An NpJoinFunc whose data is a TestOutcome. */
void test_take(const struct np_host_record *host, const struct np_target_record *target, NpUnjoined why, guint32 threshold,
               NpInterval offset, gpointer data);
guint64 test_outcome_total(const TestOutcome *outcome);
