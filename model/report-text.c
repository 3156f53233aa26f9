/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <math.h>
#include <string.h>

#include "opcode.h"
#include "report-text.h"

#define BAR_WIDTH 20
#define WRAP 80

locale_t np_text_begin(void)
{
        static locale_t plain;

        if (g_once_init_enter(&plain)) {
                locale_t c = newlocale(LC_NUMERIC_MASK, "C", (locale_t) 0);

                g_once_init_leave(&plain, c);
        }
        return uselocale(plain);
}

void np_text_end(locale_t before)
{
        uselocale(before);
}

char *np_text_size(guint64 bytes)
{
        static const char *const units[] = { "B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB" };
        double size = bytes;
        gsize i = 0;

        while (size >= 1024 && i + 1 < G_N_ELEMENTS(units)) {
                size /= 1024;
                i++;
        }
        return g_strdup_printf("%.*f%s", size == floor(size) ? 0 : 1, size, units[i]);
}

char *np_text_rate(double per_s)
{
        if (per_s < 9.95)
                return g_strdup_printf("%.1f", per_s);
        if (per_s < 999.5)
                return g_strdup_printf("%.0f", per_s);
        if (per_s < 999950)
                return g_strdup_printf("%.1fk", per_s / 1e3);
        return g_strdup_printf("%.2fM", per_s / 1e6);
}

char *np_text_percent(double share)
{
        double percent = share * 100;

        return g_strdup_printf("%.*f %%", percent < 0.995 ? 2 : percent < 9.95 ? 1 : 0, percent);
}

char *np_text_group(const NpReportGroup *group)
{
        g_autofree char *size = np_text_size(group->size_bytes), *above = np_text_size(group->size_bytes / 2);
        const char *fua = group->fua ? " FUA" : "";

        if (group->size_bytes == 0)
                return g_strdup_printf("%s%s %s", group->op, fua, group->namespace_name);
        if (group->bucketed)
                return g_strdup_printf("%s %s-%s%s %s", group->op, above, size, fua, group->namespace_name);
        return g_strdup_printf("%s %s%s %s", group->op, size, fua, group->namespace_name);
}

static const char *or_unknown(const char *s)
{
        return s ? s : "not known";
}

/* A share of -0.2 % is 0%, not -0%. */
static double whole_percent(double share)
{
        return round(share * 100) + 0.0;
}

/* Breaks between words; lines after the first start with the indent. */
static void append_wrapped(GString *out, const char *first, const char *indent, const char *text)
{
        g_auto(GStrv) words = g_strsplit(text, " ", -1);
        glong column = g_utf8_strlen(first, -1);
        gboolean begun = FALSE;

        g_string_append(out, first);
        for (guint i = 0; words[i]; i++) {
                glong width = g_utf8_strlen(words[i], -1);

                if (begun && column + 1 + width > WRAP) {
                        g_string_append_printf(out, "\n%s", indent);
                        column = g_utf8_strlen(indent, -1);
                        begun = FALSE;
                }
                g_string_append_printf(out, "%s%s", begun ? " " : "", words[i]);
                column += begun + width;
                begun = TRUE;
        }
        g_string_append_c(out, '\n');
}

static void append_fact(GString *out, const char *label, const char *text)
{
        g_autofree char *first = g_strdup_printf("%-11s ", label);

        append_wrapped(out, first, "            ", text);
}

static char *describe_sampling(const NpReportFacts *facts)
{
        g_autofree char *share = NULL;

        if (facts->threshold == G_MAXUINT32)
                share = g_strdup("every command");
        else if (facts->threshold == 0)
                share = g_strdup("none");
        else
                share = g_strdup_printf("1 in %.0f", np_threshold_weight(facts->threshold));

        return g_strdup_printf("%" G_GUINT64_FORMAT " of %" G_GUINT64_FORMAT " commands (%s%s)", facts->sampled, facts->commands,
                               facts->threshold_fixed ? "" : "adaptive, at the end ", share);
}

