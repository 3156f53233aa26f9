/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Records of both sides wait in buckets, one an identity (join-records.c). Host records are taken in windows of time, by
 * their end: the pairs of a window that identity alone makes unique vote on the clock offset (offset.c), then the offset
 * decides which pairs of each bucket are possible. Hosts and targets that are possible for each other, directly or by way
 * of others, form a knot: it is joined in the order of time when it has as many of the one as of the other, and dropped
 * when not.
 */
#include "join.h"

#include "join-knots.h"
#include "join-sync.h"
#include "threshold-log.h"

#define WINDOW_NS (G_GUINT64_CONSTANT(1000000000))
/* The shorter a window the less the clocks drift in it, so a busy one ends early. */
#define WINDOW_HOSTS 512
/* How long a target's record waits for its host's. */
#define KEEP_NS (5 * G_GUINT64_CONSTANT(1000000000))
/* A host record this close to the end of what is known may have a rival that is not known yet. */
#define RIVAL_NS (G_GUINT64_CONSTANT(10000000))
/* From the write of a threshold until every CPU acts on it, and what its log entry may be off. */
#define THRESHOLD_NS (G_GUINT64_CONSTANT(1000000))
/* Bounds of memory and work when one side is lost or hostile. */
#define TARGETS_MAX 500000u
#define HOSTS_MAX 500000u
#define CARRIES_MAX 5
#define PAIRS_MAX (1u << 18)
/* So many repeating hosts must agree before their offset is believed. */
#define REPEATS_MIN 8

typedef NpJoinBucket Bucket;
typedef NpJoinHost Host;
typedef NpJoinTarget Target;

struct _NpJoin {
        NpJoinFunc func;
        gpointer data;
        NpJoinRecords records;
        GPtrArray *pending;             /* of Host */
        NpThresholdLog *target_thresholds, *host_thresholds;
        NpJoinSync sync;
        guint64 began_ns, ended_ns;     /* of the host's recording, by its clock */
        guint64 longest_ns;             /* of the hosts, from sent to answered */
        guint64 window;
        guint64 complete_ns;            /* all hosts that ended before it are known */
        gboolean finishing, last_window;
        guint64 repeats_window;         /* when vote_of_repeats() is worth its time again */
        guint64 reference_ns;           /* the window's: intervals are widened to hold then */
        guint64 window_end_ns;
        NpOffset offset;
        NpKnots knots;
        NpJoinStats stats;
};

NpJoin *np_join_new(NpJoinFunc func, gpointer data)
{
        NpJoin *join = g_new0(NpJoin, 1);

        join->func = func;
        join->data = data;
        np_join_records_init(&join->records);
        join->pending = g_ptr_array_new();
        join->target_thresholds = np_threshold_log_new();
        join->host_thresholds = np_threshold_log_new();
        join->ended_ns = G_MAXUINT64;
        np_knots_init(&join->knots);
        return join;
}

void np_join_free(NpJoin *join)
{
        if (!join)
                return;

        for (guint i = 0; i < join->pending->len; i++)
                np_join_host_free(join->pending->pdata[i]);
        g_ptr_array_unref(join->pending);
        np_join_records_clear(&join->records);
        np_threshold_log_free(join->target_thresholds);
        np_threshold_log_free(join->host_thresholds);
        np_knots_clear(&join->knots);
        g_free(join);
}

static guint64 shifted(guint64 ns, gint64 by)
{
        gint64 sum = (gint64) ns + by;

        return sum > 0 ? (guint64) sum : 0;
}

/* Of the target, while it may have decided on this command. */
static guint32 threshold_at_target(NpJoin *join, const Host *host)
{
        NpInterval offset;

        if (np_threshold_log_is_empty(join->target_thresholds))
                return G_MAXUINT32;
        if (!join->offset.known)
                return np_threshold_log_highest(join->target_thresholds);

        offset = np_offset_at(&join->offset, host->first_ns);
        return np_threshold_log_lowest(join->target_thresholds, shifted(host->first_ns, offset.min - (gint64) THRESHOLD_NS),
                                       shifted(host->response_ns, offset.max + (gint64) THRESHOLD_NS), 0);
}

/* A target that has ended samples nothing, so what its last threshold left out has no others that stand for it. */
static gboolean target_was_gone(NpJoin *join, const Host *host)
{
        return join->sync.ended && host->response_ns >= np_join_sync_known(&join->sync, &join->offset);
}

