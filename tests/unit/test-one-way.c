/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The ways of request and response apart, by the bounds of the clocks' offset: a delay of one direction that begins while a
 * session runs shows in that direction only.
 */
#include "simulation.h"

#define SECOND G_GUINT64_CONSTANT(1000000000)
#define MS G_GINT64_CONSTANT(1000000)
#define START (100 * SECOND)
#define CHANGE (START + 5 * SECOND)

typedef struct {
        guint64 n;
        double request, response, transfer, margin;
} Sums;

typedef struct {
        const Simulation *simulation;
        Sums before, after;
} Ways;

/* When it was by the host's clock. */
static gint64 at_host(const Simulation *s, guint64 target_ns)
{
        guint64 guess = target_ns - s->offset_ns;

        return (gint64) target_ns - simulated_offset(s, guess - (simulated_offset(s, guess) - s->offset_ns));
}

static void take(const struct np_host_record *host, const struct np_target_record *target, NpUnjoined why, guint32 threshold,
                 NpInterval offset, gpointer data)
{
        Ways *ways = data;
        const Simulation *s = ways->simulation;
        Sums *sums = host->h[NP_H0] < CHANGE ? &ways->before : &ways->after;
        NpStageTimes times;
        const gint64 *ns = times.component_ns;
        gint64 request, response, tolerance;
        guint64 since;

        g_assert_nonnull(target);
        np_stage_times(host, target, &times);
        np_stage_one_way(host, target, offset, &times);
        g_assert_cmpint(ns[NP_COMPONENT_REQUEST_WAY] + ns[NP_COMPONENT_TRANSFER] + ns[NP_COMPONENT_RESPONSE_WAY], ==,
                        times.stage_ns[NP_STAGE_NETWORK]);

        /* Each is what it was but for the margin, and how far the clocks drift meanwhile. */
        request = at_host(s, target->t[NP_T1]) - (gint64) host->h[NP_H3];
        response = (gint64) host->h[NP_H6] - at_host(s, target->t[NP_T9]);
        tolerance = times.margin_ns + (gint64) (ABS(s->drift_ppm) * 1e-6 * times.latency_ns) + 2;
        g_assert_cmpint(times.margin_ns, >=, 0);
        g_assert_cmpint(ABS(ns[NP_COMPONENT_REQUEST_WAY] - request), <=, tolerance);
        g_assert_cmpint(ABS(ns[NP_COMPONENT_RESPONSE_WAY] - response), <=, tolerance);

        sums->n++;
        sums->request += ns[NP_COMPONENT_REQUEST_WAY];
        sums->response += ns[NP_COMPONENT_RESPONSE_WAY];
        sums->transfer += ns[NP_COMPONENT_TRANSFER];
        sums->margin += times.margin_ns;
        /* While one way is long nothing but NP_DRIFT_PPM bounds the offset on that side. */
        since = host->h[NP_H0] > CHANGE ? host->h[NP_H0] - CHANGE : 0;
        g_assert_cmpint(times.margin_ns, <=, 50000 + (gint64) (since * (NP_DRIFT_PPM + ABS(s->drift_ppm)) / 2e6));
}

/* As a session does: four times a second. */
static Ways measure(const Simulation *s)
{
        Ways ways = { .simulation = s };
        g_autoptr(NpJoin) join = np_join_new(take, &ways);
        g_autoptr(GArray) commands = simulate(s);
        guint64 next = START + SECOND / 4;

        for (guint i = 0; i < commands->len; i++) {
                const SimulatedCommand *c = &g_array_index(commands, SimulatedCommand, i);

                if (c->records.host.h[NP_H8] > next) {
                        np_join_advance(join, c->records.host.h[NP_H8] - SECOND / 10);
                        next += SECOND / 4;
                }
                np_join_add_target(join, &c->records.target);
                np_join_add_host(join, &c->records.host);
        }
        np_join_finish(join);
        g_assert_cmpuint(ways.before.n + ways.after.n, ==, commands->len);
        g_assert_cmpuint(ways.before.n, >, 1000);
        g_assert_cmpuint(ways.after.n, >, 200);
        return ways;
}

static double mean(double sum, const Sums *sums)
{
        return sum / sums->n;
}

typedef struct {
        const char *name;
        gint64 there_ns, back_ns;
        double drift_ppm;
        guint fetched_percent;
} Case;

static const Case cases[] = {
        { "none", 0, 0, 0, 0 },
        { "none-drift", 0, 0, 40, 0 },
        { "request", 20 * MS, 0, 0, 0 },
        { "request-drift", 20 * MS, 0, 40, 0 },
        { "request-drift-back", 20 * MS, 0, -40, 0 },
        { "response", 0, 20 * MS, 0, 0 },
        { "response-drift", 0, 20 * MS, 40, 0 },
        { "response-drift-back", 0, 20 * MS, -40, 0 },
        { "fetched-request", 20 * MS, 0, 40, 100 },
        { "fetched-response", 0, 20 * MS, 40, 100 },
};

static void test_delay(gconstpointer data)
{
        const Case *c = data;
        Simulation s = {
                .commands = c->there_ns || c->back_ns ? 10500 : 16000,
                .queues = 2, .depth = 2,
                .blocks = 100000,
                .think_ns = 2 * MS,
                .wire_ns = 8000,
                .fetched_percent = c->fetched_percent,
                .start_ns = START,
                .delay_from_ns = CHANGE, .delay_there_ns = c->there_ns, .delay_back_ns = c->back_ns,
                .offset_ns = 50 * (gint64) SECOND,
                .drift_ppm = c->drift_ppm,
        };
        Ways ways;
        double request, response, transfer, margin;

        ways = measure(&s);
        request = mean(ways.after.request, &ways.after) - mean(ways.before.request, &ways.before);
        response = mean(ways.after.response, &ways.after) - mean(ways.before.response, &ways.before);
        transfer = mean(ways.after.transfer, &ways.after) - mean(ways.before.transfer, &ways.before);
        margin = mean(ways.after.margin, &ways.after) + mean(ways.before.margin, &ways.before);
        g_test_message("%" G_GUINT64_FORMAT " + %" G_GUINT64_FORMAT " commands, request +%.0f, response +%.0f, transfer +%.0f, "
                       "margin %.0f, then %.0f ns", ways.before.n, ways.after.n, request, response, transfer,
                       mean(ways.before.margin, &ways.before), mean(ways.after.margin, &ways.after));

        /* 10 us: the random part of both means */
        g_assert_cmpfloat(ABS(request - c->there_ns), <=, margin + 10000);
        g_assert_cmpfloat(ABS(response - c->back_ns), <=, margin + 10000);
        /* R2T and data travel once more each way. */
        g_assert_cmpfloat(ABS(transfer - (c->fetched_percent ? c->there_ns + c->back_ns : 0)), <=, 20000);
}

int main(int argc, char **argv)
{
        g_test_init(&argc, &argv, NULL);
        for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
                g_autofree char *path = g_strconcat("/one-way/", cases[i].name, NULL);

                g_test_add_data_func(path, cases + i, test_delay);
        }
        return g_test_run();
}