/* "stor-a (beta at 10.0.0.2), kernel 6.1.0"; this machine itself has no other name and needs no address. */
static char *describe_target(const NpReportFacts *facts, guint index)
{
        const NpReportTarget *target = facts->targets->pdata[index];
        g_autoptr(GPtrArray) addresses = g_ptr_array_new();
        g_autofree char *list = NULL;
        GString *text = g_string_new(or_unknown(np_report_target_name(target)));

        for (guint i = 0; i < facts->paths->len; i++) {
                const NpReportPath *path = facts->paths->pdata[i];

                if (path->target == (gint) index && path->traddr &&
                    !g_ptr_array_find_with_equal_func(addresses, path->traddr, g_str_equal, NULL))
                        g_ptr_array_add(addresses, path->traddr);
        }
        g_ptr_array_add(addresses, NULL);
        list = g_strjoinv(", ", (char **) addresses->pdata);

        if (target->peer && g_strcmp0(target->peer, target->name) != 0)
                g_string_append_printf(text, " (%s%s%s)", or_unknown(target->name), list[0] ? " at " : "", list);
        else if (target->peer && list[0])
                g_string_append_printf(text, " (%s)", list);
        g_string_append_printf(text, ", kernel %s", or_unknown(target->kernel));
        if (target->ended_reason)
                g_string_append_printf(text, "; ended after %.1f s: %s", target->recorded_ns / 1e9, target->ended_reason);
        return g_string_free(text, FALSE);
}

/* A line a machine, and one a path that has none, unless none has for the same reason. */
static void append_targets(GString *out, const NpReportFacts *facts)
{
        gboolean same = facts->targets->len == 0;

        for (guint i = 0; i < facts->targets->len; i++) {
                g_autofree char *text = describe_target(facts, i);

                append_fact(out, "target", text);
        }

        for (guint i = 1; i < facts->paths->len && same; i++) {
                const NpReportPath *first = facts->paths->pdata[0], *path = facts->paths->pdata[i];

                same = g_strcmp0(first->no_target_reason, path->no_target_reason) == 0;
        }
        if (same) {
                const NpReportPath *first = facts->paths->len > 0 ? facts->paths->pdata[0] : NULL;
                g_autofree char *text = g_strdup_printf("not recorded: %s", or_unknown(first ? first->no_target_reason : NULL));

                append_fact(out, "target", text);
                return;
        }

        for (guint i = 0; i < facts->paths->len; i++) {
                const NpReportPath *path = facts->paths->pdata[i];
                g_autofree char *text = NULL;

                if (path->target >= 0)
                        continue;
                text = g_strdup_printf("of %s not recorded: %s", or_unknown(path->path_name),
                                       or_unknown(path->no_target_reason));
                append_fact(out, "target", text);
        }
}

static void append_header(GString *out, const NpReport *report)
{
        const NpReportFacts *facts = report->facts;
        g_autoptr(GDateTime) started = g_date_time_new_from_unix_utc(facts->started_realtime_us / G_USEC_PER_SEC);
        g_autofree char *when = started ? g_date_time_format(started, "%Y-%m-%d %H:%M:%S UTC") : g_strdup("not known when");
        g_autofree char *session = g_strdup_printf("%s, %.1f s from %s (ntprof %s)", or_unknown(facts->session_id),
                                                   facts->duration_ns / 1e9, when, or_unknown(facts->ntprof_version));
        g_autofree char *host = g_strdup_printf("%s, kernel %s", or_unknown(facts->host_name), or_unknown(facts->host_kernel));
        g_autofree char *sampling = describe_sampling(facts);

        append_fact(out, "session", session);
        for (guint i = 0; i < facts->paths->len; i++) {
                const NpReportPath *path = facts->paths->pdata[i];
                g_autofree char *device = g_strcmp0(path->namespace_name, path->path_name) == 0 ? g_strdup("") :
                                          g_strdup_printf(" by %s", or_unknown(path->path_name));
                g_autofree char *text = g_strdup_printf("%s%s, controller %s, %s to %s", or_unknown(path->namespace_name), device,
                                                        or_unknown(path->controller), or_unknown(path->transport),
                                                        or_unknown(path->traddr));

                append_fact(out, "namespace", text);
        }
        append_fact(out, "subsystem", or_unknown(facts->subsystem_nqn));
        append_fact(out, "host", host);

        append_targets(out, facts);
        append_fact(out, "sampled", sampling);
}

static void append_bar(GString *out, double mean_ns, double largest_ns)
{
        int width = largest_ns > 0 ? (int) lround(BAR_WIDTH * CLAMP(mean_ns / largest_ns, 0, 1)) : 0;

        if (width == 0)
                return;
        g_string_append(out, "  ");
        for (int i = 0; i < width; i++)
                g_string_append_c(out, '#');
}