static void emit_unjoined(NpJoin *join, Host *host, NpUnjoined why)
{
        guint32 threshold = threshold_at_target(join, host);

        if (why == NP_UNJOINED_NO_TARGET && target_was_gone(join, host)) {
                why = NP_UNJOINED_TARGET_GONE;
                threshold = G_MAXUINT32;
        } else if (why == NP_UNJOINED_NO_TARGET && !np_threshold_samples(threshold, host->record.header.hash))
                why = NP_UNJOINED_THRESHOLD;

        join->stats.unjoined[why]++;
        join->func(&host->record, NULL, why, threshold > 0 ? MIN(threshold, host->record.header.threshold) :
                   host->record.header.threshold, (NpInterval) { 0, 0 }, join->data);
        np_join_host_free(host);
}

/* What the pair itself says holds at its own time, what the others say is as old as they are. */
static NpInterval offset_of_pair(NpJoin *join, const Host *host, const Target *target)
{
        NpInterval all = np_offset_at(&join->offset, host->first_ns), own;

        if (!np_join_pair_interval(host, target, host->first_ns, &own) || own.min > all.max || all.min > own.max)
                return all;
        return (NpInterval) { MAX(all.min, own.min), MIN(all.max, own.max) };
}

static void emit_joined(NpJoin *join, Host *host, Target *target)
{
        join->stats.joined++;
        join->func(&host->record, &target->record, NP_UNJOINED_COUNT,
                   MIN(host->record.header.threshold, target->record.header.threshold), offset_of_pair(join, host, target),
                   join->data);
        np_join_host_free(host);
        np_join_records_free_target(&join->records, target);
}

/* Commands were on their way when the host began: such a one came to the target within what a command takes at most. One that
 * came after the host's end may have been sent after it. */
static gboolean host_recorded(NpJoin *join, const Target *target)
{
        if (!join->offset.known || target->first_ns == 0)
                return TRUE;
        return shifted(target->first_ns, -join->offset.bounds.max) >= join->began_ns + join->longest_ns &&
               shifted(target->first_ns, -join->offset.bounds.min) <= join->ended_ns;
}

static void give_up_target(NpJoin *join, Target *target)
{
        Bucket *bucket = target->bucket;
        guint32 threshold = G_MAXUINT32;

        if (join->offset.known && !np_threshold_log_is_empty(join->host_thresholds))
                threshold = np_threshold_log_lowest(join->host_thresholds,
                                                    shifted(target->first_ns, -join->offset.bounds.max - (gint64) RIVAL_NS),
                                                    shifted(target->first_ns, -join->offset.bounds.min + (gint64) RIVAL_NS),
                                                    np_threshold_log_first(join->host_thresholds));

        if (host_recorded(join, target) && np_threshold_samples(threshold, target->record.header.hash))
                join->stats.target_without_host++;
        else
                join->stats.target_not_chosen++;
        np_join_records_free_target(&join->records, target);
        np_join_records_drop_empty(&join->records, bucket);
}

static void advance(NpJoin *join, guint64 host_ns);

void np_join_add_host(NpJoin *join, const struct np_host_record *record)
{
        Host *host = np_join_records_add_host(&join->records, record);
        Bucket *bucket = host->bucket;

        if (!host->defect)
                join->longest_ns = MAX(join->longest_ns, host->response_ns - host->first_ns);

        /* Its sending is what ties it to a target's record. */
        if (host->first_ns == 0) {
                emit_unjoined(join, host, NP_UNJOINED_NO_TARGET);
                np_join_records_drop_empty(&join->records, bucket);
                return;
        }

        g_ptr_array_add(join->pending, host);
        if (join->pending->len > HOSTS_MAX)
                advance(join, host->end_ns);
}

void np_join_add_target(NpJoin *join, const struct np_target_record *record)
{
        np_join_records_add_target(&join->records, record);
        if (join->records.n_targets > TARGETS_MAX)
                give_up_target(join, join->records.oldest);
}

void np_join_target_threshold(NpJoin *join, guint64 target_ns, guint32 threshold)
{
        np_threshold_log_add(join->target_thresholds, target_ns, threshold);
}

void np_join_host_began(NpJoin *join, guint64 host_ns)
{
        join->began_ns = host_ns;
}

void np_join_host_ended(NpJoin *join, guint64 host_ns)
{
        join->ended_ns = host_ns;
}

