/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Made-up records for the tests.
 */
#pragma once

#include "stage.h"

typedef struct {
        struct np_host_record host;
        struct np_target_record target;
} TestCommand;

typedef enum {
        TEST_READ,
        TEST_WRITE,                     /* data in the command capsule */
        TEST_WRITE_FETCHED,             /* one R2T */
        TEST_WRITE_ROUNDS,              /* three R2Ts */
        TEST_FLUSH,
        TEST_REFUSED,                   /* by the target, before storage */
        TEST_RDMA_READ,
        TEST_RDMA_FETCHED,              /* a write whose data the target fetches by RDMA READ */
        TEST_KIND_COUNT,
} TestKind;

/* The clock of the made-up target is that far ahead of the host's. */
#define TEST_OFFSET_NS (5 * 3600 * G_GINT64_CONSTANT(1000000000))

/* A command submitted at start_ns, with the same durations every time (see records.c), all sampled, qid 1, nsid 1, cid 7. */
void test_command(TestCommand *c, TestKind kind, guint64 start_ns);

/* What only a session in detail records: the response was at the host for 2000, the command at the target for 1500, data in the
 * capsule 100 after that, the R2Ts for 200 and their data for 300 each, those of an RDMA READ for 250. */
void test_detail(TestCommand *c);

/* Headers of records whose times the caller fills in. */
void test_headers(TestCommand *c, guint8 opcode, guint64 slba, guint16 nlb, guint32 threshold);
/* Computes both hashes after the identity was changed. */
void test_rehash(TestCommand *c);

/* A read of 72 us at that time of the host's clock, of an address of its own, which is its number, too (cpu). */
TestCommand test_command_at(guint64 ns, guint64 slba);
