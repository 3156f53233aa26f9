/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "join-knots.h"

#include "records.h"

/* Records of one identity, the target's with the host's clock. */
typedef struct {
        NpJoinBucket bucket;
        NpJoinHost hosts[80];
        NpJoinTarget targets[80];
} Fixture;

static NpJoinHost *add_host(Fixture *f, guint64 sent, guint64 response)
{
        NpJoinHost *host = &f->hosts[f->bucket.n_hosts++];

        *host = (NpJoinHost) { .next = f->bucket.hosts, .first_ns = sent, .response_ns = response };
        f->bucket.hosts = host;
        return host;
}

static NpJoinTarget *add_target(Fixture *f, guint64 received, guint64 responded)
{
        NpJoinTarget *target = &f->targets[f->bucket.n_targets++];

        *target = (NpJoinTarget) { .next = f->bucket.targets, .first_ns = received, .last_ns = responded };
        f->bucket.targets = target;
        return target;
}

static void test_interval(void)
{
        Fixture f = { 0 };
        NpJoinHost *host = add_host(&f, 10000, 80000);
        NpJoinTarget *target = add_target(&f, 515000, 570000);
        NpInterval i;

        /* at the middle of the command 100 ppm of 35000 are 3 and a bit */
        g_assert_true(np_join_pair_interval(host, target, 45000, &i));
        g_assert_cmpint(i.min, ==, 570000 - 80000 - 4);
        g_assert_cmpint(i.max, ==, 515000 - 10000 + 4);

        /* a second later, 100 us */
        g_assert_true(np_join_pair_interval(host, target, 1000045000, &i));
        g_assert_cmpint(i.min, <=, 570000 - 80000 - 99990);
        g_assert_cmpint(i.max, >=, 515000 - 10000 + 99990);

        /* longer at the target than away from the host */
        target->last_ns = 585100;
        g_assert_false(np_join_pair_interval(host, target, 45000, &i));
        g_assert_false(np_join_pair_interval(host, target, 1000045000, &i));
        host->response_ns = 9000;
        g_assert_false(np_join_pair_interval(host, target, 45000, &i));
}

static void test_interval_of_a_fetch(void)
{
        TestCommand c;
        Fixture f = { 0 };
        NpJoinHost *host;
        NpJoinTarget *target;
        NpInterval i;

        test_command(&c, TEST_WRITE_FETCHED, 1000);
        host = add_host(&f, c.host.h[NP_H2], c.host.h[NP_H6]);
        target = add_target(&f, c.target.t[NP_T1], c.target.t[NP_T8]);
        host->record = c.host;
        target->record = c.target;

        /* The R2T was queued 6500 after H0, and processed 9300 after it. */
        g_assert_true(np_join_pair_interval(host, target, c.host.h[NP_H4], &i));
        g_assert_cmpint(i.min, ==, TEST_OFFSET_NS + 6500 - 9300 - 1);
        host->record.r2t_rounds = 2;
        g_assert_true(np_join_pair_interval(host, target, c.host.h[NP_H4], &i));
        g_assert_cmpint(i.min, <, TEST_OFFSET_NS + 6500 - 9300 - 1000);
        host->record.r2t_rounds = 1;
        target->record.r2t_queued = 0;
        g_assert_true(np_join_pair_interval(host, target, c.host.h[NP_H4], &i));
        g_assert_cmpint(i.min, <, TEST_OFFSET_NS + 6500 - 9300 - 1000);
}

typedef struct {
        guint hosts, targets;
        gboolean one_to_one;
} Knot;

/* The knots in any order: as many of each kind as expected, and no others. */
static void check(const Fixture *f, NpInterval offset, const Knot *expected, guint n)
{
        NpKnots knots;
        guint64 seen = 0;
        guint n_knots = 0;

        np_knots_init(&knots);
        np_knots_build(&knots, &f->bucket, G_MAXUINT64 >> 2, 0, offset);
        for (guint i = 0; i < knots.nodes->len; i++) {
                guint match = 0, length = 0;
                guint64 last = 0;
                gboolean targets = FALSE;

                if (!np_knots_is_root(&knots, i))
                        continue;
                n_knots++;
                while (match < n && (seen & 1u << match || expected[match].hosts != np_knot_hosts(&knots, i) ||
                                     expected[match].targets != np_knot_targets(&knots, i) ||
                                     expected[match].one_to_one != np_knot_one_to_one(&knots, i)))
                        match++;
                g_assert_cmpuint(match, <, n);
                seen |= 1u << match;

                for (guint j = np_knot_first(&knots, i); j != NP_KNOT_END; j = np_knot_next(&knots, j)) {
                        guint64 at = j < knots.hosts->len ? np_knots_host(&knots, j)->first_ns : np_knots_target(&knots, j)->first_ns;

                        if (j >= knots.hosts->len && !targets) {
                                g_assert_cmpuint(j, ==, np_knot_first_target(&knots, i));
                                targets = TRUE;
                                last = 0;
                        }
                        g_assert_cmpuint(at, >=, last);
                        last = at;
                        length++;
                }
                g_assert_cmpuint(length, ==, np_knot_hosts(&knots, i) + np_knot_targets(&knots, i));
        }
        g_assert_cmpuint(n_knots, ==, n);
        np_knots_clear(&knots);
}