void np_join_target_synced(NpJoin *join, guint64 target_ns, guint64 host_ns)
{
        np_join_sync_take(&join->sync, target_ns, host_ns);
}

void np_join_target_ended(NpJoin *join)
{
        join->sync.ended = TRUE;
}

static int compare_ends(gconstpointer a, gconstpointer b)
{
        const Host *x = *(Host *const *) a, *y = *(Host *const *) b;

        return x->end_ns < y->end_ns ? -1 : x->end_ns > y->end_ns;
}

static guint64 rivals_until(const NpJoin *join, NpInterval offset)
{
        return join->window_end_ns + RIVAL_NS + (guint64) (offset.max - offset.min);
}

static void vote(NpJoin *join, const Host *host, const Target *target, GArray *votes)
{
        NpInterval interval;

        if (host->window == join->window && !host->defect && !target->defect &&
            np_join_pair_interval(host, target, join->reference_ns, &interval))
                g_array_append_val(votes, interval);
}

static void vote_bucket(NpJoin *join, Bucket *bucket, GArray *votes)
{
        NpKnots *knots = &join->knots;
        NpInterval offset;

        if (bucket->n_hosts == 1 && bucket->n_targets == 1) {
                vote(join, bucket->hosts, bucket->targets, votes);
                return;
        }
        if (!join->offset.known || bucket->n_targets == 0)
                return;

        offset = np_offset_at(&join->offset, join->reference_ns);
        np_knots_build(knots, bucket, rivals_until(join, offset), join->reference_ns, offset);
        for (guint i = 0; i < knots->nodes->len; i++)
                if (np_knots_is_root(knots, i) && np_knot_hosts(knots, i) == 1 && np_knot_targets(knots, i) == 1)
                        vote(join, np_knots_host(knots, np_knot_first(knots, i)),
                             np_knots_target(knots, np_knot_first_target(knots, i)), votes);
}

/* Where the offset may be for this host to have one of the targets, whichever. */
static void vote_of_repeat(NpJoin *join, const Host *host, GArray *votes)
{
        guint before = votes->len, n;

        for (Target *target = host->bucket->targets; target; target = target->next)
                vote(join, host, target, votes);
        n = np_merge_intervals((NpInterval *) votes->data + before, votes->len - before);
        g_array_set_size(votes, before + n);
}

/* No identity is unique and nothing is known yet: every host that repeats has one right partner and wrong ones, and only the
 * right ones agree on an offset. Taken only when nearly all do and no other offset comes near: a strictly periodic load
 * looks alike at every period. */
static void vote_of_repeats(NpJoin *join, GPtrArray *buckets, GArray *votes)
{
        g_autoptr(GArray) all = g_array_new(FALSE, FALSE, sizeof(NpInterval));
        guint n_hosts = 0, n_pairs = 0;
        NpConsensus consensus;

        for (guint i = 0; i < buckets->len; i++) {
                Bucket *bucket = buckets->pdata[i];

                for (Host *host = bucket->hosts; host && n_pairs + bucket->n_targets <= PAIRS_MAX; host = host->next) {
                        if (host->window != join->window || host->defect || bucket->n_targets == 0)
                                continue;
                        n_hosts++;
                        n_pairs += bucket->n_targets;
                        vote_of_repeat(join, host, all);
                }
        }

        if (n_hosts < REPEATS_MIN || !np_consensus((NpInterval *) all->data, all->len, &consensus))
                return;
        if (consensus.votes >= n_hosts * 0.9 && consensus.opposed <= consensus.votes * 0.8)
                g_array_append_val(votes, consensus.best);
}

static void carry(Host *host, GPtrArray *carried)
{
        host->carries++;
        g_ptr_array_add(carried, host);
}

static gboolean may_carry(NpJoin *join, const Host *host)
{
        return !join->last_window && host->carries < CARRIES_MAX;
}

/* Whether a knot without a one-to-one assignment may get one from what is not known yet. */
static gboolean rival_may_come(NpJoin *join, guint root)
{
        const NpKnots *knots = &join->knots;
        guint64 horizon = join->complete_ns > RIVAL_NS ? join->complete_ns - RIVAL_NS : 0;

        for (guint i = np_knot_first(knots, root); i != NP_KNOT_END; i = np_knot_next(knots, i)) {
                if (i < knots->hosts->len) {
                        if (!may_carry(join, np_knots_host(knots, i)))
                                return FALSE;
                } else if (shifted(np_knots_target(knots, i)->last_ns, -knots->offset.min) > horizon)
                        return TRUE;
        }
        return FALSE;
}

