/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "join-knots.h"

/* A command can have that many only where one side is broken or hostile. */
#define CANDIDATES_MAX 64

typedef struct {
        guint parent;                   /* of the union-find forest */
        guint head, tail;               /* of a root: its list of nodes */
        guint next;
        guint n_hosts, n_targets;       /* of a root */
        gboolean crowded;               /* has more candidates than were looked at */
} Node;

static Node *node(const NpKnots *knots, guint i)
{
        return &g_array_index(knots->nodes, Node, i);
}

static gint64 slack(guint64 a, guint64 b)
{
        return np_offset_slack(a > b ? a - b : b - a);
}

gboolean np_join_pair_interval(const NpJoinHost *host, const NpJoinTarget *target, guint64 reference_ns, NpInterval *ret)
{
        const struct np_host_record *h = &host->record;
        const struct np_target_record *t = &target->record;
        guint64 outside = host->response_ns - host->first_ns, inside = target->last_ns - target->first_ns;

        if (host->response_ns < host->first_ns || (inside > outside && inside - outside > (guint64) np_offset_slack(inside)))
                return FALSE;

        ret->min = (gint64) target->last_ns - (gint64) host->response_ns - slack(host->response_ns, reference_ns);
        ret->max = (gint64) target->first_ns - (gint64) host->first_ns + slack(host->first_ns, reference_ns);

        /* With several rounds it is not known which one r2t_queued was of. */
        if (h->header.flags & NP_F_R2T && h->r2t_rounds <= 1 && h->h[NP_H4] && t->r2t_queued) {
                gint64 min = (gint64) t->r2t_queued - (gint64) h->h[NP_H4] - slack(h->h[NP_H4], reference_ns);

                ret->min = MAX(ret->min, min);
        }
        return ret->min <= ret->max;
}

static gboolean possible(const NpKnots *knots, const NpJoinHost *host, const NpJoinTarget *target)
{
        NpInterval interval;

        return np_join_pair_interval(host, target, knots->reference_ns, &interval) &&
               interval.min <= knots->offset.max && interval.max >= knots->offset.min;
}

void np_knots_init(NpKnots *knots)
{
        *knots = (NpKnots) {
                .hosts = g_ptr_array_new(),
                .targets = g_ptr_array_new(),
                .nodes = g_array_new(FALSE, FALSE, sizeof(Node)),
        };
}

void np_knots_clear(NpKnots *knots)
{
        g_clear_pointer(&knots->hosts, g_ptr_array_unref);
        g_clear_pointer(&knots->targets, g_ptr_array_unref);
        g_clear_pointer(&knots->nodes, g_array_unref);
}

static int compare_hosts(gconstpointer a, gconstpointer b)
{
        const NpJoinHost *x = *(NpJoinHost *const *) a, *y = *(NpJoinHost *const *) b;

        return x->first_ns < y->first_ns ? -1 : x->first_ns > y->first_ns;
}

static int compare_targets(gconstpointer a, gconstpointer b)
{
        const NpJoinTarget *x = *(NpJoinTarget *const *) a, *y = *(NpJoinTarget *const *) b;

        return x->first_ns < y->first_ns ? -1 : x->first_ns > y->first_ns;
}

static guint find_root(const NpKnots *knots, guint i)
{
        while (node(knots, i)->parent != i) {
                node(knots, i)->parent = node(knots, node(knots, i)->parent)->parent;
                i = node(knots, i)->parent;
        }
        return i;
}

