/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <math.h>
#include <string.h>

#include "cores.h"
#include "opcode.h"
#include "views.h"

/* More rows are kept than a report has: a key that is rare at first may have most commands at the end. */
#define ROWS_KEPT (8 * NP_VIEW_ROWS)
#define KINDS_MAX 32

/* What identifies a row. By path, as its kinds are counted so. */
typedef struct {
        guint filter;
        guint64 value;
        char comm[16];
} Key;

/* Weighted sums, ns. */
typedef struct {
        double weight, latency;
        double stages[NP_STAGE_COUNT];
} Sums;

/* Of the commands of one operation and size. */
typedef struct {
        guint8 opcode;
        gboolean fua;
        guint32 blocks;
        Sums all;                       /* without those of the target */
        Sums joined;
} Kind;

typedef struct {
        Key key;
        gboolean others;
        guint64 records, joined;
        double weight;
        gboolean bucketed;              /* the kinds' sizes are rounded up to powers of two */
        GArray *kinds;                  /* of Kind */
        Kind misc;                      /* beyond KINDS_MAX */
        NpCores host_cores, response_cores, target_cores;
        NpHistogram *joined_latencies, *other_latencies;
} Row;

typedef struct {
        GHashTable *rows;               /* set of Row, by key */
        Row *others[NP_FILTERS_MAX];
} View;

struct _NpViews {
        View views[NP_VIEW_COUNT];
};

static guint key_hash(gconstpointer p)
{
        const Key *key = p;
        guint64 mixed = (key->value + 1) * G_GUINT64_CONSTANT(0x9e3779b97f4a7c15) + key->filter;

        for (guint i = 0; i < sizeof(key->comm) && key->comm[i]; i++)
                mixed = mixed * 31 + (guint8) key->comm[i];
        return mixed >> 32 ^ mixed;
}

/* A row begins with its key. */
static gboolean key_equal(gconstpointer a, gconstpointer b)
{
        const Key *x = a, *y = b;

        return x->filter == y->filter && x->value == y->value && memcmp(x->comm, y->comm, sizeof(x->comm)) == 0;
}

static Row *row_new(const Key *key)
{
        Row *row = g_new0(Row, 1);

        row->key = *key;
        row->kinds = g_array_new(FALSE, TRUE, sizeof(Kind));
        np_cores_init(&row->host_cores);
        np_cores_init(&row->response_cores);
        np_cores_init(&row->target_cores);
        row->joined_latencies = np_histogram_new();
        row->other_latencies = np_histogram_new();
        return row;
}

static void row_free(gpointer p)
{
        Row *row = p;

        if (!row)
                return;
        g_array_unref(row->kinds);
        np_cores_clear(&row->host_cores);
        np_cores_clear(&row->response_cores);
        np_cores_clear(&row->target_cores);
        np_histogram_free(row->joined_latencies);
        np_histogram_free(row->other_latencies);
        g_free(row);
}

NpViews *np_views_new(void)
{
        NpViews *views = g_new0(NpViews, 1);

        for (guint i = 0; i < NP_VIEW_COUNT; i++)
                views->views[i].rows = g_hash_table_new_full(key_hash, key_equal, row_free, NULL);
        return views;
}

void np_views_free(NpViews *views)
{
        if (!views)
                return;

        for (guint i = 0; i < NP_VIEW_COUNT; i++) {
                g_hash_table_unref(views->views[i].rows);
                for (guint j = 0; j < NP_FILTERS_MAX; j++)
                        row_free(views->views[i].others[j]);
        }
        g_free(views);
}

static void add_sums(Sums *sums, const Sums *other, double scale)
{
        sums->weight += scale * other->weight;
        sums->latency += scale * other->latency;
        for (guint i = 0; i < NP_STAGE_COUNT; i++)
                sums->stages[i] += scale * other->stages[i];
}

static Kind *find_kind(const Row *row, guint8 opcode, gboolean fua, guint32 blocks)
{
        for (guint i = 0; i < row->kinds->len; i++) {
                Kind *kind = &g_array_index(row->kinds, Kind, i);

                if (kind->opcode == opcode && kind->fua == fua && kind->blocks == blocks)
                        return kind;
        }
        return NULL;
}

static Kind *get_kind(Row *row, guint8 opcode, gboolean fua, guint32 blocks);

static void bucket_kinds(Row *row)
{
        g_autoptr(GArray) exact = g_steal_pointer(&row->kinds);

        row->kinds = g_array_new(FALSE, TRUE, sizeof(Kind));
        row->bucketed = TRUE;
        for (guint i = 0; i < exact->len; i++) {
                const Kind *from = &g_array_index(exact, Kind, i);
                Kind *to = get_kind(row, from->opcode, from->fua, from->blocks);

                add_sums(&to->all, &from->all, 1);
                add_sums(&to->joined, &from->joined, 1);
        }
}

