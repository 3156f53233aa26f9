/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Records of both sides wait in buckets, one an identity. Host records are taken in windows of time, by their end: the pairs
 * of a window that identity alone makes unique vote on the clock offset (offset.c), then the offset decides which pairs of
 * each bucket are possible. Hosts and targets that are possible for each other, directly or by way of others, form a knot:
 * it is joined in the order of time when it has as many of the one as of the other, and dropped when not.
 */
#include "join.h"

#include "../bpf/sample-hash.h"
#include "offset.h"

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
#define CANDIDATES_MAX 64
#define PAIRS_MAX 65536u
#define CHANGES_MAX 65536u

typedef struct _Bucket Bucket;
typedef struct _Host Host;
typedef struct _Target Target;

struct _Host {
        Host *prev, *next;              /* in the bucket */
        Bucket *bucket;
        guint64 window;                 /* the last one it was in */
        guint64 first_ns, response_ns, end_ns;
        guint carries;                  /* windows that could not decide it */
        gboolean defect;
        struct np_host_record record;
};

struct _Target {
        Target *prev, *next;            /* in the bucket */
        Target *older, *newer;          /* of all, in the order they came */
        Bucket *bucket;
        guint64 first_ns, last_ns;
        gboolean defect;
        struct np_target_record record;
};

struct _Bucket {
        struct np_identity id;
        guint64 window;                 /* the last one that listed it */
        Host *hosts;
        Target *targets;
        guint n_hosts, n_targets;
};

typedef struct {
        guint64 ns;
        guint32 threshold;
} Change;

/* Nodes 0 .. n_hosts - 1 are the hosts, the targets follow, both in the order of time. */
typedef struct {
        GPtrArray *hosts, *targets;
        GArray *parent, *head, *next, *host_count, *target_count;       /* of guint, an element a node */
        GArray *crowded;                                                /* of guint8 */
} Graph;

struct _NpJoin {
        NpJoinFunc func;
        gpointer data;
        GHashTable *buckets;            /* set of Bucket, by identity */
        GPtrArray *pending;             /* of Host */
        Target *oldest, *newest;
        guint n_targets;
        GArray *target_changes, *host_changes;  /* of Change */
        guint64 window;
        guint64 complete_ns;            /* all hosts that ended before it are known */
        gboolean finishing, last_window;
        guint64 reference_ns;           /* the window's: intervals are widened to hold then */
        guint64 window_end_ns;
        NpOffset offset;
        Graph graph;
        NpJoinStats stats;
};

#define NONE G_MAXUINT

static guint bucket_hash(gconstpointer key)
{
        const struct np_identity *id = &((const Bucket *) key)->id;

        return np_sample_hash(id, id->cntlid);
}

static gboolean bucket_equal(gconstpointer a, gconstpointer b)
{
        const struct np_identity *x = &((const Bucket *) a)->id, *y = &((const Bucket *) b)->id;

        return x->slba == y->slba && x->nsid == y->nsid && x->qid == y->qid && x->cid == y->cid && x->nlb == y->nlb &&
               x->cntlid == y->cntlid && x->opcode == y->opcode;
}

static Bucket *get_bucket(NpJoin *join, const struct np_identity *id)
{
        Bucket key = { .id = *id };
        Bucket *bucket = g_hash_table_lookup(join->buckets, &key);

        if (!bucket) {
                bucket = g_new0(Bucket, 1);
                bucket->id = *id;
                g_hash_table_add(join->buckets, bucket);
        }
        return bucket;
}

static void drop_empty_bucket(NpJoin *join, Bucket *bucket)
{
        if (!bucket->hosts && !bucket->targets)
                g_hash_table_remove(join->buckets, bucket);
}

static void free_host(Host *host)
{
        Bucket *bucket = host->bucket;

        *(host->prev ? &host->prev->next : &bucket->hosts) = host->next;
        if (host->next)
                host->next->prev = host->prev;
        bucket->n_hosts--;
        g_free(host);
}

static void free_target(NpJoin *join, Target *target)
{
        Bucket *bucket = target->bucket;

        *(target->prev ? &target->prev->next : &bucket->targets) = target->next;
        if (target->next)
                target->next->prev = target->prev;
        bucket->n_targets--;

        *(target->older ? &target->older->newer : &join->oldest) = target->newer;
        *(target->newer ? &target->newer->older : &join->newest) = target->older;
        join->n_targets--;
        g_free(target);
}