static gboolean in_window(NpJoin *join, guint root)
{
        const NpKnots *knots = &join->knots;

        for (guint i = np_knot_first(knots, root); i != NP_KNOT_END && i < knots->hosts->len; i = np_knot_next(knots, i))
                if (np_knots_host(knots, i)->window != join->window)
                        return FALSE;
        return TRUE;
}

static void join_knot(NpJoin *join, guint root)
{
        const NpKnots *knots = &join->knots;

        for (guint i = np_knot_first(knots, root), j = np_knot_first_target(knots, root); j != NP_KNOT_END;
             i = np_knot_next(knots, i), j = np_knot_next(knots, j))
                emit_joined(join, np_knots_host(knots, i), np_knots_target(knots, j));
}

static void put_off_knot(NpJoin *join, guint root, GPtrArray *carried)
{
        const NpKnots *knots = &join->knots;

        for (guint i = np_knot_first(knots, root); i < knots->hosts->len; i = np_knot_next(knots, i))
                if (np_knots_host(knots, i)->window == join->window)
                        carry(np_knots_host(knots, i), carried);
}

static void drop_knot(NpJoin *join, guint root)
{
        const NpKnots *knots = &join->knots;

        for (guint i = np_knot_first(knots, root); i != NP_KNOT_END; i = np_knot_next(knots, i))
                if (i < knots->hosts->len)
                        emit_unjoined(join, np_knots_host(knots, i), NP_UNJOINED_AMBIGUOUS);
                else
                        np_join_records_free_target(&join->records, np_knots_target(knots, i));
}

static void decide_knot(NpJoin *join, guint root, GPtrArray *carried)
{
        const NpKnots *knots = &join->knots;

        if (np_knot_hosts(knots, root) == 0)
                return;
        if (np_knot_targets(knots, root) == 0) {
                if (in_window(join, root))
                        emit_unjoined(join, np_knots_host(knots, np_knot_first(knots, root)), NP_UNJOINED_NO_TARGET);
        } else if (!in_window(join, root))
                put_off_knot(join, root, carried);
        else if (np_knot_one_to_one(knots, root))
                join_knot(join, root);
        else if (rival_may_come(join, root))
                put_off_knot(join, root, carried);
        else
                drop_knot(join, root);
}

static int compare_targets(gconstpointer a, gconstpointer b)
{
        const Target *x = *(Target *const *) a, *y = *(Target *const *) b;

        return x->first_ns < y->first_ns ? -1 : x->first_ns > y->first_ns;
}

static void free_oldest_targets(NpJoin *join, Bucket *bucket, guint n)
{
        g_autoptr(GPtrArray) targets = g_ptr_array_sized_new(bucket->n_targets);

        for (Target *target = bucket->targets; target; target = target->next)
                g_ptr_array_add(targets, target);
        g_ptr_array_sort(targets, compare_targets);
        for (guint i = 0; i < MIN(n, targets->len); i++)
                np_join_records_free_target(&join->records, targets->pdata[i]);
}

/* Nothing but the identity is known: one that has no partner has none, the others wait for the offset. */
static void decide_without_offset(NpJoin *join, Bucket *bucket, GPtrArray *carried)
{
        guint n_dropped = 0;

        for (Host *host = bucket->hosts, *next; host; host = next) {
                next = host->next;
                if (host->window != join->window)
                        continue;
                if (bucket->n_targets == 0)
                        emit_unjoined(join, host, NP_UNJOINED_NO_TARGET);
                else if (may_carry(join, host))
                        carry(host, carried);
                else {
                        emit_unjoined(join, host, NP_UNJOINED_AMBIGUOUS);
                        n_dropped++;
                }
        }

        /* Each had one of them, or had it lost. */
        if (n_dropped > 0)
                free_oldest_targets(join, bucket, n_dropped);
}

static void decide_bucket(NpJoin *join, Bucket *bucket, GPtrArray *carried)
{
        NpKnots *knots = &join->knots;

        if (!join->offset.known) {
                decide_without_offset(join, bucket, carried);
                return;
        }

        np_knots_build(knots, bucket, rivals_until(join, join->offset.bounds), join->reference_ns, join->offset.bounds);
        for (guint i = 0; i < knots->nodes->len; i++)
                if (np_knots_is_root(knots, i))
                        decide_knot(join, i, carried);
}