/* T1 of a possible target lies between H2 and H6, give or take the offset's bounds: a stretch of the sorted targets. */
static void connect_host(NpKnots *knots, guint i)
{
        const NpJoinHost *host = np_knots_host(knots, i);
        gint64 from = (gint64) host->first_ns + knots->offset.min - slack(host->first_ns, knots->reference_ns);
        gint64 to = (gint64) host->response_ns + knots->offset.max + slack(host->response_ns, knots->reference_ns);
        guint low = knots->hosts->len, high = knots->nodes->len, n = 0;

        while (low < high) {
                guint mid = low + (high - low) / 2;

                if ((gint64) np_knots_target(knots, mid)->first_ns < from)
                        low = mid + 1;
                else
                        high = mid;
        }

        for (; low < knots->nodes->len && (gint64) np_knots_target(knots, low)->first_ns <= to; low++) {
                if (!possible(knots, host, np_knots_target(knots, low)))
                        continue;
                node(knots, find_root(knots, low))->parent = find_root(knots, i);
                if (++n > CANDIDATES_MAX) {
                        node(knots, i)->crowded = TRUE;
                        break;
                }
        }
}

static void list_node(NpKnots *knots, guint i)
{
        Node *root = node(knots, find_root(knots, i));

        if (root->head == NP_KNOT_END)
                root->head = i;
        else
                node(knots, root->tail)->next = i;
        root->tail = i;
        if (i < knots->hosts->len)
                root->n_hosts++;
        else
                root->n_targets++;
        root->crowded = root->crowded || node(knots, i)->crowded;
}

void np_knots_build(NpKnots *knots, const NpJoinBucket *bucket, guint64 until_ns, guint64 reference_ns, NpInterval offset)
{
        knots->reference_ns = reference_ns;
        knots->offset = offset;

        g_ptr_array_set_size(knots->hosts, 0);
        g_ptr_array_set_size(knots->targets, 0);
        for (NpJoinHost *host = bucket->hosts; host; host = host->next)
                if (host->first_ns <= until_ns)
                        g_ptr_array_add(knots->hosts, host);
        for (NpJoinTarget *target = bucket->targets; target; target = target->next)
                g_ptr_array_add(knots->targets, target);
        g_ptr_array_sort(knots->hosts, compare_hosts);
        g_ptr_array_sort(knots->targets, compare_targets);

        g_array_set_size(knots->nodes, knots->hosts->len + knots->targets->len);
        for (guint i = 0; i < knots->nodes->len; i++)
                *node(knots, i) = (Node) { .parent = i, .head = NP_KNOT_END, .next = NP_KNOT_END };
        for (guint i = 0; i < knots->hosts->len; i++)
                connect_host(knots, i);
        for (guint i = 0; i < knots->nodes->len; i++)
                list_node(knots, i);
}

gboolean np_knots_is_root(const NpKnots *knots, guint i)
{
        return node(knots, i)->parent == i;
}

guint np_knot_hosts(const NpKnots *knots, guint root)
{
        return node(knots, root)->n_hosts;
}

guint np_knot_targets(const NpKnots *knots, guint root)
{
        return node(knots, root)->n_targets;
}

guint np_knot_first(const NpKnots *knots, guint root)
{
        return node(knots, root)->head;
}

guint np_knot_first_target(const NpKnots *knots, guint root)
{
        guint i = np_knot_first(knots, root);

        while (i != NP_KNOT_END && i < knots->hosts->len)
                i = np_knot_next(knots, i);
        return i;
}

guint np_knot_next(const NpKnots *knots, guint i)
{
        return node(knots, i)->next;
}

gboolean np_knot_one_to_one(const NpKnots *knots, guint root)
{
        guint i = np_knot_first(knots, root), j = np_knot_first_target(knots, root);

        if (node(knots, root)->n_hosts != node(knots, root)->n_targets || node(knots, root)->crowded)
                return FALSE;
        for (; j != NP_KNOT_END; i = np_knot_next(knots, i), j = np_knot_next(knots, j))
                if (!possible(knots, np_knots_host(knots, i), np_knots_target(knots, j)))
                        return FALSE;
        return TRUE;
}

NpJoinHost *np_knots_host(const NpKnots *knots, guint i)
{
        return knots->hosts->pdata[i];
}

NpJoinTarget *np_knots_target(const NpKnots *knots, guint i)
{
        return knots->targets->pdata[i - knots->hosts->len];
}