NpJoin *np_join_new(NpJoinFunc func, gpointer data)
{
        NpJoin *join = g_new0(NpJoin, 1);

        join->func = func;
        join->data = data;
        join->buckets = g_hash_table_new_full(bucket_hash, bucket_equal, g_free, NULL);
        join->pending = g_ptr_array_new();
        join->target_changes = g_array_new(FALSE, FALSE, sizeof(Change));
        join->host_changes = g_array_new(FALSE, FALSE, sizeof(Change));
        join->graph = (Graph) {
                .hosts = g_ptr_array_new(),
                .targets = g_ptr_array_new(),
                .parent = g_array_new(FALSE, FALSE, sizeof(guint)),
                .head = g_array_new(FALSE, FALSE, sizeof(guint)),
                .next = g_array_new(FALSE, FALSE, sizeof(guint)),
                .host_count = g_array_new(FALSE, FALSE, sizeof(guint)),
                .target_count = g_array_new(FALSE, FALSE, sizeof(guint)),
                .crowded = g_array_new(FALSE, FALSE, sizeof(guint8)),
        };
        return join;
}

void np_join_free(NpJoin *join)
{
        if (!join)
                return;

        while (join->oldest)
                free_target(join, join->oldest);
        for (guint i = 0; i < join->pending->len; i++)
                free_host(join->pending->pdata[i]);
        g_ptr_array_unref(join->pending);
        g_hash_table_unref(join->buckets);
        g_array_unref(join->target_changes);
        g_array_unref(join->host_changes);
        g_ptr_array_unref(join->graph.hosts);
        g_ptr_array_unref(join->graph.targets);
        g_array_unref(join->graph.parent);
        g_array_unref(join->graph.head);
        g_array_unref(join->graph.next);
        g_array_unref(join->graph.host_count);
        g_array_unref(join->graph.target_count);
        g_array_unref(join->graph.crowded);
        g_free(join);
}

static void log_change(GArray *changes, guint64 ns, guint32 threshold)
{
        Change change = { ns, threshold };
        guint i = changes->len;

        while (i > 0 && g_array_index(changes, Change, i - 1).ns > ns)
                i--;
        g_array_insert_val(changes, i, change);
        if (changes->len > CHANGES_MAX)
                g_array_remove_range(changes, 0, CHANGES_MAX / 2);
}

/* The lowest threshold in force at any time between; before: what was in force before the first change. */
static guint32 lowest_threshold(const GArray *changes, guint64 from_ns, guint64 to_ns, guint32 before)
{
        guint low = 0, high = changes->len;
        guint32 lowest;

        while (low < high) {
                guint mid = low + (high - low) / 2;

                if (g_array_index(changes, Change, mid).ns <= from_ns)
                        low = mid + 1;
                else
                        high = mid;
        }

        lowest = low > 0 ? g_array_index(changes, Change, low - 1).threshold : before;
        for (; low < changes->len && g_array_index(changes, Change, low).ns <= to_ns; low++)
                lowest = MIN(lowest, g_array_index(changes, Change, low).threshold);
        return lowest;
}

static gboolean samples(guint32 threshold, guint32 hash)
{
        return threshold == G_MAXUINT32 || hash < threshold;
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

        if (join->target_changes->len == 0)
                return G_MAXUINT32;

        if (!join->offset.known) {
                guint32 highest = 0;

                for (guint i = 0; i < join->target_changes->len; i++)
                        highest = MAX(highest, g_array_index(join->target_changes, Change, i).threshold);
                return highest;
        }

        offset = np_offset_at(&join->offset, host->first_ns);
        return lowest_threshold(join->target_changes, shifted(host->first_ns, offset.min - (gint64) THRESHOLD_NS),
                                shifted(host->response_ns, offset.max + (gint64) THRESHOLD_NS), 0);
}

static void emit_unjoined(NpJoin *join, Host *host, NpUnjoined why)
{
        guint32 threshold = threshold_at_target(join, host);

        if (why == NP_UNJOINED_NO_TARGET && !samples(threshold, host->record.header.hash))
                why = NP_UNJOINED_THRESHOLD;

        join->stats.unjoined[why]++;
        join->func(&host->record, NULL, why, threshold > 0 ? MIN(threshold, host->record.header.threshold) :
                   host->record.header.threshold, join->data);
        free_host(host);
}

