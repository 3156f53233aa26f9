/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "report-parse.h"

#define CORES_LENGTH_MAX 1024

static gboolean take_core(const char **s, guint64 *ret)
{
        char *end;

        if (!g_ascii_isdigit(**s))
                return FALSE;
        *ret = g_ascii_strtoull(*s, &end, 10);
        *s = end;
        return *ret <= G_MAXUINT32;
}

/* "0-3,7" */
static gboolean is_list_of_cores(const char *list)
{
        const char *s = list;
        guint64 first, last;

        if (strlen(list) > CORES_LENGTH_MAX)
                return FALSE;
        for (;; s++) {
                if (!take_core(&s, &first))
                        return FALSE;
                if (*s == '-') {
                        s++;
                        if (!take_core(&s, &last) || last <= first)
                                return FALSE;
                }
                if (*s != ',')
                        return *s == '\0';
        }
}

static void read_cores(NpJsonReader *r, JsonObject *row, const char *key, NpReportCores *cores)
{
        JsonObject *o;
        gsize before;

        if (np_json_is_null(row, key)) {
                g_autofree char *reason = np_json_get_reason(r, row, key);

                return;
        }
        o = np_json_get_object(r, row, key);
        before = np_json_enter(r, key);
        cores->list = np_json_get_string(r, o, "list");
        cores->busiest = np_json_get_int(r, o, "busiest", 0, G_MAXUINT32);
        cores->busiest_share = np_json_get_double(r, o, "busiest_share", 0);
        cores->others_share = np_json_get_double(r, o, "others_share", 0);
        if (cores->list && !is_list_of_cores(cores->list))
                np_json_fail(r, "list", "must be a list of processors, like 0-3,7");
        np_json_leave(r, before);
}

static void read_key(NpJsonReader *r, JsonObject *o, NpView view, const NpReportFacts *facts, NpReportViewRow *row)
{
        const char *key = np_view_info(view)->key;

        if (view == NP_VIEW_QUEUE)
                row->path = np_json_get_int(r, o, "path", 0, (gint64) facts->paths->len - 1);
        if ((view == NP_VIEW_SIZE || view == NP_VIEW_PROCESS) && np_json_is_null(o, key)) {
                g_autofree char *reason = np_json_get_reason(r, o, key);
        } else
                row->key = np_json_get_count(r, o, key);
        if (view == NP_VIEW_PROCESS)
                row->comm = np_json_get_fact(r, o, "comm");
}

static void take_row_stage(NpJsonReader *r, JsonObject *o, NpStage which, gpointer whose)
{
        NpReportViewRow *row = whose;

        row->stages[row->n_stages++] = (NpReportViewStage) {
                .stage = which,
                .mean_ns = np_json_get_double(r, o, "mean_ns", -NP_JSON_NUMBER_MAX),
                .share = np_json_get_double(r, o, "share", -NP_JSON_NUMBER_MAX),
                .avg_qd = np_json_get_double(r, o, "avg_qd", -NP_JSON_NUMBER_MAX),
        };
}

typedef struct {
        NpView view;
        const NpReportFacts *facts;
        GPtrArray *rows;
} RowsReader;

static void read_row(NpJsonReader *r, JsonObject *o, gpointer data)
{
        const RowsReader *reader = data;
        g_autofree char *namespace_name = np_json_get_string(r, o, "namespace");
        NpReportViewRow *row = np_report_view_row_new(namespace_name);
        JsonObject *latency;
        gsize before;

        g_ptr_array_add(reader->rows, row);
        row->others = np_json_get_bool(r, o, "others");
        if (!row->others)
                read_key(r, o, reader->view, reader->facts, row);
        row->commands = np_json_get_count(r, o, "commands");
        row->rate_per_s = np_json_get_double(r, o, "rate_per_s", 0);
        row->avg_qd = np_json_get_double(r, o, "avg_qd", 0);
        row->sampled = np_json_get_count(r, o, "sampled");
        row->joined = np_json_get_count(r, o, "joined");
        row->with_target = np_json_get_bool(r, o, "with_target");

        latency = np_json_get_object(r, o, "latency");
        before = np_json_enter(r, "latency");
        row->mean_ns = np_json_get_double(r, latency, "mean_ns", 0);
        row->p50_ns = np_json_get_count(r, latency, "p50_ns");
        row->p99_ns = np_json_get_count(r, latency, "p99_ns");
        row->max_ns = np_json_get_count(r, latency, "max_ns");
        np_json_leave(r, before);

        row->largest = np_report_parse_stages(r, o, row->with_target, "the row's", take_row_stage, row);
        read_cores(r, o, "host_cores", &row->host_cores);
        read_cores(r, o, "response_cores", &row->response_cores);
        read_cores(r, o, "target_cores", &row->target_cores);
}

void np_report_parse_views(NpJsonReader *r, JsonObject *root, NpReport *report)
{
        JsonObject *views;
        gsize outer;

        if (!np_json_has(root, "views"))
                return;

        views = np_json_get_object(r, root, "views");
        outer = np_json_enter(r, "views");
        for (guint view = 0; view < NP_VIEW_COUNT; view++)
                np_json_each(r, views, np_view_info(view)->id, NP_VIEW_ROWS + 1, read_row,
                             &(RowsReader) { view, report->facts, report->views[view] });
        np_json_leave(r, outer);
}
