/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Views as tables: a line a row, columns as wide as what is in them, so that they fit 80 where names and numbers are short.
 */
#include <math.h>
#include <string.h>

#include "report-text.h"

#define COLUMNS_MAX 16
/* A longer list of processors is told by how many they are. */
#define CORES_WIDTH 9

typedef struct {
        const char *name;
        gboolean right;                 /* aligned */
} Column;

typedef struct {
        Column columns[COLUMNS_MAX];
        guint n_columns;
        GPtrArray *cells;               /* of char*, line by line */
} Text;

static void add_column(Text *text, const char *name, gboolean right)
{
        g_assert(text->n_columns < COLUMNS_MAX);
        text->columns[text->n_columns++] = (Column) { name, right };
}

G_GNUC_PRINTF(2, 3)
static void add_cell(Text *text, const char *format, ...)
{
        va_list args;

        va_start(args, format);
        g_ptr_array_add(text->cells, g_strdup_vprintf(format, args));
        va_end(args);
}

static void append_line(GString *out, const Text *text, const char *const *cells, const glong *widths)
{
        for (guint i = 0; i < text->n_columns; i++) {
                int pad = (int) (widths[i] - g_utf8_strlen(cells[i], -1));
                gboolean last = i + 1 == text->n_columns;

                g_string_append_printf(out, "%s%*s%s%*s", i > 0 ? "  " : "", text->columns[i].right ? pad : 0, "", cells[i],
                                       text->columns[i].right || last ? 0 : pad, "");
        }
        while (out->str[out->len - 1] == ' ')
                g_string_truncate(out, out->len - 1);
        g_string_append_c(out, '\n');
}

static void append_text(GString *out, const Text *text)
{
        const char *names[COLUMNS_MAX];
        glong widths[COLUMNS_MAX];

        for (guint i = 0; i < text->n_columns; i++) {
                names[i] = text->columns[i].name;
                widths[i] = g_utf8_strlen(names[i], -1);
                for (guint j = i; j < text->cells->len; j += text->n_columns)
                        widths[i] = MAX(widths[i], g_utf8_strlen(text->cells->pdata[j], -1));
        }
        append_line(out, text, names, widths);
        for (guint j = 0; j < text->cells->len; j += text->n_columns)
                append_line(out, text, (const char *const *) text->cells->pdata + j, widths);
}

static guint64 count_cores(const char *list)
{
        g_auto(GStrv) parts = g_strsplit(list, ",", -1);
        guint64 n = 0;

        for (guint i = 0; parts[i]; i++) {
                const char *dash = strchr(parts[i], '-');
                guint64 first = g_ascii_strtoull(parts[i], NULL, 10);
                guint64 last = dash ? g_ascii_strtoull(dash + 1, NULL, 10) : first;

                n += last > first ? last - first + 1 : 1;
        }
        return n;
}

/* "3", "0-3 (2: 61%)", "24 cores (2: 8%)" */
static void add_cores(Text *text, const NpReportCores *cores)
{
        guint64 n = cores->list ? count_cores(cores->list) : 0;

        if (n == 0)
                add_cell(text, "-");
        else if (n == 1 && cores->others_share == 0)
                add_cell(text, "%s", cores->list);
        else if (strlen(cores->list) <= CORES_WIDTH && cores->others_share == 0)
                add_cell(text, "%s (%u: %.0f%%)", cores->list, cores->busiest, cores->busiest_share * 100);
        else
                add_cell(text, "%s%" G_GUINT64_FORMAT " cores (%u: %.0f%%)", cores->others_share > 0 ? "> " : "", n,
                         cores->busiest, cores->busiest_share * 100);
}

static void add_key(Text *text, NpView view, const NpReportViewRow *row)
{
        g_autofree char *size = np_text_size(row->key);

        if (row->others)
                add_cell(text, "others");
        else if (view == NP_VIEW_SIZE)
                add_cell(text, "%s", row->key > 0 ? size : "none");
        else if (view != NP_VIEW_PROCESS)
                add_cell(text, "%" G_GUINT64_FORMAT, row->key);
        else if (row->key == 0)
                add_cell(text, "%s", row->comm ? row->comm : "not known");
        else
                add_cell(text, "%s (%" G_GUINT64_FORMAT ")", row->comm ? row->comm : "not known", row->key);
}

static const char *const short_names[NP_STAGE_COUNT_ALL] = {
        [NP_STAGE_HOST_BLOCK] = "block",
        [NP_STAGE_HOST_DRIVER] = "driver",
        [NP_STAGE_NETWORK] = "network",
        [NP_STAGE_TARGET_DRIVER] = "target driver",
        [NP_STAGE_STORAGE] = "storage",
        [NP_STAGE_NETWORK_TARGET] = "net+target",
};