static gboolean has_unrecorded_path(const NpReport *report, const NpReportGroup *group)
{
        for (guint i = 0; i < report->facts->paths->len; i++) {
                const NpReportPath *path = report->facts->paths->pdata[i];

                if (path->target < 0 && np_report_path_is_of_group(report->facts, i, group))
                        return TRUE;
        }
        return FALSE;
}

static char *describe_target_side(const NpReport *report, const NpReportGroup *group)
{
        const char *reason = np_report_no_target_reason(report, group);

        if (!group->with_target && !reason)
                return g_strdup_printf("without the target's side (%slosses are below)",
                                       has_unrecorded_path(report, group) ? "not recorded of all paths; " : "");
        if (!group->with_target)
                return g_strdup("without the target's side (why is above)");
        if (group->joined == group->sampled)
                return g_strdup("all with the target's side");
        return g_strdup_printf("here the %" G_GUINT64_FORMAT " with the target's side", group->joined);
}

/* " by nvme6c7n1 (controller nvme7, target stor-a)" */
static char *describe_path(const NpReportFacts *facts, gint index)
{
        const NpReportPath *path = index >= 0 ? facts->paths->pdata[index] : NULL;
        const NpReportTarget *target = path && path->target >= 0 ? facts->targets->pdata[path->target] : NULL;

        if (!path)
                return g_strdup("");
        return g_strdup_printf(" by %s (controller %s%s%s)", or_unknown(path->path_name), or_unknown(path->controller),
                               target ? ", target " : "", target ? or_unknown(np_report_target_name(target)) : "");
}

static void append_component(GString *out, const NpReportComponent *c, const char *transport, gboolean detail)
{
        const NpComponentInfo *info = np_component_info(c->component);
        int depth = info->parent == NP_COMPONENT_NONE ? 2 : 4;
        g_autofree char *name = g_strdup_printf("%*s%s%s", depth, "", info->information ? "(" : "",
                                                np_component_name(c->component, transport));

        if (c->reason) {
                /* What the session did not ask for may well be visible. */
                gboolean asked = detail || !info->detail;
                g_autofree char *first = g_strdup_printf("%-34s ", name);
                g_autofree char *text = g_strdup_printf("%s%s%s%s", asked ? "not visible here (" : "", c->reason,
                                                        asked ? ")" : "", info->information ? ")" : "");

                append_wrapped(out, first, "      ", text);
                return;
        }
        g_string_append_printf(out, "%-35s%10.2f", name, c->mean_ns / 1e3);
        if (c->margin_ns > 0)
                g_string_append_printf(out, " +-%.2f", c->margin_ns / 1e3);
        g_string_append(out, info->information ? ")\n" : "\n");
}

/* Rows of a write's data below a read would only be wondered at. */
static gboolean is_of_other_operations(const NpReportComponent *c, const NpReportGroup *group)
{
        return np_component_info(c->component)->to_target && !(np_opcode_transfer_by_name(group->op) & NP_TRANSFER_TO_TARGET) &&
               (c->reason || c->mean_ns == 0);
}

static void append_group(GString *out, const NpReport *report, const NpReportGroup *group, NpReportTextFlags flags)
{
        const char *transport = np_report_transport(report, group);
        g_autofree char *title = np_text_group(group), *rate = np_text_rate(group->rate_per_s);
        g_autofree char *path = describe_path(report->facts, group->path);
        g_autofree char *side = describe_target_side(report, group);
        g_autofree char *largest_name = np_stage_name(group->largest, transport);
        double largest_ns = 0, largest_share = 0;

        for (guint i = 0; i < group->stages->len; i++) {
                const NpReportStage *s = group->stages->pdata[i];

                if (s->stage == group->largest) {
                        largest_ns = s->mean_ns;
                        largest_share = s->share;
                }
        }

        g_string_append_printf(out, "\n== %s%s: %" G_GUINT64_FORMAT " command%s sampled (from about %s commands/s), %s\n", title,
                               path, group->sampled, group->sampled == 1 ? "" : "s", rate, side);
        g_string_append_printf(out, "latency (us): mean %.2f, p50 %.2f, p99 %.2f, p99.9 %.2f\n", group->mean_ns / 1e3,
                               group->p50_ns / 1e3, group->p99_ns / 1e3, group->p999_ns / 1e3);
        if (group->failed > 0)
                g_string_append_printf(out, "failed: %" G_GUINT64_FORMAT " of the sampled commands ended with an error status\n",
                                       group->failed);
        g_string_append_printf(out, "%-35s%10s%8s%9s\n", "stage", "mean us", "share", "avg QD");
        for (guint i = 0; i < group->stages->len; i++) {
                const NpReportStage *s = group->stages->pdata[i];
                g_autofree char *name = np_stage_name(s->stage, transport);

                g_string_append_printf(out, "%-35s%10.2f%7.0f%%%9.2f", name, s->mean_ns / 1e3, whole_percent(s->share), s->avg_qd);
                append_bar(out, s->mean_ns, largest_ns);
                g_string_append_c(out, '\n');
                for (guint c = 0; flags & NP_REPORT_TEXT_DETAIL && c < s->components->len; c++)
                        if (!is_of_other_operations(s->components->pdata[c], group))
                                append_component(out, s->components->pdata[c], transport, report->facts->detail);
        }
        g_string_append_printf(out, "largest: %s, %.0f %% of the latency\n", largest_name, whole_percent(largest_share));
}

