/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/peer/target-sync.h"

#include <glib.h>

#include "daemon/util.h"

/* Only a record that waits for the send's completion leaves late. */
static void test_lag(void)
{
        static const struct {
                CaptureConfig config;
                bool lags;
        } cases[] = {
                { { .transports = TRANSPORT_TCP }, false },
                { { .transports = TRANSPORT_TCP, .detail = true }, false },
                { { .transports = TRANSPORT_RDMA }, false },
                { { .transports = TRANSPORT_RDMA, .detail = true }, true },
                { { .transports = TRANSPORTS_ALL, .detail = true }, true },
        };

        for (size_t i = 0; i < ELEMENTSOF(cases); i++)
                g_assert_cmpuint(target_sync_lag_ns(&cases[i].config), ==, cases[i].lags ? NSEC_PER_SEC : 0);
}

static void test_contents(void)
{
        CaptureCounters counters = { .target_in_flight = 3, .target_recursion = 4, .host_in_flight = 99 };
        struct wire_sync sync;

        for (int i = 0; i < NP_C_COUNT; i++) {
                counters.target[i] = 100 + i;
                counters.host[i] = 7;
        }
        sync = target_sync_make(&counters, 500, 5000, 0, 6);
        g_assert_cmpuint(sync.target_ns, ==, 5000);
        g_assert_cmpuint(sync.in_flight, ==, 3);
        g_assert_cmpuint(sync.recursion, ==, 4);
        g_assert_cmpuint(sync.link_full, ==, 6);
        for (int i = 0; i < NP_C_COUNT; i++)
                g_assert_cmpuint(sync.counters[i], ==, 100 + i);

        g_assert_cmpuint(target_sync_make(&counters, 500, 5000, 1000, 6).target_ns, ==, 4000);
        /* There is nothing from before it began. */
        g_assert_cmpuint(target_sync_make(&counters, 500, 5000, 4700, 6).target_ns, ==, 500);
        g_assert_cmpuint(target_sync_make(&counters, 500, 5000, 6000, 6).target_ns, ==, 500);
}

int main(int argc, char **argv)
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/target-sync/lag", test_lag);
        g_test_add_func("/target-sync/contents", test_contents);
        return g_test_run();
}