static void expire_targets(NpJoin *join, guint64 host_ns)
{
        guint64 now = join->offset.known ? shifted(host_ns, np_offset_at(&join->offset, host_ns).min) : 0;

        while (join->records.oldest && join->records.oldest->last_ns + KEEP_NS < now)
                give_up_target(join, join->records.oldest);
}

/* Takes hosts, first the n_old that earlier windows could not decide, then those of this one sorted by their end; adds those
 * that it can't decide either to carried. */
static void join_window(NpJoin *join, GPtrArray *hosts, guint n_old, GPtrArray *carried)
{
        const Host *first = hosts->pdata[n_old], *last = hosts->pdata[hosts->len - 1];
        g_autoptr(GPtrArray) buckets = g_ptr_array_new();
        g_autoptr(GArray) votes = g_array_new(FALSE, FALSE, sizeof(NpInterval));

        join->window++;
        join->window_end_ns = last->end_ns;
        join->reference_ns = first->end_ns + (last->end_ns - first->end_ns) / 2;

        for (guint i = 0; i < hosts->len; i++) {
                Host *host = hosts->pdata[i];

                host->window = join->window;
                if (host->bucket->window != join->window) {
                        host->bucket->window = join->window;
                        g_ptr_array_add(buckets, host->bucket);
                }
                /* 0 when empty, which no record has. */
                if (np_threshold_log_last(join->host_thresholds) != host->record.header.threshold)
                        np_threshold_log_add(join->host_thresholds, host->first_ns, host->record.header.threshold);
        }

        for (guint i = 0; i < buckets->len; i++)
                vote_bucket(join, buckets->pdata[i], votes);
        if (votes->len == 0 && !join->offset.known && join->window >= join->repeats_window) {
                join->repeats_window = 2 * join->window;
                vote_of_repeats(join, buckets, votes);
        }
        np_offset_update(&join->offset, join->reference_ns, (NpInterval *) votes->data, votes->len);

        for (guint i = 0; i < buckets->len; i++) {
                decide_bucket(join, buckets->pdata[i], carried);
                np_join_records_drop_empty(&join->records, buckets->pdata[i]);
        }
}

static void advance(NpJoin *join, guint64 host_ns)
{
        g_autoptr(GPtrArray) ready = g_ptr_array_new(), slice = g_ptr_array_new(), carried = g_ptr_array_new();
        guint kept = 0;

        join->complete_ns = MAX(join->complete_ns, host_ns);
        for (guint i = 0; i < join->pending->len; i++) {
                Host *host = join->pending->pdata[i];

                if (host->end_ns < host_ns || join->finishing)
                        g_ptr_array_add(ready, host);
                else
                        join->pending->pdata[kept++] = host;
        }
        g_ptr_array_set_size(join->pending, kept);
        g_ptr_array_sort(ready, compare_ends);

        for (guint i = 0; i < ready->len;) {
                guint64 begin = ((Host *) ready->pdata[i])->end_ns;
                guint n_old;

                g_ptr_array_set_size(slice, 0);
                g_ptr_array_extend(slice, carried, NULL, NULL);
                n_old = carried->len;
                g_ptr_array_set_size(carried, 0);
                for (guint n = 0; i < ready->len && n < WINDOW_HOSTS; i++, n++) {
                        if (((Host *) ready->pdata[i])->end_ns - begin > WINDOW_NS)
                                break;
                        g_ptr_array_add(slice, ready->pdata[i]);
                }
                join->last_window = join->finishing && i == ready->len;
                join_window(join, slice, n_old, carried);
        }

        g_ptr_array_extend(join->pending, carried, NULL, NULL);
        if (!join->finishing)
                expire_targets(join, host_ns);
}

void np_join_advance(NpJoin *join, guint64 host_ns)
{
        advance(join, np_join_sync_limit(&join->sync, &join->offset, host_ns));
}

void np_join_finish(NpJoin *join)
{
        join->finishing = TRUE;
        advance(join, G_MAXUINT64);
        join->finishing = FALSE;

        while (join->records.oldest)
                give_up_target(join, join->records.oldest);
}

void np_join_stats(NpJoin *join, NpJoinStats *ret)
{
        *ret = join->stats;
        ret->offset_known = join->offset.known;
        ret->offset_min_ns = join->offset.bounds.min;
        ret->offset_max_ns = join->offset.bounds.max;
}