/* With many sizes, and a few commands of each not joined, tables of a handful of commands would hide those that matter. */
#define ALWAYS_SHOWN 8
#define SMALL_SHARE 0.01

static gboolean is_small(const NpReport *report, const NpReportGroup *group, guint index)
{
        if (group->part_of_other)
                return group->sampled < SMALL_SHARE * report->facts->sampled;
        return index >= ALWAYS_SHOWN && group->commands < SMALL_SHARE * report->facts->commands;
}

static void append_groups(GString *out, const NpReport *report, NpReportTextFlags flags)
{
        /* With one path the groups are those of the path. */
        const GPtrArray *groups = flags & NP_REPORT_TEXT_BY_PATH && report->facts->paths->len > 1 ? report->groups_by_path :
                                  report->groups;
        guint64 left_out = 0;
        guint n = 0;

        for (guint i = 0; i < groups->len; i++) {
                const NpReportGroup *group = groups->pdata[i];

                if (!is_small(report, group, i)) {
                        append_group(out, report, group, flags);
                        continue;
                }
                n++;
                left_out += group->sampled;
        }
        if (n > 0) {
                g_autofree char *text = g_strdup_printf("%u small table%s of %" G_GUINT64_FORMAT " sampled command%s in all; --json "
                                                        "has %s", n, n == 1 ? "" : "s", left_out, left_out == 1 ? "" : "s",
                                                        n == 1 ? "it" : "them");

                g_string_append_c(out, '\n');
                append_wrapped(out, "not shown: ", "  ", text);
        }
}

static void append_queue_depth(GString *out, const NpReport *report)
{
        const NpReportDiskstats *disk = &report->facts->diskstats;
        g_autofree char *text = NULL;

        if (disk->valid)
                text = g_strdup_printf("avg QD without the wait for a tag: %.2f by the stages, %.2f by diskstats",
                                       report->qd_from_stages, disk->avg_qd);
        else
                text = g_strdup_printf("avg QD without the wait for a tag: %.2f by the stages, not checked: %s",
                                       report->qd_from_stages, or_unknown(disk->reason));
        append_wrapped(out, "\n", "  ", text);
}

static void append_losses(GString *out, const NpReport *report)
{
        const guint64 *losses = report->facts->losses;
        gboolean any = FALSE;

        for (guint i = 0; i < NP_LOSS_COUNT; i++) {
                if (losses[i] == 0)
                        continue;
                if (!any)
                        g_string_append(out, "lost or set aside:\n");
                any = TRUE;
                g_string_append_printf(out, "%10" G_GUINT64_FORMAT "  %s\n", losses[i], np_loss_info(i)->text);
        }
        if (!any)
                g_string_append(out, "nothing lost\n");
}

char *np_report_to_text(const NpReport *report, NpReportTextFlags flags)
{
        locale_t before = np_text_begin();
        GString *out = g_string_new(NULL);
        guint view = 0;

        while (view < NP_VIEW_COUNT && !(flags & NP_REPORT_TEXT_BY_QUEUE << view))
                view++;

        append_header(out, report);
        if (view < NP_VIEW_COUNT)
                np_text_append_view(out, report, view, flags & NP_REPORT_TEXT_DETAIL);
        else
                append_groups(out, report, flags);
        append_queue_depth(out, report);
        append_losses(out, report);
        for (guint i = 0; i < report->warnings->len; i++)
                append_wrapped(out, "warning: ", "  ", report->warnings->pdata[i]);

        np_text_end(before);
        return g_string_free(out, FALSE);
}