static Kind *get_kind(Row *row, guint8 opcode, gboolean fua, guint32 blocks)
{
        Kind *kind = find_kind(row, opcode, fua, row->bucketed ? np_power_of_two(blocks) : blocks);

        if (!kind && row->kinds->len >= KINDS_MAX && !row->bucketed) {
                bucket_kinds(row);
                kind = find_kind(row, opcode, fua, np_power_of_two(blocks));
        }
        if (kind)
                return kind;
        if (row->kinds->len >= KINDS_MAX)
                return &row->misc;

        g_array_append_val(row->kinds, ((Kind) { opcode, fua, row->bucketed ? np_power_of_two(blocks) : blocks, {}, {} }));
        return &g_array_index(row->kinds, Kind, row->kinds->len - 1);
}

static void fold_row(Row *into, const Row *from)
{
        into->records += from->records;
        into->joined += from->joined;
        into->weight += from->weight;
        add_sums(&into->misc.all, &from->misc.all, 1);
        add_sums(&into->misc.joined, &from->misc.joined, 1);
        if (from->bucketed && !into->bucketed)
                bucket_kinds(into);
        for (guint i = 0; i < from->kinds->len; i++) {
                const Kind *kind = &g_array_index(from->kinds, Kind, i);
                Kind *to = get_kind(into, kind->opcode, kind->fua, kind->blocks);

                add_sums(&to->all, &kind->all, 1);
                add_sums(&to->joined, &kind->joined, 1);
        }
        np_cores_merge(&into->host_cores, &from->host_cores);
        np_cores_merge(&into->response_cores, &from->response_cores);
        np_cores_merge(&into->target_cores, &from->target_cores);
        np_histogram_merge(into->joined_latencies, from->joined_latencies);
        np_histogram_merge(into->other_latencies, from->other_latencies);
}

static int compare_weights(gconstpointer a, gconstpointer b)
{
        const Row *x = *(Row *const *) a, *y = *(Row *const *) b;

        return x->weight < y->weight ? -1 : x->weight > y->weight;
}

/* The half of fewest commands. */
static void fold_small_rows(View *view)
{
        g_autoptr(GPtrArray) rows = g_ptr_array_new();
        GHashTableIter iter;
        gpointer row;

        g_hash_table_iter_init(&iter, view->rows);
        while (g_hash_table_iter_next(&iter, &row, NULL))
                g_ptr_array_add(rows, row);
        g_ptr_array_sort(rows, compare_weights);
        for (guint i = 0; i < rows->len / 2; i++) {
                Row *small = rows->pdata[i], **others = &view->others[small->key.filter];

                if (!*others) {
                        *others = row_new(&(Key) { .filter = small->key.filter });
                        (*others)->others = TRUE;
                }
                fold_row(*others, small);
                g_hash_table_remove(view->rows, small);
        }
}

static Row *get_row(View *view, const Key *key)
{
        Row *row = NULL;

        if (g_hash_table_lookup_extended(view->rows, key, (gpointer *) &row, NULL))
                return row;

        if (g_hash_table_size(view->rows) >= ROWS_KEPT)
                fold_small_rows(view);
        row = row_new(key);
        g_hash_table_add(view->rows, row);
        return row;
}

static void add_to_row(Row *row, const struct np_host_record *host, const struct np_target_record *target,
                       const NpStageTimes *times, double weight)
{
        const struct np_identity *id = &host->header.id;
        Kind *kind = get_kind(row, id->opcode, (host->header.flags & NP_F_FUA) != 0, np_opcode_blocks(id->opcode, id->nlb));
        Sums sums = { weight, weight * times->latency_ns, {} };

        row->records++;
        row->weight += weight;
        np_cores_add(&row->host_cores, host->cpu, weight);
        np_cores_add(&row->response_cores, host->cpu_response, weight);
        np_histogram_add(target ? row->joined_latencies : row->other_latencies, times->latency_ns, weight);

        sums.stages[NP_STAGE_HOST_BLOCK] = weight * times->stage_ns[NP_STAGE_HOST_BLOCK];
        sums.stages[NP_STAGE_HOST_DRIVER] = weight * times->stage_ns[NP_STAGE_HOST_DRIVER];
        sums.stages[NP_STAGE_NETWORK] = sums.latency - sums.stages[NP_STAGE_HOST_BLOCK] - sums.stages[NP_STAGE_HOST_DRIVER];
        add_sums(&kind->all, &sums, 1);
        if (!target)
                return;

        row->joined++;
        np_cores_add(&row->target_cores, target->cpu, weight);
        np_cores_add(&row->target_cores, target->cpu_response, weight);
        for (guint i = 0; i < NP_STAGE_COUNT; i++)
                sums.stages[i] = weight * times->stage_ns[i];
        add_sums(&kind->joined, &sums, 1);
}