static void emit_joined(NpJoin *join, Host *host, Target *target)
{
        join->stats.joined++;
        join->func(&host->record, &target->record, NP_UNJOINED_COUNT,
                   MIN(host->record.header.threshold, target->record.header.threshold), join->data);
        free_host(host);
        free_target(join, target);
}

static void give_up_target(NpJoin *join, Target *target)
{
        Bucket *bucket = target->bucket;
        guint32 threshold = G_MAXUINT32;

        if (join->offset.known && join->host_changes->len > 0) {
                guint32 first = g_array_index(join->host_changes, Change, 0).threshold;

                threshold = lowest_threshold(join->host_changes,
                                             shifted(target->first_ns, -join->offset.bounds.max - (gint64) RIVAL_NS),
                                             shifted(target->first_ns, -join->offset.bounds.min + (gint64) RIVAL_NS), first);
        }

        if (samples(threshold, target->record.header.hash))
                join->stats.target_without_host++;
        else
                join->stats.target_over_threshold++;
        free_target(join, target);
        drop_empty_bucket(join, bucket);
}

void np_join_add_host(NpJoin *join, const struct np_host_record *record)
{
        Host *host = g_new0(Host, 1);
        Bucket *bucket = get_bucket(join, &record->header.id);

        host->record = *record;
        host->bucket = bucket;
        host->defect = np_host_record_defect(record) != NP_DEFECT_NONE;
        for (guint i = 0; i < NP_H_COUNT; i++)
                host->end_ns = MAX(host->end_ns, record->h[i]);
        host->first_ns = record->h[NP_H2];
        host->response_ns = record->h[NP_H6] ? record->h[NP_H6] : host->end_ns;

        host->next = bucket->hosts;
        if (host->next)
                host->next->prev = host;
        bucket->hosts = host;
        bucket->n_hosts++;
        g_ptr_array_add(join->pending, host);

        if (join->pending->len > HOSTS_MAX)
                np_join_advance(join, host->end_ns);
}

void np_join_add_target(NpJoin *join, const struct np_target_record *record)
{
        Target *target = g_new0(Target, 1);
        Bucket *bucket = get_bucket(join, &record->header.id);

        target->record = *record;
        target->bucket = bucket;
        target->defect = np_target_record_defect(record) != NP_DEFECT_NONE;
        target->first_ns = record->t[NP_T1];
        target->last_ns = MAX(record->t[NP_T1], record->t[NP_T8]);

        target->next = bucket->targets;
        if (target->next)
                target->next->prev = target;
        bucket->targets = target;
        bucket->n_targets++;

        target->older = join->newest;
        *(join->newest ? &join->newest->newer : &join->oldest) = target;
        join->newest = target;

        if (++join->n_targets > TARGETS_MAX)
                give_up_target(join, join->oldest);
}

void np_join_target_threshold(NpJoin *join, guint64 target_ns, guint32 threshold)
{
        log_change(join->target_changes, target_ns, threshold);
}

static gint64 slack(const NpJoin *join, guint64 host_ns)
{
        return np_offset_slack(host_ns > join->reference_ns ? host_ns - join->reference_ns : join->reference_ns - host_ns);
}

/* What the offset must be, at the window's reference time, when these two are one command; FALSE when they can't be. */
static gboolean pair_interval(const NpJoin *join, const Host *host, const Target *target, NpInterval *ret)
{
        const struct np_host_record *h = &host->record;
        const struct np_target_record *t = &target->record;
        guint64 outside = host->response_ns - host->first_ns, inside = target->last_ns - target->first_ns;

        if (host->response_ns < host->first_ns || (inside > outside && inside - outside > (guint64) np_offset_slack(inside)))
                return FALSE;

        ret->min = (gint64) target->last_ns - (gint64) host->response_ns - slack(join, host->response_ns);
        ret->max = (gint64) target->first_ns - (gint64) host->first_ns + slack(join, host->first_ns);

        /* With several rounds it is not known which one r2t_queued was of. */
        if (h->header.flags & NP_F_R2T && h->r2t_rounds <= 1 && h->h[NP_H4] && t->r2t_queued) {
                gint64 min = (gint64) t->r2t_queued - (gint64) h->h[NP_H4] - slack(join, h->h[NP_H4]);

                ret->min = MAX(ret->min, min);
        }
        return ret->min <= ret->max;
}

static gboolean possible(const NpJoin *join, const Host *host, const Target *target, NpInterval offset)
{
        NpInterval interval;

        return pair_interval(join, host, target, &interval) && interval.min <= offset.max && interval.max >= offset.min;
}