static const NpInterval exact = { 0, 0 };

static void test_apart(void)
{
        static const Knot expected[] = { { 1, 1, TRUE }, { 1, 1, TRUE }, { 1, 0, FALSE }, { 0, 1, FALSE } };
        Fixture f = { 0 };

        add_host(&f, 1000, 2000);
        add_target(&f, 1100, 1900);
        add_host(&f, 3000, 4000);
        add_target(&f, 3100, 3900);
        add_host(&f, 5000, 6000);
        add_target(&f, 7100, 7900);
        check(&f, exact, expected, G_N_ELEMENTS(expected));
}

/* Received in time but answered too late. */
static void test_response_too_late(void)
{
        static const Knot expected[] = { { 1, 0, FALSE }, { 0, 1, FALSE } };
        Fixture f = { 0 };

        add_host(&f, 1000, 2000);
        add_target(&f, 1500, 2400);
        check(&f, exact, expected, G_N_ELEMENTS(expected));
}

/* With bounds as wide as the gap between two commands both targets are possible for both hosts. */
static void test_knotted(void)
{
        static const Knot two[] = { { 2, 2, TRUE } }, lost[] = { { 2, 1, FALSE } }, more[] = { { 2, 3, FALSE } };
        const NpInterval wide = { -2000, 2000 };
        Fixture f = { 0 };

        add_host(&f, 3000, 4000);
        add_host(&f, 1000, 2000);
        add_target(&f, 3100, 3900);
        check(&f, wide, lost, 1);
        add_target(&f, 1100, 1900);
        check(&f, wide, two, 1);
        add_target(&f, 2900, 2950);
        check(&f, wide, more, 1);
}

/* As many of the one as of the other, but only the wrong way round: the second target answers too late for the second host. */
static void test_not_in_order(void)
{
        static const Knot expected[] = { { 2, 2, FALSE } };
        Fixture f = { 0 };

        add_host(&f, 1000, 9000);
        add_host(&f, 1200, 2000);
        add_target(&f, 1300, 1900);
        add_target(&f, 1400, 5000);
        check(&f, exact, expected, 1);
}

/* A knot of which not every pair was looked at is not taken. */
static void test_crowded(void)
{
        static const Knot crowded[] = { { 65, 65, FALSE } };
        const NpInterval anything = { -10000000, 10000000 };
        Fixture f = { 0 };

        for (guint i = 0; i < 64; i++) {
                add_host(&f, 1000 + i * 1000, 1900 + i * 1000);
                add_target(&f, 1100 + i * 1000, 1800 + i * 1000);
        }
        check(&f, anything, (Knot[]) { { 64, 64, TRUE } }, 1);
        add_host(&f, 65000, 65900);
        add_target(&f, 65100, 65800);
        check(&f, anything, crowded, 1);
}

static void test_until(void)
{
        NpKnots knots;
        Fixture f = { 0 };

        add_host(&f, 1000, 2000);
        add_host(&f, 3000, 4000);
        np_knots_init(&knots);
        np_knots_build(&knots, &f.bucket, 2999, 0, exact);
        g_assert_cmpuint(knots.hosts->len, ==, 1);
        np_knots_build(&knots, &f.bucket, 3000, 0, exact);
        g_assert_cmpuint(knots.hosts->len, ==, 2);
        np_knots_clear(&knots);
}

int main(int argc, char **argv)
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/join-knots/interval", test_interval);
        g_test_add_func("/join-knots/interval-of-a-fetch", test_interval_of_a_fetch);
        g_test_add_func("/join-knots/apart", test_apart);
        g_test_add_func("/join-knots/response-too-late", test_response_too_late);
        g_test_add_func("/join-knots/knotted", test_knotted);
        g_test_add_func("/join-knots/not-in-order", test_not_in_order);
        g_test_add_func("/join-knots/crowded", test_crowded);
        g_test_add_func("/join-knots/until", test_until);
        return g_test_run();
}