void np_views_add(NpViews *views, const struct np_host_record *host, const struct np_target_record *target,
                  const NpStageTimes *times, double weight)
{
        const struct np_identity *id = &host->header.id;
        Key keys[NP_VIEW_COUNT] = {
                [NP_VIEW_QUEUE] = { .value = id->qid },
                [NP_VIEW_CPU] = { .value = host->cpu },
                [NP_VIEW_SIZE] = { .value = np_opcode_blocks(id->opcode, id->nlb) },
                [NP_VIEW_PROCESS] = { .value = host->tgid },
        };

        memcpy(keys[NP_VIEW_PROCESS].comm, host->comm, strnlen(host->comm, sizeof(host->comm)));
        for (guint i = 0; i < NP_VIEW_COUNT; i++) {
                keys[i].filter = host->header.filter;
                add_to_row(get_row(&views->views[i], &keys[i]), host, target, times, weight);
        }
}

/* A row of the report while it is made: of a queue, or of all paths of its namespace. */
typedef struct {
        const char *namespace_name;
        guint64 value;                  /* of the key: bytes rather than blocks */
        Row *row;                       /* folded */
        Sums all, joined;               /* by commands rather than weight */
} Result;

static void result_free(gpointer p)
{
        Result *result = p;

        row_free(result->row);
        g_free(result);
}

static Result *get_result(GPtrArray *results, NpView view, const Row *row, const NpReportPath *path)
{
        const char *name = path->namespace_name ? path->namespace_name : "unknown namespace";
        guint64 value = view == NP_VIEW_SIZE ? row->key.value * path->block_size : row->key.value;
        Result *result;

        for (guint i = 0; i < results->len; i++) {
                result = results->pdata[i];
                if (row->others && result->row->others)
                        return result;
                if (!row->others && !result->row->others && result->value == value &&
                    g_str_equal(result->namespace_name, name) &&
                    memcmp(result->row->key.comm, row->key.comm, sizeof(row->key.comm)) == 0 &&
                    (view != NP_VIEW_QUEUE || result->row->key.filter == row->key.filter))
                        return result;
        }

        result = g_new0(Result, 1);
        result->namespace_name = name;
        result->value = value;
        result->row = row_new(&row->key);
        result->row->others = row->others;
        g_ptr_array_add(results, result);
        return result;
}

static void add_result(GPtrArray *results, NpView view, const Row *row, const NpReportFacts *facts, NpKindScale scale,
                       gpointer data)
{
        Result *result;

        if (row->key.filter >= facts->paths->len)
                return;

        result = get_result(results, view, row, facts->paths->pdata[row->key.filter]);
        fold_row(result->row, row);
        add_sums(&result->all, &row->misc.all, 1);
        add_sums(&result->joined, &row->misc.joined, 1);
        for (guint i = 0; i < row->kinds->len; i++) {
                const Kind *kind = &g_array_index(row->kinds, Kind, i);
                const NpOperationKey key = { row->key.filter, kind->opcode, kind->fua };
                double factor = scale(&key, kind->blocks, row->bucketed, data);

                add_sums(&result->all, &kind->all, factor);
                add_sums(&result->joined, &kind->joined, factor);
        }
}

static int compare_results(gconstpointer a, gconstpointer b)
{
        const Result *x = *(Result *const *) a, *y = *(Result *const *) b;

        if (x->row->others != y->row->others)
                return x->row->others - y->row->others;
        if (x->all.weight != y->all.weight)
                return x->all.weight > y->all.weight ? -1 : 1;
        if (x->row->key.filter != y->row->key.filter)
                return x->row->key.filter < y->row->key.filter ? -1 : 1;
        if (x->value != y->value)
                return x->value < y->value ? -1 : 1;
        return memcmp(x->row->key.comm, y->row->key.comm, sizeof(x->row->key.comm));
}