static int compare_hosts(gconstpointer a, gconstpointer b)
{
        const Host *x = *(Host *const *) a, *y = *(Host *const *) b;

        return x->first_ns < y->first_ns ? -1 : x->first_ns > y->first_ns;
}

static int compare_targets(gconstpointer a, gconstpointer b)
{
        const Target *x = *(Target *const *) a, *y = *(Target *const *) b;

        return x->first_ns < y->first_ns ? -1 : x->first_ns > y->first_ns;
}

static int compare_ends(gconstpointer a, gconstpointer b)
{
        const Host *x = *(Host *const *) a, *y = *(Host *const *) b;

        return x->end_ns < y->end_ns ? -1 : x->end_ns > y->end_ns;
}

static guint *at(GArray *array, guint node)
{
        return &g_array_index(array, guint, node);
}

static guint root(Graph *g, guint node)
{
        while (*at(g->parent, node) != node) {
                *at(g->parent, node) = *at(g->parent, *at(g->parent, node));
                node = *at(g->parent, node);
        }
        return node;
}

static void connect_host(NpJoin *join, Graph *g, guint i, NpInterval offset)
{
        const Host *host = g->hosts->pdata[i];
        gint64 from = (gint64) host->first_ns + offset.min - slack(join, host->first_ns);
        gint64 to = (gint64) host->response_ns + offset.max + slack(join, host->response_ns);
        guint low = 0, high = g->targets->len, n = 0;

        while (low < high) {
                guint mid = low + (high - low) / 2;

                if ((gint64) ((const Target *) g->targets->pdata[mid])->first_ns < from)
                        low = mid + 1;
                else
                        high = mid;
        }

        for (; low < g->targets->len; low++) {
                const Target *target = g->targets->pdata[low];

                if ((gint64) target->first_ns > to)
                        break;
                if (!possible(join, host, target, offset))
                        continue;
                *at(g->parent, root(g, g->hosts->len + low)) = root(g, i);
                if (++n > CANDIDATES_MAX) {
                        g_array_index(g->crowded, guint8, i) = TRUE;
                        break;
                }
        }
}

/* Knots of the bucket under that offset: node lists by root, hosts first, each in the order of time. */
static void build_graph(NpJoin *join, Bucket *bucket, NpInterval offset)
{
        Graph *g = &join->graph;
        guint64 until_ns = join->window_end_ns + RIVAL_NS + (guint64) (offset.max - offset.min);
        guint n;

        g_ptr_array_set_size(g->hosts, 0);
        g_ptr_array_set_size(g->targets, 0);
        for (Host *host = bucket->hosts; host; host = host->next)
                if (host->window == join->window || host->first_ns <= until_ns)
                        g_ptr_array_add(g->hosts, host);
        for (Target *target = bucket->targets; target; target = target->next)
                g_ptr_array_add(g->targets, target);
        g_ptr_array_sort(g->hosts, compare_hosts);
        g_ptr_array_sort(g->targets, compare_targets);

        n = g->hosts->len + g->targets->len;
        g_array_set_size(g->parent, n);
        g_array_set_size(g->head, n);
        g_array_set_size(g->next, n);
        g_array_set_size(g->host_count, n);
        g_array_set_size(g->target_count, n);
        g_array_set_size(g->crowded, n);
        for (guint i = 0; i < n; i++) {
                *at(g->parent, i) = i;
                *at(g->head, i) = NONE;
                *at(g->host_count, i) = *at(g->target_count, i) = 0;
                g_array_index(g->crowded, guint8, i) = FALSE;
        }

        for (guint i = 0; i < g->hosts->len; i++)
                connect_host(join, g, i, offset);

        for (guint i = n; i-- > 0;) {
                guint r = root(g, i);

                *at(g->next, i) = *at(g->head, r);
                *at(g->head, r) = i;
                (*at(i < g->hosts->len ? g->host_count : g->target_count, r))++;
                if (g_array_index(g->crowded, guint8, i))
                        g_array_index(g->crowded, guint8, r) = TRUE;
        }
}

static Host *host_node(Graph *g, guint node)
{
        return g->hosts->pdata[node];
}

static Target *target_node(Graph *g, guint node)
{
        return g->targets->pdata[node - g->hosts->len];
}

static void vote(NpJoin *join, const Host *host, const Target *target, GArray *votes)
{
        NpInterval interval;

        if (host->window == join->window && !host->defect && !target->defect && pair_interval(join, host, target, &interval))
                g_array_append_val(votes, interval);
}