/* Five columns that must not take much room. */
static const char *const share_names[NP_STAGE_COUNT] = { "blk", "drv", "net", "tgt", "sto" };

static void add_shares(Text *text, const NpReportViewRow *row)
{
        for (guint i = 0; i < NP_STAGE_COUNT; i++)
                if (i < row->n_stages)
                        add_cell(text, "%.0f%%", round(row->stages[i].share * 100) + 0.0);
                else
                        add_cell(text, "-");
}

static double largest_share(const NpReportViewRow *row)
{
        for (guint i = 0; i < row->n_stages; i++)
                if (row->stages[i].stage == row->largest)
                        return row->stages[i].share;
        return 0;
}

static void add_row(Text *text, const NpReport *report, NpView view, const NpReportViewRow *row, gboolean path, gboolean detail)
{
        const GPtrArray *paths = report->facts->paths;
        const char *device = row->path >= 0 ? ((const NpReportPath *) paths->pdata[row->path])->path_name : NULL;
        g_autofree char *rate = np_text_rate(row->rate_per_s);

        add_key(text, view, row);
        if (path)
                add_cell(text, "%s", device ? device : "-");
        add_cell(text, "%s", rate);
        add_cell(text, "%.2f", row->avg_qd);
        add_cell(text, "%.2f", row->mean_ns / 1e3);
        add_cell(text, "%.2f", row->p99_ns / 1e3);
        if (detail)
                add_shares(text, row);
        if (detail)
                add_cell(text, "%s", short_names[row->largest]);
        else
                add_cell(text, "%s %.0f%%", short_names[row->largest], round(largest_share(row) * 100) + 0.0);
        if (view != NP_VIEW_CPU)
                add_cores(text, &row->host_cores);
        add_cores(text, &row->response_cores);
        add_cores(text, &row->target_cores);
}

static void append_namespace(GString *out, const NpReport *report, NpView view, const char *namespace_name, gboolean detail)
{
        g_autoptr(GPtrArray) cells = g_ptr_array_new_with_free_func(g_free);
        gboolean path = view == NP_VIEW_QUEUE && report->facts->paths->len > 1;
        const GPtrArray *rows = report->views[view];
        Text text = { .cells = cells };

        add_column(&text, np_view_info(view)->id, view != NP_VIEW_PROCESS);
        if (path)
                add_column(&text, "path", FALSE);
        add_column(&text, "rate/s", TRUE);
        add_column(&text, "avg QD", TRUE);
        add_column(&text, "mean us", TRUE);
        add_column(&text, "p99 us", TRUE);
        for (guint i = 0; detail && i < NP_STAGE_COUNT; i++)
                add_column(&text, share_names[i], TRUE);
        add_column(&text, "largest", FALSE);
        if (view != NP_VIEW_CPU)
                add_column(&text, "submit", FALSE);
        add_column(&text, "response", FALSE);
        add_column(&text, "target", FALSE);

        g_string_append_printf(out, "\n== by %s %s\n", np_view_info(view)->id, namespace_name);
        for (guint i = 0; i < rows->len; i++) {
                const NpReportViewRow *row = rows->pdata[i];

                if (g_str_equal(row->namespace_name, namespace_name))
                        add_row(&text, report, view, row, path, detail);
        }
        append_text(out, &text);
}

void np_text_append_view(GString *out, const NpReport *report, NpView view, gboolean detail)
{
        const GPtrArray *rows = report->views[view];
        g_autoptr(GPtrArray) names = g_ptr_array_new();

        for (guint i = 0; i < rows->len; i++) {
                const NpReportViewRow *row = rows->pdata[i];

                if (!g_ptr_array_find_with_equal_func(names, row->namespace_name, g_str_equal, NULL)) {
                        g_ptr_array_add(names, row->namespace_name);
                        append_namespace(out, report, view, row->namespace_name, detail);
                }
        }
        if (names->len > 0 && detail)
                g_string_append(out, "blk, drv, net, tgt, sto: shares of host block layer, host driver, network, target\n"
                                "driver and storage; net is all of the target's, too, where its side is not known\n");
        if (names->len > 0)
                g_string_append(out, "submit, response, target: the processors that submitted the commands, took\n"
                                "their responses, and worked on them at the target (the busiest: its share)\n");
        else
                g_string_append_printf(out, "\nno commands by %s in this report\n", np_view_info(view)->id);
}