/* What is beyond the rows of a report goes into its last one. */
static void fold_results(GPtrArray *results)
{
        Result *last = results->len > 0 ? results->pdata[results->len - 1] : NULL;
        guint n = last && last->row->others ? results->len - 1 : results->len;

        if (n <= NP_VIEW_ROWS)
                return;
        if (n == results->len) {
                last = g_new0(Result, 1);
                last->namespace_name = ((Result *) results->pdata[0])->namespace_name;
                last->row = row_new(&(Key) {});
                last->row->others = TRUE;
                g_ptr_array_add(results, last);
        }
        for (guint i = NP_VIEW_ROWS; i < n; i++) {
                const Result *small = results->pdata[i];

                fold_row(last->row, small->row);
                add_sums(&last->all, &small->all, 1);
                add_sums(&last->joined, &small->joined, 1);
        }
        g_ptr_array_remove_range(results, NP_VIEW_ROWS, n - NP_VIEW_ROWS);
}

/* A thread names itself as it likes, and a terminal would obey. */
static char *printable_comm(const char comm[16])
{
        g_autofree char *whole = g_strndup(comm, 16), *valid = g_utf8_make_valid(whole, -1);
        GString *text = g_string_new(NULL);

        for (const char *s = valid; *s; s = g_utf8_next_char(s))
                g_string_append_unichar(text, g_unichar_iscntrl(g_utf8_get_char(s)) ? '?' : g_utf8_get_char(s));
        return g_string_free(text, FALSE);
}

/* Those with the target's side stand for all when they are most of them, as in a group. */
static void set_stages(const Result *result, NpReportViewRow *row)
{
        const Sums *sums;
        guint largest = 0;

        row->with_target = result->joined.weight > 0 && result->joined.weight >= result->all.weight / 2;
        sums = row->with_target ? &result->joined : &result->all;
        row->mean_ns = sums->latency / sums->weight;
        row->n_stages = row->with_target ? NP_STAGE_COUNT : NP_STAGE_NETWORK + 1;
        for (guint i = 0; i < row->n_stages; i++) {
                NpReportViewStage *stage = row->stages + i;

                stage->stage = np_view_stage(row->with_target, i);
                stage->mean_ns = sums->stages[i] / sums->weight;
                stage->share = sums->latency > 0 ? sums->stages[i] / sums->latency : 0;
                stage->avg_qd = row->rate_per_s * stage->mean_ns / 1e9;
                if (stage->mean_ns > row->stages[largest].mean_ns)
                        largest = i;
        }
        row->largest = row->stages[largest].stage;
}

static NpReportViewRow *row_of(NpView view, const Result *result, guint64 duration_ns)
{
        NpReportViewRow *row = np_report_view_row_new(result->namespace_name);
        g_autoptr(NpHistogram) latencies = np_histogram_new();

        row->others = result->row->others;
        row->key = row->others ? 0 : result->value;
        if (view == NP_VIEW_QUEUE && !row->others)
                row->path = (gint) result->row->key.filter;
        if (view == NP_VIEW_PROCESS && !row->others && result->row->key.comm[0])
                row->comm = printable_comm(result->row->key.comm);
        row->commands = (guint64) llround(result->all.weight);
        if (duration_ns > 0) {
                row->rate_per_s = result->all.weight * 1e9 / duration_ns;
                row->avg_qd = result->all.latency / duration_ns;
        }
        row->sampled = result->row->records;
        row->joined = result->row->joined;
        set_stages(result, row);

        np_histogram_merge(latencies, result->row->joined_latencies);
        if (!row->with_target)
                np_histogram_merge(latencies, result->row->other_latencies);
        row->p50_ns = np_histogram_quantile(latencies, 0.5);
        row->p99_ns = np_histogram_quantile(latencies, 0.99);
        row->max_ns = np_histogram_quantile(latencies, 1);
        np_cores_report(&result->row->host_cores, &row->host_cores);
        np_cores_report(&result->row->response_cores, &row->response_cores);
        np_cores_report(&result->row->target_cores, &row->target_cores);
        return row;
}

static void report_view(const View *from, NpView view, NpKindScale scale, gpointer data, NpReport *report)
{
        g_autoptr(GPtrArray) results = g_ptr_array_new_with_free_func(result_free);
        GHashTableIter iter;
        gpointer row;

        g_hash_table_iter_init(&iter, from->rows);
        while (g_hash_table_iter_next(&iter, &row, NULL))
                add_result(results, view, row, report->facts, scale, data);
        for (guint i = 0; i < NP_FILTERS_MAX; i++)
                if (from->others[i])
                        add_result(results, view, from->others[i], report->facts, scale, data);
        g_ptr_array_sort(results, compare_results);
        fold_results(results);
        for (guint i = 0; i < results->len; i++)
                g_ptr_array_add(report->views[view], row_of(view, results->pdata[i], report->facts->duration_ns));
}

void np_views_report(const NpViews *views, NpKindScale scale, gpointer data, NpReport *report)
{
        for (guint i = 0; i < NP_VIEW_COUNT; i++)
                report_view(&views->views[i], i, scale, data, report);
}