static void vote_bucket(NpJoin *join, Bucket *bucket, GArray *votes)
{
        Graph *g = &join->graph;

        if (bucket->n_hosts == 1 && bucket->n_targets == 1) {
                vote(join, bucket->hosts, bucket->targets, votes);
                return;
        }
        if (!join->offset.known || bucket->n_targets == 0)
                return;

        build_graph(join, bucket, np_offset_at(&join->offset, join->reference_ns));
        for (guint i = 0; i < g->hosts->len; i++)
                if (root(g, i) == i && *at(g->host_count, i) == 1 && *at(g->target_count, i) == 1)
                        vote(join, host_node(g, i), target_node(g, *at(g->next, *at(g->head, i))), votes);
}

/* No identity is unique and nothing is known yet: every host that repeats has one right partner and wrong ones, and only the
 * right ones agree on an offset. Taken only when nearly all do and no other offset comes near: a strictly periodic load
 * looks alike at every period. */
static void vote_of_repeats(NpJoin *join, GPtrArray *buckets, GArray *votes)
{
        g_autoptr(GArray) pairs = g_array_new(FALSE, FALSE, sizeof(NpInterval));
        guint n_hosts = 0;
        NpConsensus consensus;

        for (guint i = 0; i < buckets->len; i++) {
                Bucket *bucket = buckets->pdata[i];

                for (Host *host = bucket->hosts; host; host = host->next) {
                        if (host->window != join->window || bucket->n_targets == 0)
                                continue;
                        if (pairs->len + bucket->n_targets > PAIRS_MAX)
                                break;
                        n_hosts++;
                        for (Target *target = bucket->targets; target; target = target->next)
                                vote(join, host, target, pairs);
                }
        }

        if (n_hosts < 8 || !np_consensus((NpInterval *) pairs->data, pairs->len, &consensus))
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
static gboolean rival_may_come(NpJoin *join, guint head, NpInterval offset)
{
        Graph *g = &join->graph;
        guint64 horizon = join->complete_ns > RIVAL_NS ? join->complete_ns - RIVAL_NS : 0;

        for (guint i = head; i != NONE; i = *at(g->next, i)) {
                if (i < g->hosts->len) {
                        if (!may_carry(join, host_node(g, i)))
                                return FALSE;
                } else if (shifted(target_node(g, i)->last_ns, -offset.min) > horizon)
                        return TRUE;
        }
        return FALSE;
}

static gboolean in_window(NpJoin *join, guint head)
{
        Graph *g = &join->graph;

        for (guint i = head; i != NONE && i < g->hosts->len; i = *at(g->next, i))
                if (host_node(g, i)->window != join->window)
                        return FALSE;
        return TRUE;
}

static gboolean one_to_one(NpJoin *join, guint head, guint first_target, NpInterval offset)
{
        Graph *g = &join->graph;

        for (guint i = head, j = first_target; j != NONE; i = *at(g->next, i), j = *at(g->next, j))
                if (!possible(join, host_node(g, i), target_node(g, j), offset))
                        return FALSE;
        return TRUE;
}

static void decide_knot(NpJoin *join, guint r, NpInterval offset, GPtrArray *carried)
{
        Graph *g = &join->graph;
        guint n_hosts = *at(g->host_count, r), n_targets = *at(g->target_count, r);
        guint head = *at(g->head, r), first_target = head, next;
        gboolean wait;

        if (n_hosts == 0)
                return;
        for (guint i = 0; i < n_hosts; i++)
                first_target = *at(g->next, first_target);

        if (n_targets == 0) {
                if (in_window(join, head))
                        emit_unjoined(join, host_node(g, head), NP_UNJOINED_NO_TARGET);
                return;
        }

        wait = !in_window(join, head);
        if (!wait && n_hosts == n_targets && !g_array_index(g->crowded, guint8, r) &&
            one_to_one(join, head, first_target, offset)) {
                for (guint i = head, j = first_target; j != NONE; i = next, j = *at(g->next, j)) {
                        next = *at(g->next, i);
                        emit_joined(join, host_node(g, i), target_node(g, j));
                }
                return;
        }

        wait = wait || rival_may_come(join, head, offset);
        for (guint i = head; i != NONE; i = *at(g->next, i)) {
                if (i >= g->hosts->len) {
                        if (!wait)
                                free_target(join, target_node(g, i));
                } else if (host_node(g, i)->window != join->window)
                        continue;
                else if (wait)
                        carry(host_node(g, i), carried);
                else
                        emit_unjoined(join, host_node(g, i), NP_UNJOINED_AMBIGUOUS);
        }
}

static void decide_bucket(NpJoin *join, Bucket *bucket, GPtrArray *carried)
{
        Graph *g = &join->graph;
        NpInterval offset;

        if (!join->offset.known) {
                for (Host *host = bucket->hosts, *next; host; host = next) {
                        next = host->next;
                        if (host->window != join->window)
                                continue;
                        if (bucket->n_targets == 0)
                                emit_unjoined(join, host, NP_UNJOINED_NO_TARGET);
                        else if (may_carry(join, host))
                                carry(host, carried);
                        else
                                emit_unjoined(join, host, NP_UNJOINED_AMBIGUOUS);
                }
                return;
        }

        offset = join->offset.bounds;
        build_graph(join, bucket, offset);
        for (guint i = 0; i < g->hosts->len + g->targets->len; i++)
                if (*at(g->head, i) != NONE)
                        decide_knot(join, i, offset, carried);
}

static void expire_targets(NpJoin *join, guint64 host_ns)
{
        guint64 now = join->offset.known ? shifted(host_ns, join->offset.bounds.min) : 0;

        while (join->oldest && join->oldest->last_ns + KEEP_NS < now)
                give_up_target(join, join->oldest);
}

/* Takes hosts sorted by their end and adds those it could not decide to carried. */
static void join_window(NpJoin *join, GPtrArray *hosts, GPtrArray *carried)
{
        const Host *first = hosts->pdata[0], *last = hosts->pdata[hosts->len - 1];
        g_autoptr(GPtrArray) buckets = g_ptr_array_new();
        g_autoptr(GArray) votes = g_array_new(FALSE, FALSE, sizeof(NpInterval));

        join->window++;
        join->window_end_ns = last->end_ns;
        join->reference_ns = first->end_ns + (last->end_ns - first->end_ns) / 2;

        for (guint i = 0; i < hosts->len; i++) {
                Host *host = hosts->pdata[i];
                guint32 threshold = host->record.header.threshold;

                host->window = join->window;
                if (host->bucket->window != join->window) {
                        host->bucket->window = join->window;
                        g_ptr_array_add(buckets, host->bucket);
                }
                if (join->host_changes->len == 0 ||
                    g_array_index(join->host_changes, Change, join->host_changes->len - 1).threshold != threshold)
                        log_change(join->host_changes, host->first_ns, threshold);
        }

        for (guint i = 0; i < buckets->len; i++)
                vote_bucket(join, buckets->pdata[i], votes);
        if (votes->len == 0 && !join->offset.known)
                vote_of_repeats(join, buckets, votes);
        np_offset_update(&join->offset, join->reference_ns, (NpInterval *) votes->data, votes->len);

        for (guint i = 0; i < buckets->len; i++) {
                decide_bucket(join, buckets->pdata[i], carried);
                drop_empty_bucket(join, buckets->pdata[i]);
        }
        expire_targets(join, join->window_end_ns);
}

void np_join_advance(NpJoin *join, guint64 host_ns)
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

                g_ptr_array_set_size(slice, 0);
                for (guint j = 0; j < carried->len; j++)
                        g_ptr_array_add(slice, carried->pdata[j]);
                g_ptr_array_set_size(carried, 0);
                for (guint n = 0; i < ready->len && n < WINDOW_HOSTS; i++, n++) {
                        if (((Host *) ready->pdata[i])->end_ns - begin > WINDOW_NS)
                                break;
                        g_ptr_array_add(slice, ready->pdata[i]);
                }
                join->last_window = join->finishing && i == ready->len;
                join_window(join, slice, carried);
        }

        for (guint i = 0; i < carried->len; i++)
                g_ptr_array_add(join->pending, carried->pdata[i]);
}

void np_join_finish(NpJoin *join)
{
        join->finishing = TRUE;
        np_join_advance(join, G_MAXUINT64);
        join->finishing = FALSE;

        while (join->oldest)
                give_up_target(join, join->oldest);
}

void np_join_stats(NpJoin *join, NpJoinStats *ret)
{
        *ret = join->stats;
        ret->offset_known = join->offset.known;
        ret->offset_min_ns = join->offset.bounds.min;
        ret->offset_max_ns = join->offset.bounds.max;
}
