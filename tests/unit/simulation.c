/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "simulation.h"

#include <math.h>

typedef struct {
        guint64 free_ns;
        guint generation;
} Slot;

gint64 simulated_offset(const Simulation *s, guint64 host_ns)
{
        return s->offset_ns + (gint64) (s->drift_ppm * 1e-6 * (double) (host_ns - s->start_ns));
}

/* Mostly a little, seldom much; never much of a periodic load. */
static guint64 jitter(const Simulation *s, double mean_ns)
{
        double x = -log(1 - g_test_rand_double()) * mean_ns;

        if (s->periodic)
                return 1 + (guint64) g_test_rand_double_range(0, mean_ns);
        return 1 + (guint64) (g_test_rand_double() < 0.01 ? 10 * x : x);
}

static guint64 random_or(const Simulation *s, double mean_ns)
{
        return s->periodic ? (guint64) mean_ns : jitter(s, mean_ns);
}

static guint64 way(const Simulation *s, guint64 now, guint64 delay_ns, double mean_ns)
{
        return s->wire_ns + (s->delay_from_ns && now >= s->delay_from_ns ? delay_ns : 0) + jitter(s, mean_ns);
}

static void times(const Simulation *s, SimulatedCommand *command, guint64 start_ns)
{
        struct np_host_record *host = &command->records.host;
        struct np_target_record *target = &command->records.target;
        gboolean fetched = g_test_rand_int_range(0, 100) < (gint) s->fetched_percent;
        guint64 t[NP_T_COUNT] = { 0 }, queued = 0, now = start_ns;

        host->h[NP_H0] = now;
        host->h[NP_H1] = now += jitter(s, 100);
        host->h[NP_H2] = now += jitter(s, 300);
        host->h[NP_H3] = now + jitter(s, 2000);    /* the send can return after the target has it */
        t[NP_T1] = now += way(s, now, s->delay_there_ns, 3000);
        if (fetched) {
                queued = now += jitter(s, 200);
                t[NP_T2] = now += jitter(s, 200);
                now += way(s, now, s->delay_back_ns, 3000);
                host->h[NP_H4] = now = MAX(now, host->h[NP_H3]);
                host->h[NP_H5] = now + jitter(s, 1000);
                host->r2t_ns = host->h[NP_H5] - host->h[NP_H4];
                host->r2t_rounds = 1;
                now += way(s, now, s->delay_there_ns, 5000);
                target->fetch_ns = now - t[NP_T2];
                host->header.flags |= NP_F_R2T;
                target->header.flags |= NP_F_R2T;
        }
        t[NP_T4] = now += jitter(s, 300);
        t[NP_T7] = now += random_or(s, 60000);
        t[NP_T8] = now += jitter(s, 200);
        t[NP_T9] = now + jitter(s, 1000);
        now += way(s, now, s->delay_back_ns, 3000);
        host->h[NP_H6] = now = MAX(now, MAX(host->h[NP_H3], host->h[NP_H5]));
        host->h[NP_H7] = now += jitter(s, 200);
        host->h[NP_H8] = now += jitter(s, 200);

        for (guint i = NP_T1; i < NP_T_COUNT; i++)
                target->t[i] = t[i] ? t[i] + simulated_offset(s, t[i]) : 0;
        target->r2t_queued = queued ? queued + simulated_offset(s, queued) : 0;
        if (target->fetch_ns > target->t[NP_T4] - target->t[NP_T2])
                target->fetch_ns = target->t[NP_T4] - target->t[NP_T2];
}

static int compare_ends(const void *a, const void *b)
{
        const SimulatedCommand *x = a, *y = b;
        guint64 e = x->records.host.h[NP_H8], f = y->records.host.h[NP_H8];

        return e < f ? -1 : e > f;
}

GArray *simulate(const Simulation *s)
{
        GArray *commands = g_array_sized_new(FALSE, TRUE, sizeof(SimulatedCommand), s->commands);
        guint n_slots = s->queues * s->depth;
        g_autofree Slot *slots = g_new0(Slot, n_slots);

        for (guint i = 0; i < n_slots; i++)
                slots[i].free_ns = s->start_ns + g_test_rand_int_range(0, 100000);

        for (guint n = 0; n < s->commands; n++) {
                SimulatedCommand command = { 0 };
                struct np_identity *id = &command.records.host.header.id;
                guint first = 0;

                for (guint i = 1; i < n_slots; i++)
                        if (slots[i].free_ns < slots[first].free_ns)
                                first = i;

                test_headers(&command.records, 2, 8 * (guint64) g_test_rand_int_range(0, s->blocks), 7, G_MAXUINT32);
                id->qid = 1 + first / s->depth;
                id->cid = first % s->depth | (s->same_cid ? 0 : (slots[first].generation++ % 16) << 12);
                test_rehash(&command.records);
                times(s, &command, slots[first].free_ns + random_or(s, s->think_ns));
                slots[first].free_ns = command.records.host.h[NP_H8];

                command.records.host.cpu = command.records.target.cpu = n;
                command.host_lost = g_test_rand_int_range(0, 100) < (gint) s->lost_host_percent;
                command.target_lost = g_test_rand_int_range(0, 100) < (gint) s->lost_target_percent;
                g_array_append_val(commands, command);
        }

        g_array_sort(commands, compare_ends);
        return commands;
}

void test_take(const struct np_host_record *host, const struct np_target_record *target, NpUnjoined why, guint32 threshold,
               NpInterval offset, gpointer data)
{
        TestOutcome *outcome = data;

        outcome->last_threshold = threshold;
        if (!target) {
                g_assert_cmpint(why, <, NP_UNJOINED_COUNT);
                outcome->unjoined[why]++;
                return;
        }
        g_assert_cmpint(why, ==, NP_UNJOINED_COUNT);
        if (host->cpu == target->cpu)
                outcome->right++;
        else
                outcome->wrong++;
}

guint64 test_outcome_total(const TestOutcome *o)
{
        guint64 total = o->right + o->wrong;

        for (guint i = 0; i < NP_UNJOINED_COUNT; i++)
                total += o->unjoined[i];
        return total;
}
