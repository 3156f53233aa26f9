/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "records.h"

#include "../../bpf/sample-hash.h"

#define SEED 0x5eed

void test_rehash(TestCommand *c)
{
        c->target.header.id = c->host.header.id;
        c->host.header.hash = c->target.header.hash = np_sample_hash(&c->host.header.id, SEED);
}

TestCommand test_command_at(guint64 ns, guint64 slba)
{
        TestCommand c;

        test_command(&c, TEST_READ, ns);
        c.host.header.id.slba = slba;
        c.host.cpu = c.target.cpu = slba;
        test_rehash(&c);
        return c;
}

void test_headers(TestCommand *c, guint8 opcode, guint64 slba, guint16 nlb, guint32 threshold)
{
        *c = (TestCommand) {
                .host.header = {
                        .kind = NP_RECORD_HOST,
                        .version = NP_RECORD_VERSION,
                        .size = sizeof(c->host),
                        .threshold = threshold,
                        .id = { .slba = slba, .nsid = 1, .qid = 1, .cid = 7, .nlb = nlb, .cntlid = 3, .opcode = opcode },
                },
                .target.header = {
                        .kind = NP_RECORD_TARGET,
                        .version = NP_RECORD_VERSION,
                        .size = sizeof(c->target),
                        .threshold = threshold,
                },
        };
        test_rehash(c);
}

static void host_times(TestCommand *c, guint64 start_ns)
{
        /* wait for a tag 100, dispatch 200, submission 1000, away 70000, completion 300 and 400 */
        c->host.h[NP_H0] = start_ns;
        c->host.h[NP_H1] = start_ns + 100;
        c->host.h[NP_H2] = start_ns + 300;
        c->host.h[NP_H3] = start_ns + 1300;
        c->host.h[NP_H6] = start_ns + 71300;
        c->host.h[NP_H7] = start_ns + 71600;
        c->host.h[NP_H8] = start_ns + 72000;
}

static void target_times(TestCommand *c, guint64 start_ns)
{
        guint64 t = start_ns + TEST_OFFSET_NS;

        /* received 5000 after it was sent; to storage 600, target block layer 500 and 900, drive 50000, response 400 */
        c->target.t[NP_T1] = t + 6300;
        c->target.t[NP_T4] = t + 6900;
        c->target.t[NP_T5] = t + 7400;
        c->target.t[NP_T6] = t + 57400;
        c->target.t[NP_T7] = t + 58300;
        c->target.t[NP_T8] = t + 58350;
        c->target.t[NP_T9] = t + 58700;
}

static void fetch(TestCommand *c, guint rounds)
{
        c->host.header.flags |= NP_F_R2T;
        c->host.r2t_rounds = rounds;
        c->host.h[NP_H4] = c->host.h[NP_H3] + 8000;
        c->host.h[NP_H5] = c->host.h[NP_H4] + 700 * rounds + 2000 * (rounds - 1);
        c->host.r2t_ns = 700 * rounds;

        /* R2T queued 200 after the command came and sent 100 later, storage 250 after the data were there */
        c->target.header.flags |= NP_F_R2T;
        c->target.r2t_queued = c->target.t[NP_T1] + 200;
        c->target.t[NP_T2] = c->target.t[NP_T1] + 300;
        c->target.fetch_ns = 4000 * rounds;
        for (guint i = NP_T4; i <= NP_T9; i++)
                c->target.t[i] += c->target.fetch_ns - 50;
}

static void rdma(TestCommand *c, gboolean fetched)
{
        /* handed back 120 after the response: of the 300 */
        c->host.released = c->host.h[NP_H6] + 120;
        if (!fetched)
                return;

        c->target.header.flags |= NP_F_RDMA_READ;
        c->target.t[NP_T2] = c->target.t[NP_T1] + 300;
        c->target.t[NP_T3] = c->target.t[NP_T2] + 4000;
        c->target.fetch_ns = 4000;
        for (guint i = NP_T4; i <= NP_T9; i++)
                c->target.t[i] += c->target.fetch_ns - 50;
}

void test_detail(TestCommand *c)
{
        c->host.ha = c->host.h[NP_H6] - 2000;
        c->host.receive_r2t_ns = 200 * c->host.r2t_rounds;
        if (c->host.r2t_rounds > 0)
                c->host.header.flags |= NP_F_DATA_ARRIVAL;

        c->target.ta = c->target.t[NP_T1] - 1500;
        if (c->host.released)
                c->target.ts = c->target.t[NP_T9] + 900;
        if (c->target.fetch_ns == 0)
                return;
        c->target.header.flags |= NP_F_DATA_ARRIVAL;
        c->target.receive_data_ns = c->target.header.flags & NP_F_IN_CAPSULE ? 100 :
                                    c->target.header.flags & NP_F_RDMA_READ ? 250 : 300 * c->host.r2t_rounds;
}

void test_command(TestCommand *c, TestKind kind, guint64 start_ns)
{
        static const guint8 opcodes[] = { 0x02, 0x01, 0x01, 0x01, 0x00, 0x02, 0x02, 0x01 };
        static const guint16 nlbs[] = { 7, 7, 127, 2047, 0, 7, 7, 127 };

        test_headers(c, opcodes[kind], 4096, nlbs[kind], G_MAXUINT32);
        host_times(c, start_ns);
        target_times(c, start_ns);

        switch (kind) {
        case TEST_WRITE:
                c->target.header.flags |= NP_F_IN_CAPSULE;
                c->target.t[NP_T2] = c->target.t[NP_T1] + 150;
                c->target.fetch_ns = 350;
                break;
        case TEST_WRITE_FETCHED:
                fetch(c, 1);
                break;
        case TEST_WRITE_ROUNDS:
                fetch(c, 3);
                break;
        case TEST_FLUSH:
                c->target.t[NP_T5] = c->target.t[NP_T6] = 0;
                break;
        case TEST_REFUSED:
                c->target.header.flags |= NP_F_INIT_FAILED;
                for (guint i = NP_T4; i <= NP_T7; i++)
                        c->target.t[i] = 0;
                break;
        case TEST_RDMA_READ:
        case TEST_RDMA_FETCHED:
                rdma(c, kind == TEST_RDMA_FETCHED);
                break;
        default:
                break;
        }
}
